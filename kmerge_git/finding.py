"""Define a finding, which is a problem that a check found; the reports turn findings into text."""

from __future__ import annotations

ERROR = "error"  # refused, crashes, loses data, or leaves a literal directive in the object
WARNING = "warning"  # works, but not as written, or not the same everywhere
INFO = "info"  # worth knowing

SEVERITIES = (ERROR, WARNING, INFO)  # the worst one first


DROPPED = "Kmerge-Dropped"  # the trailer of a merge commit that names a change dropped on purpose


class Finding:
    """Hold a problem, its place and its remedy; a finding never changes after its creation."""

    __slots__ = (
        "column",
        "excerpt",
        "file",
        "fix",
        "id",
        "line",
        "meant",
        "mend",
        "message",
        "path",
        "rule",
        "severity",
    )

    def __init__(
        self,
        id: str,
        severity: str,
        file: str,
        line: int,
        column: int,
        message: str,
        *,
        path: str = "",
        mend: str = "",
        rule: str = "",
        excerpt: str = "",
        fix: tuple[str, ...] = (),
        meant: str = "",
    ) -> None:
        self.id = id
        self.severity = severity
        self.file = file
        self.line = line  # 1-based
        self.column = column  # 1-based, counted in characters
        self.message = message  # the problem and its effect
        self.path = path  # the field: spec.template.spec.containers[name="web"].env
        self.mend = mend  # the text to write instead
        self.rule = rule  # the reason why the file is a patch; empty for other files
        self.excerpt = excerpt  # the line of the file
        self.fix = (
            fix  # the change by `--fix`: ("word", old, new), ("drop",), ("null",), or nothing
        )
        self.meant = meant  # a lost change as the trailer `Kmerge-Dropped` names it: FILE FIELD

    def __repr__(self) -> str:
        return f"Finding({self.id} {self.file}:{self.line}:{self.column} {self.message!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Finding):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in Finding.__slots__)

    def __hash__(self) -> int:
        return hash((self.id, self.file, self.line, self.column, self.message))


def order(finding: Finding) -> tuple[str, int, int, str]:
    """Return a sort key, which orders findings by file and by place in the file."""
    return (finding.file, finding.line, finding.column, finding.id)


def worst_first(severity: str) -> int:
    """Return the sort key of a severity: 0 for an error, 1 for a warning, 2 for an info."""
    return SEVERITIES.index(severity)

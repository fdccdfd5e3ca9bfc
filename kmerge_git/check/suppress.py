"""Comments that silence findings: `# kmerge: ignore D12` and `# kmerge: ignore-file M05`."""

from __future__ import annotations

from kmerge_git.finding import Finding

MARK = "kmerge: ignore"


def unsilenced(findings: list[Finding], text: str) -> list[Finding]:
    """The findings that no comment silences.

    A comment counts for its own line; alone on a line it counts for the next line as well.
    `ignore` without ids silences every check. `ignore-file` counts for the whole file.
    """
    if MARK not in text or not findings:
        return findings
    lines: dict[int, set[str]] = {}
    whole: set[str] = set()
    for number, line in enumerate(text.split("\n"), 1):
        before, mark, rest = line.partition(MARK)
        if not mark or not before.rstrip().endswith("#"):
            continue
        if rest.startswith("-file"):
            whole |= _ids(rest[5:])
            continue
        ids = _ids(rest)
        lines.setdefault(number, set()).update(ids)
        if before.strip() == "#":
            lines.setdefault(number + 1, set()).update(ids)
    return [f for f in findings if (whole | lines.get(f.line, set())).isdisjoint((f.id, "*"))]


def _ids(rest: str) -> set[str]:
    words = rest.replace(",", " ").split()
    ids = set()
    for word in words:
        if not (word[:1].isalpha() and word[1:].isdigit()):
            break  # the reason follows
        ids.add(word.upper())
    return ids or {"*"}

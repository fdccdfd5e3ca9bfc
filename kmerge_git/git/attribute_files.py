"""Read and write attribute files: the patterns for the driver, and the block that kmerge writes.

Lines of other people are never changed. In an attribute file the last line that matches wins, so
the place of the block decides which line wins. At the top of the file the block gives way to every
other line. Behind a line the block overrules that line, which wins again when the block is
removed.

A foreign line that takes only some files of a pattern (`pnpm-lock.yaml merge=ours`) always stays
in force: if the block overrules the attribute file of that line, the line is repeated behind the
patterns of the block. A foreign line that takes all files of a pattern (`*.yaml merge=other`) is a
question to the user: abort, skip the pattern, or overwrite.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from kmerge_git.atomic_files import read_text
from kmerge_git.errors import KmergeError

OnConflict = Literal["abort", "skip", "overwrite"]

# Other files that Helm renders as templates: text, and no YAML (`text.charts`).
TEMPLATES = ("**/templates/**/*.tpl", "**/templates/NOTES.txt")
DEFAULTS = ("*.yaml", "*.yml", "kustomization", "Kustomization", *TEMPLATES)
JSON = ("*.json",)
CHARTS = ("Chart.lock",)  # what Helm locks, with `--charts`
# Names that are usual for files encrypted by SOPS. Their checksum covers the whole file, so no
# merge by field can be right; `!merge` leaves them to git as if this driver were not there.
SECRETS = tuple(
    f"{stem}.{suffix}" for stem in ("*.enc", "*.sops", "secrets.*") for suffix in ("yaml", "yml")
)
JSON_SECRETS = tuple(name.replace(".yaml", ".json") for name in SECRETS if name.endswith(".yaml"))


@dataclass(frozen=True, slots=True)
class AttributeFile:
    """Hold an attribute file, and the directory below the top to which its patterns apply."""

    path: Path
    text: str
    directory: str = ""


@dataclass(frozen=True, slots=True)
class TakenPattern:
    """Describe a foreign line that takes all files of one of kmerge's patterns."""

    pattern: str
    path: Path
    line: AttributeLine

    def __str__(self) -> str:
        return f"{self.path}:{self.line.number} uses {_named(self.line.merge)} for {self.pattern}"


def select(
    target: AttributeFile,
    lower: list[AttributeFile],
    wanted: tuple[str, ...],
    on_conflict: OnConflict = "abort",
    *,
    diff: bool = False,
    policies: Mapping[str, Sequence[str]] | None = None,
) -> tuple[str, list[str]]:
    """Return the new text of an attribute file, and notes on its foreign lines.

    The new text has a block for the wanted patterns. With `diff`, the block also sends the files to
    the `git diff` of kmerge, unless another line chooses a way to show these files. `policies` are
    written for patterns; if there are none, those of the block stay.
    """
    taken = _taken(target, lower, wanted, on_conflict)
    if on_conflict == "skip":
        others = {clash.pattern for clash in taken}
        wanted = tuple(pattern for pattern in wanted if pattern not in others)
        taken_here, notes = [], [f"skipped: {clash}" for clash in taken]
    else:  # `overwrite`; with `abort` nothing is taken here
        taken_here = [clash.line.number for clash in taken if clash.path == target.path]
        notes = [f"overridden: {clash}" for clash in taken]
    if not wanted:
        return target.text, notes
    block = _block(wanted, _kept(wanted, lower), diff=diff)
    block += _kept(wanted, lower, "diff") if diff else []
    if policies is None:
        block += [rule.text for rule in merge_rules(target.text, POLICY) if rule.fenced]
    else:
        lines, after = _policy_lines(policies, target, lower)
        block, taken_here = block + lines, [*taken_here, after]
    return with_block(target.text, block, after=max(taken_here, default=0)), notes


def _policy_lines(
    policies: Mapping[str, Sequence[str]], target: AttributeFile, lower: list[AttributeFile]
) -> tuple[list[str], int]:
    """Return the lines for policies, and the number of the last foreign line that they overrule.

    Git takes the last line for a file, so each line repeats what a foreign line says for its files,
    and a foreign line for some of the files is repeated with the policies.
    """
    lines, after = {}, 0
    foreign = [
        (_below(file.directory, rule.pattern), rule, file is target)
        for file in (*lower, target)
        for rule in merge_rules(file.text, POLICY)
        if not rule.fenced
    ]
    for pattern, items in policies.items():
        met = [one for one in foreign if overlaps(one[0], pattern)]
        wide = [rule.merge for other, rule, _ in met if covers(other, pattern)]
        lines[pattern] = _joined(items, wide[-1] if wide else "")
        for other, rule, _ in met:
            if not covers(other, pattern):
                lines[_within(other, pattern)] = _OFF.get(rule.merge) or _joined(items, rule.merge)
        after = max([after, *(rule.number for _, rule, is_here in met if is_here)])
    return [f"{quoted_pattern(pattern)} {words}" for pattern, words in lines.items()], after


def _within(folder: str, pattern: str) -> str:
    """Return a pattern for files of the name in `pattern` among those of another pattern."""
    above, _, last = folder.rpartition("/")
    return "/".join((f"{above}/**" if last == "**" else above, _last(pattern)))


def _joined(items: Sequence[str], said: str) -> str:
    """Return the attribute with policies, followed by those that another line has."""
    others = [item for item in said.split(",") if item not in (*items, *_OFF, "set", "")]
    return f"{POLICY}={','.join((*items, *others))}"


def _taken(
    target: AttributeFile,
    lower: list[AttributeFile],
    wanted: tuple[str, ...],
    on_conflict: OnConflict,
) -> list[TakenPattern]:
    """Return the wanted patterns that a foreign line takes, but with `abort` raise an error.

    A pattern that is registered already needs no second answer. With `overwrite`, such a pattern
    counts as well, because `overwrite` concerns every line that wins now.
    """
    settled = registered(target.text) if on_conflict != "overwrite" else ()
    fresh = [pattern for pattern in wanted if pattern not in settled]
    taken = [clash for pattern in fresh if (clash := _clash(pattern, target, lower))]
    if taken and on_conflict == "abort":
        first = taken[0]
        more = f" (and {len(taken) - 1} more)" if len(taken) > 1 else ""
        raise KmergeError(
            f"this line uses {_named(first.line.merge)} for {first.pattern}{more}",
            path=str(first.path),
            line=first.line.number,
            hint="use --on-conflict skip to keep it, or --on-conflict overwrite to use kmerge",
            excerpt=first.line.text,
        )
    return taken


def registered(text: str) -> tuple[str, ...]:
    """Return the patterns that the block of an attribute file gives to the kmerge driver."""
    return tuple(rule.pattern for rule in merge_rules(text) if rule.fenced and rule.merge == OURS)


def names_us(text: str) -> bool:
    """Return whether any line, inside or outside the block, gives files to the kmerge driver."""
    return any(rule.merge == OURS for rule in merge_rules(text))


def skipped(
    target: AttributeFile, lower: list[AttributeFile], settled: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the default patterns that an earlier `--on-conflict skip` left to another driver."""
    if not settled or not set(settled) <= {*DEFAULTS, *JSON}:
        return ()
    return tuple(p for p in DEFAULTS if p not in settled and _clash(p, target, lower))


def untaken(
    target: AttributeFile, lower: list[AttributeFile], wanted: tuple[str, ...]
) -> tuple[tuple[str, ...], list[str]]:
    """Return the wanted patterns without the template patterns that a foreign line takes.

    The second result is notes about the patterns left out. A foreign line for templates does not
    stop an installation, because most people install the driver for their manifests.
    """
    clashes = {p: _clash(p, target, lower) for p in wanted if p in TEMPLATES}
    notes = [f"skipped: {clash}" for clash in clashes.values() if clash]
    return tuple(pattern for pattern in wanted if not clashes.get(pattern)), notes


def sources(paths: list[Path], top: Path | None) -> list[AttributeFile]:
    """Read attribute files, and note the directory of each file inside the working tree."""
    files = []
    for path in paths:
        is_inside = path.name == ".gitattributes" and top and path.is_relative_to(top)
        parent = path.parent.relative_to(top).as_posix() if is_inside and top else "."
        files.append(AttributeFile(path, read_attributes(path), "" if parent == "." else parent))
    return files


def _clash(pattern: str, target: AttributeFile, lower: list[AttributeFile]) -> TakenPattern | None:
    # only the last line that covers the pattern counts, in the strongest file with such a line
    for file in (target, *reversed([f for f in lower if not f.directory])):
        start, stop = find_block(file.text)
        lines = [r for r in merge_rules(file.text) if covers(r.pattern, pattern) and not r.fenced]
        if lines and not (stop and lines[-1].number <= start and file is target):
            last = lines[-1]
            return None if last.merge == OURS else TakenPattern(pattern, file.path, last)
        if pattern in registered(file.text):
            return None
    return None


def shows(text: str) -> bool:
    """Return whether the block of an attribute file sends files to the `git diff` of kmerge."""
    return any(rule.fenced and rule.merge == OURS for rule in merge_rules(text, "diff"))


def _kept(
    patterns: tuple[str, ...], lower: list[AttributeFile], attribute: str = "merge"
) -> list[str]:
    """Return the lines of other files that the block would overrule and must therefore repeat."""
    words = {"set": attribute, "unset": f"-{attribute}", "unspecified": f"!{attribute}"}
    kept: dict[str, str] = {}
    for source in lower:
        for rule in merge_rules(source.text, attribute):
            met = any(overlaps(rule.pattern, ours) for ours in patterns)
            covered = any(covers(rule.pattern, ours) for ours in patterns)
            is_replaced = covered and not source.directory and attribute == "merge"
            if rule.fenced or rule.merge == OURS or not met or is_replaced:
                continue
            pattern = _below(source.directory, rule.pattern)
            kept.pop(pattern, None)  # the last line wins
            value = words.get(rule.merge, f"{attribute}={rule.merge}")
            kept[pattern] = f"{quoted_pattern(pattern)} {value}"
    return list(kept.values())


def _below(directory: str, pattern: str) -> str:
    if not directory:
        return pattern
    inner = pattern.removeprefix("/") if "/" in pattern else f"**/{pattern}"
    return f"{directory}/{inner}"


def _block(patterns: tuple[str, ...], kept: list[str], *, diff: bool = False) -> list[str]:
    rules = [f"{quoted_pattern(pattern)} merge={OURS}" for pattern in patterns]
    if diff:  # a template has no fields to show: git shows its lines better
        rules = [
            rule if pattern in TEMPLATES else f"{rule} diff={OURS}"
            for pattern, rule in zip(patterns, rules, strict=True)
        ]
    named = {split_line(line)[0] for line in [*rules, *kept]}
    secrets = [
        f"{name} !merge"
        for name in (*SECRETS, *JSON_SECRETS)
        if name not in named and any(overlaps(name, pattern) for pattern in patterns)
    ]
    return rules + secrets + kept


def _named(merge: str) -> str:
    names = BUILT_IN | {
        "binary": "git's binary merge",
        "unspecified": "git's default merge",
        "union": "git's union merge",
    }
    return names.get(merge, f"the merge driver {merge}")


OPEN = "# >>> kmerge >>>"
CLOSE = "# <<< kmerge <<<"
POLICY = "kmerge-policy"
_OFF = {"unset": f"-{POLICY}", "unspecified": f"!{POLICY}"}
ABOUT = "# written by `kmerge install`; `kmerge uninstall` removes it"
OURS = "kmerge"
# values of `merge` that name no driver
BUILT_IN = {
    "set": "git's text merge",
    "text": "git's text merge",
    "unset": "git's binary merge",
}
BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class AttributeLine:
    """Hold a line of an attribute file that sets `merge` or `diff`."""

    number: int  # 1-based line number
    text: str  # the line without its end
    pattern: str
    merge: str  # a driver's name; "set", "unset" or "unspecified" for merge, -merge, !merge
    fenced: bool  # True inside the block of kmerge


def read_attributes(path: Path) -> str:
    """Return the text of an attribute file, or '' if the file is missing.

    Raise an error if the block in the file is damaged.
    """
    text = read_text(path)
    try:
        find_block(text)
    except KmergeError as error:
        error.path = str(path)
        raise
    return text


def merge_rules(text: str, attribute: str = "merge") -> list[AttributeLine]:
    """Return the lines that set `merge` (or `diff`) in file order; a later line wins."""
    # words that set the attribute: git's own words, and the macros of the file
    values = {"binary": "unset", f"-{attribute}": "unset", f"!{attribute}": "unspecified"}
    start, stop = find_block(text)
    rules = []
    for index, line in enumerate(_lines(text)):
        pattern, words = split_line(line)
        value = ""
        for word in words:  # the last word wins
            name, _, given = word.partition("=")
            value = (given or "set") if name == attribute else values.get(word, value)
        if pattern.startswith("[attr]"):
            values |= {pattern.removeprefix("[attr]"): value} if value else {}
        elif pattern and value:
            fenced = start <= index < stop
            rules.append(AttributeLine(index + 1, line.rstrip("\r\n"), pattern, value, fenced))
    return rules


def split_line(line: str) -> tuple[str, list[str]]:
    """Return the pattern and the attributes of a line, or ('', []) for a comment or blank line."""
    line = line.removeprefix(BOM).strip(" \t\r\n")
    if not line or line.startswith("#"):
        return "", []
    if not line.startswith('"'):
        first, *words = line.split()
        return first, words
    end = 1
    while end < len(line) and line[end] != '"':
        end += 2 if line[end] == "\\" else 1
    return line[1:end].replace('\\"', '"').replace("\\\\", "\\"), line[end + 1 :].split()


def quoted_pattern(pattern: str) -> str:
    """Quote a pattern for an attribute file if the pattern has white space or quotes."""
    if pattern.startswith(("#", '"')) or any(c in pattern for c in " \t"):
        return '"' + pattern.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return pattern


def covers(pattern: str, ours: str) -> bool:
    """Return whether `pattern` matches, in any directory, every file that `ours` matches."""
    bare = pattern.removeprefix("**/")
    is_wide = "/" not in bare and fnmatchcase(example(ours), bare)
    return is_wide or ours in (pattern, bare)


def overlaps(pattern: str, ours: str) -> bool:
    """Return whether a file name can match the last parts of both patterns."""
    return fnmatchcase(example(ours), _last(pattern)) or fnmatchcase(example(pattern), _last(ours))


def example(pattern: str) -> str:
    """Make up a file name that the last part of a pattern matches."""
    name = _last(pattern)
    while "[" in name and "]" in name[name.index("[") + 2 :]:
        start = name.index("[")
        stop = name.index("]", start + 2)
        name = name[:start] + name[start + 1 : stop].lstrip("!^")[0] + name[stop + 1 :]
    return name.replace("**", "*").replace("*", "kmerge").replace("?", "k")


def find_block(text: str) -> tuple[int, int]:
    """Return the indexes of the first line of the block and of the line after the block.

    Return (0, 0) if there is no block.
    """
    bare = [line.removeprefix(BOM).rstrip("\r\n") for line in _lines(text)]
    if OPEN not in bare:
        return 0, 0
    start = bare.index(OPEN)
    if bare.count(OPEN) > 1 or CLOSE not in bare[start:]:
        raise KmergeError(
            f"the kmerge block that starts here has no end line `{CLOSE}`, or there are two blocks",
            line=start + 1,
            hint="correct the file by hand, then try again",
        )
    return start, bare.index(CLOSE, start) + 1


def with_block(text: str, rules: Iterable[str], *, after: int = 0) -> str:
    """Return the text with the block inserted after the line with the number `after`.

    An older block is replaced. The new block stays at the old place, unless `after` is below that
    place.
    """
    start, stop = find_block(text)
    lines = _lines(without_block(text))
    place = max(start, after - (stop - start) if after > start else 0)
    end = "\r\n" if "\r\n" in text else "\n"
    block = [line + end for line in (OPEN, ABOUT, *rules, CLOSE)]
    head = BOM if place == 0 and text.startswith(BOM) else ""
    if head and lines:
        lines[0] = lines[0].removeprefix(BOM)
    if 0 < place == len(lines) and not lines[-1].endswith("\n"):
        # the missing line end moves behind the block, so that `without_block` can put it back
        lines[-1] += end
        block[-1] = CLOSE
    return head + "".join(lines[:place] + block + lines[place:])


def without_block(text: str) -> str:
    """Return the text without the block, byte for byte as it was before the block was added."""
    start, stop = find_block(text)
    lines = _lines(text)
    if stop == 0:
        return text
    before = lines[:start]
    if before and stop == len(lines) and not lines[-1].endswith("\n"):
        before[-1] = before[-1].removesuffix("\n").removesuffix("\r")
    head = BOM if start == 0 and text.startswith(BOM) else ""
    return head + "".join(before + lines[stop:])


def _lines(text: str) -> list[str]:
    # not splitlines(): to git only \n ends a line
    *whole, rest = text.split("\n")
    return [line + "\n" for line in whole] + ([rest] if rest else [])


def _last(pattern: str) -> str:
    return pattern.rstrip("/").rpartition("/")[2] or "*"

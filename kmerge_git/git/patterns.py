"""Which files go to the driver: the patterns to register, and whose lines stay in force.

An attribute line of somebody else is never stacked upon. One that takes only some of our files
(`pnpm-lock.yaml merge=ours`) stays in force, always: if it stands in a file that ours overrules,
it is repeated behind our patterns. One that takes all files of a pattern (`*.yaml merge=other`)
is a question to the user: abort, skip the pattern, or overwrite.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kmerge_git.errors import KmergeError
from kmerge_git.git.attributes import (
    OURS,
    Rule,
    block_rules,
    covers,
    find_block,
    merge_rules,
    overlaps,
    quoted_pattern,
    read_attributes,
    split_line,
    with_block,
)

OnConflict = Literal["abort", "skip", "overwrite"]

DEFAULTS = ("*.yaml", "*.yml", "kustomization", "Kustomization")
JSON = ("*.json",)
# Names that are usual for files encrypted by SOPS. Their checksum covers the whole file, so no
# merge by field can be right; `!merge` leaves them to git as if this driver were not there.
SECRETS = tuple(
    f"{stem}.{suffix}" for stem in ("*.enc", "*.sops", "secrets.*") for suffix in ("yaml", "yml")
)
JSON_SECRETS = tuple(name.replace(".yaml", ".json") for name in SECRETS if name.endswith(".yaml"))


@dataclass(frozen=True, slots=True)
class Source:
    """An attribute file, and the directory below the top that its patterns belong to."""

    path: Path
    text: str
    directory: str = ""


@dataclass(frozen=True, slots=True)
class Clash:
    """A line of somebody else that takes all files of one of our patterns."""

    pattern: str
    path: Path
    rule: Rule

    def __str__(self) -> str:
        return f"{self.path}:{self.rule.number} gives {self.pattern} to {_named(self.rule.merge)}"


@dataclass(frozen=True, slots=True)
class Selection:
    """The new text of the attribute file, and what is to tell about it."""

    text: str
    notes: tuple[str, ...] = ()


def select(
    target: Source,
    lower: list[Source],
    wanted: tuple[str, ...],
    on_conflict: OnConflict = "abort",
) -> Selection:
    """The target's text with the block for the wanted patterns in it.

    Patterns that are registered already are settled: nobody is asked about them twice. But who
    says overwrite means every line that has the last word now.
    """
    settled = registered(target.text) if on_conflict != "overwrite" else ()
    fresh = [pattern for pattern in wanted if pattern not in settled]
    clashes = [c for p in fresh for c in _clashes(p, target, lower)]
    if clashes and on_conflict == "abort":
        raise _taken(clashes)
    patterns, notes, after = wanted, [], 0
    if on_conflict == "skip":
        taken = {clash.pattern for clash in clashes}
        patterns = tuple(p for p in wanted if p not in taken)
        notes = [f"skipped: {clash}" for clash in clashes]
    elif clashes:
        notes = [f"overruled: {clash}" for clash in clashes]
        after = max([c.rule.number for c in clashes if c.path == target.path], default=0)
    if not patterns:
        return Selection(target.text, tuple(notes))
    rules = _block(patterns, _kept(patterns, lower))
    return Selection(with_block(target.text, rules, after=after), tuple(notes))


def registered(text: str) -> tuple[str, ...]:
    """The patterns that the block of a file gives to our driver."""
    rules = merge_rules("\n".join(block_rules(text)))
    return tuple(rule.pattern for rule in rules if rule.merge == OURS)


def skipped(target: Source, lower: list[Source], settled: tuple[str, ...]) -> tuple[str, ...]:
    """The usual patterns that an earlier `--on-conflict skip` left to another driver."""
    if not settled or not set(settled) <= {*DEFAULTS, *JSON}:
        return ()  # nothing is registered, or what the user chose with --pattern
    return tuple(p for p in DEFAULTS if p not in settled and _clashes(p, target, lower))


def sources(paths: list[Path], top: Path | None) -> list[Source]:
    """The attribute files with their texts; those in the working tree know their directory."""
    found = []
    for path in paths:
        inside = top is not None and path.name == ".gitattributes" and path.is_relative_to(top)
        parent = path.parent.relative_to(top).as_posix() if inside and top else ""
        found.append(Source(path, read_attributes(path), "" if parent == "." else parent))
    return found


def _clashes(pattern: str, target: Source, lower: list[Source]) -> list[Clash]:
    # in a file only the last line that covers the pattern counts; of the files the strongest
    for source in (target, *reversed([s for s in lower if not s.directory])):
        start, stop = find_block(source.text)
        rules = [r for r in merge_rules(source.text) if covers(r.pattern, pattern) and not r.fenced]
        if rules and not (stop and rules[-1].number <= start and source is target):
            return [] if rules[-1].merge == OURS else [Clash(pattern, source.path, rules[-1])]
        if pattern in registered(source.text):
            return []
    return []


def _kept(patterns: tuple[str, ...], lower: list[Source]) -> list[str]:
    kept: dict[str, str] = {}
    for source in lower:
        for rule in merge_rules(source.text):
            met = any(overlaps(rule.pattern, ours) for ours in patterns)
            covered = any(covers(rule.pattern, ours) for ours in patterns)
            if rule.fenced or rule.merge == OURS or not met or (covered and not source.directory):
                continue
            pattern = _below(source.directory, rule.pattern)
            kept.pop(pattern, None)  # the last line has the last word
            kept[pattern] = f"{quoted_pattern(pattern)} {_written(rule.merge)}"
    return list(kept.values())


def _below(directory: str, pattern: str) -> str:
    if not directory:
        return pattern
    inner = pattern.removeprefix("/") if "/" in pattern else f"**/{pattern}"
    return f"{directory}/{inner}"


def _block(patterns: tuple[str, ...], kept: list[str]) -> list[str]:
    rules = [f"{quoted_pattern(pattern)} merge={OURS}" for pattern in patterns]
    named = {split_line(line)[0] for line in [*rules, *kept]}
    secrets = [
        f"{name} !merge"
        for name in (*SECRETS, *JSON_SECRETS)
        if name not in named and any(overlaps(name, pattern) for pattern in patterns)
    ]
    return rules + secrets + kept


def _taken(clashes: list[Clash]) -> KmergeError:
    first = clashes[0]
    more = f" (and {len(clashes) - 1} more)" if len(clashes) > 1 else ""
    return KmergeError(
        f"{first.pattern} belongs to {_named(first.rule.merge)} here{more}",
        path=str(first.path),
        line=first.rule.number,
        hint="--on-conflict skip leaves it so, --on-conflict overwrite gives it to kmerge",
        excerpt=first.rule.text,
    )


def _named(merge: str) -> str:
    return {
        "set": "git's text merge",
        "text": "git's text merge",
        "unset": "git's binary merge",
        "binary": "git's binary merge",
        "unspecified": "git's default merge",
        "union": "git's union merge",
    }.get(merge, f"the merge driver {merge}")


def _written(merge: str) -> str:
    words = {"set": "merge", "unset": "-merge", "unspecified": "!merge"}
    return words.get(merge, f"merge={merge}")

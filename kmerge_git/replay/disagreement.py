"""Show a file that kmerge and people merged differently, or write its versions to files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import unified_diff
from pathlib import Path, PurePosixPath

from kmerge_git.replay.past_merges import Replayed, ReplayedTexts

_SHORT = 60  # the most lines of a base that is shown whole

Line = tuple[str, str]  # a text, and its colour or ''


def lines(file: Replayed, texts: ReplayedTexts) -> Iterator[Line]:
    """Yield the base, the diffs from the base, and the diff from kmerge's to people's version."""
    yield f"{file.path} in {file.commit[:10]} {file.subject}", "bold"
    versions = {name: lines_of(data) for name, data in texts.by_name.items()}
    base = versions["base"]
    if len(base) <= _SHORT:
        yield from _section("base", ((line, "") for line in base))
    for name, text in versions.items():
        if name != "base":
            yield from _diff(("base", base), (name, text))
    yield from _diff(("kmerge", versions["kmerge"]), ("people", versions["people"]))


def extract(texts: ReplayedTexts, path: str, directory: str) -> list[str]:
    """Write the files base, ours, theirs, kmerge and people, and return the names of the files."""
    suffix = PurePosixPath(path).suffix
    target = Path(directory)
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for name, data in texts.by_name.items():
        file = target / f"{name}{suffix}"
        file.write_bytes(data)
        written.append(str(file))
    return written


def lines_of(data: bytes) -> list[str]:
    """Return the lines of a text; replace bytes that are not UTF-8."""
    return data.decode("utf-8", "replace").splitlines()


def _diff(old: tuple[str, list[str]], new: tuple[str, list[str]]) -> Iterator[Line]:
    diff = list(unified_diff(old[1], new[1], lineterm=""))[2:]
    colours = {"+": "green", "-": "red", "@": "dim"}
    changes = [(line, colours.get(line[:1], "")) for line in diff]
    return _section(f"{old[0]} -> {new[0]}", changes or [("(the same)", "dim")])


def _section(title: str, text: Iterable[Line]) -> Iterator[Line]:
    yield "", ""
    yield f"== {title}", "blue"
    yield from text

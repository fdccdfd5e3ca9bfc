"""What a template may come to: every way through its blocks, read as YAML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, product

import yaml

LOADER = getattr(yaml, "CLoader", yaml.Loader)
MOST = 32  # ways through a file
_CONTROL = re.compile(r"\s*\{\{-? *(if|with|range|define|else|end)\b(.*?)-?\}\}\s*")
_INLINE = re.compile(r"\{\{.*?\}\}")
_INDENTED = re.compile(r":\s*\{\{-.*nindent.*\}\}")  # an output whose lines stand below its key
_ALONE = re.compile(r"\s*\{\{.*\}\}\s*")


def broken(text: str, path: str) -> set[str]:
    """What is wrong with it in one of its readings at least."""
    return set(_broken(text, path))


@lru_cache(maxsize=4096)
def _broken(text: str, path: str) -> frozenset[str]:
    lines = _controls(text)
    try:
        found = {fault for made in renderings(text) for fault in _faults(made)}
        names = [m[2].strip() for _, m in lines if m and m[1] == "define"]
    except ValueError as error:
        return frozenset({str(error)})
    if not path.endswith(".yaml"):
        found = set()
    return frozenset(found | {f"{name} twice" for name in names if names.count(name) > 1})


def renderings(text: str) -> Iterator[str]:
    """The YAML text of each way through the blocks, with a word for each action."""
    for lines in _ways(_controls(text)):
        bare = ("" if _ALONE.fullmatch(line) else line for line in lines)
        yield "\n".join(_INLINE.sub("word", _INDENTED.sub(":", line)) for line in bare)


Lines = list[tuple[str, "re.Match[str] | None"]]


def _controls(text: str) -> Lines:
    return [(line, _CONTROL.fullmatch(line)) for line in text.splitlines()]


def _ways(lines: Lines) -> Iterator[list[str]]:
    """The lines that are left for each choice of arms; one condition is chosen once."""
    counts: dict[str, int] = {}  # of each condition: its arms, a last one empty if there is no else
    arms: list[tuple[tuple[str, int], ...]] = []  # of every line: conditions and arms
    now: list[tuple[str, int]] = []
    for _, control in lines:
        word = control[1] if control else ""
        if word in ("end", "else") and not now:
            raise ValueError(f"an {word} of nothing")
        if word == "end":
            now.pop()
        elif control and word == "else":
            block, arm = now.pop()
            now.append((block, arm + 1))
            counts[block] = max(counts[block], arm + (2 if control[2].strip() else 1) + 1)
        elif control:
            header = f"{word} {control[2].strip()}"
            counts[header] = max(counts.get(header, 1), 1 if word == "define" else 2)
            now.append((header, 0))
        arms.append(tuple(now))
    if now:
        raise ValueError("no end")
    contrary = [(f"if {name[7:]}", name) for name in counts if name.startswith("if not ")]
    contrary = [pair for pair in contrary if pair[0] in counts]
    for numbers in islice(product(*map(range, counts.values())), MOST):
        chosen = dict(zip(counts, numbers, strict=True))
        if any((not chosen[one]) == (not chosen[other]) for one, other in contrary):
            continue
        yield [
            line
            for (line, control), at in zip(lines, arms, strict=True)
            if not control and all(chosen[block] == arm for block, arm in at)
        ]


def _faults(text: str) -> Iterator[str]:
    """What does not parse, and what stands twice."""
    try:
        for node in yaml.compose_all(text, LOADER):
            yield from _repeated(node, "")
    except yaml.YAMLError as error:
        yield f"does not parse: {str(error).splitlines()[0]}"


def _repeated(node: yaml.Node | None, path: str) -> Iterator[str]:
    if isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            name = f"{path}/{key.value}"
            if name in seen:
                yield f"{name} twice"
            seen.add(name)
            yield from _repeated(value, name)
    elif isinstance(node, yaml.SequenceNode):
        for at, child in enumerate(node.value):
            yield from _repeated(child, f"{path}/{at}")

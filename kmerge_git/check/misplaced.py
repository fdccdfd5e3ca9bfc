"""Where a field belongs that stands at the wrong place of an object."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.check.shapes import FieldType
    from kmerge_git.kube.fieldpath import Path

DEEPEST = 3  # steps away from where it stands


def belongs(root: FieldType | None, path: Path, key: str) -> str:
    """The path of the nearest field of that name, above or below; nothing where none is near."""
    steps = tuple(step if isinstance(step, str) else "[]" for step in path)
    best: tuple[int, int, tuple[str, ...]] | None = None
    for up in range(len(steps) + 1):
        above = steps[: len(steps) - up]
        start = _at(root, above)
        if start is None:
            continue
        for down in _below(start, key, DEEPEST - up if up else DEEPEST):
            cost = (up + len(down), up, (*above, *down))
            if best is None or cost[:2] < best[:2]:
                best = cost
    return _shown(best[2]) if best else ""


def _at(root: FieldType | None, steps: tuple[str, ...]) -> FieldType | None:
    type = root
    for step in steps:
        if type is None:
            return None
        type = type.struct.field(step) if type.struct else type.of
    return type


def _below(start: FieldType, key: str, depth: int) -> list[tuple[str, ...]]:
    """The ways down from a type to a field of a name, the shortest ones first."""
    found: list[tuple[str, ...]] = []
    level: list[tuple[tuple[str, ...], FieldType]] = [((), start)]
    for _ in range(depth + 1):
        below: list[tuple[tuple[str, ...], FieldType]] = []
        for reached, type in level:
            way, here = reached, type
            while here.kind in ("list", "map") and here.of is not None:
                way, here = (*way, "[]"), here.of
            if here.struct is None:
                continue
            if here.struct.field(key) is not None:
                found.append((*way, key))
            names = (n for n in here.struct.names if n not in ("metadata", "status"))
            fields = ((name, here.struct.field(name)) for name in names)
            below += [((*way, name), field) for name, field in fields if field is not None]
        if found:
            return found
        level = below
    return found


def _shown(steps: tuple[str, ...]) -> str:
    text = ""
    for step in steps:
        text += step if step == "[]" or not text else f".{step}"
    return text

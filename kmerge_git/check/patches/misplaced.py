"""Where a field belongs that stands at the wrong place of an object."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.check.patches.shapes import FieldType
    from kmerge_git.kube.fieldpath import Path

DEEPEST = 4  # steps below where it stands
TOP = ("apiVersion", "kind", "metadata")


def belongs(root: FieldType | None, path: Path, key: str) -> str:
    """The path of the nearest field of that name, below or above; nothing where there is none."""
    steps = tuple(step if isinstance(step, str) else "[]" for step in path)
    start = _at(root, steps)
    below = _below(start, key) if start is not None else []
    above = [steps[:n] for n in range(len(steps) - 1, -1, -1) if _has(_at(root, steps[:n]), key)]
    if below and (not above or len(below) <= len(steps) - len(above[0])):
        return _shown((*steps, *below))
    if above and (above[0] or key not in TOP):
        return _shown((*above[0], key))
    return ""


def _has(type: FieldType | None, key: str) -> bool:
    return type is not None and type.struct is not None and type.struct.field(key) is not None


def _at(root: FieldType | None, steps: tuple[str, ...]) -> FieldType | None:
    type = root
    for step in steps:
        if type is None:
            break
        type = type.struct.field(step) if type.struct else type.of
    return type


def _below(start: FieldType, key: str) -> tuple[str, ...]:
    """The shortest way down from a type to a field of a name, or nothing."""
    level: list[tuple[tuple[str, ...], FieldType]] = [((), start)]
    for _ in range(DEEPEST):
        below: list[tuple[tuple[str, ...], FieldType]] = []
        for reached, type in level:
            way, here = reached, type
            while here.kind in ("list", "map") and here.of is not None:
                way, here = (*way, "[]"), here.of
            if here.struct is None:
                continue
            if here.struct.field(key) is not None:
                return (*way, key)
            names = (n for n in here.struct.names if n not in ("metadata", "status"))
            fields = ((name, here.struct.field(name)) for name in names)
            below += [((*way, name), field) for name, field in fields if field is not None]
        level = below
    return ()


def _shown(steps: tuple[str, ...]) -> str:
    text = ""
    for step in steps:
        text += step if step == "[]" or not text else f".{step}"
    return text

"""What documents and elements are called, wherever their names stand in them."""

from __future__ import annotations

from kmerge_git.template.placed import DATA, ENTRY, behind, is_apart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.template.placed import Placed


_QUOTES = str.maketrans("", "", "\"'")


def document_names(units: list[Placed]) -> Iterator[str]:
    """The names of the documents in their order: kind and name, and a number where they repeat."""
    seen: dict[str, int] = {}
    groups: list[list[Placed]] = [[]]
    for unit in units:
        if is_apart(unit):
            groups.append([])
        else:
            groups[-1].append(unit)
    for group in groups:
        name = _document(group)
        seen[name] = seen.get(name, 0) + 1
        yield f"{name}#{seen[name]}" if seen[name] > 1 else name


def _document(units: list[Placed]) -> str:
    kind = name = ""
    below = ""
    for unit in units:
        if unit.role != DATA:
            continue
        text = unit.plain.partition(" #")[0].strip()
        if unit.column == 0:
            below = text
            if text.startswith("kind:"):
                kind = text[5:].strip()
        elif below == "metadata:" and text.startswith("name:") and not name:
            name = text[5:].strip()
    return f"{kind}/{name}"


def column_inside(units: list[Placed], number: int, column: int) -> int:
    """The column of an element whose dash stands alone in its line."""
    below = next((u for u in behind(units, number) if u.role in (DATA, ENTRY)), None)
    return below.column if below is not None and below.column > column else column + 1


def unquoted(text: str) -> str:
    """A line without quotes: another spelling of a name is no other element."""
    return text.translate(_QUOTES)


def name_line(inner: str, column: int, units: list[Placed], number: int) -> str:
    """The line of the name of an element, wherever it stands in it."""
    if inner.startswith("name:"):
        return inner
    for unit in behind(units, number):
        if is_apart(unit) or (unit.role in (DATA, ENTRY) and -1 < unit.column < column):
            break
        if unit.role == DATA and unit.column == column and unit.plain.strip().startswith("name:"):
            return unit.plain.strip()
    return ""

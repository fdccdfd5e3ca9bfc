"""Texts of several lines in a merged file, beside what the sides have in their places."""

from __future__ import annotations

from collections import Counter

from kmerge_git.check.merges.elements import BLOCK, least
from kmerge_git.tree.nodes import Alias, Node, Scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.check.merges.elements import Nodes

SHOWN = 40  # characters of a line in a message


def is_block(node: Node | None) -> bool:
    """Whether a value is a text below a `|` or a `>`."""
    return isinstance(node, Scalar) and node.style in BLOCK


def lost_header(made: Node, sides: Nodes) -> bool:
    """Whether a text is none any more: on the sides that have something here it is.

    Where a side has nothing, the words of the text must be there, below the key.
    """
    there = [side for side in sides if side is not None]
    if not there or is_block(made) or not all(map(is_block, there)) or _is_respelled(made, there):
        return False
    if len(there) == len(sides):
        return True
    texts = [" ".join(lines_of(side)).split() for side in there]
    return any(words and _reads(made, words) for words in texts)


def _is_respelled(made: Node, sides: list[Node]) -> bool:
    """Whether a text stands in quotes now, or in one line: that is no header that was lost."""
    if not isinstance(made, Scalar) or not made.raw:
        return False
    if made.style:
        return "\n" in made.value
    words = made.value.split()
    return "\n" not in made.raw and any(_folds_to(side, words) for side in sides)


def _folds_to(node: Node | None, words: list[str]) -> bool:
    return isinstance(node, Scalar) and node.style == ">" and node.value.split() == words


def _reads(made: Node, words: list[str]) -> bool:
    """Whether a value below its key has the words of a text; as comments they are no value."""
    if isinstance(made, Alias):
        return False
    if made.raw:
        return _starts_a_line(made) and made.raw.split() == words
    below = made.text[made.end :].lstrip()
    return below[:1] == "#" and below[: 4 * len(" ".join(words))].split()[: len(words)] == words


def _starts_a_line(node: Node) -> bool:
    return not node.text[node.text.rfind("\n", 0, node.start) + 1 : node.start].strip()


def damage_of(made: Node, sides: Nodes) -> str:
    """What is wrong with a text of several lines; nothing where a merge can come to it."""
    blocks = [lines_of(side) for side in sides if side is not None and is_block(side)]
    if not is_block(made) or not blocks:
        return ""
    lines = lines_of(made)
    cut = _cut(lines, blocks) if len(blocks) == len(sides) else ""
    return cut or _slipped(lines, blocks)


def lines_of(node: Node) -> list[str]:
    """The lines of a text below a header: as they mean, or, of a folded one, as they stand."""
    assert isinstance(node, Scalar)
    if node.style == "|":
        return _filled(node.value)
    lines = _filled(node.text[node.content : node.end])[1:]
    return _dedented(lines)


def _filled(text: str) -> list[str]:
    return [line.rstrip() for line in text.split("\n") if line.strip()]


def _dedented(lines: list[str]) -> list[str]:
    column = min((len(line) - len(line.lstrip(" ")) for line in lines), default=0)
    return [line[column:] for line in lines]


def _cut(made: list[str], sides: list[list[str]]) -> str:
    """Lines that every side has and no merge drops, and that nobody replaced."""
    tables = [Counter(lines) for lines in sides]
    mine = Counter(made)
    gone = [line for line in tables[0] if mine[line] < least([table[line] for table in tables])]
    if not gone:
        return ""
    new = [line for line in mine if not any(line in table for table in tables)]
    slipped = {line.strip() for line in new}.intersection(line.strip() for line in gone)
    if slipped:
        return f"on every side this line stands at another column: {min(slipped)[:SHOWN]}"
    if len(gone) <= len(new):  # lines that somebody wrote in their place
        return ""
    line = gone[0].strip()[:SHOWN]
    return f"a line that every side of the merge has is gone from this text: {line}"


def _slipped(made: list[str], sides: list[list[str]]) -> str:
    """A line at a column where no side has it, between the lines that a side has around it."""
    known = {line for lines in sides for line in lines}
    around = [_around(lines) for lines in sides]
    for (before, bare, after), line in zip(_around(made), made, strict=True):
        if line not in known and any((before, bare, after) in lines for lines in around):
            return f"a side of the merge has this line at another column: {bare[:SHOWN]}"
    for lines in sides:  # the first line says where the text starts: the others seem to move
        is_same = len(made) > 1 and _dedented(made[1:]) == _dedented(lines[1:])
        if is_same and made[0].strip() == lines[0].strip() and made not in sides:
            return f"a side of the merge has this line at another column: {made[0][:SHOWN]}"
    return ""


def _around(lines: list[str]) -> list[tuple[str, str, str]]:
    """Each line without its column, between its neighbours."""
    framed = ["", *lines, ""]
    return [
        (before, line.strip(), after)
        for before, line, after in zip(framed, lines, framed[2:], strict=False)
    ]

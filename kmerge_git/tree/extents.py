"""Where things end that libyaml's marks do not tell: a block scalar, the lines of an entry.

The rule about lines stands in `tree.nodes`.
"""

from __future__ import annotations

from kmerge_git.text.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.tree.nodes import Collection


def block_entries(
    source: Source, made: Collection, spans: list[tuple[int, int]]
) -> list[tuple[int, int, int, int]]:
    """(lead, attached, line, end) for every entry, given where it starts and its value ends."""
    text, column = source.text, made.column
    pad = " " * column
    result: list[tuple[int, int, int, int]] = []
    floor, last = made.top, len(spans) - 1
    in_line = made.top == made.content  # the first entry stands behind `- ` or `? `
    for index, (start, value_end) in enumerate(spans):
        line = start - column
        if index == 0 and in_line:
            line = start
        elif (line and text[line - 1] != "\n") or not text.startswith(pad, line):
            raise source.error(
                "an entry that does not start its own line", start, "start a new line for it"
            )
        limit = spans[index + 1][0] - column if index < last else made.bottom
        end = text.find("\n", value_end) + 1
        if 0 < end < limit:
            end = _with_deeper_comments(text, end, limit, column)
            if text[value_end - 1] in "]}" and _is_empty(text, start, value_end):
                end = _with_example(text, end, limit, is_last=index == last)
        else:
            end = limit
        if line == floor:
            line = attached = floor  # the same object: a document has very many entries
        else:
            attached = _attached(text, floor, line)
        result.append((attached if index == 0 else floor, attached, line, end))
        floor = end
    return result


def first_line(text: str, top: int, content: int) -> int:
    """Where the lines of a block collection begin, or `content` where it begins in mid-line."""
    line = text.rfind("\n", 0, content) + 1
    if text[line:content].strip(" "):
        return content
    if top and text[top - 1] != "\n":
        top = text.find("\n", top) + 1
    return top if top <= line else line


def block_scalar_end(text: str, content: int, end: int, value: str) -> int:
    """The end of the last line that belongs to a block scalar's value, without its line break.

    `end` is libyaml's, behind the blank lines that follow.
    """
    header_end = text.find("\n", content)
    if header_end < 0 or header_end >= end:
        return end
    header = text[content:header_end]
    keep = "+" in header.split("#")[0]
    if keep and text[end - 1] == "\n":
        result = end - 1
    elif keep:  # what follows is indented
        result = text.rfind("\n", 0, end)
    elif not value.strip("\n"):
        return content + len(header.rstrip())
    else:
        result = _last_line_end(text, header_end, end, value)
    return result - 1 if text[result - 1] == "\r" else result


def _last_line_end(text: str, header_end: int, end: int, value: str) -> int:
    """The end of the last line with characters of the value."""
    lines = text[header_end + 1 : end].split("\n")
    first = min(len(value) - len(value.lstrip("\n")), len(lines) - 1)
    indent = _margin(lines[first]) - _margin(value[first:].split("\n", 1)[0])
    result = position = header_end
    for line in lines:
        position += 1 + len(line)
        # blanks are content where they reach beyond the indentation
        if line.strip(" \t\r") or len(line.rstrip("\r")) > indent:
            result = position
    return min(result, end)


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _with_deeper_comments(text: str, end: int, limit: int, column: int) -> int:
    """Move `end` over the comment lines right below that are indented deeper than `column`."""
    position = end
    while position < limit:
        stop = text.find("\n", position, limit) + 1 or limit
        line = text[position:stop]
        bare = line.lstrip(" \t")
        if bare.startswith("#"):
            if len(line) - len(bare) <= column:
                break
            end = stop
        elif bare.strip():
            break
        position = stop
    return end


def _is_empty(text: str, start: int, end: int) -> bool:
    """Whether an entry is one line that ends in `[]` or `{}`."""
    return text[end - 2 : end] in ("[]", "{}") and text.find("\n", start, end) < 0


def _with_example(text: str, end: int, limit: int, *, is_last: bool) -> int:
    """Move `end` over the comment lines right below, if a blank line follows, or nothing."""
    position = end
    while position < limit:
        stop = text.find("\n", position, limit) + 1 or limit
        bare = text[position:stop].strip()
        if not bare.startswith("#"):
            return end if bare else position
        position = stop
    return position if is_last else end


def _attached(text: str, floor: int, line: int) -> int:
    """The start of the comment block that touches `line`, not above `floor`."""
    while line > floor:
        previous = text.rfind("\n", floor, line - 1) + 1 or floor
        if not text[previous:line].lstrip(" \t").startswith("#"):
            break
        line = previous
    return line

"""Read scalars of several lines: the header of a block scalar, its comment, and all lines."""

from __future__ import annotations

from kmerge_git.tree.nodes import Scalar


def header(scalar: Scalar) -> str:
    """Return the header of a block scalar, such as `|` or `>-`, without comment and digits."""
    first = scalar.text[scalar.content : scalar.end].split("\n", 1)[0].split("#")[0]
    return "".join(char for char in first.strip() if not char.isdigit())


def header_comment(scalar: Scalar) -> str:
    """Return the comment after the header of a block scalar, or ''."""
    first = scalar.text[scalar.content : scalar.text.find("\n", scalar.content)]
    return first[first.find("#") :].rstrip() if "#" in first else ""


def body_lines(scalar: Scalar) -> list[str]:
    """Return the lines of a block scalar below its header, without their indentation."""
    lines = scalar.text[scalar.content : scalar.end].split("\n")[1:]
    indent = body_indent(scalar)
    return [line[indent:] if line[:indent].strip() == "" else line for line in lines]


def body_indent(scalar: Scalar) -> int:
    """Return the indentation of the lines of a block scalar."""
    first, *lines = scalar.text[scalar.content : scalar.end].split("\n")
    digits = [c for c in first.split("#")[0] if c.isdigit()]
    if digits:
        value_lines = scalar.value.split("\n")
        # with an explicit indentation the value itself shows how many blanks are content
        for line, value in zip(lines, value_lines, strict=False):
            if value.strip() and line.endswith(value.rstrip("\n")):
                return len(line) - len(value)
    for line in lines:
        if line.strip():
            return len(line) - len(line.lstrip(" "))
    return 0


def flow_lines(scalar: Scalar) -> list[str]:
    """Return the lines of a plain or quoted scalar, with their indentation."""
    return scalar.text[scalar.content : scalar.end].split("\n")


def flow_indent(scalar: Scalar) -> int:
    """Return the least indentation of the lines of a plain or quoted scalar below its first."""
    below = [line for line in flow_lines(scalar)[1:] if line.strip()]
    return min((len(line) - len(line.lstrip(" ")) for line in below), default=0)


def has_explicit_indent(scalar: Scalar) -> bool:
    """Return whether the header states the indentation, as `|2` does."""
    first = scalar.text[scalar.content : scalar.end].split("\n", 1)[0].split("#")[0]
    return any(char.isdigit() for char in first)

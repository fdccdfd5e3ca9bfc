"""Text of others in Markdown: it shows as text, whatever is written in it.

Job summaries, comments and notes are Markdown with HTML in it, and forges make links of names and
numbers. Every text that somebody else chose goes through `escaped`.
"""

from __future__ import annotations

from kmerge_git.visible import visible

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_INSIDE = frozenset("-./")  # as they are between two plain characters: `apps/web-1.yaml`
# forges look for `@name` and `#1` in what was rendered: a comment keeps the two parts apart
_SPLIT = frozenset("@#")


def escaped(text: str) -> str:
    """The text for one line of Markdown, of a table or of HTML: it shows as text."""
    shown = visible(text)
    out = []
    for at, char in enumerate(shown):
        if char in _PLAIN or (not char.isascii() and char.isprintable()) or _is_inside(shown, at):
            out.append(char)
        else:
            out.append(f"&#{ord(char)};" + ("<!-- -->" if char in _SPLIT else ""))
    return "".join(out)


def code(text: str) -> str:
    """The same as code; nothing for nothing."""
    return f"<code>{escaped(text)}</code>" if text else ""


def _is_inside(text: str, at: int) -> bool:
    """Whether a character means nothing where it stands; at an end it could, to Markdown."""
    char, before, after = text[at], text[max(at - 1, 0) : at], text[at + 1 : at + 2]
    if char == " ":
        return before not in ("", " ") and after != ""
    if char not in _INSIDE or before not in _PLAIN or after not in _PLAIN:
        return False
    return char != "." or text[max(at - 3, 0) : at].lower() != "www"

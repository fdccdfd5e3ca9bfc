"""Plain words as YAML 1.1 (kubectl, Helm, Argo CD) and YAML 1.2 readers take them."""

from __future__ import annotations

from kmerge_git.check.plain import Text

YES_NO = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"), "true"),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF"), "false"),
}
_DIGITS = frozenset("0123456789")
_OCTAL = frozenset("01234567")


def may_differ(text: str) -> bool:
    """Whether some word of a text could be read differently; cheap, and true too often."""
    for mark in ",[]{}:":
        text = text.replace(mark, " ")
    words = set(text.split())
    if not words.isdisjoint(YES_NO):
        return True
    return any(word[4:5] == "-" or (word[0] == "0" and len(word) > 1) for word in words)


def is_plain(value: Text) -> bool:
    """Whether the reader decides what the scalar is."""
    return not value.style and not value.tag


def is_integer(text: str) -> bool:
    """Whether a plain word is a decimal integer."""
    digits = text[1:] if text[:1] in ("-", "+") else text
    return bool(digits) and _DIGITS.issuperset(digits)


def octal(text: str) -> int | None:
    """What YAML 1.1 reads for `0777`; None for other words."""
    if len(text) > 1 and text[0] == "0" and _OCTAL.issuperset(text):
        return int(text, 8)
    return None


def is_date(text: str) -> bool:
    """Whether a plain word is a date or a time, as `2020-01-31`."""
    if len(text) < 8 or text[4:5] != "-" or not _DIGITS.issuperset(text[:4]):
        return False
    day, _, time = text.replace("T", " ").replace("t", " ").partition(" ")
    parts = day.split("-")
    if len(parts) != 3 or not all(p.isdigit() and len(p) <= 2 for p in parts[1:]):
        return False
    return not time or time[:1].isdigit()

"""The patterns of a `target:`: regular expressions that a stranger may have written."""

from __future__ import annotations

YES, NO, PERHAPS = "yes", "no", "perhaps"
LONGEST = 1000  # characters of a pattern
STEPS = 1_000_000  # that trying all ways through a text may take


def matches(pattern: str, values: list[str]) -> str:
    """Whether a pattern matches one of the values as a whole: YES, NO, or PERHAPS.

    kustomize's expressions take a time that grows with the text, Python's may take years: those
    that could are not tried.
    """
    if not pattern or pattern in values:
        return YES
    if pattern.replace("-", "a").isalnum():  # a name, as most are
        return NO
    if _ways(pattern, max(map(len, values), default=0)) > STEPS:
        return PERHAPS
    import re

    try:
        return YES if any(re.fullmatch(f"(?:{pattern})", value) for value in values) else NO
    except (re.error, OverflowError, RecursionError):
        return PERHAPS


def _ways(pattern: str, length: int) -> int:
    """How many ways through a text there may be at most; what repeats a group has too many."""
    if len(pattern) > LONGEST:
        return STEPS + 1
    ways, branches, before = length + 1, [1], ""
    is_escaped = False
    for char in _without_sets(pattern):
        if is_escaped:
            is_escaped, before = False, "x"
            continue
        is_escaped = char == "\\"
        if char in "*+{":
            ways *= STEPS if before == ")" else length + 1
        elif char == "?" and before not in ("", "(", "*", "+", "?", "}"):
            ways *= 2
        elif char == "(":
            branches.append(1)
        elif char == "|":
            branches[-1] += 1
        elif char == ")" and len(branches) > 1:
            ways *= branches.pop()
        before = char
        if ways > STEPS:
            break
    return ways * branches[0]


def _without_sets(pattern: str) -> str:
    """The pattern with one character for each `[..]`."""
    kept, position = "", 0
    while position < len(pattern):
        char = pattern[position]
        if char == "\\":
            kept += pattern[position : position + 2]
            position += 2
        elif char == "[":
            end = position + 1 + (pattern[position + 1 : position + 2] == "^") + 1
            while end < len(pattern) and pattern[end] != "]":
                end += 1 + (pattern[end] == "\\")
            kept += "x"
            position = end + 1
        else:
            kept += char
            position += 1
    return kept

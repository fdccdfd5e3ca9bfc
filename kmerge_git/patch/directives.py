"""Recognize the directives of strategic merge patches."""

from __future__ import annotations

PATCH = "$patch"
RETAIN_KEYS = "$retainKeys"
ORDER = "$setElementOrder"
DELETE = "$deleteFromPrimitiveList"
DIRECTIVES = (PATCH, RETAIN_KEYS, ORDER, DELETE)


def is_directive(key: str) -> bool:
    """Return whether the API server executes a key; `$setElementOrder` needs no `/field` for it."""
    return key in (PATCH, RETAIN_KEYS) or key.startswith((ORDER, DELETE))


def is_complete_directive(key: str) -> bool:
    """Return the same where a directive about a list names it: `$setElementOrder/containers`."""
    return key in (PATCH, RETAIN_KEYS) or key.startswith((f"{ORDER}/", f"{DELETE}/"))

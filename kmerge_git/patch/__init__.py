"""Apply and make strategic merge patches, on plain values.

The package itself recognizes the directives of such patches.
"""

from __future__ import annotations

PATCH = "$patch"
RETAIN_KEYS = "$retainKeys"
ORDER = "$setElementOrder"
DELETE = "$deleteFromPrimitiveList"
DIRECTIVES = (PATCH, RETAIN_KEYS, ORDER, DELETE)


def is_directive(key: str) -> bool:
    """Return whether the API server treats a key as a directive.

    A key such as `$setElementOrder` counts even if `/FIELD` is missing.
    """
    return key in (PATCH, RETAIN_KEYS) or key.startswith((ORDER, DELETE))


def is_complete_directive(key: str) -> bool:
    """Return whether a key is a complete directive, such as `$setElementOrder/containers`."""
    return key in (PATCH, RETAIN_KEYS) or key.startswith((f"{ORDER}/", f"{DELETE}/"))

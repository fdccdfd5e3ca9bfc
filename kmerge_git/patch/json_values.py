"""Compare, copy and print plain JSON values as Go does, and report errors with field paths.

Values are equal only if their Go types are equal: `1`, `1.0`, `"1"` and `true` are four different
values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any

from kmerge_git.errors import PatchError
from kmerge_git.kube.fieldpath import show

Value = Any  # dict, list, str, bool, None, int, float
Map = dict[str, Any]
At = tuple[str | int, ...]  # map keys and list indexes from the root of the patch

_GO_TYPES: dict[type, str] = {
    dict: "map[string]interface {}",
    list: "[]interface {}",
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    type(None): "%!s(<nil>)",
}


def same(left: Value, right: Value) -> bool:
    """Return whether two values are equal in type and content, at every depth."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(v, right[k]) for k, v in left.items())
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def copied(value: Map) -> Map:
    """Return a deep copy, so that the result shares no object with the inputs."""
    return {key: _copied(item) for key, item in value.items()}


def _copied(value: Value) -> Value:
    if isinstance(value, dict):
        return copied(value)
    return [_copied(item) for item in value] if isinstance(value, list) else value


def sorted_keys(value: Value) -> Value:
    """Return the value with the keys of every map sorted, as kubectl prints objects."""
    if isinstance(value, dict):
        return {key: sorted_keys(value[key]) for key in sorted(value)}
    return [sorted_keys(item) for item in value] if isinstance(value, list) else value


def no_number(value: Value) -> At | None:
    """Return the path of the first number that JSON cannot express: `.nan` or `.inf`."""
    if isinstance(value, float):
        return None if isfinite(value) else ()
    inner: Iterable[tuple[str | int, At | None]]
    if isinstance(value, dict):
        inner = ((key, no_number(item)) for key, item in value.items())
    elif isinstance(value, list):
        inner = ((index, no_number(item)) for index, item in enumerate(value))
    else:
        return None
    return next(((step, *at) for step, at in inner if at is not None), None)


def go_type(value: Value) -> str:
    """Return the name that Go's error messages use for the type of a value."""
    return _GO_TYPES.get(type(value), type(value).__name__)


def go_text(value: Value) -> str:
    """Return the text that Go's `%v` prints for a value."""
    if isinstance(value, dict | list):
        return _go_collection(value, go_text)
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _float_text(value) if isinstance(value, float) else str(value)


def go_string(value: Value) -> str:
    """Return the text that Go's `%s` prints for a value.

    For a number, a boolean or null, Go prints an error text.
    """
    if isinstance(value, dict | list):
        return _go_collection(value, go_string)
    if value is None:
        return "%!s(<nil>)"
    return value if isinstance(value, str) else f"%!s({go_type(value)}={go_text(value)})"


def _go_collection(value: Value, printed: Callable[[Value], str]) -> str:
    if isinstance(value, list):
        return "[" + " ".join(map(printed, value)) + "]"
    return "map[" + " ".join(f"{key}:{printed(value[key])}" for key in sorted(value)) + "]"


def _float_text(value: float) -> str:
    # Go's %g prints the shortest digits. Below 1e-4 and from 1e6 on, it prints an exponent
    # of at least two digits.
    mantissa, _, power = f"{value!r}".partition("e")
    whole, _, part = mantissa.lstrip("-").partition(".")
    digits = (whole + part).lstrip("0").rstrip("0") or "0"
    zeros = len(part) - len(part.lstrip("0"))
    exponent = int(power or 0) + (len(whole) - 1 if whole != "0" else -zeros - 1)
    sign = "-" if value < 0 else ""
    if digits == "0" or -4 <= exponent < 6:
        return sign + (mantissa.lstrip("-").removesuffix(".0") if not power else f"{abs(value):f}")
    head = digits[0] + (f".{digits[1:]}" if len(digits) > 1 else "")
    return f"{sign}{head}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def failure(why: str, at: At) -> PatchError:
    """Return a `PatchError` whose message names the path of a field in the patch."""
    return PatchError(why, field=show(at), steps=at)

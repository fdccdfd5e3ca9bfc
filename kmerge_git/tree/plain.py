"""Plain values, as JSON knows them: which are the same, and which elements of two lists are."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

_NAMES = ("name", "containerPort", "mountPath", "key", "type", "port")


def equal(a: object, b: object) -> bool:
    """Whether two plain values are the same; `1`, `1.0` and `true` are three values."""
    if isinstance(a, dict) and isinstance(b, dict):
        return len(a) == len(b) and all(k in b and equal(v, b[k]) for k, v in a.items())
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(equal, a, b))
    return type(a) is type(b) and (a == b or (a != a and b != b))  # noqa: PLR0124  (nan)


class Likeness:
    """Compares values that stay as they are: a number for each tells most that differ at once."""

    __slots__ = ("_numbers",)

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}  # of collections, by their identity

    def same(self, a: object, b: object) -> bool:
        """What `equal` says; each collection is looked through once, however often it is asked."""
        return self.number(a) == self.number(b) and equal(a, b)

    def number(self, value: object) -> int:
        """The same for values that are equal."""
        if not isinstance(value, dict | list | tuple):
            return hash(("nan",) if value != value else (type(value), value))  # noqa: PLR0124
        found = self._numbers.get(id(value))
        if found is None:
            if isinstance(value, dict):
                found = hash(frozenset((key, self.number(item)) for key, item in value.items()))
            else:
                found = hash(tuple(map(self.number, value)))
            self._numbers[id(value)] = found
        return found

    def partners(self, have: list[object], want: list[object]) -> list[int | None]:
        """For every wanted element the one that becomes it: equal, of one name, in one place."""
        partners: list[int | None] = [None] * len(want)
        free = dict.fromkeys(range(len(have)))

        def assign(part: Callable[[object], Iterable[object]]) -> None:
            known: dict[Hashable, list[int]] = {}
            for index in reversed(free):
                for value in part(have[index]):
                    known.setdefault(self.number(value), []).append(index)
            for index, wanted in enumerate(want):
                if partners[index] is not None:
                    continue
                for value in part(wanted):
                    if found := known.get(self.number(value)):
                        partners[index] = taken = found.pop()
                        del free[taken]

        assign(lambda value: (value,))
        for name in _NAMES:
            assign(lambda value, name=name: _field(value, name))  # type: ignore[misc]
        for index, wanted in enumerate(want):
            if partners[index] is None and index in free and _is_like(have[index], wanted):
                partners[index] = index
                del free[index]
        return partners


def _field(value: object, name: str) -> tuple[object, ...]:
    return (value[name],) if isinstance(value, dict) and name in value else ()


def _is_like(a: object, b: object) -> bool:
    """Whether an element may become the one that is wanted in its place."""
    if not isinstance(a, dict) or not isinstance(b, dict):
        return type(a) is type(b)
    return any(k in b and equal(v, b[k]) for k, v in a.items())

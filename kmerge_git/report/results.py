"""Hold the result of a command as fields for programs and as lines for people.

Every JSON object that a command prints begins with `schema`. This number grows by one when a field
changes its meaning; a new field does not change the number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    Part = str | tuple[str, str]  # a text, or a text and its colour
    Line = str | tuple[Part, ...]

SCHEMA = 1


class CommandResult:
    """Hold the result of a command; make the fields and the lines only when needed."""

    __slots__ = ("fields", "lines")

    def __init__(
        self,
        fields: Callable[[], Mapping[str, object]],
        lines: Callable[[], Iterable[Line]] = tuple,
    ) -> None:
        self.fields = fields
        self.lines = lines

    def as_json(self) -> str:
        """Return the fields of the result as one JSON object."""
        return dumps({"schema": SCHEMA, **self.fields()}) + "\n"


def dumps(report: object) -> str:
    """Return JSON in ASCII, so that no control character reaches a terminal."""
    import json  # most results are printed as lines

    return json.dumps(report, indent=2)

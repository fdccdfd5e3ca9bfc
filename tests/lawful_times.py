"""Which timestamp is the later one, and where a later one stands for both: read with `re` alone.

The places are known by name, as people know them: `createdAt` of an operator's ClusterServiceVersion,
`generated` of a Helm index or of a lock of dependencies.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from fractions import Fraction

FORM = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
FILES = {"Chart.lock": "digest", "requirements.lock": "digest", "index.yaml": "entries"}


def moment(text: object) -> Fraction | None:
    """Return the seconds since some day, or None for what is no time of RFC 3339."""
    plain = text.removeprefix("!spelling ") if isinstance(text, str) else ""  # as `said` has it
    match = FORM.fullmatch(plain)
    if match is None:
        return None
    *numbers, fraction, sign, hours, minutes = match.groups()
    away = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    try:
        zone = timezone(-away if sign == "-" else away)
        at = datetime(*map(int, numbers), tzinfo=zone)  # type: ignore[arg-type, misc]
    except ValueError:
        return None
    return Fraction(round(at.timestamp())) + Fraction(fraction or 0)


def later(base: object, ours: object, theirs: object) -> object:
    """Return the later value of two that both changed, or None where a person decides.

    A base of None is no value.
    """
    at = [moment(text) for text in (base, ours, theirs)]
    if at[1] is None or at[2] is None or at[1] == at[2]:
        return None
    if base is not None and (at[0] is None or at[0] > min(at[1], at[2])):
        return None
    return ours if at[1] > at[2] else theirs


def is_place(file: str, steps: tuple[str, ...], fields: object) -> bool:
    """Return whether a program's timestamp is at a path of a document, which has these fields."""
    if not isinstance(fields, dict):
        return False
    if steps == ("metadata", "annotations", "createdAt"):
        return fields.get("kind") == "ClusterServiceVersion"
    return steps == ("generated",) and FILES.get(file.rpartition("/")[2], ".") in fields

"""Dates and times as they stand in tags and in fields, and numbers."""

from __future__ import annotations

DIGITS = frozenset("0123456789")
LONGEST = 200  # characters of a number


def timestamp(text: str) -> tuple[str, tuple[int, int]] | None:
    """`2023-10-11T17:54:55Z`: what it says besides the day, and its place in time."""
    year, month, day = text[:4], text[5:7], text[8:10]
    if not (is_number(year) and is_number(month + day) and text[4:5] == text[7:8] == "-"):
        return None
    if len(text) < 10 or not _is_day(month, day):
        return None
    days = _days(int(year), int(month), int(day))
    if len(text) == 10:
        return "day", (days * 86400, 0)
    if text[10] not in "Tt ":
        return None
    clock, zone, offset = _zone(text[11:])
    clock, _, fraction = clock.partition(".")
    parts = clock.split(":")
    is_clock = len(parts) in (2, 3) and all(len(p) == 2 and is_number(p) for p in parts)
    if offset is None or not is_clock or not is_time("".join(parts)):
        return None
    if "." in text and (not is_number(fraction) or len(parts) < 3):
        return None
    hours, minutes, seconds = (int(part) for part in (*parts, "0")[:3])
    moment = days * 86400 + hours * 3600 + minutes * 60 + seconds - offset
    return f"{len(parts)} {zone}", (moment, int(fraction[:9].ljust(9, "0")))


def _zone(text: str) -> tuple[str, str, int | None]:
    """The time of day, whether it has a zone, and how many seconds that is ahead; None: no time."""
    if text[-1:] in ("Z", "z"):
        return text[:-1], "zone", 0
    at = max(text.rfind("+"), text.rfind("-"))
    if at < 0:
        return text, "", 0
    digits = text[at + 1 :].replace(":", "")
    if len(digits) != 4 or not is_number(digits) or not is_time(digits):
        return text, "", None
    ahead = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return text[:at], "zone", ahead if text[at] == "+" else -ahead


def _days(year: int, month: int, day: int) -> int:
    """Days since some day long ago."""
    year, month = (year, month - 3) if month > 2 else (year - 1, month + 9)
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + day


def is_date(text: str) -> bool:
    """`20240131`, perhaps with the time of day behind it."""
    if len(text) not in (8, 12, 14) or not is_number(text):
        return False
    return "1990" <= text[:4] < "2100" and _is_day(text[4:6], text[6:8]) and is_time(text[8:])


def _is_day(month: str, day: str) -> bool:
    return "01" <= month <= "12" and "01" <= day <= "31"


def is_time(digits: str) -> bool:
    """`hhmmss`, `hhmm` or nothing; a minute may have 61 seconds."""
    return digits[:2] <= "23" and digits[2:4] <= "59" and digits[4:] <= "60"


def is_number(text: str) -> bool:
    return 0 < len(text) <= LONGEST and DIGITS.issuperset(text)

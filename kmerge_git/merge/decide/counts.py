"""Whether what differs in two versions counts the same thing, and what counts nothing at all.

A policy that takes the higher of two values must not take what only looks like a version: commits
and days, numbers that are padded, builds of two things, a flag with its value.
"""

from __future__ import annotations

from kmerge_git.merge.decide.times import DIGITS, is_date

COUNTERS = ("b", "build", "n", "r", "rev", "run", "ci")  # what stands in front of a build's number
MARKS = ("g", "h", "sha")  # what may stand in front of a commit
HEX = frozenset("0123456789abcdef")
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
NAMES = DIGITS | set(LETTERS + "-_.")
RANGES = ("", "^", "~", "~>", "=", "==", ">", ">=")
KEYS = ("version", "tag", "image")  # `--version=1.2.3` is a version, `--qps=1.5` is not
MANY = 7  # digits: a date, a time, perhaps a commit


def is_named(text: str) -> bool:
    """Whether a name, or the sign of a range, stands in front of the first digit; or nothing."""
    front = text[: next(n for n, char in enumerate(text) if char in DIGITS)]
    if front.rstrip(" vV") in RANGES:
        return front[:1] != " "
    key, sign, name = front.rpartition("=")
    if sign:
        return key.lower().endswith(KEYS) and NAMES.issuperset(name)
    return NAMES.issuperset(name) and name[0] not in "-."  # a flag, or less than nothing


def is_image_name(name: str) -> bool:
    """Whether a tag may stand behind it: no sentence, no other flag's value, no address."""
    key, sign, _ = name.rpartition("=")
    is_one_word = " " not in name or "{{" in name
    return is_one_word and name[-1:] != ":" and (not sign or key.lower().endswith(KEYS))


def count_alike(one: list[str], other: list[str], word: str) -> bool:
    """Whether the first numbers in which two versions differ are alike; `word` is in front."""
    if _begins_with_year(one) != _begins_with_year(other) or _may_be_days(one, other):
        return False
    pairs = zip(one, other, strict=False)
    return next((are_counts(a, b, word) for a, b in pairs if int(a) != int(b)), True)


def are_counts(one: str, other: str, word: str, *, is_sure: bool = False) -> bool:
    """Whether the larger of two numbers is the later one; `is_sure`: a commit stands beside it."""
    sizes = len(one), len(other)
    if sizes[0] != sizes[1]:
        is_padded = any(number[0] == "0" and number != "0" for number in (one, other))
        return max(sizes) < MANY and not is_padded  # 1.02 and 1.1
    if max(sizes) < MANY or (is_date(one) and is_date(other)):
        return True
    if sizes[0] in (8, 12, 14) and any(1900 <= int(n[:4]) < 2100 for n in (one, other)):
        return False  # there is no such day
    is_unix = sizes[0] in (10, 13) and one[0] == other[0] == "1"
    return is_unix or is_sure or word.lower() in COUNTERS


def _begins_with_year(numbers: list[str]) -> bool:
    """Whether it is `2023.10`, which is not to be compared with `1.5`."""
    return len(numbers) > 1 and _is_year(numbers[0])


def _may_be_days(one: list[str], other: list[str]) -> bool:
    """Whether they may be days like `31.12.2023`, and not the same one is the later in each way."""
    if not all(len(numbers) == 3 and _is_year(numbers[2]) for numbers in (one, other)):
        return False
    a, b = ([int(number) for number in numbers] for numbers in (one, other))
    ways = ((0, 1, 2), (2, 1, 0), (2, 0, 1))
    return len({[a[n] for n in way] > [b[n] for n in way] for way in ways}) > 1


def _is_year(number: str) -> bool:
    return len(number) == 4 and "1990" <= number < "2100"


def flavour(metadata: str) -> list[str]:
    """The words of a build's metadata: `k3s1` and `rke2r1` are builds of two things."""
    parts = metadata.lower().replace("-", ".").split(".")
    words = ("".join(c for c in part if c not in DIGITS) for part in parts if not is_commit(part))
    return [word for word in words if word]


def are_commits(a: str, b: str) -> bool:
    """Whether two parts can only be hashes; one of digits alone is a hash beside another one."""
    for mark in MARKS:
        if a.startswith(mark) and b.startswith(mark):
            a, b = a[len(mark) :], b[len(mark) :]
            break
    both = a + b
    is_both = is_commit(a) and is_commit(b)
    return is_both and not DIGITS.isdisjoint(both) and not DIGITS.issuperset(both)


def is_commit(part: str) -> bool:
    """Whether it may be the hash of a commit."""
    return MANY <= len(part) <= 40 and HEX.issuperset(part)

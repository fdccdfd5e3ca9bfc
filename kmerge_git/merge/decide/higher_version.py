"""Return which of two versions is the higher version, or why that is uncertain.

The following can be compared: versions (`1.2.3`, `v2`, `1.3.0-rc.1`, `1.27-alpine`), the tags of
one image, tags with a date and a commit (`v20221123-4b1eb2a191`), build numbers behind the same
beginning (`0.1.0-n51.h94d5f0b`), and timestamps. Plain numbers are quantities, never versions. The
following cannot be compared: commits, ambiguous dates, numbers with leading zeros, builds of two
different things, and a command-line flag with its value.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    # prefix, numbers, the parts of a pre-release (empty for a release), variant
    Version = tuple[str, tuple[int, ...], tuple[str, ...], str]
    Answer = tuple[str, str]  # the higher side and '', or '' and the reason
    Pair = tuple[str, str]
    Parts = list[tuple[int, int, str]]  # the parts of a pre-release in comparable form

BEFORE_RELEASE = ("alpha", "beta", "dev", "pre", "preview", "rc", "snapshot")
STAGES = frozenset(("alpha", "beta", "rc"))  # the other words have no order
PULLS = ("pr", "mr", "pull")
NUMBERS = "0123456789"

NO_VERSION = "they are not versions"
ONE_VERSION = "they are one version"
OTHER_FORM = "they count in two ways"
OTHER_SERIES = "they are of two series or variants"


def higher(ours: str, theirs: str) -> str:
    """Return `ours` or `theirs`, the side with the higher version of the same thing, or ''."""
    return compared(ours, theirs)[0]


def why_not_higher(ours: str, theirs: str) -> str:
    """If neither text is the higher version, return the reason; otherwise return ''."""
    return compared(ours, theirs)[1]


def compared(ours: str, theirs: str) -> Answer:
    """Return the side with the higher version, or an empty side and the reason."""
    if ours == theirs:
        return "", ONE_VERSION
    times = timestamp(ours), timestamp(theirs)
    if times[0] is not None and times[1] is not None:
        if times[0][0] != times[1][0]:
            return "", OTHER_FORM
        return _first(times[0][1] > times[1][1], times[0][1] == times[1][1])
    if image(ours) != image(theirs):
        return "", "they name two things"
    if not is_image_name(image(ours)):
        return "", NO_VERSION
    if _is_digest(ours) or _is_digest(theirs):
        return "", "a digest has no order"
    one, other = tag(ours), tag(theirs)
    if one == other:
        return "", "the tag is one, the digests are two"
    return _ordered(one, other, is_bare=not image(ours))


def _first(is_higher: bool, is_same: bool = False) -> Answer:
    return ("", ONE_VERSION) if is_same else ("ours" if is_higher else "theirs", "")


def _ordered(one: str, other: str, *, is_bare: bool) -> Answer:
    """Compare two tags, or two values that name no image."""
    refused = {_refused(text, is_bare=is_bare) for text in (one, other)} - {""}
    if refused:
        return "", min(refused)
    mine, yours = version(one), version(other)
    parts = _parts(one), _parts(other)
    if mine is None or yours is None or _are_parted(mine, yours, parts[0][0], parts[1][0]):
        return _in_series(*parts) if parts[0][1] == parts[1][1] else ("", OTHER_SERIES)
    if flavour(one.partition("+")[2]) != flavour(other.partition("+")[2]):
        return "", OTHER_SERIES
    word = _parts(mine[0].rstrip("-_."))[0][-1]
    if not count_alike(_numbers_of(one, mine), _numbers_of(other, yours), word):
        return "", OTHER_FORM
    left, right = _rank(mine), _rank(yours)
    if left[0] == right[0] and not _are_stages(left[2], right[2]):
        return "", OTHER_SERIES
    return _first(left > right, left == right)


def _are_parted(mine: Version, yours: Version, one: list[str], other: list[str]) -> bool:
    """Return whether two versions cannot be compared.

    They cannot if their prefixes or variants differ, or if they contain different commits.
    """
    if (mine[0], mine[3]) != (yours[0], yours[3]):
        return True
    return any(a != b and are_commits(a, b) for a, b in zip(one, other, strict=False))


def _refused(text: str, *, is_bare: bool) -> str:
    """If a text cannot be compared with any text, return the reason; otherwise return ''."""
    if DIGITS.isdisjoint(text) or not is_named(text):
        return NO_VERSION
    if is_bare and text.count(".") == 3 and all(map(_is_byte, text.split("."))):
        return "they may be addresses"
    if is_number(text) and not is_date(text) and (is_bare or len(text) >= 7):
        return "plain numbers are not versions"  # a long number behind an image may be a commit
    return "the number of a pull request is no order" if _is_pull(_parts(text)[0]) else ""


# -- versions


def version(text: str) -> Version | None:
    """Return the parts of `v1.2.3-rc.1`, or None for other texts such as the hash of a commit."""
    text = text.partition("+")[0]
    if len(text) > LONGEST:
        return None
    first = next((i for i, char in enumerate(text) if char in DIGITS), -1)
    if first < 0:
        return None
    prefix, rest = text[:first], text[first:]
    numbers, dash, suffix = rest.partition("-")
    parts = numbers.split(".")
    if not all(map(is_number, parts)) or (dash and not suffix):
        return None
    return (prefix, tuple(int(part) for part in parts), *_suffix(suffix))


def _numbers_of(text: str, found: Version) -> list[str]:
    """Return the numbers of a version as they are written."""
    return text[len(found[0]) :].partition("+")[0].partition("-")[0].split(".")


def _suffix(suffix: str) -> tuple[tuple[str, ...], str]:
    """Return the pre-release (`rc.1`) and the variant (`alpine`) of a suffix.

    Only versions with the same variant are comparable.
    """
    before, _, variant = suffix.partition("-")
    parts = tuple(before.lower().split("."))
    words = [part.rstrip(NUMBERS) for part in parts if not is_number(part)]
    # a branch or a commit in the suffix has no known order
    if not is_number(parts[0]) and all(word in BEFORE_RELEASE for word in words):
        return parts, variant
    return (), suffix


def _are_stages(one: Parts, other: Parts) -> bool:
    """Return whether two pre-releases have a known order, such as `alpha` before `beta`.

    The first words in which the pre-releases differ decide.
    """
    words = next(((a[2], b[2]) for a, b in zip(one, other, strict=False) if a != b), ("", ""))
    return not all(words) or STAGES.issuperset(words)


def _rank(found: Version) -> tuple[tuple[int, ...], bool, Parts]:
    _, numbers, before, _ = found
    while numbers and numbers[-1] == 0:
        numbers = numbers[:-1]  # 1.2 and 1.2.0 are one version
    parts = []
    for part in before:
        word = part.rstrip("0123456789")
        count = part[len(word) :]
        # semver: numbers are lower than words
        parts.append((1 if word else 0, int(count or 0) if not word else 0, word))
        if word and count:
            parts.append((0, int(count), ""))
    return numbers, not before, parts


# -- images


def image(text: str) -> str:
    """Return the image of `registry:5000/app:1.2@sha256:...`, or the action of `owner/action@v1.2`.

    Return '' for a version without an image.
    """
    name, _, digest = text.partition("@")
    if digest and ":" not in digest:
        return name
    slash = name.rfind("/")
    colon = name.find(":", slash + 1)
    if colon >= 0:
        return name[:colon]
    return name if slash >= 0 or "@" in text else ""


def tag(text: str) -> str:
    """Return the tag of an image; return a text without an image unchanged.

    Return '' for an image with a digest and no tag.
    """
    known = image(text)
    if not known:
        return text
    name, _, digest = text.partition("@")
    return name[len(known) + 1 :] if ":" in digest or not digest else digest


def _is_digest(text: str) -> bool:
    """Return whether a text is `sha256:...`, or an image with a digest and no tag."""
    return image(text) in ("sha256", "sha512") or ("@" in text and not tag(text))


def is_port(text: str) -> bool:
    """Return whether a text that looks like an image with a tag may be a host with a port."""
    return image(text) != "" and is_number(tag(text))


# -- tags with a date and a commit, or a build's number


def _in_series(one: tuple[list[str], str], other: tuple[list[str], str]) -> Answer:
    """Compare two tags of the same form, part by part.

    Either only dates differ, and they decide, or only one number differs, and it decides.
    """
    days: list[Pair] = []
    counts: list[tuple[int, str, Pair]] = []
    commits = 0
    behind_date = False
    for n, (a, b) in enumerate(zip(one[0], other[0], strict=True)):
        word, x, y = _numbers(a, b)
        are_dates = is_date(x) and is_date(y) and len(x) == len(y)
        if a != b:
            are_times = len(x) == len(y) in (4, 6) and is_time(x) and is_time(y)
            if are_dates or (behind_date and not word and are_times):
                days.append((x, y))
            elif are_commits(a, b):
                commits += 1
            elif not x:
                return "", OTHER_SERIES
            else:
                counts.append((n, word, (x, y)))
        behind_date = are_dates
    if days and not counts:
        return _by_dates(days)
    if len(counts) == 1 and not days:
        return _by_count(one, *counts[0], is_sure=bool(commits))
    return "", "they differ in more than one number" if counts else "a commit has no order"


def _by_dates(days: list[Pair]) -> Answer:
    if sum(is_date(x) for x, _ in days) > 1:
        return "", "they differ in more than one date"
    left, right = ([int(pair[side]) for pair in days] for side in (0, 1))
    return _first(left > right)


def _by_count(
    one: tuple[list[str], str], n: int, word: str, pair: Pair, *, is_sure: bool
) -> Answer:
    """Compare a number that may count builds.

    A commit next to the number, or the word before the number, shows that the number counts builds.
    """
    parts, marks = one
    before = parts[n - 1] if n else ""
    is_revision = not word and marks[n - 1 : n] == "-" and "." in marks and is_number(before)
    word = (word or before).lower()
    is_count = is_sure or is_revision or word in COUNTERS
    if is_count and are_counts(*pair, word, is_sure=is_sure):
        left, right = int(pair[0]), int(pair[1])
        return _first(left > right, left == right)
    return "", OTHER_SERIES


def _parts(text: str) -> tuple[list[str], str]:
    """Split a text at `-`, `_`, `.` and `+`; return the parts and these separators."""
    marks = "".join(char for char in text if char in "-_.+")
    for mark in "_.+":
        text = text.replace(mark, "-")
    return text.split("-"), marks


def _numbers(a: str, b: str) -> tuple[str, str, str]:
    """Return the word at the start of both parts (`n`), and the number of each (`n51`, `n52`).

    Return three empty texts if the parts have another form.
    """
    x, y = a.lstrip(LETTERS), b.lstrip(LETTERS)
    word = a[: len(a) - len(x)]
    if word != b[: len(b) - len(y)] or not (is_number(x) and is_number(y)):
        return "", "", ""
    return word, x, y


def _is_pull(parts: list[str]) -> bool:
    """Return whether a part shows that a number is that of a pull request: `PR-12`, `pr12`."""
    for n, part in enumerate(parts):
        word = part.rstrip("0123456789")
        follows = part[len(word) :] or "".join(parts[n + 1 : n + 2])
        if word.lower() in PULLS and is_number(follows):
            return True
    return False


def _is_byte(text: str) -> bool:
    return is_number(text) and len(text) <= 3 and int(text) < 256


DIGITS = frozenset("0123456789")
LONGEST = 200  # characters of a number


def timestamp(text: str) -> tuple[str, tuple[int, int]] | None:
    """Return the form and the moment of `2023-10-11T17:54:55Z`, or None for other texts."""
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
    """Return the time of day, the kind of its time zone, and the offset of the zone in seconds.

    The offset is None if the zone is invalid.
    """
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
    """Count the days of a date since a fixed day in the past."""
    year, month = (year, month - 3) if month > 2 else (year - 1, month + 9)
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + day


def is_date(text: str) -> bool:
    """Return whether a text is `20240131`, with or without a time of day behind the date."""
    if len(text) not in (8, 12, 14) or not is_number(text):
        return False
    return "1990" <= text[:4] < "2100" and _is_day(text[4:6], text[6:8]) and is_time(text[8:])


def _is_day(month: str, day: str) -> bool:
    return "01" <= month <= "12" and "01" <= day <= "31"


def is_time(digits: str) -> bool:
    """Return whether digits are `hhmmss`, `hhmm` or nothing; a minute may have 61 seconds."""
    return digits[:2] <= "23" and digits[2:4] <= "59" and digits[4:] <= "60"


def is_number(text: str) -> bool:
    return 0 < len(text) <= LONGEST and DIGITS.issuperset(text)


COUNTERS = ("b", "build", "n", "r", "rev", "run", "ci")  # words in front of a build's number
MARKS = ("g", "h", "sha")  # letters in front of a commit
HEX = frozenset("0123456789abcdef")
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
NAMES = DIGITS | set(LETTERS + "-_.")
RANGES = ("", "^", "~", "~>", "=", "==", ">", ">=")
KEYS = ("version", "tag", "image")  # `--version=1.2.3` is a version, `--qps=1.5` is not
MANY = 7  # digits: a date, a time, perhaps a commit


def is_named(text: str) -> bool:
    """Return whether the text before the first digit may precede a version.

    It may be empty, a name, or the sign of a range.
    """
    front = text[: next(n for n, char in enumerate(text) if char in DIGITS)]
    if front.rstrip(" vV") in RANGES:
        return front[:1] != " "
    key, sign, name = front.rpartition("=")
    if sign:
        return key.lower().endswith(KEYS) and NAMES.issuperset(name)
    return NAMES.issuperset(name) and name[0] not in "-."  # a flag, or a negative number


def is_image_name(name: str) -> bool:
    """Return whether a tag may follow a name.

    A tag cannot follow a sentence, the value of a flag, or an address.
    """
    key, sign, _ = name.rpartition("=")
    is_one_word = " " not in name or "{{" in name
    return is_one_word and name[-1:] != ":" and (not sign or key.lower().endswith(KEYS))


def count_alike(one: list[str], other: list[str], word: str) -> bool:
    """Return whether the first two numbers that differ count the same thing.

    `word` is the text in front of the numbers.
    """
    if _begins_with_year(one) != _begins_with_year(other) or _may_be_days(one, other):
        return False
    pairs = zip(one, other, strict=False)
    return next((are_counts(a, b, word) for a, b in pairs if int(a) != int(b)), True)


def are_counts(one: str, other: str, word: str, *, is_sure: bool = False) -> bool:
    """Return whether the larger of two numbers is certainly the later number.

    `is_sure` means that a commit next to the numbers shows that they count builds.
    """
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
    """Return whether a version begins with a year, as `2023.10` does and `1.5` does not."""
    return len(numbers) > 1 and _is_year(numbers[0])


def _may_be_days(one: list[str], other: list[str]) -> bool:
    """Return whether versions may be dates like `01.02.2023` with an ambiguous order."""
    if not all(len(numbers) == 3 and _is_year(numbers[2]) for numbers in (one, other)):
        return False
    a, b = ([int(number) for number in numbers] for numbers in (one, other))
    ways = ((0, 1, 2), (2, 1, 0), (2, 0, 1))
    return len({[a[n] for n in way] > [b[n] for n in way] for way in ways}) > 1


def _is_year(number: str) -> bool:
    return len(number) == 4 and "1990" <= number < "2100"


def flavour(metadata: str) -> list[str]:
    """Return the words in a build's metadata; `k3s1` and `rke2r1` differ in their words."""
    parts = metadata.lower().replace("-", ".").split(".")
    words = ("".join(c for c in part if c not in DIGITS) for part in parts if not is_commit(part))
    return [word for word in words if word]


def are_commits(a: str, b: str) -> bool:
    """Return whether two parts can only be hashes of commits.

    If one part has letters and is a hash, a part of digits alone is a hash, too.
    """
    for mark in MARKS:
        if a.startswith(mark) and b.startswith(mark):
            a, b = a[len(mark) :], b[len(mark) :]
            break
    both = a + b
    is_both = is_commit(a) and is_commit(b)
    return is_both and not DIGITS.isdisjoint(both) and not DIGITS.issuperset(both)


def is_commit(part: str) -> bool:
    """Return whether a text may be the hash of a commit."""
    return MANY <= len(part) <= 40 and HEX.issuperset(part)

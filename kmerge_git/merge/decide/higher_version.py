"""Return which of two versions is the higher version, or why that is uncertain.

The following can be compared: versions (`1.2.3`, `v2`, `1.3.0-rc.1`, `1.27-alpine`), the tags of
one image, tags with a date and a commit (`v20221123-4b1eb2a191`), build numbers behind the same
beginning (`0.1.0-n51.h94d5f0b`), and timestamps like `2023-10-11T17:54:55Z`. Plain numbers are
quantities, never versions. Everything else stays a conflict: commits, days in an order that
nobody knows, numbers with leading zeros, builds of two different things, and flags with a value.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    # prefix, numbers as written, the parts of a pre-release (empty for a release), variant
    Version = tuple[str, list[str], tuple[str, ...], str]
    Answer = tuple[str, str]  # the higher side and '', or '' and the reason
    Series = tuple[list[str], str]  # the parts of a tag, and the separators between these parts

NUMBERS = "0123456789"
DIGITS = frozenset(NUMBERS)
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
NAMES = DIGITS | set(LETTERS + "-_.")
HEX = frozenset("0123456789abcdef")
LONGEST = 200  # characters of a number
MANY = 7  # digits: a date, a time, perhaps a commit

BEFORE_RELEASE = ("alpha", "beta", "dev", "pre", "preview", "rc", "snapshot")
STAGES = frozenset(("alpha", "beta", "rc", ""))  # the other words have no order; '' is a number
PULLS = ("pr", "mr", "pull")
COUNTERS = ("b", "build", "n", "r", "rev", "run", "ci")  # words in front of a build's number
MARKS = ("g", "h", "sha")  # letters in front of a commit

NO_VERSION = "the values are not versions"
ONE_VERSION = "the versions are equal"
OTHER_FORM = "the versions have different formats"
OTHER_SERIES = "the versions belong to different series or variants"


def higher(ours: str, theirs: str) -> str:
    """Return `ours` or `theirs`, the side with the higher version of the same thing, or ''."""
    return compared(ours, theirs)[0]


def compared(ours: str, theirs: str) -> Answer:
    """Return the side with the higher version, or an empty side and the reason."""
    if ours == theirs:
        return "", ONE_VERSION
    if is_moment(ours) and is_moment(theirs):
        return _first(ours > theirs)
    name = image(ours)
    if name != image(theirs):
        return "", "the names in front of the versions differ"
    # no tag follows a sentence, the value of a flag, or an address
    if (" " in name and "{{" not in name) or "=" in name or name[-1:] == ":":
        return "", NO_VERSION
    if _is_digest(ours) or _is_digest(theirs):
        return "", "digests cannot be compared as versions"
    one, other = tag(ours), tag(theirs)
    if one == other:
        return "", "the tags are the same, but the digests differ"
    refused = {_refused(text, is_bare=not name) for text in (one, other)} - {""}
    return ("", min(refused)) if refused else _ordered(one, other)


def is_moment(text: str) -> bool:
    """Return whether a text is a time of UTC such as `2023-10-11T17:54:55Z`."""
    return "".join("0" if char in DIGITS else char for char in text) == "0000-00-00T00:00:00Z"


def _first(is_higher: bool, is_same: bool = False) -> Answer:
    if is_same:
        return "", ONE_VERSION
    return ("ours" if is_higher else "theirs"), ""


def _refused(text: str, *, is_bare: bool) -> str:
    """If a text cannot be compared with any text, return the reason; otherwise return ''."""
    front = _front(text)
    if front == text or front[:1] in ("-", ".") or not NAMES.issuperset(front.lstrip("^~")):
        return NO_VERSION
    if is_bare and text.count(".") == 3 and is_number(text.replace(".", "")):
        return "the values may be IP addresses"
    if is_number(text) and not is_date(text) and (is_bare or len(text) >= MANY):
        return "a plain number is not a version"  # a long number behind an image may be a commit
    if any(part.rstrip(NUMBERS).lower() in PULLS for part in _parts(text)[0]):
        return "the numbers of pull requests do not show which build is newer"
    return ""


def _front(text: str) -> str:
    """Return the text before the first digit."""
    return text[: next((n for n, char in enumerate(text) if char in DIGITS), len(text))]


def _ordered(one: str, other: str) -> Answer:
    """Compare two tags, or two values that name no image."""
    mine, yours = version(one), version(other)
    parts, others = _parts(one), _parts(other)
    pairs = zip(parts[0], others[0], strict=False)
    has_commits = any(a != b and are_commits(a, b) for a, b in pairs)
    if has_commits or mine is None or yours is None or (mine[0], mine[3]) != (yours[0], yours[3]):
        return _in_series(parts, others) if parts[1] == others[1] else ("", OTHER_SERIES)
    if _flavour(one) != _flavour(other):
        return "", OTHER_SERIES
    if not _count_alike(mine[1], yours[1]):
        return "", OTHER_FORM
    left, right = _rank(mine), _rank(yours)
    if left[0] == right[0]:
        words = [[word for _, _, word in rank[2]] for rank in (left, right)]
        if words[0] != words[1] and all(words) and not STAGES.issuperset(words[0] + words[1]):
            return "", OTHER_SERIES
    return _first(left > right, left == right)


# -- versions


def version(text: str) -> Version | None:
    """Return the parts of `v1.2.3-rc.1`, or None for other texts such as the hash of a commit.

    Only versions with the same prefix and the same variant are comparable.
    """
    text = text.partition("+")[0]
    if len(text) > LONGEST:
        return None
    prefix = _front(text)
    numbers, dash, suffix = text[len(prefix) :].partition("-")
    parts = numbers.split(".")
    if not all(map(is_number, parts)) or (dash and not suffix):
        return None
    before, _, variant = suffix.partition("-")
    stages = tuple(before.lower().split("."))
    words = [part.rstrip(NUMBERS) for part in stages if not is_number(part)]
    # a branch or a commit in the suffix has no known order
    if is_number(stages[0]) or not all(word in BEFORE_RELEASE for word in words):
        return prefix, parts, (), suffix
    return prefix, parts, stages, variant


def _rank(found: Version) -> tuple[list[int], bool, list[tuple[int, int, str]]]:
    _, parts, before, _ = found
    numbers = [int(part) for part in parts]
    while numbers and numbers[-1] == 0:
        numbers.pop()  # 1.2 and 1.2.0 are one version
    stages = []
    for part in before:
        word = part.rstrip(NUMBERS)
        count = part[len(word) :]
        # semver: numbers are lower than words
        stages += [(1, 0, word)] if word else []
        stages += [(0, int(count), "")] if count else []
    return numbers, not before, stages


def _flavour(text: str) -> list[str]:
    """Return the words in a build's metadata; `+k3s1` and `+rke2r1` differ in their words."""
    parts = text.partition("+")[2].lower().replace("-", ".").split(".")
    words = ("".join(c for c in part if c not in DIGITS) for part in parts if not is_commit(part))
    return [word for word in words if word]


def _count_alike(one: list[str], other: list[str]) -> bool:
    """Return whether the first two numbers that differ count the same thing."""
    are_years = [len(numbers) > 1 and _is_year(numbers[0]) for numbers in (one, other)]
    are_days = [len(numbers) == 3 and _is_year(numbers[2]) for numbers in (one, other)]
    if are_years[0] != are_years[1] or all(are_days):
        return False  # 2023.10 and 1.5; 31.12.2022 and 1.2.2023, whose months may come first
    pairs = zip(one, other, strict=False)
    return next((_are_counts(a, b) for a, b in pairs if int(a) != int(b)), True)


def _is_year(number: str) -> bool:
    return len(number) == 4 and "1990" <= number < "2100"


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


def _in_series(one: Series, other: Series) -> Answer:
    """Compare two tags of the same form, part by part.

    Either only one date differs, and it decides, or only one number differs, and it decides.
    """
    days: list[int] = []  # the indexes of the parts that differ
    counts: list[int] = []
    commits = 0
    behind_dates = False
    for n, (a, b) in enumerate(zip(one[0], other[0], strict=True)):
        word, x, y = _numbers(a, b)
        are_times = behind_dates and not word and len(x) == len(y) in (4, 6)
        behind_dates = _are_dates(x, y)
        if a == b or (are_times and days == [n - 1]):
            continue  # the same, or the times of two days
        if behind_dates or are_times:
            days.append(n)
        elif are_commits(a, b):
            commits += 1
        elif x:
            counts.append(n)
        else:
            return "", OTHER_SERIES
    if len(days) > 1 and not counts:
        return "", "the values differ in more than one date"
    if len(days) + len(counts) != 1:
        return (
            "",
            "the values differ in more than one number" if counts else "commits cannot be ordered",
        )
    (n,) = days + counts
    word, x, y = _numbers(one[0][n], other[0][n])
    if counts and not _is_build(one, n, word, x, y, is_sure=bool(commits)):
        return "", OTHER_SERIES
    return _first(int(x) > int(y), int(x) == int(y))


def _is_build(one: Series, n: int, word: str, x: str, y: str, *, is_sure: bool) -> bool:
    """Return whether two numbers count builds.

    A commit next to the number, or the word before the number, shows that the number counts builds.
    """
    parts, marks = one
    before = parts[n - 1] if n else ""
    is_revision = not word and marks[n - 1 : n] == "-" and "." in marks and is_number(before)
    is_counter = (word or before).lower() in COUNTERS
    is_long = is_sure and len(x) == len(y) not in (8, 12, 14)  # no days that do not exist
    return (is_sure or is_revision or is_counter) and (_are_counts(x, y) or is_long)


def _parts(text: str) -> Series:
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


def _are_counts(one: str, other: str) -> bool:
    """Return whether the larger of two numbers is certainly the later number."""
    if len(one) == len(other):
        return len(one) < MANY or _are_dates(one, other)
    is_padded = any(number[0] == "0" and number != "0" for number in (one, other))
    return max(len(one), len(other)) < MANY and not is_padded  # 1.02 and 1.1


def _are_dates(one: str, other: str) -> bool:
    """Return whether two numbers are dates of one form."""
    return len(one) == len(other) and is_date(one) and is_date(other)


def is_date(text: str) -> bool:
    """Return whether a text is `20240131`, with or without a time of day behind the date."""
    if len(text) not in (8, 12, 14) or not is_number(text):
        return False
    is_day = _is_year(text[:4]) and "01" <= text[4:6] <= "12" and "01" <= text[6:8] <= "31"
    return is_day and text[8:10] <= "23" and text[10:12] <= "59" and text[12:] <= "60"


def is_number(text: str) -> bool:
    return 0 < len(text) <= LONGEST and DIGITS.issuperset(text)


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

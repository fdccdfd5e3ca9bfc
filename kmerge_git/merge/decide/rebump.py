"""Policy `rebump`: a chart's own `version`, where both sides went up from one base.

Mine if it is the higher one, else the other's with my kind of bump on top: of 1.2.0 one side made
1.2.1, the other 1.3.0; mine was the patch, so it becomes 1.3.1.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    Chart = tuple[str, tuple[int, ...]]  # `v` or nothing, and the numbers

CHART = "Chart.yaml"
KINDS = ("major", "minor", "patch")


def rebumped(base: str | None, mine: str, other: str) -> tuple[str, str]:
    """The version above both, and the kind of bump that made it (nothing: it is mine as it is).

    Without a version: nothing, and why.
    """
    found = [chart_version(text) for text in (mine, other, base) if text is not None]
    versions = [known for known in found if known is not None]
    if len(versions) < len(found):
        return "", _refusal(mine, other, base or "")
    if len({(prefix, len(numbers)) for prefix, numbers in versions}) > 1:
        return "", "the versions are of two forms"
    prefix, numbers = versions[0]
    others = versions[1][1]
    if base is None:
        is_above = numbers > others
        return (mine, "") if is_above else ("", "without a base there is no kind of bump")
    start = versions[2][1]
    if numbers <= start or others <= start:
        return "", "not both sides went up"
    if numbers == others:
        return "", "they are one version"
    if numbers > others:
        return mine, ""
    at = next(n for n, number in enumerate(numbers) if number != start[n])
    made = (*others[:at], others[at] + 1, *[0] * (len(others) - at - 1))
    return prefix + ".".join(map(str, made)), KINDS[at]


def chart_version(text: str) -> Chart | None:
    """`1.2.3`, `v1.2.3` or `1.2` in its numbers; None for anything else."""
    prefix = "v" if text[:1] == "v" else ""
    parts = text[len(prefix) :].split(".")
    if len(parts) not in (2, 3) or not all(map(_is_number, parts)):
        return None
    return prefix, tuple(map(int, parts))


def _is_number(text: str) -> bool:
    digits = text.isascii() and text.isdigit() and len(text) <= 20
    return digits and (text == "0" or text[0] != "0")


def _refusal(*texts: str) -> str:
    if any("-" in text or "+" in text for text in texts):
        return "a prerelease or build metadata is not bumped"
    return "they are no versions of a chart"

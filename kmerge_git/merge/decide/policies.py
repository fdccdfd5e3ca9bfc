"""Policies: what a team decided once about a field, instead of in every conflict (rule 12).

A policy only speaks where there is a clash. `higher` speaks where both values are versions of the
same thing, `union` where both sides only added to a list; else the clash stays a clash.
"""

from __future__ import annotations

from kmerge_git.kube.fieldpath import matches, pattern
from kmerge_git.tree.nodes import Scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.merge.decide.rules import Policy
    from kmerge_git.tree.nodes import Entry

    # prefix, numbers, the parts of a pre-release (nothing: a release), variant
    Version = tuple[str, tuple[int, ...], tuple[str, ...], str]

BEFORE_RELEASE = ("alpha", "beta", "dev", "pre", "preview", "rc", "snapshot")


def policy_for(rules: list[tuple[str, str]]) -> Policy | None:
    """A policy out of (field path, policy) pairs; the first that matches and speaks decides."""
    if not rules:
        return None
    patterns = [(pattern(field), name) for field, name in rules]

    def decide(
        path: Path, base: list[Entry], ours: list[Entry], theirs: list[Entry]
    ) -> tuple[str, str] | None:
        for words, name in patterns:
            if matches(words, path):
                side = _decided(name, base, ours, theirs)
                if side:
                    return side, f"12 policy {name}"
        return None

    return decide


def _decided(name: str, base: list[Entry], ours: list[Entry], theirs: list[Entry]) -> str:
    if name in ("ours", "theirs"):
        return name
    if name == "union":
        added = ours and theirs and not base
        return "union" if added and all(e.key is None for e in (*ours, *theirs)) else ""
    if name == "higher" and len(ours) == len(theirs) == 1:
        values = (ours[0].value, theirs[0].value)
        if isinstance(values[0], Scalar) and isinstance(values[1], Scalar):
            return higher(values[0].value, values[1].value)
    return ""


def higher(ours: str, theirs: str) -> str:
    """`ours` or `theirs`, whichever is the higher version of the same thing; else nothing."""
    if _image(ours) != _image(theirs):
        return ""
    one, other = version(_tag(ours)), version(_tag(theirs))
    if one is None or other is None or (one[0], one[3]) != (other[0], other[3]):
        return ""
    left, right = (_rank(v) for v in (one, other))
    if left == right:
        return ""
    return "ours" if left > right else "theirs"


def version(text: str) -> Version | None:
    """`v1.2.3-rc.1` in its parts; None for what is no version, a commit's hash for example."""
    text = text.partition("+")[0]
    first = next((i for i, char in enumerate(text) if char in "0123456789"), -1)
    if first < 0:
        return None
    prefix, rest = text[:first], text[first:]
    numbers, dash, suffix = rest.partition("-")
    parts = numbers.split(".")
    if not all(part.isascii() and part.isdigit() for part in parts) or (dash and not suffix):
        return None
    return (prefix, tuple(int(part) for part in parts), *_suffix(suffix))


def _suffix(suffix: str) -> tuple[tuple[str, ...], str]:
    """A pre-release (`rc.1`), or a variant (`alpine`) that must be the same on both sides."""
    parts = tuple(suffix.lower().split("."))
    if parts[0].rstrip("0123456789") in BEFORE_RELEASE:
        return parts, ""
    return (), suffix


def _rank(found: Version) -> tuple[tuple[int, ...], bool, list[tuple[int, int, str]]]:
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


def _image(text: str) -> str:
    """The image of `registry:5000/app:1.2@sha256:...`; nothing for a bare version."""
    name = text.partition("@")[0]
    slash = name.rfind("/")
    colon = name.find(":", slash + 1)
    if colon >= 0:
        return name[:colon]
    return name if slash >= 0 or "@" in text else ""


def _tag(text: str) -> str:
    """The tag of an image, or the text itself; a digest without a tag has none."""
    name = text.partition("@")[0]
    image = _image(text)
    return name[len(image) + 1 :] if image else name

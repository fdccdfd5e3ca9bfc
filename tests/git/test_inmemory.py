"""The line merge in memory gives the very bytes of `git merge-file`, whatever it is asked."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from kmerge_git.git.line_merges import LineMerges
from kmerge_git.outcome import STYLES, Options
from kmerge_git.text.linemerge import TemporaryFiles

WORDS = (b"a", b"b", b"- x", b"", b"  y: 1", b"{", b"}")
LABELS = ("ab12cd3", "HEAD", "topic\n\x1b[31m of\tothers")


def trios(number: int) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Short texts and two edits of each, some empty, some with other line ends or none."""
    random = Random(number)
    for _ in range(60):
        base = [random.choice(WORDS) for _ in range(random.randint(0, 12))]
        yield _text(random, base), *(_text(random, _edited(random, base)) for _ in range(2))


def _edited(random: Random, base: list[bytes]) -> list[bytes]:
    lines = list(base)
    for _ in range(random.randint(0, 4)):
        at = random.randint(0, len(lines))
        lines[at : at + random.randint(0, 1)] = [random.choice(WORDS)] * random.randint(0, 1)
    return lines


def _text(random: Random, lines: list[bytes]) -> bytes:
    end = b"\r\n" if random.random() < 0.1 else b"\n"
    text = b"".join(line + end for line in lines)
    return text if random.random() < 0.9 else text.rstrip(b"\r\n")


@pytest.mark.world
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("favor", [None, "ours", "theirs"])
def test_the_bytes_are_those_of_git(style: str, favor: str | None) -> None:
    merge = LineMerges()
    conflicts = 0
    for size in (7, 9):
        options = Options("", "git", favor, size, LABELS, style)
        for texts in trios(size):
            git = TemporaryFiles(texts, marker_size=size, labels=LABELS, style=style, favor=favor)
            found = merge.merge_file(texts, options)
            assert found == git.result(), texts
            conflicts += found[1]
    assert favor or conflicts > 40


def test_what_git_cannot_merge() -> None:
    assert LineMerges().merge_file((b"a\0", b"b\0", b"c\0"), Options()) == (b"", -1)

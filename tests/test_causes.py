"""Tests name a cause of a conflict by its constant, so that one line changes its words."""

from __future__ import annotations

import re
from pathlib import Path

from causes import CAUSES

TESTS = Path(__file__).parent
SHORT = 12  # characters; a word such as `uncertain` is in other sentences, too
WORDS = [words for words in CAUSES.values() if len(words) > SHORT]
# Reports count in sentences that have the words of a cause by chance.
COUNTED = re.compile(rf"\b(documents|entries|files?|manifests) {CAUSES['BOTH_CHANGED']}")
CONTINUED = re.compile(r'"\s+f?"')  # a string that the next line continues


def spelled_out(text: str) -> list[str]:
    """The causes whose words are in a text."""
    text = COUNTED.sub("", CONTINUED.sub("", text))
    return [words for words in WORDS if words in text]


def test_no_test_spells_out_a_cause() -> None:
    files = [path for path in TESTS.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert len(files) > 1000
    found = {
        str(path.relative_to(TESTS)): spelled_out(path.read_text("utf-8", "replace"))
        for path in files
    }
    assert not {name: causes for name, causes in found.items() if causes}


def test_words_that_are_spelled_out_are_seen() -> None:
    first, *rest = CAUSES["BOTH_CHANGED"].split()
    for cause in WORDS:
        assert cause in spelled_out(f"ours (a: {cause})")
    assert spelled_out(f'"{first} "\n    f"{" ".join(rest)}"') == [CAUSES["BOTH_CHANGED"]]
    assert not spelled_out(f"2 files {CAUSES['BOTH_CHANGED']}")

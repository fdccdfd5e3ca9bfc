"""The causes of conflicts by their names: tests never spell out the words of a cause."""

from __future__ import annotations

from kmerge_git.merge.plan import Why

CAUSES = {
    name: words
    for name, words in vars(Why).items()
    if isinstance(words, str) and not name.startswith("_")
}


def with_causes(text: str) -> str:
    """The text with the words of each cause in place of its name, such as `{BOTH_CHANGED}`."""
    for name, words in CAUSES.items():
        text = text.replace(f"{{{name}}}", words)
    return text

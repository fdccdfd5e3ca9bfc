"""What stands in a text where a merge could not decide: a word that nobody else writes, and a hash.

An inner merge of a criss-cross has no one to ask. Base's text in such a place would be a lie: the
next merge would take a side that went back to it for one that changed nothing. A placeholder is
equal to nothing that a side can have, so the next merge decides there, or clashes.
"""

from __future__ import annotations

UNDECIDED = "kmerge-undecided"


def digest(base: str, ours: str, theirs: str) -> str:
    """A hash of three texts; swapped sides are the same disagreement, and have the same one."""
    from hashlib import sha256  # few merges are inner ones

    texts = (base, *sorted((ours, theirs)))
    return sha256("".join(f"{len(text)}:{text}" for text in texts).encode()).hexdigest()[:40]


def without_placeholders(text: str) -> str:
    """The lines that are known."""
    if UNDECIDED not in text:
        return text
    return "".join(line for line in text.splitlines(keepends=True) if UNDECIDED not in line)

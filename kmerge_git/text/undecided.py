"""Write placeholders where the merge of two merge bases has a conflict.

In a criss-cross history, git first merges the merge bases into one base, and cannot ask a person
about conflicts. The text of either merge base would be a wrong base at such a place: if a side
later returned to that text, the next merge would take that side as unchanged. A placeholder is a
unique word with a hash. A placeholder differs from every text of a side, so the next merge either
decides the place or reports a conflict.
"""

from __future__ import annotations

UNDECIDED = "kmerge-undecided"


def digest(base: str, ours: str, theirs: str) -> str:
    """Return a hash of three texts that does not depend on the order of the two sides."""
    from hashlib import sha256  # few merges are merges of merge bases

    texts = (base, *sorted((ours, theirs)))
    return sha256("".join(f"{len(text)}:{text}" for text in texts).encode()).hexdigest()[:40]


def without_placeholders(text: str) -> str:
    """Return the text without the lines that hold a placeholder."""
    if UNDECIDED not in text:
        return text
    return "".join(line for line in text.splitlines(keepends=True) if UNDECIDED not in line)

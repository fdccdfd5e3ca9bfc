"""Write placeholders where an inner merge could not decide: a unique word and a hash.

An inner merge of a criss-cross cannot ask a person. The base's text in such a place would be wrong:
the next merge would take a side that went back to it for one that changed nothing. A placeholder
equals nothing that a side can have, so the next merge decides there, or clashes.
"""

from __future__ import annotations

UNDECIDED = "kmerge-undecided"


def digest(base: str, ours: str, theirs: str) -> str:
    """Return a hash of three texts; it does not depend on the order of the sides."""
    from hashlib import sha256  # few merges are inner ones

    texts = (base, *sorted((ours, theirs)))
    return sha256("".join(f"{len(text)}:{text}" for text in texts).encode()).hexdigest()[:40]


def without_placeholders(text: str) -> str:
    """Return the lines that are known."""
    if UNDECIDED not in text:
        return text
    return "".join(line for line in text.splitlines(keepends=True) if UNDECIDED not in line)

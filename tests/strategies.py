"""What tests draw: manifests, changed manifests, and the three versions of a merge.

With `@given(trios())` hypothesis chooses, and shrinks what fails; with `trio(Random(seed))` a seed
chooses, and gives the same bytes again.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import strategies as st
from random_edits import edit, edited, edited_text
from random_manifests import chance, file, mapping, node, text
from rendering import Document, File
from trees import collections, copied, value_of

Trio = tuple[bytes, bytes, bytes]


def trio(r: Random, most: int = 3, kind: str = "") -> Trio:
    """Base, ours and theirs: one to `most` edits on each side, often two at one spot.

    Sometimes both sides have made one edit alike before. Files are of any kind, or of a given one.
    """
    base = file(r, kind)
    start = base
    if chance(r, 10):
        start = copied(base)
        edit(r, start)
    spot = r.randrange(1000) if chance(r, 40) else None
    ours, theirs = edited(r, start, most, spot), edited(r, start, most, spot)
    for version in (base, ours, theirs):
        _without_known_faults(version)
    return base.data, ours.data, theirs.data


def _without_known_faults(made: File) -> None:
    """Take out what merges are known to get wrong; what is mended can go from here."""
    for document in made.documents:
        for each in collections(document.root):
            # with `[ # comment` on one side, where conflicts are is up to the order of the sides
            each.flow = "lines" if each.flow == "comment" else each.flow


def randoms() -> st.SearchStrategy[Random]:
    """Something to make choices with, which hypothesis can shrink."""
    return st.randoms(use_true_random=False)


def trios(most: int = 3) -> st.SearchStrategy[Trio]:
    """Base, ours and theirs."""
    return randoms().map(lambda r: trio(r, most))


def text_trios() -> st.SearchStrategy[Trio]:
    """Base, ours and theirs, where both sides edit one block scalar."""
    return randoms().map(text_trio)


def text_trio(r: Random) -> Trio:
    """Base, ours and theirs of a file of one block scalar."""
    base = text(r)
    texts = base, edited_text(r, base), edited_text(r, base)
    files = [File([Document(mapping(a="1", text=version, z="2"))]) for version in texts]
    return files[0].data, files[1].data, files[2].data


def files() -> st.SearchStrategy[File]:
    """A file."""
    return randoms().map(file)


def changed_files(most: int = 4) -> st.SearchStrategy[File]:
    """A file after some edits; an alias may have lost its anchor."""
    return randoms().map(lambda r: edited(r, file(r), most))


def manifests() -> st.SearchStrategy[str]:
    """The text of a file, with LF line ends."""
    return files().map(lambda made: replace(made, crlf=False, bom=False).data.decode())


def json_values() -> st.SearchStrategy[object]:
    """Any plain value, without a Kubernetes shape."""
    return randoms().map(lambda r: value_of(node(r, 1), {}))

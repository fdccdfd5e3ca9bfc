"""The identity law: what nobody changed keeps its bytes, and every leaf its exact span.

Hand-made documents (odd but valid, one trouble a file) in every spelling of bytes, and generated
ones. `spans.assert_identity` holds what is checked.
"""

from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from random_edits import comment
from spans import assert_identity
from strategies import changed_files, files, randoms
from trees import collections

from kmerge_git.errors import KmergeError
from kmerge_git.text.source import Source
from kmerge_git.tree.plain_values import load

DOCUMENTS = sorted((Path(__file__).parent / "cases" / "documents").glob("*.yaml"))
BOM = b"\xef\xbb\xbf"


def test_the_documents_are_found():
    assert len(DOCUMENTS) >= 55


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.stem)
def test_hand_made_documents(file):
    assert_identity(file.read_bytes())


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.stem)
def test_hand_made_documents_in_other_spellings(file):
    text = file.read_bytes().removeprefix(BOM).replace(b"\r\n", b"\n")
    leaves = assert_identity(text)
    assert assert_identity(BOM + text) == leaves
    assert assert_identity(text.replace(b"\n", b"\r\n")) == leaves
    assert assert_identity(b"# one more line\r\n" + text) == leaves  # mixed line ends
    assert_identity(text.removesuffix(b"\n"))
    if not text.startswith((b"%", b"---")):
        assert assert_identity(b"z: 0\n---\n" + text) == leaves + 2  # not at offset 0


def nestable(file: Path) -> bool:
    """Whether the text of a file can be a value below a key, two columns deeper."""
    text = Source(file.read_bytes()).text
    odd = any(part in text for part in ("---", "...", "\r", "\u2028"))
    return bool(text.strip()) and not odd and text[0] not in "%#{[\n"


@pytest.mark.parametrize("file", [*filter(nestable, DOCUMENTS)], ids=lambda file: file.stem)
def test_hand_made_documents_as_a_nested_value(file):
    text = Source(file.read_bytes()).text
    lines = ["  " + line if line else "" for line in text.split("\n")]
    nested = "outer:\n" + "\n".join(lines)
    assert assert_identity(nested.encode()) == assert_identity(text.encode()) + 1


@settings(max_examples=300, deadline=None)
@given(made=files())
def test_generated_documents(made):
    assert_identity(made.data)
    assert repr(load(made.data)) == repr(made.values)  # 1 is not True, and keys have an order


@settings(max_examples=200, deadline=None)
@given(made=changed_files())
def test_changed_documents(made):
    try:
        wanted, found = made.values, load(made.data)
    except (KeyError, KmergeError):  # an alias without its anchor, or an anchor twice
        assume(False)
    assert_identity(made.data)
    assert repr(found) == repr(wanted)


@settings(max_examples=100, deadline=None)
@given(made=files(), r=randoms())
def test_comments_change_no_value(made, r):
    before = load(made.data)
    for document in made.documents:
        for each in collections(document.root):
            if each.entries:
                comment(r, document, each, r.choice(each.entries))
    assert load(made.data) == before

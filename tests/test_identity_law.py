"""The identity law: what nobody changed keeps its bytes, and every leaf its exact span.

Hand-made documents (odd but valid, one trouble a file) in every spelling of bytes, and generated
ones. `spans.assert_identity` holds what is checked.
"""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spans import assert_identity
from strategies import Edit, edit, looks, models, scripts

from kmerge_git.text.source import Source
from kmerge_git.tree.values import load

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
@given(models())
def test_generated_documents(model):
    assert_identity(model.data)
    assert load(model.data) == list(model.values)


@settings(max_examples=100, deadline=None)
@given(models(), scripts(), looks())
def test_a_look_changes_the_text_and_not_the_values(model, script, look):
    changed = edit(model, script)
    assert load(changed.data) == list(changed.values)
    assert_identity(changed.data)
    other = type(model)(changed.values, look)
    assert load(other.data) == list(changed.values)


@settings(max_examples=100, deadline=None)
@given(models(most=1), st.integers(0, 500))
def test_a_note_changes_only_comments(model, place):
    noted = edit(model, (Edit("note", place, None, ""),))
    assert noted.values == model.values
    assert load(noted.data) == load(model.data)

"""Documents and items of lists as one thing, where it is certain."""

from __future__ import annotations

import pytest

from kmerge_git.git.merge_sides import Change, TreeEntry
from kmerge_git.merge.three import Three
from kmerge_git.tree import parser
from kmerge_git.tree.documents import YamlText
from kmerge_git.whole import moved_edits as module
from kmerge_git.whole.moved_edits import Arrivals, MovedEdit, find_moves, places, with_resource

ITEM = "- kind: A\n  metadata:\n    name: x\n  spec: {one: 1}\n"
OTHER = "- kind: A\n  metadata:\n    name: y\n"
DOCUMENT = "kind: A\nmetadata:\n  name: x\nspec: {one: 1}\n"
HEAD = "apiVersion: v1\nkind: List\nitems:\n"


def bare_of(text: str) -> str | None:
    (place,) = [place for key, place in places(YamlText(text.encode())).items() if key.name == "x"]
    found = place.bare()
    return found.text if found else None


@pytest.mark.parametrize(
    "text",
    [
        DOCUMENT,
        "# above\n" + DOCUMENT + "# below\n",
        HEAD + ITEM + OTHER,
        HEAD + "# above\n" + ITEM,
        HEAD + "-\n" + ITEM.replace("- ", "  ", 1),
        HEAD.replace("List", "AList") + ITEM.replace("- ", "-     ").replace("\n  ", "\n      "),
        (HEAD + ITEM).replace("\n", "\r\n"),
    ],
)
def test_a_resource_is_the_same_wherever_it_stands(text: str) -> None:
    assert bare_of(text) == DOCUMENT


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "- {kind: A, metadata: {name: x}}\n",
        "{kind: A, metadata: {name: x}}\n",
        HEAD + ITEM.replace("{one: 1}", "&one {one: 1}"),
        HEAD + OTHER.replace("kind: A", "kind: A\n  spec: &s {}") + ITEM.replace("{one: 1}", "*s"),
        HEAD + ITEM.replace("{one: 1}", "{one:\n 1}"),
        HEAD + ITEM.replace("{one: 1}", "|\n    a\n \n    b"),
    ],
)
def test_what_is_not_certain_stays(text: str) -> None:
    assert bare_of(text) is None


def test_every_other_byte_stays() -> None:
    data = (HEAD + "# a\n" + ITEM + "  # b\n\n" + OTHER).replace("\n", "\r\n").encode()
    (key,) = [key for key in places(YamlText(data)) if key.name == "x"]
    text = DOCUMENT.replace("one: 1", "one: 2")
    assert with_resource(data, key, text, whole=False) == data.replace(b"one: 1", b"one: 2")


def edits(base: str, ours: str, theirs: str, arrived: str) -> tuple[MovedEdit, ...]:
    here = Arrivals([Change("n", "new.yaml", None, TreeEntry("new", 0o100644))], lambda _: new)
    new = arrived.encode()
    three = Three(*(text.encode() for text in (base, ours, theirs)))
    return find_moves("old.yaml", three, here, Arrivals((), lambda _: b""))


def test_an_edited_comment_beside_it_does_not_go_lost() -> None:
    base, edited = (HEAD + OTHER + f"# {word}\n" + ITEM for word in ("one", "two"))
    edited = edited.replace("one: 1", "one: 2")
    gone = HEAD + OTHER
    assert edits(base, gone, edited, DOCUMENT) == ()
    plain = base.replace("one: 1", "one: 2")
    (move,) = edits(base, gone, plain, DOCUMENT)
    assert (move.base_text, move.edited_text) == (DOCUMENT, DOCUMENT.replace("one: 1", "one: 2"))


def test_what_one_side_made_an_item_in_the_old_file_is_not_followed() -> None:
    edited = HEAD + ITEM.replace("one: 1", "one: 2")
    assert edits(DOCUMENT, "kind: B\n", edited, DOCUMENT) == ()


def test_a_resource_that_is_an_item_and_a_document_is_left_out() -> None:
    assert places(YamlText((DOCUMENT + "---\n" + HEAD + ITEM).encode())) == {}


@pytest.mark.parametrize("data", [b"a: \0\n", "a: 1\n".encode("utf-16"), b"a: 1\r", b"a: ]\n"])
def test_what_is_no_text_has_no_resources(data: bytes) -> None:
    """One such file must not end the merge of all the others."""
    assert places(YamlText(data)) == {}


def test_another_text_keeps_every_other_byte() -> None:
    text = "\ufeff# head\r\n---\r\na: 1\r\n---  # two\r\n" + DOCUMENT.replace("\n", "\r\n")
    (place,) = places(YamlText(text.encode())).values()
    made = place.exchanged(place.text.replace("one: 1", "one: 2"))
    assert made == text.replace("one: 1", "one: 2").encode()


def test_a_file_of_very_many_documents_is_not_looked_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = "".join(f"---\n{DOCUMENT.replace('x', f'x{n}')}" for n in range(3)).encode()
    monkeypatch.setattr(module, "MOVED_DOCUMENTS", 2)
    assert len(places(YamlText(data))) == 3
    monkeypatch.setattr(module, "MOVED_DOCUMENTS", 1)
    assert places(YamlText(data)) == {}


def test_what_has_no_kind_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    escaped = YamlText(DOCUMENT.replace("kind", '"k\\x69nd"').encode())
    assert len(places(escaped)) == 1
    monkeypatch.setattr(parser, "compose", lambda text: pytest.fail("it was parsed"))
    assert places(YamlText(DOCUMENT.replace("kind", "sort").encode())) == {}

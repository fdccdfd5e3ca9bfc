"""Moves are found by identity, and the edit goes where the resource went."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmerge_git.git.merge_sides import Change, TreeEntry
from kmerge_git.merge.three import Three
from kmerge_git.tree.documents import YamlText
from kmerge_git.whole import moved_edits as module
from kmerge_git.whole.moved_edits import (
    Arrivals,
    Stand,
    at_target,
    find_moves,
    places,
    with_resource,
    without_edits,
)


def service(port: int, name: str = "web") -> str:
    return f"kind: Service\nmetadata: {{name: {name}}}\nspec: {{port: {port}}}\n"


OTHER = "kind: ConfigMap\nmetadata: {name: c}\n"
BLOBS = {"one": service(80), "both": OTHER + "---\n" + service(80), "other": OTHER}


def read(oid: str) -> bytes:
    return BLOBS[oid].encode()


def arrived(path: str, new: str, old: str = "") -> Change:
    before = TreeEntry(old, 0o100644) if old else None
    return Change(path, path, before, TreeEntry(new, 0o100644))


NONE = Arrivals((), read)
BASE = BLOBS["both"].encode()
EDITED = (OTHER + "---\n" + service(8443)).encode()


def test_a_move_by_each_side() -> None:
    here = Arrivals([arrived("new.yaml", "one")], read)
    for mover, three, ours, theirs in (
        ("ours", Three(BASE, OTHER.encode(), EDITED), here, NONE),
        ("theirs", Three(BASE, EDITED, OTHER.encode()), NONE, here),
    ):
        (move,) = find_moves("old.yaml", three, ours, theirs)
        assert (move.resource, move.target, move.mover) == ("Service/web", "new.yaml", mover)
        quiet = without_edits(three, [move])
        editor = quiet.theirs if mover == "ours" else quiet.ours
        assert editor == BASE  # the editor's side now changes nothing: the removal is clean
        target = at_target(service(80).encode(), [move])
        sides = (target.base, target.ours, target.theirs)
        edited, kept = service(8443).encode(), service(80).encode()
        assert sides == ((kept, kept, edited) if mover == "ours" else (kept, edited, kept))


def test_what_is_no_move() -> None:
    three = Three(BASE, OTHER.encode(), EDITED)
    for changes in (
        [],
        [arrived("a.yaml", "one"), arrived("b.yaml", "one")],  # which one?
        [arrived("a.yaml", "both", old="one")],  # it was always there
        [arrived("notes.txt", "one")],
        [arrived("old.yaml", "one")],
    ):
        assert find_moves("old.yaml", three, Arrivals(changes, read), NONE) == ()


def test_an_unedited_resource_needs_no_help() -> None:
    here = Arrivals([arrived("new.yaml", "one")], read)
    assert find_moves("old.yaml", Three(BASE, OTHER.encode(), BASE), here, NONE) == ()


def test_exchanging_a_text_keeps_every_other_byte() -> None:
    text = "# head\r\n---\r\n" + service(1, "a").replace("\n", "\r\n") + "---  # two\r\n"
    data = b"\xef\xbb\xbf" + (text + service(2, "b").replace("\n", "\r\n")).encode()
    (key,) = [key for key in places(YamlText(data)) if key.name == "b"]
    changed = with_resource(data, key, service(3, "b"))
    assert changed == data.replace(b"port: 2", b"port: 3")


def test_a_resource_that_stands_twice_is_left_out() -> None:
    assert places(YamlText((service(1) + "---\n" + service(2)).encode())) == {}
    assert places(YamlText(b"{{ template }}\n")) == {}
    assert places(YamlText(b"--- {kind: A, metadata: {name: b}}\n")) == {}


def gone_and_edited(path: Path, stand: Stand) -> None:
    """One side took a resource of a file elsewhere, the other edited it: that is seen."""
    text = stand.text if stand.text.endswith("\n") else f"{stand.text}\n"
    three = Three(*map(stand.exchanged, (stand.text, "", f"{text}edited: true\n")))
    here = Arrivals([arrived("new.yaml", "x")], lambda oid: stand.text.encode())
    (move,) = find_moves("old.yaml", three, here, NONE)
    assert (move.target, move.mover, move.base_text) == ("new.yaml", "ours", stand.text), path


def test_names_by_lines_are_those_of_the_resources() -> None:
    """Who takes no closer look because of them misses no resource that left."""
    told = 0
    for file in (Path(__file__).parents[1] / "cases").rglob("*.yaml"):
        stands = [
            stand for stand in places(YamlText(file.read_bytes())).values() if not stand.is_item
        ]
        for stand in stands:
            gone_and_edited(file, stand)
        told += len(stands)
    assert told > 500


def test_the_names_in_a_list_are_not_told_by_lines() -> None:
    def listed(*ports: int) -> bytes:
        items = (
            f"- kind: Service\n  metadata: {{name: w{n}}}\n  spec: {{port: {p}}}\n"
            for n, p in enumerate(ports)
            if p
        )
        return (
            "apiVersion: v1\nkind: List\nmetadata:\n  name: x\nitems:\n" + "".join(items)
        ).encode()

    here = Arrivals([arrived("new.yaml", "x")], lambda oid: service(80, "w1").encode())
    (move,) = find_moves(
        "old.yaml", Three(listed(1, 80), listed(1, 0), listed(1, 8443)), here, NONE
    )
    assert (move.resource, move.target) == ("Service/w1", "new.yaml")


def test_where_the_file_has_too_many_documents_nothing_seems_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The resource is still there, beside those that ours has added, and in another file, too."""
    more = "".join(f"---\n{service(n, f'n{n}')}" for n in range(8)).encode()
    here = Arrivals([arrived("new.yaml", "one")], read)
    three = Three(BASE, OTHER.encode() + more + b"---\n" + service(80).encode(), EDITED)
    assert find_moves("old.yaml", three, here, NONE) == ()
    monkeypatch.setattr(module, "MOVED_DOCUMENTS", 5)
    assert find_moves("old.yaml", three, here, NONE) == ()

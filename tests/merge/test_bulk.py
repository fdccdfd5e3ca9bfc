"""Files that nobody has by hand are left to a merge by lines, by counts and never by time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kmerge_git import merge_files, pipeline
from kmerge_git.cli.main import main
from kmerge_git.compare.file_changes import compare
from kmerge_git.errors import TextOnly
from kmerge_git.merge import bulk
from kmerge_git.merge.kyaml.kyaml_merges import merge3_bytes
from kmerge_git.merge.kyaml.two_way import merge2_bytes
from kmerge_git.merge.three import Three
from kmerge_git.merge.verify import line_damage
from kmerge_git.replay import left_conflicts
from kmerge_git.text.source import Source
from kmerge_git.tree import documents as splitting
from kmerge_git.tree import parser
from kmerge_git.tree.documents import YamlText

Trio = tuple[bytes, bytes, bytes]


def files(text: Callable[[str], str], sides: str = "bot") -> Trio:
    base, ours, theirs = (text(side).encode() for side in sides)
    return base, ours, theirs


def documents(side: str) -> str:
    return "".join(f"---\nkind: A\nmetadata: {{name: x{n}}}\nspec: {side}\n" for n in range(6))


def renamed_documents(side: str) -> str:
    return "".join(f"---\nkind: A\nmetadata: {{name: {side}{n}}}\nx: {n}\n" for n in range(60))


def elements(side: str) -> str:
    return "l:\n" + "".join(f"- name: n{n}\n  v: {side}\n" for n in range(6))


def nameless_elements(side: str) -> str:
    return "l:\n- a: 1\n" + "".join(f"- p: {side}{n}\n  q: {side}\n" for n in range(401))


def entries(side: str) -> str:
    return "".join(f"k{n}: {side}\n" for n in range(6))


def renamed_entries(side: str) -> str:
    return "s:\n" + "".join(f"  {side}{n}:\n    a: 1\n    b: {n}\n    c: 3\n" for n in range(60))


# what is counted, the constants that are lowered, what both sides do, the reason
CASES: dict[str, tuple[dict[str, int], Callable[[str], str], str]] = {
    "documents": ({"MOST_DOCUMENTS": 4}, documents, "the file has more than 4 documents"),
    "changed documents": (
        {"MOST_CHANGED": 5},
        documents,
        "both sides changed more than 5 documents",
    ),
    "renamed documents": (
        {"MOST_REPLACED": 59},
        renamed_documents,
        "more than 59 documents were removed, and as many were added",
    ),
    "elements": ({"MOST_ELEMENTS": 5}, elements, "a list has more than 5 elements"),
    "replaced elements": (
        {"MOST_REPLACED": 400},
        nameless_elements,
        "more than 400 entries were removed, and as many were added",
    ),
    "changed entries": ({"MOST_CHANGED": 5}, entries, "both sides changed more than 5 entries"),
    "deleted and changed": (
        {"MOST_CHANGED": 5},
        lambda side: "a: 1\n" + (entries(side) if side != "o" else "o: 1\n"),
        "both sides changed more than 5 entries",
    ),
    "renamed entries": (
        {"MOST_REPLACED": 59},
        renamed_entries,
        "more than 59 entries were removed, and as many were added",
    ),
    "entries": ({"MOST_ENTRIES": 5}, entries, "a document has more than 5 entries"),
}


@pytest.fixture(autouse=True)
def all_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("decide.git_rules", "decide.keyed", "by_resource"):
        name = "MOST_COMPARISONS" if module == "decide.keyed" else "LARGE"
        monkeypatch.setattr(f"kmerge_git.merge.{module}.{name}", 0)


def lower(monkeypatch: pytest.MonkeyPatch, most: dict[str, int], by: int = 0) -> None:
    for name, value in most.items():
        monkeypatch.setattr(bulk, name, value + by)


@pytest.mark.parametrize("name", CASES)
def test_what_is_too_much_is_merged_by_lines(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    most, text, reason = CASES[name]
    lower(monkeypatch, most)
    base, ours, theirs = files(text)
    found, swapped = merge_files(base, ours, theirs), merge_files(base, theirs, ours)
    assert [found.method, found.reason, found.clean] == ["lines", reason, False]
    assert [swapped.method, swapped.reason, swapped.clean] == ["lines", reason, False]


# documents that both sides renamed are compared in pairs, which has a bound of its own
@pytest.mark.parametrize("name", [name for name in CASES if name != "renamed documents"])
def test_up_to_the_bound_it_is_merged_by_structure(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    most, text, _ = CASES[name]
    lower(monkeypatch, most, by=10)
    assert merge_files(*files(text)).reason == ""


@pytest.mark.parametrize("name", ["documents", "changed documents", "elements", "entries"])
def test_kyaml_keeps_dest_where_lines_clash_and_tells_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    most, text, reason = CASES[name]
    lower(monkeypatch, most)
    base, ours, theirs = files(text)
    found = merge3_bytes(Three(base, ours, theirs))
    assert (found.data, found.reason) == (ours, reason)
    assert [decision.rule for decision in found.lost]
    driven = merge_files(base, ours, theirs, rules="kyaml")
    assert (driven.text, driven.reason, driven.clean) == (ours, reason, True)


def test_two_way_dest_stays_and_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    lower(monkeypatch, {"MOST_ENTRIES": 5, "MOST_ENTRIES_TWO_WAY": 5})
    _, dest, src = files(entries)
    found = merge2_bytes(src, dest)
    assert found.data == dest
    assert found.lost
    lower(monkeypatch, {"MOST_ENTRIES_TWO_WAY": 50})
    assert not merge2_bytes(
        b"kind: A\nmetadata: {name: a}\n", b"kind: A\nmetadata: {name: a}\n"
    ).reason


@pytest.mark.parametrize("changed", ["ours", "theirs"])
def test_what_one_side_changed_is_no_reason(changed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lower(monkeypatch, {"MOST_ENTRIES": 5, "MOST_CHANGED": 5})
    more = "---\nkind: B\nmetadata:\n  name: b\nspec: {}\n"
    sides = "bob" if changed == "ours" else "bbt"
    heavy = files(lambda side: f"kind: A\nmetadata:\n  name: a\n{entries(side)}{more}", sides)
    other = 2 if changed == "ours" else 1
    three = [*heavy]
    three[other] = three[other].replace(b"spec: {}", b"spec: {x: 1}")
    found = merge_files(three[0], three[1], three[2])
    assert found.clean
    assert b"spec: {x: 1}" in found.text
    assert found.reason.find("more than") < 0


def test_block_texts_are_no_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    lower(monkeypatch, {"MOST_ENTRIES": 20})

    def text(side: str) -> str:
        rows = "".join(f"    {{a: {n}, b: [1, 2]}},\n\n" for n in range(30))
        return f"d: {side}\ndata:\n  table: |2-\n{rows}l:\n- |\n  a: 1, 2, 3\n- k: >\n    a: 1\n  z: 1\n"

    assert merge_files(*files(text)).reason == ""


def test_nobody_judges_a_file_that_is_one_conflict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kmerge_git.merge.verify.referee.violations", None)  # not called
    ours, theirs = (b"kind: A\nmetadata: {name: %s}\n" % name for name in (b"a", b"b"))
    found = merge_files(b"", ours, theirs)
    assert (found.method, found.clean, len(found.conflicts)) == ("structure", False, 1)


def test_runs_that_nobody_changed_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    lower(monkeypatch, {"MOST_ENTRIES": 100})
    values = "".join(f"  key{n}: a value\n" for n in range(500))
    base, ours, theirs = files(
        lambda side: (
            f"a: {'o' if side == 'o' else 'b'}\nm:\n{values}z: {'t' if side == 't' else 'b'}\n"
        )
    )
    assert merge_files(base, ours, theirs).reason == ""


ONE = "---\nkind: Z\nmetadata: {name: z}\nspec: "


@pytest.mark.parametrize("text, one", [(documents, ONE), (entries, "z: ")])
def test_what_both_changed_alike_does_not_count(
    text: Callable[[str], str], one: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lower(monkeypatch, {"MOST_CHANGED": 5})
    sides = (text(side) + one + f"{n}\n" for n, side in enumerate("boo"))
    found = merge_files(*(side.encode() for side in sides))
    assert (found.reason, len(found.conflicts)) == ("", 1)


@pytest.mark.costly
def test_what_is_too_much_is_not_looked_into_for_damage():
    """To read it would take longer than the merge of its lines."""
    twice = "a: 1\n" * (bulk.MOST_ALONE // 2)
    texts = Three(b"", b"", b"").map(YamlText)
    assert line_damage.breaks(YamlText(twice.encode()), texts)
    assert not line_damage.breaks(YamlText((twice * 3).encode()), texts)


def weight(text: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many entries a text has at sight: fewer would be too many."""
    lower(monkeypatch, {"MOST_ALONE": 0})
    for most in range(10_000):
        lower(monkeypatch, {"MOST_AT_SIGHT": most})
        if not bulk.unread(text):
            return most
    raise AssertionError("it has no end")


def test_lists_of_nothing_but_lists_count_more(monkeypatch: pytest.MonkeyPatch) -> None:
    flat, deep = "l: [" + "a, " * 40 + "]\n", "l: " + "[" * 40 + "a" + "]" * 40 + "\n"
    assert weight(deep, monkeypatch) > 5 * weight(flat, monkeypatch)
    assert weight("- - - - a\n", monkeypatch) > 5 * weight("- a\n- b\n", monkeypatch)
    (document,) = splitting.split(Source.of(deep)).documents
    assert weight(deep, monkeypatch) > len(deep)
    lower(monkeypatch, {"MOST_ALONE": len(deep) - 1})  # what is shorter is not counted
    with pytest.raises(TextOnly, match="a document has more than"):
        bulk.refuse_entries(document)


def test_other_commands_take_no_more_documents_apart(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lower(monkeypatch, {"MOST_DOCUMENTS": 4})
    old, new = (documents(side).encode() for side in "bo")
    assert {change.how for change in compare(old, new)} == {"lines"}
    path = tmp_path / "a.yaml"
    path.write_bytes(old)
    assert main(["patch", str(path), "--patch", '{"a": 1}']) == 2
    assert capsys.readouterr().err == f"kmerge: {path}: the file has more than 4 documents\n"


FLOW = "a: 1\nl: [" + ", ".join("{{a: {n}, b: {v}}}".format(n=n, v="%d") for n in range(30)) + "]\n"
BLOCKS = "l:\n" + "".join(f"- a: {n}\n  b: %d\n" for n in range(30))
LISTS = "l:\n" + "".join("- - %d  # one of few\n" for n in range(9))


@pytest.mark.parametrize("text", [FLOW, BLOCKS, LISTS], ids=["flow", "block", "lists"])
def test_patches_and_comparisons_refuse_too_many_entries(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = (text.replace("%d", value).encode() for value in "12")
    (file := tmp_path / "a.yaml").write_bytes(old)
    asked = ["patch", str(file), "--type", "merge", "--patch", '{"a": 2}']
    assert main(asked) == 0
    assert {change.how for change in compare(old, new)} == {"changed"}
    monkeypatch.setattr(bulk, "MOST_ALONE", 90)
    assert main(asked) == 2
    assert "a document has more than 90 entries" in capsys.readouterr().err
    assert {change.how for change in compare(old, new)} == {"lines"}


def test_a_text_that_looks_like_entries_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "a: 1\ndata:\n  x.json: '" + '{"a": [1, 2, {"b": 3}]}, ' * 50 + "'\n"
    (file := tmp_path / "a.yaml").write_text(text)
    monkeypatch.setattr(bulk, "MOST_ALONE", 90)
    assert main(["patch", str(file), "--type", "merge", "--patch", '{"a": 2}']) == 0
    assert capsys.readouterr().out == text.replace("a: 1\n", "a: 2\n")


def test_nothing_parses_what_is_too_much_at_sight(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lower(monkeypatch, {"MOST_ALONE": 9, "MOST_ENTRIES": 9, "MOST_AT_SIGHT": 60})
    texts = [("[" * 12 + side + "]" * 12 + "\n").encode() for side in "bot"]
    with monkeypatch.context() as patched:
        patched.setattr(parser, "compose", None)  # whoever calls it fails
        patched.setattr(pipeline.by_resource, "LARGE", 9)
        assert merge_files(*texts).reason == "a document has more than 9 entries"
        assert {change.how for change in compare(texts[0], texts[1])} == {"lines"}
        assert left_conflicts.Judge(Three(*texts), "a.yaml").damage(b"x: 1\n" + texts[0]) == ()
        (path := tmp_path / "a.yaml").write_bytes(texts[0])
        assert main(["patch", str(path), "--patch", '{"a": 1}']) == 2
        assert capsys.readouterr().err == f"kmerge: {path}: the file has more than 60 entries\n"
        assert main(["check", "--as", "patch", str(path), "--target", str(path)]) == 2
        assert "more than 60 entries; use --target" in capsys.readouterr().err
        assert main(["check", str(path)]) == 0
        assert "more than 60 entries" in capsys.readouterr().out


def test_of_too_many_documents_none_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_documents(*_: object) -> None:
        raise AssertionError

    lower(monkeypatch, {"MOST_DOCUMENTS": 4})
    monkeypatch.setattr(pipeline.by_resource, "LARGE", 9)
    texts = [("---\n" * 10 + f"a: {side}\n").encode() for side in "bot"]
    monkeypatch.setattr(splitting, "Document", no_documents)
    assert merge_files(*texts).reason == "the file has more than 4 documents"
    assert merge3_bytes(Three(*texts)).reason == "the file has more than 4 documents"

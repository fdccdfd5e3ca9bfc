"""What a question looks like: it fits the terminal, and what differs is to be seen."""

from __future__ import annotations

import random

import pytest
from fake_resolving import ALL, FakeAnswer, FakeQuestion, question

from kmerge_git.cli.asking import draft, written
from kmerge_git.cli.question_screen import (
    Around,
    Size,
    aligned,
    cells,
    in_short,
    picture,
    shortened,
    wrapped,
)
from kmerge_git.errors import KmergeError
from kmerge_git.merge.plan import Why

AROUND = Around(3, 11, ("1a2b3c4", "HEAD", "feature"))
DIGESTS = tuple("registry.example.com/team/web@sha256:" + part * 32 for part in ("aa", "ab", "0c"))


def lines(asked: FakeQuestion, room: Size | None = None, around: Around = AROUND) -> list[str]:
    rows = picture(asked, around, room or Size())
    return ["".join(text for text, _ in row) for row in rows]


def test_a_value() -> None:
    assert lines(question(("web:1.4", "web:1.5", None), choices=ALL)) == [
        "",
        "3 of 11  web.yaml",
        "Deployment/web spec.image",
        Why.BOTH_CHANGED,
        "  base (1a2b3c4)    web:1.4",
        "  ours (HEAD)       web:1.5",
        "  theirs (feature)  (deleted)",
    ]


ABOVE, BELOW = ("a:", "  b:", "  - c: 1 ", "    d: 2"), ("    e: 3", "  f: 4", "  g:")


@pytest.mark.parametrize("kind", ["value", "entries"])
def test_two_lines_of_the_file_above_and_below(kind: str) -> None:
    asked = question(("1", "2", "3"), kind=kind)
    values = lines(asked)[4:]
    around = Around(3, 11, AROUND.labels, above=ABOVE, below=BELOW)
    assert lines(asked, around=around)[4:] == [
        "  | - c: 1·", "  |   d: 2", *values, "  |   e: 3", "  | f: 4",
    ]  # fmt: skip
    rows = picture(asked, around, Size())
    assert rows[4] == (("  | - c: 1·", "dim"),) and rows[-1] == (("  | f: 4", "dim"),)
    first = Around(1, 1, AROUND.labels, below=("x: 1",))
    assert lines(asked, around=first)[4:] == [*values, "  | x: 1"]


@pytest.mark.parametrize("kind", ["value", "text"])
@pytest.mark.parametrize("free", range(6))
def test_the_lines_next_to_a_conflict_go_first_where_rows_are_few(kind: str, free: int) -> None:
    asked = question(("1", "2", "3"), kind=kind)
    bare = lines(asked)
    around = Around(3, 11, AROUND.labels, above=["a: 1", "b: 1"], below=["c: 1", "d: 1"])
    shown = lines(asked, Size(80, len(bare) + 2 + free), around)
    above, below = [["b: 1"], ["a: 1", "b: 1"]][free > 1], ["c: 1", "d: 1"][: max(free - 2, 0)]
    above = above if free else []
    assert shown[4:] == [f"  | {x}" for x in above] + bare[4:] + [f"  | {x}" for x in below]


def test_the_higher_version_is_marked_and_fits() -> None:
    digests = [f"{text}{'x' * 60}" for text in ("1.4", "1.5", "1.10")]
    for columns in (40, 60, 100):
        around = Around(3, 11, AROUND.labels, higher="theirs")
        shown = lines(question((*digests,), choices=ALL), Size(columns, 20), around)
        assert [line.endswith(" (higher)") for line in shown] == [False] * (len(shown) - 1) + [True]
        assert max(map(cells, shown)) <= columns


@pytest.mark.parametrize(
    "how, text, told",
    [
        ("ours", "image: b", "ours: web:1.5"),
        ("theirs", None, "theirs: (deleted)"),
        ("base", "image: a", "base: web:1.4"),
        ("higher", "web:1.5", "ours: web:1.5"),
        ("both", "  - b\n  - c\n", "both: - b …"),
        ("value", "image: 1\n", "edited: image: 1"),
        ("lines", "\n  - b\n  - c\n", "edited: - b …"),
    ],
)
def test_an_answer_in_a_few_words(how: str, text: str | None, told: str) -> None:
    assert in_short(question(("web:1.4", "web:1.5", None)), FakeAnswer(how, text)) == told


def test_markers_of_the_editor_are_longer_than_those_in_the_lines() -> None:
    asked = question(("a\n", "title\n=======\n", "c\n"), kind="text")
    shown = draft(asked, AROUND.labels)  # type: ignore[arg-type]
    edited = "".join(x for x in shown.splitlines(True) if not x.startswith("# kmerge: "))
    assert [line for line in edited.split("\n") if line[:1] == "="] == ["=======", "==========="]
    with pytest.raises(KmergeError, match="the text still has a conflict marker"):
        written(asked, edited)  # type: ignore[arg-type]
    assert written(asked, asked.values.ours or "") == asked.values.ours  # type: ignore[arg-type]


def test_nothing_is_no_text() -> None:
    asked = question((None, "1", "2"))
    assert in_short(asked, FakeAnswer("base", None)) == "base: (none)"
    assert in_short(asked, None) == ""


def test_of_a_long_name_the_subject_of_its_commit_goes_first() -> None:
    names = ("parent of 088701e (topic change)", "HEAD", "feature/with-a-very-long-name-1.2")
    shown = lines(question(("1", "2", "3")), around=Around(1, 1, names))
    assert shown[-3:] == [
        "  base (parent of 088701e)           1",
        "  ours (HEAD)                        2",
        "  theirs (feature/with…ng-name-1.2)  3",
    ]


def test_what_a_side_changed_has_a_colour_in_whole_words() -> None:
    rows = picture(question(("a/web:1.10-x", "a/web:1.11-x", "a/web:2.10-x")), AROUND, Size())
    assert [part for row in rows for part in row if part[1] in ("green", "yellow")] == [
        ("11", "green"),
        ("2", "yellow"),
    ]


def test_new_on_both_sides_is_compared_with_the_other() -> None:
    rows = picture(question((None, "port 80", "port 90")), AROUND, Size())
    coloured = [part for row in rows for part in row if part[1] in ("green", "yellow")]
    assert coloured == [("80", "green"), ("90", "yellow")]
    assert "  base (1a2b3c4)    (none)" in lines(question((None, "80", "90")))


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_long_values_are_cut_where_they_do_not_differ(columns: int) -> None:
    shown = [line.strip() for line in lines(question(DIGESTS), Size(columns, 20)) if "…" in line]
    assert len({line.split()[-1] for line in shown}) == 3
    assert any("aaaa" in line for line in shown) and any("0c0c" in line for line in shown)


def test_a_text_is_a_small_diff() -> None:
    base = "one\ntwo\nthree\nfour\nfive\n"
    ours, theirs = base.replace("two", "2"), base.replace("two", "zwei").replace("five", "5\n6")
    assert lines(question((base, ours, theirs), kind="text"))[4:] == [
        "  ours (HEAD):",
        "   one",
        "  -two",
        "  +2",
        "   three",
        "  theirs (feature):",
        "   one",
        "  -two",
        "  +zwei",
        "   three",
        "   four",
        "  -five",
        "  +5",
        "  +6",
    ]


def test_a_deletion_and_what_is_not_there() -> None:
    shown = lines(question(("a: 1\n", None, "a: 2\n"), kind="entries"))
    assert shown[4:] == ["  ours (HEAD): deleted", "  theirs (feature):", "  -a: 1", "  +a: 2"]
    assert lines(question((None, "a: 1\n", ""), kind="lines"))[-1] == "  theirs (feature): nothing"


def test_of_a_long_text_the_first_lines_are_shown() -> None:
    base = "".join(f"line {n}\n" for n in range(60))
    shown = lines(question((None, base, "short\n"), kind="text"), Size(80, 20))
    assert len(shown) == 18
    assert shown[-2:] == ["  theirs (feature):", "  +short"]
    assert shown[-3] == "  … 50 more lines, press `e` to see all"
    assert shown[-4] == "  +line 9"


def test_blanks_and_control_characters_are_spelled() -> None:
    shown = lines(question(("a\n", "a \n", "\ta\x1b[2J\n"), kind="text"))
    assert "  +a·" in shown and "  +\\ta\\x1b[2J" in shown
    (row,) = [line for line in lines(question(("a", "b\x1b]0;x\x07", "c"))) if "x1b" in line]
    assert row.isprintable()


@pytest.mark.costly
def test_every_picture_fits_its_terminal() -> None:
    some = random.Random(15)
    letters = ["a", "ab .-/:", "aé世界 ", "ab\n", "\x1b\t\n -"]
    for _ in range(1000):
        values = tuple(
            None if some.random() < 0.1 else text(some, letters, some.choice((5, 60, 900)))
            for _ in range(3)
        )
        kind = some.choice(("value", "text", "entries", "file"))
        asked = question(
            values,
            path=text(some, letters[:3], 70) or "x",
            resource=text(some, letters, 60),
            field=text(some, letters, 150),
            why=text(some, letters, 150) or "x",
            kind=kind,
        )
        labels = tuple(text(some, letters, 50) for _ in range(3))
        authors = {
            side: text(some, letters, 99) for side in ("ours", "theirs")[: some.randrange(3)]
        }
        answer, higher = text(some, letters, 60) * some.randrange(2), some.choice(("", "theirs"))
        near = [[text(some, letters, 90) for _ in range(some.randrange(4))] for _ in "ab"]
        around = Around(3, 111, labels, answer, authors, higher, *near)
        room = Size(some.randrange(40, 120), some.randrange(20, 50))
        shown = lines(asked, room, around)
        assert len(shown) <= room.rows - 2
        assert [line for line in shown if cells(line) > room.columns] == []
        assert all(line.isprintable() for line in shown)


def text(some: random.Random, letters: list[str], most: int) -> str:
    return "".join(some.choices(some.choice(letters), k=some.randrange(most)))


def test_texts_that_differ_look_different_however_they_are_cut() -> None:
    some = random.Random(15)
    letters = ["a", "ab", "abc. /", "aé世"]
    for _ in range(2000):
        texts = [text(some, letters, 90) for _ in range(some.choice((1, 2, 3)))]
        if some.random() < 0.6:
            whole = some.choice(texts)
            at = [some.randrange(len(whole) + 1) for _ in texts]
            texts = [whole[:n] + t[: n % 5] + whole[n:] for n, t in zip(at, texts, strict=True)]
        width = some.randrange(16, 60)
        shown = [cut.text(t) for cut, t in zip(aligned(texts, width), texts, strict=True)]
        assert all(cells(cut) <= width for cut in shown)
        assert all(cut == t for cut, t in zip(shown, texts, strict=True) if cells(t) <= width)
        assert len(set(shown)) == len(set(texts))


def test_sentences_are_wrapped_at_blanks() -> None:
    assert wrapped("one two three", 16) == ["one two three"]
    assert wrapped("one two three four five", 16) == ["one two three", "four five"]
    assert wrapped("x" * 40, 20) == ["x" * 20, "x" * 20]
    assert wrapped("one two three four five six seven", 16, most=2) == [
        "one two three",
        "four fiv…x seven",
    ]
    assert shortened("apps/team/web/deployment.yaml", 16) == "apps/tea…nt.yaml"

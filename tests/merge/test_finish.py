"""Answers to conflicts: what may be answered, what then stands in the file, what is refused."""

import random
from pathlib import Path

import pytest
from counting import steps

from kmerge_git.api import merge_files
from kmerge_git.errors import Refused
from kmerge_git.kube.identity import identity
from kmerge_git.merge.finish.open_conflicts import OpenConflicts, open_lines
from kmerge_git.merge.finish.possible_answers import choices, edited
from kmerge_git.merge.three import Three
from kmerge_git.merge.verify import line_damage
from kmerge_git.outcome import Options
from kmerge_git.text.pieces import Hunk
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import YamlText, split

HEAD = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n"
CASES = sorted(
    path.parent for path in Path(__file__).parents[1].joinpath("cases").rglob("base.yaml")
)


def deciding(base: str, ours: str, theirs: str, *, head: str = HEAD) -> OpenConflicts:
    texts = Three(*((head + text).encode() for text in (base, ours, theirs)))
    outcome = merge_files(*texts.each(), path="web.yaml")
    assert outcome.open_merge is not None, outcome
    return OpenConflicts(outcome.open_merge, opened(texts, "web.yaml"))


def opened(texts: Three[bytes], path: str) -> Three[YamlText]:
    return texts.map(lambda data: YamlText(data, path))


def made(of: OpenConflicts, *answers: str) -> str:
    """The file without its head, checked."""
    given = dict(enumerate(answers))
    of.check(given)
    return of.text(given).decode().removeprefix(HEAD)


def image(lines: str) -> str:
    return spec(f"  image:{lines}  z: 1\n")


def spec(lines: str) -> str:
    return f"spec:\n{lines}"


IMAGE = deciding(
    spec("  image: app:1.0  # the app\n  z: 1\n"),
    spec("  image: app:1.1  # the app\n  z: 1\n"),
    spec("  image: app:1.2  # the app\n  z: 1\n"),
)
LAST = deciding(*(spec(f"  z: 1\n  image: {n}\n") for n in (1, 2, 3)))
DASH = deciding(
    *(spec(f"  c:\n    - image: a:{n}\n      name: x\n      v: 1\n") for n in (1, 2, 3))
)
ARGS = deciding(
    spec("  args:\n    - --a\n"),
    spec("  args:\n    - --a\n    - --o\n"),
    spec("  args:\n    - --a\n    - --t\n"),
    head="",
)
TEXT = deciding(
    "data:\n  text: |\n    a\n    b\n    c\n",
    "data:\n  text: |\n    a\n    ours\n    c\n",
    "data:\n  text: |\n    a\n    theirs\n    c\n",
)
TEXT_GONE = [f"data:\n  text: |\n    a\n{line}    c\n" for line in ("    b\n", "", "    new\n")]
COMMENT = deciding("# old\nspec: 1\n", "# ours\nspec: 1\n", "# theirs\nspec: 1\n")
GONE = deciding(
    spec("  a:\n    x: 1\n    y: 2\n"), spec("  z: 1\n"), spec("  a:\n    x: 2\n    y: 2\n")
)
THEIRS_GONE = deciding("a: 1\nb: 1\n", "a: 2\nb: 1\n", "b: 1\n")
TURNED_ARGS = deciding("args: [a]\n", "args:\n- x\n- y\n", "args:\n- y\n- x\n", head="")
VALUE_GONE = deciding("a: 1\nb: 1\n", "b: 1\n", "a: 2  # new\nb: 1\n")


@pytest.mark.parametrize(
    "of, kind, choices, values",
    [
        (IMAGE, "value", "ours theirs base higher", ("app:1.0", "app:1.1", "app:1.2")),
        (ARGS, "value", "ours theirs both base", (None, "--o", "--t")),
        (TEXT, "text", "ours theirs both base", ("b\n", "ours\n", "theirs\n")),
        (COMMENT, "comment", "ours theirs both base", ("# old\n", "# ours\n", "# theirs\n")),
        (GONE, "entries", "ours theirs base", ("a:\n  x: 1\n  y: 2\n", None, "a:\n  x: 2\n  y: 2\n")),
        (VALUE_GONE, "value", "ours theirs base", ("1", None, "2")),
        (deciding(*TEXT_GONE), "text", "ours theirs base", ("b\n", None, "new\n")),
        (deciding(*map(TEXT_GONE.__getitem__, (0, 2, 1))), "text", "ours theirs base", ("b\n", "new\n", None)),
    ],
)  # fmt: skip
def test_what_a_conflict_is_about_and_may_be_answered_with(of, kind, choices, values):
    assert of.kinds == [kind]
    assert of.choices(0) == tuple(choices.split())
    assert tuple(of.value(0, side) for side in ("base", "ours", "theirs")) == values


@pytest.mark.parametrize(
    "of, choice, expected",
    [
        (IMAGE, "ours", image(" app:1.1  # the app\n")),
        (IMAGE, "higher", image(" app:1.2  # the app\n")),
        (IMAGE, "base", image(" app:1.0  # the app\n")),
        (ARGS, "both", spec("  args:\n    - --a\n    - --o\n    - --t\n")),
        (ARGS, "base", spec("  args:\n    - --a\n")),
        (TEXT, "both", "data:\n  text: |\n    a\n    ours\n    theirs\n    c\n"),
        (COMMENT, "both", "# ours\n# theirs\nspec: 1\n"),
        (GONE, "theirs", spec("  z: 1\n  a:\n    x: 2\n    y: 2\n")),
        (GONE, "ours", spec("  z: 1\n")),
    ],
)
def test_an_answer_in_one_word(of, choice, expected):
    assert made(of, of.chosen(0, choice)) == expected


@pytest.mark.parametrize(
    "of, choice, why",
    [
        (GONE, "both", "`both` is not possible: one side has no lines here"),
        (THEIRS_GONE, "both", "`both` is not possible: one side has no lines here"),
        (IMAGE, "both", "the file would contain the same entry twice"),
        (
            TURNED_ARGS,
            "both",
            "one side already contains all entries of the other side; choose that side",
        ),
        (VALUE_GONE, "higher", "`higher` needs a conflict between two values of one field"),
    ],
)
def test_an_answer_in_one_word_that_is_refused(of, choice, why):
    assert choice not in of.choices(0)
    with pytest.raises(Refused, match=why):
        of.chosen(0, choice)


@pytest.mark.parametrize(
    "lines, size, is_refused",
    [
        ("<<<<<<< ours\n", 7, True),
        ("<<<<<<< ours\n", 10, True),  # git's own, where an attribute makes markers longer
        ("<<<<<< ours\n", 10, False),
        ("<<<<<< ours\n", 7, False),
        ("<<<<<< ours\n", 6, True),
    ],
)
def test_lines_with_markers_are_refused(lines, size, is_refused):
    if not is_refused:
        assert edited(lines, size) == lines
        return
    with pytest.raises(Refused, match="markers"):
        edited(lines, size)


@pytest.mark.parametrize(
    "of, given, expected",
    [
        (IMAGE, "app:9", image(" app:9  # the app\n")),
        (IMAGE, "'it is: quoted'", image(" 'it is: quoted'  # the app\n")),
        (IMAGE, "a: 1\nb: 2", image("\n    a: 1\n    b: 2\n")),
        (IMAGE, "- 1\n- 2", image("\n    - 1\n    - 2\n")),
        (IMAGE, "|\n  two\n  lines", image(" |\n    two\n    lines\n")),
        (ARGS, "--z", spec("  args:\n    - --a\n    - --z\n")),
        (ARGS, "k: 1\nl: 2", spec("  args:\n    - --a\n    - k: 1\n      l: 2\n")),
        (TEXT, "anything: [\n", None),
        (IMAGE, "app\n...\n", None),  # inside of a file it would be a text of three words
        (IMAGE, "--- app", None),
        (IMAGE, "---app", image(" ---app  # the app\n")),
        (TEXT, '"two\\nlines"', "data:\n  text: |\n    a\n    two\n    lines\n    c\n"),
        (GONE, "7", spec("  z: 1\n  a: 7\n")),
        (GONE, "k: 7", spec("  z: 1\n  a:\n    k: 7\n")),
        (VALUE_GONE, "5", "a: 5  # new\nb: 1\n"),
    ],
)
def test_a_value_that_nobody_had(of, given, expected):
    if expected is None:
        with pytest.raises(Refused):
            of.with_value(0, given)
    else:
        assert made(of, of.with_value(0, given)) == expected


@pytest.mark.parametrize(
    "of, lines, why",
    [
        (
            DASH,
            "    - |\n",
            "different meaning|change the meaning",
        ),  # would swallow what stands below
        (IMAGE, "  image: a\n kind: x\n", "not be valid YAML"),
        (IMAGE, "image: a\n", "not be valid YAML"),  # another place
        (LAST, "image: a\n", "different meaning|change the meaning"),
        (IMAGE, "  image: a\n  image: b\n", "duplicate key"),
        (ARGS, "    - --z\n  more: 1\n---\n", "several"),
    ],
)
def test_lines_that_do_more_than_they_say_are_refused(of, lines, why):
    with pytest.raises(Refused, match=why):
        of.check({0: lines})


def test_of_many_documents_only_those_with_new_answers_are_read_again(monkeypatch):
    def text(n: int) -> str:
        return "".join(f"---\nkind: A\nmetadata: {{name: a{i}}}\nv: {n}\n" for i in range(9))

    of = deciding(*(text(n) for n in (1, 2, 3)), head="")
    read: list[object] = []
    monkeypatch.setattr(line_damage, "identity", lambda root: read.append(root) or identity(root))
    of.check({0: "v: 4\n"})
    assert len(read) == 9
    of.check({0: "v: 4\n", 1: "v: 5\n"})
    assert len(read) == 10
    with pytest.raises(Refused, match=r"duplicate key|same entry twice"):
        of.check({0: "v: 4\nv: 4\n"})
    with pytest.raises(
        Refused, match=r"duplicate key|same entry twice"
    ):  # and is no sound text after that
        of.check({0: "v: 4\nv: 4\n"})


@pytest.mark.parametrize(
    "form",
    [
        lambda n, side: f"k{n}: {side if n % 2 else 0}\n",
        lambda n, side: f"- name: {side}{n}\n  v: {n}\n",
        lambda n, side: f"k{n}: |\n  one\n  {side}\n  three\n",
    ],
    ids=["values", "elements", "texts"],
)
@pytest.mark.costly
def test_twice_as_many_conflicts_take_twice_as_long(form):
    def count(size: int) -> int:
        base, ours, theirs = ("".join(form(n, side) for n in range(size)) for side in "bot")
        of = deciding(base, ours, theirs, head="")

        def work() -> None:
            numbers = range(len(of.kinds))
            both = [n for n in numbers if "both" in of.choices(n)]
            of.check({n: of.chosen(n, "both" if n in both else "base") for n in numbers})

        return steps(work)

    count(3)  # what is made once is made now
    assert count(120) < 2.6 * count(60)


def test_a_value_below_which_something_stands_may_be_a_text():
    of = deciding("spec: {}\na: 1\nb: 1\n", "spec: {}\na: 2\nb: 1\n", "spec: {}\na: 3\nb: 1\n")
    with pytest.raises(Refused):
        of.check({0: "a: |\n  x\n b: 2\n"})
    assert made(of, "a: |\n  x\n") == "spec: {}\na: |\n  x\nb: 1\n"


def test_of_a_collection_that_loses_all_it_had_nothing_stays_but_brackets():
    base = "spec:\n  args:  # of the app\n    a: 1\n    b: 1\nx: 1\n"
    ours = base.replace("a: 1", "a: 2").replace("    b: 1\n", "")
    theirs = base.replace("b: 1", "b: 2").replace("    a: 1\n", "")
    of = deciding(base, ours, theirs)
    assert len(of.conflicts) == 2
    gone = [next(side for side in ("ours", "theirs") if not of.value(n, side)) for n in range(2)]
    answers = [of.chosen(number, side) for number, side in enumerate(gone)]
    assert made(of, *answers) == "spec:\n  args: {}  # of the app\nx: 1\n"


def test_a_field_on_the_line_of_a_dash_is_a_value():
    assert DASH.kinds == ["value"]
    assert DASH.choices(0) == ("ours", "theirs", "base", "higher")
    text = spec("  c:\n    - image: b:9\n      name: x\n      v: 1\n")
    assert made(DASH, DASH.with_value(0, "b:9")) == text


def test_some_answers_leave_the_other_markers():
    base = "a: 1\nsame: 0\nb: 1\n"
    of = deciding(base, base.replace(": 1", ": 2"), base.replace(": 1", ": 3"))
    assert len(of.conflicts) == 2
    text = of.text({0: of.chosen(0, "theirs")}).decode()
    assert "a: 3\n" in text and text.count("<<<<<<<") == 1 and "b: 2\n=======\nb: 3\n" in text


def test_equal_elements_are_there_once_where_both_are_kept():
    base = "spec:\n  args:\n    - --old\n"
    ours, theirs = (base.replace("    - --old\n", text) for text in (
        "    - --x\n    - --o\n", "    - --t\n    - --x\n"))  # fmt: skip
    of = deciding(base, ours, theirs)
    for number in range(len(of.conflicts)):
        if "both" in of.choices(number):
            assert of.chosen(number, "both").count("--x") <= 1


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_what_git_merged_by_lines_is_answered_like_others(ends):
    texts = Three(
        *(f"{{{{ if x }}}}\na: {n}\nb: 1\n".replace("\n", ends).encode() for n in (1, 2, 3))
    )
    outcome = merge_files(*texts.each(), path="t.yaml", style="diff3")
    assert outcome.method == "lines" and not outcome.clean
    of = OpenConflicts(open_lines(outcome.text, texts, Options("t.yaml")), opened(texts, "t.yaml"))
    assert of.kinds == ["lines"]
    assert [of.value(0, side) for side in ("base", "ours", "theirs")] == [
        "a: 1\n",
        "a: 2\n",
        "a: 3\n",
    ]
    for side, text in (("ours", texts.ours), ("theirs", texts.theirs), ("base", texts.base)):
        assert of.text({0: of.chosen(0, side)}) == text
    marked = of.text({})
    assert marked.startswith(f"{{{{ if x }}}}{ends}<<<<<<< ours{ends}".encode())


def read(data: bytes) -> list[str]:
    text = data.decode("utf-8-sig", "surrogateescape").replace("\r\n", "\n")
    return text.removesuffix("\n").split("\n") if text else []


@pytest.mark.world
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_any_answers_make_a_file_that_can_be_read(case):
    texts = Three(*(case.joinpath(f"{v}.yaml").read_bytes() for v in ("base", "ours", "theirs")))
    outcome = merge_files(*texts.each(), path="case.yaml")
    if outcome.open_merge is None:
        return
    of = OpenConflicts(outcome.open_merge, opened(texts, "case.yaml"))
    numbers = range(len(of.conflicts))
    for side in ("ours", "theirs"):
        given = {number: of.chosen(number, side) for number in numbers}
        favored = merge_files(*texts.each(), path="case.yaml", favor=side)
        if favored.clean:
            of.check(given)
            assert of.text(given) == favored.text
            for number in numbers:
                above, below = of.around(number, given)
                lines = [*above, *given[number].split("\n")[:-1], *below]
                assert lines == read(favored.text)
        else:
            with pytest.raises(Refused, match="duplicate"):
                of.check(given)
    rng = random.Random(case.name)
    for _ in range(3):
        given = {n: of.chosen(n, rng.choice(of.choices(n))) for n in numbers}
        try:
            of.check(given)
        except Refused:
            continue
        assert split(Source(of.text(given))).roots is not None


@pytest.mark.parametrize("given", ["app:1 : 2", "- a", "a: b"])
def test_a_map_in_one_line_is_a_slip(given):
    with pytest.raises(Refused, match="quotes"):
        IMAGE.with_value(0, given)
    assert made(IMAGE, IMAGE.with_value(0, "{a: b}")) == image(" {a: b}  # the app\n")


FLOW = "a: {{\n  x: {},\n  y: 2\n}}\n"


def test_lines_between_brackets_are_read_with_them():
    of = deciding(*(FLOW.format(n) for n in (1, 2, 3)), head="")
    assert [of.value(0, side) for side in ("base", "ours", "theirs")] == ["1", "2", "3"]
    for side in ("ours", "theirs", "base"):
        assert made(of, of.chosen(0, side)) == FLOW.format(of.value(0, side))
    assert made(of, of.with_value(0, "[5]")) == FLOW.format("[5]")
    with pytest.raises(Refused):
        of.with_value(0, "5, z")


def test_a_value_between_brackets_leaves_its_neighbours():
    of = deciding("a: {x: 1, y: 2}\n", "a: {x: 2, y: 2}\n", "a: {x: 3, y: 2}\n", head="")
    assert of.kinds == ["value"]
    assert made(of, of.with_value(0, "5")) == "a: {x: 5, y: 2}\n"


def test_lines_between_brackets_that_one_side_deleted_and_one_wrote_in_block_style():
    base = "a: {\n  x: 1,\n  y: 2\n}\n"
    of = deciding(base, base.replace("  x: 1,\n", ""), "a:\n  x: 3\n  y: 2\n", head="")
    assert [of.value(0, side) for side in ("base", "ours", "theirs")] == ["1", None, "3"]
    assert made(of, of.with_value(0, "5")) == base.replace("1", "5")


@pytest.mark.parametrize("form", ["a: {{x: {0}, y: {0}}}\n", "a: [x, {}]\n"])
def test_no_value_where_it_would_decide_about_more(form):
    of = deciding(*(form.format(n) for n in (1, 2, 3)), head="")
    assert of.kinds == ["entries"]
    with pytest.raises(Refused):
        of.with_value(0, "5")


@pytest.mark.parametrize(
    "given", ["{{ .Values.a }}", "--- a", "---\na", "5: x: 1", "|+\n  a\n\n\n"]
)
def test_a_value_that_would_be_another_one_is_refused(given):
    with pytest.raises(Refused):
        IMAGE.with_value(0, given)


@pytest.mark.parametrize("given", ["--- app", "---\na: 1\nb: 2", "app\n...", "...\n---\tapp"])
def test_a_document_is_no_value(given):
    with pytest.raises(Refused, match="enter only the value"):
        IMAGE.with_value(0, given)


def test_a_text_whose_header_counts_columns():
    assert made(IMAGE, IMAGE.with_value(0, "|2\n   a")) == image(" |2\n     a\n")


def test_a_value_in_the_place_of_none():
    of = deciding("a: 1\nb: 1\n", "b: 1\n", "a:\nb: 1\n", head="")
    assert made(of, of.with_value(0, "5")).startswith("a: 5\n")


def test_json_stays_json():
    texts = Three(*(f'{{\n  "a": {n},\n  "b": 1\n}}\n'.encode() for n in (1, 2, 3)))
    outcome = merge_files(*texts.each(), path="a.json")
    of = OpenConflicts(outcome.open_merge, opened(texts, "a.json"))
    of.check({0: of.with_value(0, '"x"')})
    with pytest.raises(Refused, match="JSON"):
        of.check({0: of.with_value(0, "x")})


def test_a_collection_that_one_side_emptied():
    head = '{"p":"b c",'
    texts = Three(*(text.encode() for text in (head + '"b":"x"}\n', "{}\n", '{"b":"3"}\n')))
    of = OpenConflicts(
        merge_files(*texts.each(), path="a.json").open_merge, opened(texts, "a.json")
    )
    for side in ("ours", "theirs"):
        of.check({0: of.chosen(0, side)})
        assert of.text({0: of.chosen(0, side)}) == texts.side(side)


@pytest.mark.parametrize("lines", ["    more\n", "    |\n"])
def test_lines_that_go_on_with_what_stands_above_are_refused(lines):
    of = deciding(*(spec(f"  a: x\n  b: {n}\n") for n in (1, 2, 3)))
    with pytest.raises(Refused):
        of.check({0: lines})


SWALLOWED = "l:\n  - {0}\n  - |\n    a\n    {0}\n  - z\n"
ANCHORED = "l:\n  - {0}\n  - &x |\n    a\n    {0}\n"


@pytest.mark.parametrize(
    "form, answers",
    [
        (SWALLOWED, ("  - 'x\n", "    y'\n")),
        (SWALLOWED, ("- |\n", "- y\n")),  # the second text is an element that nobody asked about
        (ANCHORED, ("- |\n",)),
        (ANCHORED, ("- |\n", "    y\n")),
    ],
)
def test_lines_that_make_a_text_out_of_what_stands_below_are_refused(form, answers):
    of = deciding(*map(form.format, (1, 2, 3)), head="")
    assert of.kinds == ["value", "text"]
    with pytest.raises(Refused, match=r"would (change the|have a different) meaning"):
        of.check(dict(enumerate(answers)))


def test_a_dash_that_makes_an_element_out_of_what_stands_below_is_refused():
    of = deciding(*map("l:\n  - {}\n  - - x\n".format, (1, 2, 3)), head="")
    with pytest.raises(Refused, match=r"would (change the|have a different) meaning"):
        of.check({0: "-\n"})


def test_a_document_stays_one_of_its_own():
    form = "a: 1\n---\nkind: A\nmetadata: {{name: x}}\nv: {}\n"
    of = deciding(form.format(1), "a: 1\n", form.format(3), head="")
    assert of.kinds == ["document"]
    with pytest.raises(Refused, match="---"):
        of.check({0: "  b: 1\n"})
    for given in ("b: 1", "---\nb: 1"):
        assert made(of, of.with_value(0, given)) == "a: 1\n---\nb: 1\n"


@pytest.mark.parametrize("given", ["b: 1\n", "---\nb: 1\n"])
def test_the_first_document_begins_as_it_is_given(given):
    of = deciding("", *(f"kind: {kind}\nmetadata: {{name: x}}\n" for kind in "AB"), head="")
    assert of.kinds == ["document"]
    assert made(of, of.with_value(0, given)) == given


@pytest.mark.parametrize("above", ["", "z: 1\n"])
def test_a_base_that_nobody_decided_is_no_answer(above: str) -> None:
    """It comes from the merge of two bases, with the conflict of that one in it."""
    markers = "<<<<<<<<< one\na: 1\n=========\na: 2\n>>>>>>>>> other\n"
    undecided = Hunk(above + markers, "a: 3\n", "a: 4\n", "", "", None)
    decided = Hunk(above, "a: 3\n", "a: 4\n", "", "", None)
    assert "base" not in choices("lines", undecided)
    assert "base" in choices("lines", decided)

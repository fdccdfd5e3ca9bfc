"""What an inner merge of a criss-cross hands out, and what the next merge makes of it.

Two people clashed once, and each solved it in his own branch. Merged again, the place is clean if
both solved it alike, and a conflict if not; all else merges as ever.
"""

from __future__ import annotations

from itertools import product

import pytest
from depth import is_whole, part

from kmerge_git.kube.listkeys import start
from kmerge_git.merge.merged import MergedDocument, MergedFile
from kmerge_git.merge.placeholders import undecided_text
from kmerge_git.merge.plan import Build, Clash, Item, Keep
from kmerge_git.merge.three import Three, cut
from kmerge_git.outcome import Options, Outcome
from kmerge_git.pipeline import merge
from kmerge_git.text.diff3 import diff3
from kmerge_git.text.linemerge import Given
from kmerge_git.text.markers import resolve
from kmerge_git.text.pieces import UNDECIDED, Hunk, digest, without_placeholders
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import YamlText, split
from kmerge_git.tree.nodes import Mapping
from kmerge_git.tree.same import canon

HEAD = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n"
POD = HEAD + "spec:\n  template:\n    spec:\n"
ENV = POD + "      containers:\n        - name: app\n          env:\n"
BUNDLE = "apiVersion: v1\nkind: Service\nmetadata:\n  name: other\n---\n"

# Every place a conflict can stand in: a text with a hole, and what may stand there; the first one
# is nothing at all. `#` is the hole, `@` a place far from it that one side changes.
PLACES = {
    "value": ("a: 1\nm:\n#\n\nx: @\n", "", "  b: 2\n", "  b: 7\n", "  b: 8\n"),
    "value in a flow": ("a: 1\nm: {k: 1#}\n\n\nx: @\n", "", ", b: 2", ", b: 7", ", b: [8]"),
    "value in JSON": (
        '{\n  "x": @,\n\n\n  "m": {\n    "k": 1#\n  }\n}\n',
        "",
        ',\n    "b": 2',
        ',\n    "b": 7',
        ',\n    "b": {"c": 8}',
    ),
    "map": (
        "m:\n  k: 1\n#\n\n\nx: @\n",
        "",
        "  b:\n    c: 1\n    d: 1\n",
        "  b:\n    c: 7\n    d: 1\n",
        "  b:\n    c: 8\n    d: 1\n    e: 1\n",
    ),
    "key with a note": (
        "m:\n  k: 1\n#\n\n\nx: @\n",
        "",
        "  # two\n  b: 2 # why\n",
        "  # seven\n  b: 7 # why\n",
        "  # eight\n  b: 8\n",
    ),
    "element with a key": (
        POD + "      x: @\n      containers:\n        - name: app\n          image: a\n#",
        "",
        "        - name: b\n          image: b:2\n          tty: true\n",
        "        - name: b\n          image: b:7\n",
        "        - image: b:8\n          tty: true\n          name: b\n",
    ),
    "element with two keys": (
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  x: @\n\n  ports:\n"
        "    - port: 1\n#",
        "",
        "    - port: 80\n      name: b\n",
        "    - port: 80\n      targetPort: 7\n      protocol: TCP\n",
        "    - port: 80\n      targetPort: 8\n",
    ),
    "element in order": (
        ENV + "#            - name: last\n              value: l\n\n      x: @\n",
        "",
        "            - name: b\n              value: b2\n",
        "            - name: b\n              value: b7\n",
        "            - name: b\n              valueFrom: {fieldRef: {fieldPath: b8}}\n",
    ),
    "element without a key": (
        POD + "      x: @\n      tolerations:\n        - key: a\n#        - key: z\n",
        "",
        "        - key: b\n          value: b2\n",
        "        - key: b\n          value: b7\n",
        "        - effect: b8\n        - key: c\n",
    ),
    "argument": (
        ENV.replace("env", "args") + "            - --a=1\n#            - --z=1\n\n      x: @\n",
        "",
        "            - --b=2\n",
        "            - --b=7\n",
        "            - --b=8\n            - --c=8\n",
    ),
    "item of a list": (
        "apiVersion: v1\nkind: List\nx: @\nitems:\n  - apiVersion: v1\n    kind: Secret\n"
        "    metadata:\n      name: s\n#",
        "",
        "  - apiVersion: v1\n    kind: Service\n    metadata:\n      name: b\n    b: 2\n",
        "  - apiVersion: v1\n    kind: Service\n    metadata:\n      name: b\n    b: 7\n",
        "  - apiVersion: v1\n    kind: Service\n    metadata:\n      name: b\n      c: d\n    b: 8\n",
    ),
    "text": (
        "x: @\n\n\nd:\n  run.sh: |\n    set -e\n#    exit\n",
        "",
        "    b 2\n",
        "    b 7\n    c\n",
        "    b 8\n",
    ),
    "document": (
        BUNDLE.replace("other", "other\nx: @") + "#" + BUNDLE + "last: 1\n",
        "",
        HEAD + "spec:\n  b: 2\n  c: 1\n---\n",
        HEAD + "spec:\n  b: 7\n---\n",
        HEAD.replace("  name", "  labels: {}\n  name") + "spec:\n  b: 8\n  c: 1\n---\n",
    ),
    "what a document is": (
        BUNDLE.replace("other", "other\nx: @") + "apiVersion: #\nkind: Deployment\n"
        "metadata:\n  name: web\nspec:\n  a: 1\n",
        "apps/v1",
        "extensions/v1beta1",
        "apps.example.org/v7",
        "web.example.org/v8",
    ),
    "name": (
        BUNDLE.replace("other", "other\nx: @") + "kind: Web\nmetadata:\n  #: web\n  labels: {}\n",
        "name",
        "generateName",
        "displayName",
        "title",
    ),
    "nameless document": (
        "#x: @\ny: 1\nz: 1\n",
        "",
        "---\nf: 6\n---\n",
        "--- [7]\n---\n",
        "--- 8\n---\n",
    ),
}


def by_lines(base: bytes, ours: bytes, theirs: bytes) -> Given:
    """A merge by lines; changes of neighbouring lines clash, as git has it."""
    lines = Three(base, ours, theirs).map(lambda data: data.decode().splitlines(keepends=True))
    result: list[str] = []
    for region in diff3(*lines.each()):
        if region.kind == "clash":
            return Given(b"", False)
        part = cut(region, lines)
        result += part.theirs if region.kind == "theirs" else part.ours
    return Given("".join(result).encode(), True)


def merged(base: str, ours: str, theirs: str, *, virtual: bool = False, style: str = "merge"):
    """The merge of three texts: an inner one (`virtual`), or the one that people see."""
    data = [text.encode() for text in (base, ours, theirs)]
    options = Options("x.yaml", virtual=virtual, style=style)
    return merge(Three(*data).map(YamlText), options, lambda favor, size: by_lines(*data))


def text_of(outcome: Outcome) -> str:
    return outcome.text.decode()


def canons(text: str) -> list[object]:
    return [canon(root) for root in split(Source.of(text)).roots]


def filled(place: str, state: int, far: int = 1) -> str:
    text, *states = PLACES[place]
    return text.replace("@", str(far)).replace("#", states[state])


def forks() -> list[tuple[int, int, int]]:
    """What stood at a place in the base, and what two people made of it, differently."""
    return [(b, m, t) for b, m, t in product(range(4), repeat=3) if b not in (m, t) and m < t]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.costly
def test_solved_alike_is_clean_solved_differently_a_conflict(place: str) -> None:
    clashes = 0
    for fork in part(forks()):
        inner = merged(*(filled(place, state) for state in fork), virtual=True)
        if inner.clean or inner.method == "lines":  # nothing tells what belongs together
            continue
        clashes += 1
        ancestor = text_of(inner)
        assert UNDECIDED in ancestor and canons(ancestor), fork
        assert "<<<<<<<" not in ancestor, fork
        for main, topic in product(range(4), repeat=2):
            ours, theirs = filled(place, main, far=2), filled(place, topic)
            outer = merged(ancestor, ours, theirs)
            told = f"{fork} -> {main}, {topic}\n{ancestor}\n{text_of(outer)}"
            assert outer.clean == (main == topic), told
            assert UNDECIDED not in text_of(outer), told
            if outer.clean:
                assert text_of(outer) == ours, told
            swapped = merged(ancestor, theirs, ours)
            assert swapped.clean == outer.clean, told
    assert clashes or not is_whole(), "nothing clashes here: the place shows nothing"


def test_one_side_that_went_back_to_the_base_did_change_something() -> None:
    """Base 2, here 7, there 8; solved as 7 here, and back to 2 there."""
    inner = text_of(merged("b: 2\n", "b: 7\n", "b: 8\n", virtual=True))
    outer = merged(inner, "b: 7\n", "b: 2\n")
    assert not outer.clean
    assert [(c.field, c.base, c.ours, c.theirs) for c in outer.conflicts] == [
        ("b", "", "b: 7\n", "b: 2\n")
    ]


def test_around_a_placeholder_the_list_still_merges_by_key() -> None:
    element = "        - name: {}\n          image: {}\n          tty: {}\n"
    texts = [
        POD
        + "      containers:\n"
        + element.format("a", "a:1", tty)
        + element.format("b", image, 1)
        for tty, image in ((1, "b:1"), (1, "b:2"), (1, "b:3"), (2, "b:2"), (1, "b:2"))
    ]
    inner = text_of(merged(*texts[:3], virtual=True))
    theirs = texts[4].replace("a:1", "a:5").replace("tty: 1\n", "tty: 1\n          stdin: 1\n")
    outer = merged(inner, texts[3], theirs)
    assert outer.clean
    assert "image: a:5\n          tty: 2\n          stdin: 1\n" in text_of(outer)


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("a: 1\n# @\nb: 1\n", ("one", "two", "three")),
        ("# @\n\na: 1\n", ("one", "two", "three")),
        ("a: 1\nb: 1 # @\nc: 1\n", ("one", "two", "three")),
        ("a: 1\nl:\n  - 1\n  # @\nb: 1\n", ("one", "two", "three")),
        ("# @\n", ("one", "two", "three")),
    ],
)
def test_a_comment_can_be_undecided(text: str, states: tuple[str, str, str]) -> None:
    base, ours, theirs = (text.replace("@", state) for state in states)
    inner = text_of(merged(base, ours, theirs, virtual=True))
    assert f"# {UNDECIDED}: " in inner
    assert not merged(inner, ours, base).clean
    assert not merged(inner, theirs, ours).clean


def test_comments_above_a_conflict_are_undecided_too() -> None:
    texts = [f"a: 1\n\n# {word}\nb: {n}\n" for n, word in enumerate(("one", "two", "three"))]
    inner = text_of(merged(*texts, virtual=True))
    assert not merged(inner, "a: 1\n\n# one\nb: 7\n", "a: 1\n\n# two\nb: 7\n").clean


def test_an_element_whose_key_changed_has_no_name() -> None:
    """What was 80/TCP may be 80/UDP now, or be gone: that is no agreed deletion."""
    head = HEAD.replace("apps/v1", "v1").replace("Deployment", "Service") + "spec:\n  ports:\n"
    other, port = "  - port: 1\n    name: a\n", "  - port: 80\n    name: b\n"
    udp = port + "    protocol: UDP\n"
    inner = text_of(merged(head + other + port, head + other, head + other + udp, virtual=True))
    assert f'  - {{"{UNDECIDED}": ' in inner
    assert not merged(inner, head + other + udp, head + other).clean
    assert merged(inner, head + other, (head + other).replace("spec:", "spec:\n  x: 1")).clean


def test_a_resource_that_both_took_away_is_gone() -> None:
    new, web = BUNDLE.replace("other", "new"), HEAD + "spec: {@: 1}\n---\n"
    texts = [BUNDLE + web.replace("@", "a"), BUNDLE, BUNDLE + web.replace("@", "b")]
    texts = [text.removesuffix("---\n") for text in texts]
    inner = text_of(merged(*texts, virtual=True))
    outer = merged(inner, (BUNDLE + new).removesuffix("---\n"), texts[1])
    assert outer.clean
    assert "name: new" in text_of(outer) and "name: web" not in text_of(outer)


@pytest.mark.parametrize(
    ("text", "held"), [("@: 1\n", "{@}\n"), ("m:\n  @: 1\nn: 1\n", "m: {@}\nn: 1\n")]
)
def test_a_place_under_two_keys_gives_way_to_the_one_around_it(text: str, held: str) -> None:
    """A conflict of one entry that each side renamed."""
    versions = Three("a", "b", "c").map(lambda key: Source.of(text.replace("@", key)))
    at = versions.map(lambda source: split(source).documents[0])
    plan = clash_of_first(at.map(lambda document: document.root))
    made = MergedDocument(at, "", plan, [Hunk("", "b", "c", "", "")])
    found = undecided_text(MergedFile([], [made], ""))
    mark = found[found.index('"') : found.index("}")]
    assert found == held.replace("@", mark) and UNDECIDED in mark


def clash_of_first(roots: Three) -> Build:
    entries = roots.map(lambda root: root.entries[0])
    if isinstance(entries.ours.value, Mapping):
        plan = clash_of_first(entries.map(lambda entry: entry.value))
    else:
        plan = Clash(entries.map(lambda entry: [entry]), "renamed", start(None))
    items = [Item(plan, entries.ours, entries.theirs, (), base=entries.base)]
    items += [Item(Keep(entry.value), entry, None, ()) for entry in roots.ours.entries[1:]]
    return Build(roots.ours, roots.theirs, items)


def test_lines_do_not_decide_what_is_undecided() -> None:
    """Gone here, kept and moved there: without the placeholder the lines are a clean merge."""
    one, two = "- name: b\n  image: b\n  c: 1\n", "- name: z\n  image: z\n"
    inner = text_of(merged(one + two, two, one.replace("1", "2") + two, virtual=True))
    ours, theirs = two + one, two
    assert by_lines(inner.encode(), ours.encode(), theirs.encode()).clean
    assert not merged(inner, ours, theirs).clean


@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
def test_no_placeholder_is_shown(style: str) -> None:
    values = ("{c: 1}", "[2]", "3")
    texts = [f"k: {value}\nl:\n  - name: a\n    b: {value}\n" for value in values]
    inner = text_of(merged(*texts, virtual=True))
    assert inner.count(UNDECIDED) == 2
    text = text_of(merged(inner, texts[0], texts[2], style=style))
    assert "<<<<<<<" in text and UNDECIDED not in text
    assert ("|||||||" in text) == (style != "merge")


def test_no_placeholder_is_shown_where_lines_merge() -> None:
    inner = merged("a: 1\n", "a: 2\n", "a: 3\n", virtual=True).text
    shown = b"<<<<<<< o\na: 2\n||||||| b\n%b=======\na: {{ 3 }} \xff\n>>>>>>> t\n"
    at = Three(inner, b"a: 2\n", b"a: {{ 3 }} \xff\n")
    outer = merge(at.map(YamlText), Options(), lambda favor, size: Given(shown % inner, False))
    assert outer.method == "lines"
    assert outer.text == shown % b""


def test_a_placeholder_is_a_side_of_the_next_inner_merge() -> None:
    """Three merge bases: what two of them made, merged with the third one."""
    first = text_of(merged("a: 1\n", "a: 2\n", "a: 3\n", virtual=True))
    second = text_of(merged("a: 1\n", first, "a: 4\n", virtual=True))
    assert second != first and second.count(UNDECIDED) == 1
    assert text_of(merged("a: 1\n", first, "a: 1\n", virtual=True)) == first
    again = text_of(merged("a: 1\n", "a: 3\n", "a: 2\n", virtual=True))
    assert again == first


SEALED = "a: ENC[AES256_GCM,data:@,type:str]\nsops:\n    mac: ENC[AES256_GCM,data:@,type:str]\n"


@pytest.mark.parametrize("text", [SEALED, "\0@\n"])
def test_of_what_cannot_be_merged_nothing_is_decided(text: str) -> None:
    """Else the side that the inner merge kept would be the one that has not changed."""
    data = [text.replace("@", char).encode() for char in "123"]
    outcome = merge(
        Three(*data).map(YamlText), Options(virtual=True), lambda favor, size: NoMerge()
    )
    assert not outcome.clean and outcome.text not in data
    assert UNDECIDED in text_of(outcome)
    plain = merge(
        Three(*data).map(YamlText), Options(), lambda favor, size: NoMerge()
    ).text.decode()
    assert [resolve(plain, side).encode() for side in ("ours", "theirs")] == [
        data[1],
        data[1] if "\0" in text else data[2],
    ]


class NoMerge:
    """Git, where it cannot merge."""

    def result(self) -> tuple[bytes, int]:
        return b"", -1


def test_what_lines_merged_keeps_its_markers() -> None:
    def lines(favor: str, size: int) -> Given:
        return Given(b"<<<<<<<<< 1\na\n=========\nb\n>>>>>>>>> 2\n", False)

    data = [b"a: {{ .x }} 1\n", b"a: {{ .x }} 2\n", b"a: {{ .x }} 3\n"]
    outcome = merge(Three(*data).map(YamlText), Options(virtual=True), lines)
    assert outcome.text.startswith(b"<<<<<<<<< 1\n")


def test_the_hash_knows_the_three_and_no_side() -> None:
    assert digest("a", "b", "c") == digest("a", "c", "b")
    others = [("a", "b", "d"), ("b", "a", "c"), ("ab", "", "c"), ("a", "b", "b"), ("", "ab", "c")]
    assert len({digest(*texts) for texts in [("a", "b", "c"), *others]}) == 6


def test_two_places_of_one_disagreement_hold_the_same() -> None:
    texts = [f"a:\n  k: {n}\n  l: 1\nb:\n  k: {n}\n" for n in (1, 2, 3)]
    inner = text_of(merged(*texts, virtual=True))
    assert len({line for line in inner.splitlines() if UNDECIDED in line}) == 1
    assert inner.count(UNDECIDED) == 2


def test_a_large_document_keeps_its_common_runs() -> None:
    run = "".join(f"  key{n}: {'v' * 40}\n" for n in range(2000))
    texts = [f"a: {n}\nrun:\n{run}z: {9 - n}\n" for n in (1, 2, 3)]
    inner = text_of(merged(*texts, virtual=True))
    assert run in inner and inner.count(UNDECIDED) == 2


def test_lines_without_placeholders() -> None:
    text = f"a: 1\nb: {UNDECIDED}\nc: 1\n"
    assert without_placeholders(text) == "a: 1\nc: 1\n"
    assert without_placeholders("a: 1") == "a: 1"

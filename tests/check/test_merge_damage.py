"""M20-M26 and M01 beside the sides of a merge: small files, each finished badly, or well."""

from __future__ import annotations

import pytest
from merges import merge_findings

from kmerge_git.check.registry import select
from kmerge_git.check.run import Run

BASE = """\
defaults: &defaults
  cpu: 1
  memory: 64
web:
  <<: *defaults
  replicas: 1
  image: web:1
  args:
  - --listen=:8080
  - -v
  - --user
  - nobody
  env:
  - name: A
    value: a
  - name: B
    value: b
  rules:
  - groups:
    - apps
    verbs:
    - get
    - list
    - watch
  - groups:
    - batch
    verbs:
    - get
limits: *defaults
script: |
  set -eu
  make all
  if true; then
    make test
  fi
  make push
notes: >-
  Read this first,
  and then read that,
  before anything else.
footer: 1
"""
OURS = BASE.replace("replicas: 1", "replicas: 2").replace(
    "    - watch\n", "    - watch\n    - patch\n"
)
THEIRS = BASE.replace("web:1", "web:2").replace("  make push\n", "  make push\n  make clean\n")
MERGED = (
    BASE.replace("replicas: 1", "replicas: 2")
    .replace("    - watch\n", "    - watch\n    - patch\n")
    .replace("web:1", "web:2")
    .replace("  make push\n", "  make push\n  make clean\n")
)
SIDES = (BASE.encode(), OURS.encode(), THEIRS.encode())

# what was done: what is changed in the result, and what is said of which field
DAMAGED: list[tuple[str, str, str, str, str]] = [
    ("a line slips to the left", "  memory: 64\n", "memory: 64\n", "M20", "memory"),
    ("and is gone where it was", "  memory: 64\n", "memory: 64\n", "M21", "defaults.memory"),
    ("a line slips to the right", "limits: *defaults\n", "  limits: *defaults\n", "M20", "web.limits"),
    ("an element slips into a text", "    - list\n", "      - list\n", "M21", "web.rules[0].verbs"),
    ("a field slips into a text", "footer: 1\n", "  footer: 1\n", "M21", "footer"),
    ("a field is gone", "  replicas: 2\n", "", "M21", "web.replicas"),
    ("an element with a key is gone", "  - name: B\n    value: b\n", "", "M21", "web.env"),
    ("an element is gone", "  - -v\n", "", "M21", "web.args"),
    ("an element of an element is gone", "    - list\n", "", "M21", "web.rules[0].verbs"),
    ("a field of an element without a key is gone", "  - groups:\n    - apps\n    verbs:\n", "  - verbs:\n", "M21", "web.rules[0].groups"),
    ("an element stands twice", "  - --listen=:8080\n", "  - --listen=:8080\n" * 2, "M22", "web.args"),
    ("it stands twice, far away", "  - nobody\n", "  - nobody\n  - --listen=:8080\n", "M22", "web.args"),
    ("an option with its argument", "  - nobody\n", "  - nobody\n  - --user\n  - nobody\n", "M22", "web.args"),
    ("an option stands behind itself", "  - --user\n", "  - --user\n  - --user\n", "M22", "web.args"),
    ("an argument stands behind itself", "  - nobody\n", "  - nobody\n  - nobody\n", "M22", "web.args"),
    ("twice in an element that both changed", "    - patch\n", "    - patch\n    - get\n", "M22", "web.rules[0].verbs"),
    ("a merge key is gone", "  <<: *defaults\n", "", "M23", "web"),
    ("an alias is no alias", "limits: *defaults\n", "limits:\n", "M23", "limits"),
    ("what it stands for, in part", "limits: *defaults\n", "limits:\n  cpu: 1\n", "M23", "limits"),
    ("lines of a text are gone", "  make push\n  make clean\n", "", "M25", "script"),
    ("a line of a folded text is gone", "  and then read that,\n", "", "M25", "notes"),
    ("a text without its header", "notes: >-\n", "notes:\n", "M25", "notes"),
    ("a line of a text slips", "  make push\n", "    make push\n", "M25", "script"),
    ("a line that theirs added slips", "  make clean\n", "    make clean\n", "M25", "script"),
    ("a colon is lost", "footer: 1\n", "footer 1\n", "M26", ""),
    ("a tab", "  replicas: 2\n", "\treplicas: 2\n", "M26", ""),
    ("a marker that is indented", "  replicas: 2\n", "  <<<<<<< HEAD\n  replicas: 2\n", "M01", ""),
    ("one line of a conflict in a text", "  make push\n", "  =======\n  make push\n", "M01", ""),
    ("a marker of a longer conflict", "footer: 1\n", "footer: 1\n>>>>>>>>>>> topic\n", "M01", ""),
    ("a marker with another line end", "footer: 1\n", "footer: 1\n=======\r\n", "M01", ""),
]  # fmt: skip

# what people do, and what is no damage
FINE: list[tuple[str, str, str]] = [
    ("nothing", "", ""),
    ("ours' value, not theirs'", "web:2", "web:1"),
    ("a value of one's own", "web:2", "web:3"),
    ("what ours added is left out", "    - patch\n", ""),
    ("what theirs added is left out", "  make clean\n", ""),
    ("an element is another one", "  - -v\n", "  - -vv\n"),
    ("a line of a text is another one", "  make push\n", "  make publish\n"),
    ("a text is another one", "  Read this first,\n  and then read that,\n", "  Read nothing,\n  and then do that,\n"),
    ("the order of fields", "  cpu: 1\n  memory: 64\n", "  memory: 64\n  cpu: 1\n"),
    ("the layout of a list", "    - get\n    - list\n    - watch\n    - patch\n", "      [get, list, watch, patch]\n"),
    ("an option with another argument", "  - nobody\n", "  - nobody\n  - --group\n  - nobody\n"),
    ("a comment", "footer: 1\n", "footer: 1  # why\n# what\n"),
]  # fmt: skip


def changed(old: str, new: str) -> bytes:
    assert not old or MERGED.count(old) == 1 or old == "    - get\n    - list\n"
    return MERGED.replace(old, new, 1).encode() if old else MERGED.encode()


@pytest.mark.parametrize("why, old, new, id, path", DAMAGED, ids=[c[0] for c in DAMAGED])
def test_damage_is_found(why: str, old: str, new: str, id: str, path: str) -> None:
    damaged = changed(old, new)
    for sides in (SIDES, (SIDES[0], SIDES[2], SIDES[1])):
        found = merge_findings(sides, damaged)
        assert (id, path) in {(one.id, one.path) for one in found}
        assert {one.severity for one in found} == {"error"}


@pytest.mark.parametrize("why, old, new", FINE, ids=[c[0] for c in FINE])
def test_a_decision_is_no_damage(why: str, old: str, new: str) -> None:
    assert merge_findings(SIDES, changed(old, new)) == []


def test_a_side_is_no_damage() -> None:
    for side in SIDES:
        assert [one.id for one in merge_findings(SIDES, side) if one.id != "M11"] == []
    for result in (OURS, THEIRS):  # one side alone changed it: nobody merged anything
        assert merge_findings((SIDES[0], SIDES[0], SIDES[2]), result.encode()) == []


def test_new_on_both_sides() -> None:
    """Without a base what both have is what every side has; an empty base has nothing of it."""
    damaged = MERGED.replace("footer: 1\n", "").encode()
    found = merge_findings((None, SIDES[1], SIDES[2]), damaged)
    assert [(one.id, one.path) for one in found] == [("M21", "footer")]
    assert merge_findings((b"", SIDES[1], SIDES[2]), damaged) == []


RULES = "l:\n- if: a\n  do: x\n  on: 1\n- if: b\n  do: x\n  on: 1\nend: 1\n"


def test_an_element_that_each_side_has_in_a_version() -> None:
    """Theirs changed an element without a key, and none of its versions is left."""
    ours, theirs = RULES.replace("end: 1", "end: 2"), RULES.replace("if: b", "if: c")
    sides = (RULES.encode(), ours.encode(), theirs.encode())
    gone = ours[: ours.index("- if: b")] + "end: 2\n"
    found = merge_findings(sides, gone.encode())
    assert [(one.id, one.path) for one in found] == [("M21", "l")]
    for result in (
        ours.replace("if: b", "if: c"),
        ours.replace("on: 1\n- if: b", "on: 2\n- if: b"),
    ):
        assert merge_findings(sides, result.encode()) == []
    shorter = gone.replace("end: 2", "end: 1")  # theirs takes it away
    assert merge_findings((sides[0], sides[1], shorter.encode()), gone.encode()) == []


DOCUMENTS = """\
kind: Service
metadata:
  name: web
ports:
- 80
- 81
---
- viewer
- editor
---
kind: ConfigMap
metadata:
  name: text
data:
  text: |
    one
    two
---
kind: Deployment
metadata:
  name: web
spec: 1
"""
FUSED = [
    ("a list behind a list", "- 81\n---\n", "- 81\n", "M21"),
    ("behind a list, before a map", "- editor\n---\n", "- editor\n", "M26"),
    ("behind a text", "    two\n---\n", "    two\n", "M24"),
]


@pytest.mark.parametrize("why, old, new, id", FUSED, ids=[c[0] for c in FUSED])
def test_a_document_that_fused_with_its_neighbour(why: str, old: str, new: str, id: str) -> None:
    ours, theirs = DOCUMENTS.replace("80", "8080"), DOCUMENTS.replace("spec: 1", "spec: 2")
    result = ours.replace("spec: 1", "spec: 2").replace(old, new)
    sides = (DOCUMENTS.encode(), ours.encode(), theirs.encode())
    found = merge_findings(sides, result.encode())
    assert [one.id for one in found] == [id]
    if id == "M24":  # at the first line of the second document
        assert found[0].excerpt == "kind: Deployment"


@pytest.mark.parametrize("order", [1, -1])
def test_where_two_maps_without_names_fused(order: int) -> None:
    """Also where the first of them is the one that was lost."""
    one, two = "name: a\nsize: 1\nalso: 1\n", "host: b\nport: 80\n"
    base = "---\n".join((one, two)[::order])
    ours, theirs = base.replace("size: 1", "size: 2"), base.replace("80", "81")
    result = ours.replace("80", "81").replace("---\n", "")
    sides = (base.encode(), ours.encode(), theirs.encode())
    [found] = merge_findings(sides, result.encode())
    assert (found.id, found.line) == ("M24", 4 if order == 1 else 3)


def test_lists_that_fused() -> None:
    base = "- a\n- b\n---\n- c\n"
    sides = (base, base.replace("a", "x"), base.replace("- c\n", "- c\n- d\n"))
    result = b"- x\n- b\n- c\n- d\n"
    found = merge_findings(tuple(side.encode() for side in sides), result)  # type: ignore[arg-type]
    assert [(one.id, one.line) for one in found] == [("M24", 3)]


@pytest.mark.parametrize(
    "old, new",
    [
        ("  make push\n", "    make push\n"),
        ("  and then read that,\n", "     and then read that,\n"),
        ("  make clean\n", "    make clean\n"),
    ],
)
def test_the_place_of_a_line_that_slipped(old: str, new: str) -> None:
    result = MERGED.replace(old, new)
    [found] = [one for one in merge_findings(SIDES, result.encode()) if one.id == "M25"]
    assert (found.excerpt + "\n", found.column) == (new, len(new) - len(new.lstrip()) + 1)


GONE = [
    (
        "a document",
        "---\nkind: ConfigMap\nmetadata:\n  name: text\ndata:\n  text: |\n    one\n    two\n",
    ),
    ("the kind of one", "kind: Deployment\n"),
    ("its name", "metadata:\n  name: web\nspec: 2\n"),
]


@pytest.mark.parametrize("why, old", GONE, ids=[c[0] for c in GONE])
def test_a_document_that_is_gone(why: str, old: str) -> None:
    ours, theirs = DOCUMENTS.replace("80", "8080"), DOCUMENTS.replace("spec: 1", "spec: 2")
    result = ours.replace("spec: 1", "spec: 2")
    assert result.count(old) == 1
    sides = (DOCUMENTS.encode(), ours.encode(), theirs.encode())
    assert merge_findings(sides, result.encode()) == []
    found = merge_findings(sides, result.replace(old, "").encode())
    assert {one.id for one in found} == {"M21"}


def test_each_side_deletes_one_of_two() -> None:
    one, other = "kind: A\nmetadata:\n  name: a\n", "kind: A\nmetadata:\n  name: b\n"
    sides = (f"{one}---\n{other}".encode(), other.encode(), one.encode())
    assert merge_findings(sides, b"# nothing\n") == []
    assert merge_findings((sides[0], sides[1], sides[0] + b"# more\n"), b"# nothing\n") != []


def test_the_only_document_of_a_file() -> None:
    """Both sides gave it another name; who finished the merge lost its version."""
    base = "apiVersion: v1\nkind: A\nmetadata:\n  name: a\nx: 1\ny: 1\n"
    ours = base.replace("name: a", "name: b").replace("x: 1", "x: 2")
    theirs = base.replace("name: a", "name: b").replace("y: 1", "y: 2")
    sides = (base.encode(), ours.encode(), theirs.encode())
    merged = ours.replace("y: 1", "y: 2")
    assert merge_findings(sides, merged.encode()) == []
    found = merge_findings(sides, merged.replace("apiVersion: v1\n", "").encode())
    assert [(one.id, one.path) for one in found] == [("M21", "apiVersion")]


def test_two_documents_of_one_name() -> None:
    two = "kind: A\nmetadata:\n  name: a\nx: 1\n---\nkind: A\nmetadata:\n  name: a\nz: 1\n"
    ours, theirs = two.replace("x: 1", "x: 2"), two.replace("z: 1", "z: 2")
    result = ours.replace("z: 1", "z: 2")
    found = merge_findings((two.encode(), ours.encode(), theirs.encode()), result.encode())
    assert [one.id for one in found if one.id != "M03"] == []


NEST = "a:\n  b:\n    c:\n      d: 1\n      e: 1\n"


def test_a_field_that_came_with_its_section() -> None:
    """Theirs moved the section, ours added a field to it."""
    moved = "top:\n" + "".join(f"  {line}\n" for line in NEST.splitlines())
    ours = NEST + "      f: {x: 1}\n"
    merged = moved + "        f: {x: 1}\n"
    sides = (NEST.encode(), ours.encode(), moved.encode())
    assert merge_findings(sides, merged.encode()) == []
    edited = moved + "        f: {x: 2}\n"  # the field came along, its value was decided
    assert merge_findings(sides, edited.encode()) == []
    other = moved + "        g: {x: 1}\n"  # nobody has that
    assert [one.id for one in merge_findings(sides, other.encode())] == ["M20"]


def test_a_field_of_an_element_that_the_other_side_renamed() -> None:
    """Theirs added it under the old name, and its value was decided."""
    base = "containers:\n- name: controller\n  image: a\n  tty: true\n"
    ours = base.replace("controller", "manager").replace("image: a", "image: b")
    theirs = base + "  env:\n  - name: A\n    value: $A\n"
    added = theirs.removeprefix(base).replace("$A", "a")
    sides = (base.encode(), ours.encode(), theirs.encode())
    assert merge_findings(sides, (ours + added).encode()) == []
    slipped = ours + added.replace("env", "args")
    assert [one.id for one in merge_findings(sides, slipped.encode())] == ["M20"]


MOVED = "top:\n  image:\n    name: web\n    tag: v1\n"
IMAGE = "image:\n  name: web\n  tag: v1\n"
# what all had, ours, theirs, and the merge: ours moved or renamed fields, theirs added one
CAME: list[tuple[str, str, str, str, str]] = [
    ("a section is below a new key", IMAGE, MOVED, f"{IMAGE}  policy: x\n", f"{MOVED}    policy: x\n"),
    ("so are all fields", IMAGE, MOVED, f"{IMAGE}policy: x\n", f"{MOVED}  policy: x\n"),
    ("they left their section", IMAGE, "name: web\ntag: v1\n", f"{IMAGE}  policy: x\n", "name: web\ntag: v1\npolicy: x\n"),
    ("another name", f"{IMAGE}b: {{x: 1}}\n", f"{IMAGE}b: {{x: 1}}\n".replace("tag", "version"), f"{IMAGE}b: {{x: 1, tag: v2}}\n", f"{IMAGE}b: {{x: 1, tag: v2}}\n".replace("tag", "version")),
    ("elements are fields now", "all:\n- name: a\n  x: 1\n", "all:\n  a: {x: 1}\n", "all:\n- name: a\n  x: 1\n- name: b\n  x: 2\n", "all:\n  a: {x: 1}\n  b: {x: 2}\n"),
]  # fmt: skip


@pytest.mark.parametrize("why, base, ours, theirs, merged", CAME, ids=[c[0] for c in CAME])
def test_a_field_that_came_with_others(
    why: str, base: str, ours: str, theirs: str, merged: str
) -> None:
    for sides in ((base, ours, theirs), (base, theirs, ours)):
        first, *others = (side.encode() for side in sides)
        assert merge_findings((first, *others), merged.encode()) == []
        unknown = merged.replace("policy", "polcy").replace("version: v2", "vers: v2")
        unknown = unknown.replace("  b: {x: 2}", "  c: {x: 2}")
        found = merge_findings((first, *others), unknown.encode())
        assert [one.id for one in found] == ["M20"]


def test_sections_that_are_alike_did_not_move() -> None:
    """Each side added one, and a field slipped from one to the other."""
    ours = "size: 1\nweb:\n  name: a\n  tag: v1\n"
    theirs = "size: 1\napi:\n  name: b\n  tag: v2\n"
    merged = f"{ours}  policy: x\napi:\n  name: b\n  tag: v2\n".encode()
    sides = (b"size: 1\n", ours.encode(), f"{theirs}  policy: x\n".encode())
    assert [(one.id, one.path) for one in merge_findings(sides, merged)] == [("M20", "web.policy")]


TEXT = "run: >-\n  make all\n  make install\nargs:\n- -c\n- |\n  make it\n  make them\nsize: 1\n"


@pytest.mark.parametrize(
    "spelled", ['run: "make all\\nmake install"\n', "run: make all make install\n"]
)
def test_a_text_that_is_spelled_otherwise(spelled: str) -> None:
    """Who formats a file may write it in quotes or in one line; its header alone is not lost."""
    ours, theirs = TEXT.replace("size: 1", "size: 2"), TEXT.replace("-c", "-e")
    sides = (TEXT.encode(), ours.encode(), theirs.encode())
    header, _, rest = ours.replace("-c", "-e").partition("args:")
    assert merge_findings(sides, f"{spelled}args:{rest}".encode()) == []
    lost = f"{header.replace(' >-', '')}args:{rest}"
    assert [one.id for one in merge_findings(sides, lost.encode())] == ["M25"]


@pytest.mark.parametrize("gone", ["  make them\n", "  make it\n  make them\n"])
def test_a_text_in_a_list_that_was_cut(gone: str) -> None:
    """However much of it is gone: what is left stands in its place."""
    script = TEXT.replace(
        "  make it\n", "  make it\n" if gone.count("\n") > 1 else "  make it so\n"
    )
    script = script.replace("make them", "make them, one by one and all of them at once")
    ours, theirs = script.replace("size: 1", "size: 2"), script.replace("-c", "-e")
    cut = ours.replace("-c", "-e")
    for line in gone.splitlines():
        start = cut.index(line)
        cut = cut[:start] + cut[cut.index("\n", start) + 1 :]
    found = merge_findings((script.encode(), ours.encode(), theirs.encode()), cut.encode())
    assert [(one.id, one.path) for one in found] == [("M25", "args[1]")]


def test_an_anchor_that_stands_elsewhere() -> None:
    """Theirs gave a value an anchor; ours has the fields in another order."""
    base = "web:\n  cpu: 1\napi:\n  cpu: 1\n"
    ours = "api:\n  cpu: 1\nweb:\n  cpu: 1\nsize: 1\n"
    theirs = "web: &one\n  cpu: 1\n  memory: 2\napi: *one\n"
    merged = "api: &one\n  cpu: 1\n  memory: 2\nweb: *one\nsize: 1\n"
    sides = (base.encode(), ours.encode(), theirs.encode())
    assert merge_findings(sides, merged.encode()) == []
    found = merge_findings(sides, merged.replace("memory", "mem").encode())
    assert [(one.id, one.path) for one in found] == [("M20", "api.mem")]


@pytest.mark.parametrize("odd", [b"\xff", b"\0"], ids=["latin", "NUL"])
def test_a_text_that_is_none_any_more(odd: bytes) -> None:
    """Such a file is passed over, unless all sides of a merge are YAML."""
    spoilt = MERGED.replace("footer: 1", "footer: ?").encode().replace(b"?", odd)
    found = merge_findings(SIDES, spoilt)
    line = spoilt[: spoilt.index(odd)].count(b"\n") + 1
    assert [(one.id, one.line) for one in found if one.id == "M26"] == [("M26", line)]
    sides = (SIDES[0] + odd, SIDES[1] + odd, SIDES[2] + odd)
    assert merge_findings(sides, spoilt) == []


def test_what_is_meant_can_be_said() -> None:
    damaged = MERGED.replace("footer: 1\n", "footer: 1\nextra: 1  # kmerge: ignore M20\n").encode()
    assert merge_findings(SIDES, damaged) == []
    assert merge_findings(SIDES, damaged.replace(b"ignore M20", b"ignore M21")) != []


def test_without_the_sides_nothing_of_it_is_said() -> None:
    ids = select(["merge-damage"], [])
    for _, old, new, id, _ in DAMAGED:
        found = Run(_nowhere(), ids).file("a.yaml", changed(old, new))
        assert not {one.id for one in found} & {"M20", "M21", "M22", "M23", "M24", "M25", "M26"}, id


def _nowhere():  # type: ignore[no-untyped-def]
    from kmerge_git.check.checked_texts import nowhere

    return nowhere()

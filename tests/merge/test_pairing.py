"""Which documents of three files are one resource."""

from __future__ import annotations

import pytest

from kmerge_git.errors import Unsupported
from kmerge_git.merge.decide.git_rules import GitRules
from kmerge_git.merge.kyaml.three_way import KyamlRules
from kmerge_git.merge.kyaml.two_way import TwoWayRules
from kmerge_git.merge.pairing import name_of, pair_documents
from kmerge_git.merge.three import Three
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split

# -- the adapters: a file is a line of words, each a document


def paired(base: str, ours: str, theirs: str, rules: str = "git") -> list[str]:
    """`0 1 -`: a resource, as the number of its document in each file."""
    chosen = {"git": GitRules, "kyaml": KyamlRules, "two-way": TwoWayRules}[rules]
    streams = Three(base, ours, theirs).map(lambda words: split(Source.of(written(words))))
    tables = pair_documents(streams, chosen().twins, stops=chosen.stops)
    sides = tables.base, tables.ours, tables.theirs
    for table, stream in zip(sides, (streams.base, streams.ours, streams.theirs), strict=True):
        assert tuple(table.values()) == stream.documents
    numbers = [{key: str(n) for n, key in enumerate(table)} for table in sides]
    keys = dict.fromkeys([*tables.ours, *tables.theirs, *tables.base])
    return [" ".join(found.get(key, "-") for found in numbers) for key in keys]


def name(text: str) -> str:
    """A document's name in messages."""
    return name_of(split(Source.of(text)).documents[0])


def written(words: str) -> str:
    return "".join(f"---\n{document(word)}" for word in words.split())


def document(word: str) -> str:
    """`web:a,b` is a resource of that name with these lines, `v2|web` one of another version."""
    if word in OTHERS:
        return OTHERS[word]
    known, _, lines = word.partition(":")
    version, _, known = known.rpartition("|")
    head = f"apiVersion: {version or 'v1'}\nkind: Thing\nmetadata:\n  name: {known}\n"
    return head + "".join(f"{line}: x\n" for line in lines.split(",") if line)


OTHERS = {
    "nothing": "",
    "blank": "\n",
    "note": "# a note\n",
    "memo": "# another note\n",
    "values": "a: 1\nb: 2\nc: 3\n",
    "values+": "a: 1\nb: 2\nc: 4\n",
    "named": "kind: Thing\nmetadata:\n  name: n\na: 1\nb: 2\nc: 3\n",
    "list": "- x\n- y\n",
    "scalar": "x\n",
    "flow": "{apiVersion: v1, kind: Thing, metadata: {name: a}, b: 1}\n",
    "no-space": "apiVersion: v1\nkind: Thing\nmetadata:\n  name: a\n  namespace: ~\n",
    "another-kind": "kind: Other\nspec: {}\n",
}

# -- the tables

NAMED = {
    "one name, other lines": ("a:1", "a:2", "a:3", "0 0 0"),
    "reordered": ("a b c", "b c a", "c b a", "1 0 1, 2 1 0, 0 2 2"),
    "reordered and edited": ("a:1 b:1", "b:2 a:2", "b:1", "1 0 0, 0 1 -"),
    "told by lines that do not parse": ("a:{ b", "b a:{,1", "a:{", "1 0 -, 0 1 0"),
    "deleted": ("a b", "b", "a", "1 0 -, 0 - 0"),
    "deleted in both": ("a b", "b", "b", "1 0 0, 0 - -"),
    "added": ("a", "x a", "a y", "- 0 -, 0 1 0, - - 1"),
    "another version": ("a/v1|x", "a/v2|x", "a/v1|x", "0 0 0"),
    "another group": ("a/v1|x", "b/v1|x", "a/v1|x", "- 0 -, 0 - 0"),
    "a group's heir": ("extensions/v1|x", "apps/v1|x", "extensions/v1|x:1", "0 0 0"),
    "renamed": ("a:1,2,3,4", "z:1,2,3,4", "a:1,2,3,4,5", "0 0 0"),
    "renamed beside others": ("b a:1,2,3", "z:1,2,3 b", "b a:1,2,3", "1 0 1, 0 1 0"),
    "renamed, or another one?": ("a:1,2,3", "z:1,4,5", "a:1,2,3", "- 0 -, 0 - 0"),
    "renamed to which?": ("a:1,2", "y:1,2,3 z:1,2,4", "a:1,2", "- 0 -, - 1 -, 0 - 0"),
    "renamed here, changed there, merged before": (
        "b a:1,2,3",
        "b z:1,5,6,7",
        "b a:1,5,6,7",
        "0 0 0, 1 1 1",
    ),
    "renamed there, changed here, merged before": (
        "b a:1,2,3,4,5,6,7,8",
        "b z:1,2,3,4,5,o,p,q,r,s",
        "b z:1,2,3,4,5,6,7,8,o,p,q",
        "0 0 0, 1 1 1",
    ),
    "renamed by both, and emptied by one": (
        "b a:1,2,3,4,5,6",
        "b z:o",
        "b z:1,2,3,4,5,6,7",
        "0 0 0, 1 1 1",
    ),
    "both rename it": ("a:1,2,3", "y:1,2,3", "z:1,2,3", "0 0 0"),
    "one side added what the other seems to have renamed it to": (
        "b a:1,2,3",
        "b z:1,2,3",
        "b a:1,2,3 z:1,2,3",
        "0 0 0, 1 1 1, - - 2",
    ),
    "added by both": ("a", "x:1 a", "a x:2", "- 0 1, 0 1 0"),
    "added by both under two names": ("", "x:1,2,3", "y:1,2,3", "- 0 -, - - 0"),
    "one of them added by both": ("", "w x", "x y", "- 0 -, - 1 0, - - 1"),
}
TWICE = {
    "once in ours": ("a:1 a:2", "a:1", "a:1 a:2", "0 0 0, 1 - 1"),
    "by likeness": ("a:1,2,3 a:4,5,6", "a:4,5,7 a:1,2,9", "a:1,2,3 a:4,5,6", "1 0 1, 0 1 0"),
    "by place": ("a:1 a:2", "a:3 a:4", "a:1 a:2", "0 0 0, 1 1 1"),
    "the very same": ("a a", "a a", "a", "0 0 0, 1 1 -"),
    "two pairs by place": ("a:1 a:2 b:1 b:2", "b:3 b:4 a:3 a:4", "", "2 0 -, 3 1 -, 0 2 -, 1 3 -"),
    "a new one beside the old": ("a:1", "a:1 a:2", "a:1", "0 0 0, - 1 -"),
}
NAMELESS = {
    "edited": ("values", "values+", "values", "0 0 0"),
    "by likeness": ("values list", "list values+", "values list", "1 0 1, 0 1 0"),
    "by place, whatever they are": ("list", "scalar", "values", "0 0 0"),
    "by likeness, then by place": ("list values", "values+ scalar", "", "1 0 -, 0 1 -"),
    "fewer of them": ("list values", "scalar", "", "0 0 -, 1 - -"),
    "never what has a name": ("a", "values", "a", "- 0 -, 0 - 0"),
    "it got a name": ("values", "named", "values", "0 0 0"),
    "it lost its name": ("named", "named", "values", "0 0 0"),
    "added by both": ("", "values", "values+", "- 0 -, - - 0"),
    "the same added by both": ("", "list values", "values", "- 0 -, - 1 0"),
    "comments": ("note a", "a memo", "note a", "1 0 1, 0 1 0"),
    "empty": ("nothing a", "a nothing", "a", "1 0 0, 0 1 -"),
    "empty, twice": ("nothing nothing", "nothing", "", "0 0 -, 1 - -"),
    "empty, three times": (
        "nothing nothing nothing",
        "nothing nothing nothing a",
        "nothing nothing nothing b",
        "0 0 0, 1 1 1, 2 2 2, - 3 -, - - 3",
    ),
    "empty, and one gone": (
        "nothing a nothing",
        "a nothing",
        "nothing a nothing b",
        "1 0 1, 2 1 2, 0 - 0, - - 3",
    ),
    "empty, added by both": ("a", "a nothing nothing", "nothing a", "0 0 1, - 1 0, - 2 -"),
    "equal, and moved": ("memo memo a", "a memo memo", "memo memo a", "2 0 2, 0 1 0, 1 2 1"),
    "filled: another one": ("nothing", "values", "blank", "- 0 -, - - 0, 0 - -"),
    "emptied: another one": ("note values", "note nothing", "", "0 0 -, - 1 -, 1 - -"),
}


def test_a_rename_to_what_the_other_side_added():
    files = "b a:1,2,3", "b z:1,2,3", "b a:1,2,3 z:4"
    assert ", ".join(paired(*files)) == "0 0 0, 1 1 1, - - 2", "a person is asked"
    assert ", ".join(paired(*files, rules="kyaml")) == "0 0 0, - 1 2, 1 - 1", "nobody is"


ROWS = {
    f"{table}, {name}": row
    for table, rows in (("named", NAMED), ("twice", TWICE), ("nameless", NAMELESS))
    for name, row in rows.items()
}


@pytest.mark.parametrize("base, ours, theirs, expected", ROWS.values(), ids=ROWS)
def test_documents_of_three_files(base, ours, theirs, expected):
    assert ", ".join(paired(base, ours, theirs)) == expected


@pytest.mark.parametrize("sides", [("a:1 a:2", "a:3", "a"), ("a:1", "a:1", "a:2 a:3")])
def test_nothing_tells_which_is_which(sides):
    with pytest.raises(Unsupported, match="a file has Thing/a several times"):
        paired(*sides)


@pytest.mark.parametrize(
    "ours, theirs, git, kyaml, two_way",
    [
        ("a:1", "a:2", "- 0 0", "- 0 0", "- 0 0"),
        ("a:1,2,3", "b:1,2,3", "- 0 -, - - 0", "- 0 0", "- 0 0"),  # one of them is the later state
        ("values", "values+", "- 0 -, - - 0", "- 0 0", "- 0 0"),
        ("a", "values", "- 0 -, - - 0", "- 0 -, - - 0", "- 0 0"),  # for the one that there is
        ("a", "values a", "- 0 1, - - 0", "- 0 1, - - 0", None),
        ("a b", "values", "- 0 -, - 1 -, - - 0", "- 0 -, - 1 -, - - 0", None),
        ("a values", "values+", "- 0 -, - 1 -, - - 0", "- 0 -, - 1 0", "- 0 -, - 1 0"),
        ("a", "blank", "- 0 -, - - 0", "- 0 -, - - 0", "- 0 -, - - 0"),
    ],
)
def test_what_both_files_bring(ours, theirs, git, kyaml, two_way):
    assert ", ".join(paired("", ours, theirs)) == git
    assert ", ".join(paired("", ours, theirs, "kyaml")) == kyaml
    if two_way is not None:
        assert ", ".join(paired("", ours, theirs, "two-way")) == two_way


@pytest.mark.parametrize(
    "ours, theirs",
    [("a:1 b", "c flow"), ("no-space", "flow"), ("extensions/v1|a", "apps/v1|a")],
)
def test_one_resource_that_both_sides_spell_differently(ours, theirs):
    assert any(row.startswith("- 0 ") and row != "- 0 -" for row in paired("", ours, theirs))


@pytest.mark.parametrize(
    "ours, theirs, why",
    [
        ("a b", "values", "the resource that this source applies to"),
        ("a", "values values+", "the resource that this source applies to"),
        ("a", "list", "the source is not a resource"),
        ("a", "another-kind", "the kind of the source differs from the one in the destination"),
    ],
)
def test_a_source_without_a_name_must_be_clear(ours, theirs, why):
    with pytest.raises(Unsupported, match=why):
        paired("", ours, theirs, "two-way")


@pytest.mark.parametrize(
    "text, expected",
    [
        ("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n", "Deployment/web"),
        ("{kind: Deployment, metadata: {name: web}}\n", "Deployment/web"),
        ("apiVersion: v1\nkind: Pod\nmetadata:\n  generateName: web-\n", "Pod/web-*"),
        ("kind: Deployment\n", ""),
        ("apiVersion: v1\nkind: Pod\nmetadata:\n  name: null\n", ""),
        ("---\n# a note\n", ""),
    ],
)
def test_a_name_for_messages(text, expected):
    assert name(text) == expected

"""Lists with a key: which elements of three lists are one element, and what its place is called."""

from __future__ import annotations

import pytest

from kmerge_git.kube.fieldpath import show
from kmerge_git.kube.listkeys import ListKeys, Where, start
from kmerge_git.merge.decide.by_policy import Rulings
from kmerge_git.merge.decide.git_rules import GitRules
from kmerge_git.merge.decide.keyed import by_key
from kmerge_git.merge.decide.policies import policy_for
from kmerge_git.merge.decide.rules import Place
from kmerge_git.merge.decide.walk import Walk
from kmerge_git.merge.plan import Clash, Journal, Keep, Why
from kmerge_git.merge.three import Three
from kmerge_git.merge.verify.line_damage import repeat_keys
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split
from kmerge_git.tree.nodes import Node

# -- the adapters


def root(text: str) -> Node | None:
    documents = split(Source.of(text)).documents
    return documents[0].root if documents else None


def place(kind: str, path: str) -> Where:
    """The place of a list: `v1 Pod` and `spec.containers[].ports`."""
    version, _, name = kind.partition(" ")
    where = start(root(f"apiVersion: {version}\nkind: {name}\nitems: []\n"))
    for field in path.split("."):
        where = where.child(field.removesuffix("[]"))
        where = where.items() if field.endswith("[]") else where
    return where


def paired(rule: str, base: str, ours: str, theirs: str, *, by_name: bool = False) -> list[str]:
    """`[name=a] 0 - 1`: an element, and its number in each list; nothing where there is no key."""
    where = LISTS[rule].list_rule()
    lists = Three(base, ours, theirs).map(root).map(lambda seq: seq.entries if seq else ())
    tables = by_key(lists, where, by_name=by_name)
    if tables is None:
        return []
    sides = tables.base, tables.ours, tables.theirs
    numbers = [{key: str(n) for n, key in enumerate(table)} for table in sides]
    for table in sides:  # each in the order of its text
        assert [e.start for e in table.values()] == sorted(e.start for e in table.values())
    keys = ListKeys(where, lists.each())
    return [
        " ".join([show((keys.step(key),)), *(found.get(key, "-") for found in numbers)])
        for key in dict.fromkeys([*tables.ours, *tables.theirs, *tables.base])
    ]


def merged(rule: str, base: str, ours: str, theirs: str, favor: str = "") -> list[str]:
    """Every element of the merged list: `list[name=a] keep {...}`, or the sides of a clash."""
    at = Three(base, ours, theirs).map(root)
    found = []
    walk, place = Walk(GitRules(), Journal()), Place(("list",), LISTS[rule])
    merged_list = walk.sequence(at, place)
    if favor:
        merged_list = Rulings(policy_for([("**", favor)]), walk).plan(merged_list, at.base, place)
    for item in merged_list.items:
        plan = item.plan
        if isinstance(plan, Clash):
            sides = (" ".join(e.value.raw for e in s) for s in plan.at.each())
            words = f"clash {'|'.join(sides)}: {plan.why}"
        else:
            words = ("keep " if isinstance(plan, Keep) else "take ") + plan.node.raw
        found.append(f"{show(item.path)} {words}")
    return found


def repeats(rule: str, text: str) -> bool:
    """Whether an element stands twice in one list."""
    keys = [key for key in repeat_keys(root(text), LISTS[rule].list_rule(), {}) if key is not None]
    return len(set(keys)) < len(keys)


LISTS = {
    "name": place("v1 Pod", "spec.containers"),
    "port": place("v1 Pod", "spec.containers[].ports"),
    "service port": place("v1 Service", "spec.ports"),
    "key pair": place("v1 Pod", "spec.topologySpreadConstraints"),
    "set": place("v1 Pod", "metadata.finalizers"),
    "resources": place("v1 List", "items"),
    "atomic": place("v1 Pod", "spec.containers[].command"),
    "infer": place("example.com/v1 Thing", "spec.list"),
}

# -- the key

A, TCP, UDP = "[{name: a}]", "[{port: 53}]", "[{port: 53, protocol: UDP}]"
RESOURCE = "[{apiVersion: v1, kind: A, metadata: {name: n}}]"
NEXT, OTHER = RESOURCE.replace("v1", "v2"), RESOURCE.replace("A", "B")
SPREAD = "[{topologyKey: z}, {topologyKey: z, whenUnsatisfiable: w}]"
BY_KEY = [
    ("name", "[{name: a}, {name: b}]", "[{name: b}, {name: c}]", "[{name: b, x: 1}, {name: a}]",
     ["[name=b] 1 0 0", "[name=c] - 1 -", "[name=a] 0 - 1"]),
    ("name", "[]", A, "[]", ["[name=a] - 0 -"]),
    ("name", "", A, A, ["[name=a] - 0 0"]),
    ("name", "[]", "[]", "[{name: ''}]", ['[name=""] - - 0']),
    ("name", "[{name: 1}]", "[{name: '1'}]", '[{name: "1"}]', ["[name=1] 0 0 0"]),
    # a default; the second field tells apart; it may be missing
    ("service port", TCP, "[{port: 53, protocol: TCP}]", "[{port: 53, protocol: null}]", ["[port=53,protocol=TCP] 0 0 0"]),
    ("service port", TCP, TCP, "[{port: 53, protocol: UDP}, {port: 53}]",
     ["[port=53,protocol=TCP] 0 0 1", "[port=53,protocol=UDP] - - 0"]),
    ("key pair", "[{topologyKey: z}]", "[{topologyKey: z}]", SPREAD,
     ["[topologyKey=z] 0 0 0", "[topologyKey=z,whenUnsatisfiable=w] - - 1"]),
    # equal scalars, however they are spelled; resources of one group, kind and name
    ("set", "[a, b]", "[b, 'c']", "['a', c]", ["[] 1 0 -", "[] - 1 1", "[] 0 - 0"]),
    ("resources", RESOURCE, NEXT, OTHER, ["[A/n] 0 0 -", "[B/n] - - 0"]),
    # the field that all elements have
    ("infer", "[{v: 1, name: a}]", "[{v: 2, name: a}]", "[{name: a}, {name: b}]", ["[name=a] 0 0 0", "[name=b] - - 1"]),
]  # fmt: skip
NO_KEY = {
    "a repeated key": ("name", "[{name: a}, {name: a}]"),
    "a key repeated by its default": ("service port", "[{port: 53}, {port: 53, protocol: TCP}]"),
    "a missing key": ("name", "[{name: a}, {image: b}]"),
    "a key that is null": ("name", "[{name: ~}]"),
    "a key that is no scalar": ("name", "[{name: [a]}]"),
    "an element that is no mapping": ("name", "[a]"),
    "a second field alone": ("port", "[{protocol: TCP}]"),
    "a set with a repeated member": ("set", "[a, 'a']"),
    "a set with a mapping": ("set", "[{b: c}]"),
    "a set with an anchor": ("set", "[&x a]"),
    "a resource without a name": ("resources", "[{apiVersion: v1, kind: A}]"),
    "an atomic list": ("atomic", "[a, b]"),
    "no field that all have": ("infer", "[{name: a}, {v: 1}]"),
    "a field that repeats": ("infer", "[{name: a}, {name: a}]"),
}


@pytest.mark.parametrize("rule, base, ours, theirs, expected", BY_KEY)
def test_elements_pair_by_key(rule, base, ours, theirs, expected):
    assert paired(rule, base, ours, theirs) == expected


@pytest.mark.parametrize("rule, text", NO_KEY.values(), ids=NO_KEY)
def test_a_list_has_no_key_this_time(rule, text):
    assert paired(rule, text, "[]", "[]") == paired(rule, "[]", "[]", text) == []


# -- an element whose key changed: `80/TCP=web` is a port, its protocol, its name

PROTOCOL = {
    "in ours": ("80/TCP", "80/UDP", "80/TCP", "80/TCP 0 0 0"),
    "in theirs": ("80/TCP", "80/TCP", "80/UDP", "80/TCP 0 0 0"),
    "in its place": ("80/TCP 9/TCP", "80/UDP 9/TCP", "9/TCP 80/TCP", "80/TCP 0 0 1, 9/TCP 1 1 0"),
    "in both": ("80/TCP", "80/UDP", "80/UDP", "80/UDP - 0 0, 80/TCP 0 - -"),
    "the other side deletes it": ("80/TCP", "80/UDP", "", "80/UDP - 0 -, 80/TCP 0 - -"),
    "the old one stays": ("80/TCP", "80/TCP 80/UDP", "80/TCP", "80/TCP 0 0 0, 80/UDP - 1 -"),
    "two new ones": ("80/TCP", "80/UDP 80/SCTP", "80/TCP", "80/UDP - 0 -, 80/SCTP - 1 -, 80/TCP 0 - 0"),
    "two old ones": ("80/TCP 80/UDP", "80/SCTP", "80/TCP 80/UDP", "80/SCTP - 0 -, 80/TCP 0 - 0, 80/UDP 1 - 1"),
    "the other side adds it": ("80/TCP", "80/UDP", "80/TCP 80/UDP", "80/UDP - 0 1, 80/TCP 0 - 0"),
    "another port": ("80/TCP", "9/UDP", "80/TCP", "9/UDP - 0 -, 80/TCP 0 - 0"),
}  # fmt: skip
NUMBER = {
    "in ours": ("80/TCP=web", "9/TCP=web", "80/TCP=web", "80/TCP 0 0 0"),
    "in theirs": ("80/TCP=web", "80/TCP=web", "9/TCP=web", "80/TCP 0 0 0"),
    "in both": ("80/TCP=web", "9/TCP=web", "7/TCP=web", "80/TCP 0 0 0"),
    "in both, alike": ("80/TCP=web", "9/TCP=web", "9/TCP=web", "9/TCP - 0 0, 80/TCP 0 - -"),
    "in its place": ("80/TCP=web 1/TCP=a", "9/TCP=web 1/TCP=a", "1/TCP=a", "80/TCP 0 0 -, 1/TCP 1 1 0"),
    "no name": ("80/TCP", "9/TCP", "80/TCP", "9/TCP - 0 -, 80/TCP 0 - 0"),
    "another name": ("80/TCP=web", "9/TCP=api", "80/TCP=web", "9/TCP - 0 -, 80/TCP 0 - 0"),
    "the old one stays": ("80/TCP=web", "80/TCP=web 9/TCP=web", "80/TCP=web", "80/TCP 0 0 0, 9/TCP - 1 -"),
    "two new ones": ("80/TCP=web", "9/TCP=web 7/TCP=web", "80/TCP=web", "9/TCP - 0 -, 7/TCP - 1 -, 80/TCP 0 - 0"),
}  # fmt: skip


def port(word: str) -> str:
    number, _, rest = word.partition("/")
    protocol, _, name = rest.partition("=")
    return f"{{containerPort: {number}, protocol: {protocol}, name: {name or '~'}}}"


def paired_ports(*sides: str, by_name: bool) -> str:
    lists = (f"[{', '.join(map(port, side.split()))}]" for side in sides)
    rows = ", ".join(paired("port", *lists, by_name=by_name))
    return rows.replace("[containerPort=", "").replace(",protocol=", "/").replace("]", "")


@pytest.mark.parametrize("base, ours, theirs, expected", PROTOCOL.values(), ids=PROTOCOL)
def test_a_changed_protocol(base, ours, theirs, expected):
    assert paired_ports(base, ours, theirs, by_name=True) == expected
    assert paired_ports(base, ours, theirs, by_name=False) == expected


@pytest.mark.parametrize("base, ours, theirs, expected", NUMBER.values(), ids=NUMBER)
def test_a_changed_number_under_one_name(base, ours, theirs, expected):
    assert paired_ports(base, ours, theirs, by_name=True) == expected


def test_names_of_ports_tell_only_where_they_are_asked():
    sides = "80/TCP=web", "9/TCP=web", "80/TCP=web"
    assert paired_ports(*sides, by_name=False) == "9/TCP - 0 -, 80/TCP 0 - 0"


# -- names that stand twice

WEB, WEB9 = "{name: web, containerPort: 80}", "{name: web, containerPort: 9}"
TWICE = f"list[containerPort=80,protocol=TCP] clash |{WEB}|{WEB9}: {Why.SAME_NAME}"
TWO = [f"list[containerPort={n},protocol=TCP] " for n in (80, 9)]
ONE, PAIR, BARE = f"[{WEB}]", f"[{WEB}, {WEB9}]", "[{containerPort: 80}]"


@pytest.mark.parametrize(
    "base, ours, theirs, favor, expected",
    [
        ("[]", ONE, f"[{WEB9}]", "", [TWICE]),
        ("[]", ONE, f"[{WEB9}]", "ours", [TWO[0] + f"keep {WEB}"]),
        ("[]", ONE, f"[{WEB9}]", "theirs", [TWO[0] + f"take {WEB9}"]),
        ("[]", BARE, BARE.replace("80", "9"), "",
         [TWO[0] + "keep {containerPort: 80}", TWO[1] + "take {containerPort: 9}"]),
        (ONE, ONE, PAIR, "", [TWO[0] + f"keep {WEB}", TWO[1] + f"take {WEB9}"]),  # theirs alone
    ],
)  # fmt: skip
def test_both_sides_add_one_name_under_two_keys(base, ours, theirs, favor, expected):
    assert merged("port", base, ours, theirs, favor) == expected


def test_only_ports_have_names_beside_their_key():
    lists = "[]", "[{topologyKey: z, name: n}]", "[{topologyKey: y, name: n}]"
    found = merged("key pair", *lists)
    assert [row.split()[0] for row in found] == ["list[topologyKey=z]", "list[topologyKey=y]"]


@pytest.mark.parametrize(
    "rule, text, expected",
    [
        ("name", "[{name: a}, {name: b}, {image: c}, {image: c}]", False),
        ("name", "[{name: a}, {name: a, image: b}]", True),
        ("port", "[{containerPort: 80}, {containerPort: 80, protocol: TCP}]", True),
        ("port", PAIR, True),
        ("key pair", "[{topologyKey: z, name: n}, {topologyKey: y, name: n}]", False),
        ("infer", "[{name: a, v: 1}, {name: a, v: 2}]", True),
        ("infer", "[{name: a, v: 1}, {name: a, v: 2}, {v: 3}]", False),
        ("atomic", "[{name: a, v: 1}, {name: a, v: 2}]", False),
        ("atomic", "[{v: 1, w: 2}, {w: 2, v: 1}]", True),
        ("resources", RESOURCE.replace("]", ", {kind: A, metadata: {name: n}}]"), True),
        ("resources", "[{kind: A}, {kind: A}]", False),
    ],
)
def test_an_element_that_stands_twice(rule, text, expected):
    assert repeats(rule, text) == expected

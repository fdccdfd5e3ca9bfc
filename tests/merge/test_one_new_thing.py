"""What may be one new thing in a list without keys: git's clean lines do not settle a conflict.

One side renames a field in all elements, and both sides add an element, at each pair of places.
"""

from __future__ import annotations

from itertools import product

import pytest
from worlds.lines import git_lines

from kmerge_git.api import merge_files
from kmerge_git.outcome import Outcome

Element = dict[str, str]

HEAD = "apiVersion: example.com/v1\nkind: Gateway\nmetadata:\n  name: web\nspec:\n  rules:\n"
OLD = [
    {"from": f"a{n}", "to": f"b{n}", "port": f"8{n}", "via": kind}
    for n, kind in enumerate(("tcp", "udp", "sctp"))
]
NEW = {"from": "new", "to": "there", "port": "90", "via": "grpc"}
OTHER = {"from": "other", "to": "here", "port": "91", "via": "quic"}
PLACES = [*product(range(4), repeat=2)]


def text(elements: list[Element]) -> bytes:
    """The file with these elements."""
    lines = []
    for element in elements:
        first, *rest = (f"{field}: {value}\n" for field, value in element.items())
        lines += [f"  - {first}", *(f"    {line}" for line in rest)]
    return (HEAD + "".join(lines) + "  paused: false\n").encode()


def with_new(new: Element, place: int) -> list[Element]:
    return [*OLD[:place], new, *OLD[place:]]


def with_renamed(elements: list[Element], field: str) -> list[Element]:
    """The elements with another name of one field."""
    return [{f"{k}Name" if k == field else k: v for k, v in e.items()} for e in elements]


def merged(ours: list[Element], theirs: list[Element]) -> list[Outcome]:
    """The merges in both orders of the sides."""
    sides = text(ours), text(theirs)
    return [
        merge_files(text(OLD), *pair, path="a.yaml", line_merge=git_lines)
        for pair in (sides, sides[::-1])
    ]


@pytest.mark.parametrize("field", ["port", "via", "to"])
@pytest.mark.costly
def test_one_new_thing_is_not_there_twice(field: str) -> None:
    for here, there in PLACES:
        for outcome in merged(with_renamed(with_new(NEW, here), field), with_new(NEW, there)):
            is_twice = outcome.clean and outcome.text.count(b"from: new") > 1
            assert not is_twice, (here, there, outcome.method)


def test_where_two_new_things_are_unlike_gits_clean_lines_stay() -> None:
    clean = 0
    for here, there in PLACES:
        sides = with_renamed(with_new(NEW, here), "port"), with_new(OTHER, there)
        lines, is_clean = git_lines(text(OLD), *map(text, sides))
        for outcome in merged(*sides) if is_clean else ():
            assert outcome.clean and outcome.text == lines, (here, there)
            clean += 1
    assert clean


def toleration(key: str, operator: str = "Equal", effect: str = "NoSchedule") -> str:
    """Return the lines of a toleration, which has no key."""
    return f"  - key: {key}\n    operator: {operator}\n    effect: {effect}\n"


def test_another_name_makes_it_another_thing() -> None:
    head = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  tolerations:\n"
    a, b = toleration("a"), toleration("b")
    base, ours = (
        (head + a + b).encode(),
        head + a + toleration("x", "Exists", "NoExecute") + toleration("c"),
    )
    theirs = (head + a + b + toleration("y")).encode()
    outcome = merge_files(base, ours.encode(), theirs, path="a.yaml", line_merge=git_lines)
    assert outcome.clean and outcome.text == (ours + toleration("y")).encode()


# -- a list without an order, in which names may repeat

Subject = tuple[str, str, str]  # kind, name, namespace


def binding(subjects: list[Subject]) -> bytes:
    """Return a RoleBinding of these subjects."""
    head = "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n  name: web\n"
    head += "roleRef:\n  kind: Role\n  name: web\nsubjects:\n"
    lines = "- kind: {}\n  name: {}\n  namespace: {}\n"
    return (head + "".join(lines.format(*subject) for subject in subjects)).encode()


ACCOUNT, USER = "ServiceAccount", "User"
NAMESAKES = [(ACCOUNT, "a", "one"), (ACCOUNT, "a", "two"), (ACCOUNT, "z", "one")]
NO_NAMESAKES = [(ACCOUNT, "a", "one"), (ACCOUNT, "z", "two"), (ACCOUNT, "y", "one")]


@pytest.mark.parametrize(
    "base, mine, yours, is_clean",
    [
        (NAMESAKES, (ACCOUNT, "b", "one"), (ACCOUNT, "b", "two"), True),
        (NAMESAKES, (ACCOUNT, "b", "one"), (USER, "b", "one"), False),
        (NAMESAKES, (ACCOUNT, "b", "one"), (ACCOUNT, "c", "one"), True),
        (NO_NAMESAKES, (ACCOUNT, "b", "one"), (ACCOUNT, "b", "two"), False),
    ],
)
@pytest.mark.parametrize("place", range(4))
def test_what_tells_namesakes_of_base_apart_makes_two_things(
    base: list[Subject], mine: Subject, yours: Subject, is_clean: bool, place: int
) -> None:
    sides = [binding([*base[:place], new, *base[place:]]) for new in (mine, yours)]
    for ours, theirs in (sides, sides[::-1]):
        outcome = merge_files(binding(base), ours, theirs, path="a.yaml", line_merge=git_lines)
        assert outcome.clean == is_clean, outcome.text.decode()


# -- ports: (name, number)

Port = tuple[str, int]
PORTS = [("http", 1), ("grpc", 2), ("admin", 3), ("debug", 4)]


def pod(ports: list[Port]) -> bytes:
    """Return a Pod with these ports."""
    head = (
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n  - name: app\n"
    )
    lines = "    - name: {}\n      containerPort: {}\n"
    return (head + "    ports:\n" + "".join(lines.format(*port) for port in ports)).encode()


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("name, is_clean", [("metrics", False), ("other", True)])
def test_a_renamed_port_and_a_new_one_do_not_share_a_name(
    number: int, name: str, is_clean: bool
) -> None:
    renamed = [("metrics", n) if k == number else (p, n) for k, (p, n) in enumerate(PORTS)]
    for added in ([(name, 9), *PORTS], [*PORTS, (name, 9)]):
        sides = pod(renamed), pod(added)
        for ours, theirs in (sides, sides[::-1]):
            outcome = merge_files(pod(PORTS), ours, theirs, path="a.yaml")
            assert outcome.clean == is_clean

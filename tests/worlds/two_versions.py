"""Say of the additions of two sides if they are two things, or two versions of one.

Two versions of one thing are a conflict: two values of one option, anywhere in the list; two
elements without keys in one gap that agree in a naming field, or differ in one leaf only that is
the same in all of the base; two entries that differ in their names only, if they are large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import permutations, product

from worlds.listings import LISTINGS, POD, POD_HEAD, ROLE, Listing, Tokens, Value
from worlds.moved_edits import Answers, Pair, orders
from worlds.sequences import counts

# `p` is what ours adds, `q` what theirs adds
OURS, THEIRS = "p", "q"


def lists_with(base: Tokens, new: str, *, smaller: bool = True) -> list[Tokens]:
    """Arrange every part of the base, and put a new element at every place."""
    words = [w for size in range(len(base) + 1) for w in permutations(base, size)]
    words = words if smaller else [base]
    return [(*w[:at], new, *w[at:]) for w in words for at in range(len(w) + 1)]


def additions(base: Tokens = ("a", "b", "c"), *, smaller: bool = True) -> list[Pair]:
    """Pair the sides, each with its addition at every place."""
    sides = (lists_with(base, new, smaller=smaller) for new in (OURS, THEIRS))
    return list(product(*sides))


def _one_gap(base: Tokens, ours: Tokens, theirs: Tokens) -> set[bool]:
    """Say if both stand in one gap of what neither side moved or took away."""
    found = set()
    for mine, yours in product(orders(base, ours), orders(base, theirs)):
        kept = {base[i] for i in {i for i, _ in mine} & {i for i, _ in yours}}
        before = [
            {x for x in side[: side.index(new)] if x in kept}
            for side, new in ((ours, OURS), (theirs, THEIRS))
        ]
        found.add(before[0] == before[1])
    return found


@lru_cache(None)
def answers_of_two(
    base: Tokens, ours: Tokens, theirs: Tokens, sort: str, *, ordered: bool
) -> Answers:
    """Compute what a merge may come to.

    `sort`: the additions are one thing `anywhere`, or `in one gap`, or `never`; elements with keys
    that are `never` one thing may stand in one gap (`keyed`).
    """
    gap = _one_gap(base, ours, theirs)
    if sort == "anywhere" or (sort == "in one gap" and gap == {True}):
        return Answers(frozenset(), frozenset(), may_conflict=True)
    there = [x for x in base if x in ours and x in theirs]
    found = set()
    for word in permutations([*there, OURS, THEIRS]):
        for x, y in permutations(there, 2):
            old, mine, yours = (v.index(x) < v.index(y) for v in (base, ours, theirs))
            wanted = mine if yours == old else yours
            if wanted and word.index(x) > word.index(y) and ordered:
                break
        else:
            found.add(word)
    doubt = sort != "keyed" and True in gap
    return Answers(frozenset(found), frozenset(found), doubt or not found)


# -- kinds of additions: the list, and whether they are one thing


def _with(listing: Listing, mine: Value, yours: Value, **values: Value) -> Listing:
    known = {"p": mine, "q": yours, **values}
    return replace(listing, values={**listing.values, **known}, known={})


def _list(head: str, at: tuple, values: dict[str, Value], **more: object) -> Listing:
    return Listing(head, at, values, {}, known={}, **more)


_CHANNELS = {
    x: {"channel": f"'0.{50 + number}'", "version": f"0.{50 + number}.1", "image": f"repo/{x}:1"}
    for number, x in enumerate("abc")
}
_ALERTS = {
    x: {"alert": f"Alert{x.upper()}", "expr": f"up{{job={x}}} == 0", "for": "5m"} for x in "abc"
}
_HOSTS = {x: {"host": f"{x}.example.com", "service": f"svc-{x}", "port": 80} for x in "abc"}
_TOLERATIONS = {x: {"key": x, "operator": "Exists", "effect": "NoSchedule"} for x in "abc"}
_PEERS = {x: {"from": f"net-{x}", "to": f"zone-{x}", "mode": "open"} for x in "abc"}


def _service(x: str, name: str, size: int) -> Value:
    fields = ["image", "tag", "port", "host", "memory", "cpu", "path", "team", "level", "zone"]
    return [name, {field: f"{field}-{x}" for field in fields[:size]}]


def _step(x: str, name: str, size: int) -> Value:
    return {"name": name, **dict([*_service(x, name, size)[1].items()])}


_VALUES_MAP = "image: web\nservices:"
_VALUES_LIST = "image: web\nworkers:"
_RULES = (
    "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n  name: web\nspec:\n"
    "  groups:\n  - name: web\n    rules:"
)
_CUSTOM = "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: web\nspec:\n  things:"
_BINDING = (
    "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n  name: web\n"
    "roleRef:\n  kind: Role\n  name: web\nsubjects:"
)


def _map(size: int, **more: object) -> Listing:
    values = {x: _service(x, f"svc-{x}", size) for x in "abc"}
    mine, yours = (_service("new", name, size) for name in ("svc-p", "svc-q"))
    head = _VALUES_MAP
    return _list(
        head,
        ("services",),
        {**values, "p": mine, "q": yours},
        mapping=True,
        keyed=True,
        ordered=False,
        **more,
    )


def _inferred(size: int, **more: object) -> Listing:
    values = {x: _step(x, f"work-{x}", size) for x in "abc"}
    mine, yours = (_step("new", name, size) for name in ("work-p", "work-q"))
    return _list(
        _VALUES_LIST,
        ("workers",),
        {**values, "p": mine, "q": yours},
        keyed=True,
        ordered=False,
        **more,
    )


def _container(x: str, name: str) -> Value:
    return {
        "name": name,
        "image": f"{x}:1",
        "command": [f"/bin/{x}", "a", "b", "c"],
        "workingDir": f"/{x}",
        "tty": True,
        "stdin": True,
        "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
    }


def _ref(name: str) -> Value:
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": "secret", "key": "token"}}}


_MOUNTS = POD_HEAD + "    volumeMounts:"
_ENV = POD_HEAD + "    env:"
_IN = ("spec", "containers", 0)

SORTS: dict[str, tuple[Listing, str]] = {
    # two versions of one thing, by a naming field
    "channels": (
        _list(
            _CUSTOM,
            ("spec", "things"),
            {
                **_CHANNELS,
                "p": {"channel": "0.53", "version": "0.53-rc1", "image": "repo/x:1"},
                "q": {"channel": "0.53", "version": "0.53-rc2", "image": "repo/y:1"},
            },
        ),
        "in one gap",
    ),
    "alerts": (
        _list(
            _RULES,
            ("spec", "groups", 0, "rules"),
            {
                **_ALERTS,
                "p": {"alert": "Down", "expr": "up == 0", "for": "5m"},
                "q": {"alert": "Down", "expr": "up < 1", "for": "10m"},
            },
        ),
        "in one gap",
    ),
    "hosts": (
        _list(
            _CUSTOM,
            ("spec", "things"),
            {
                **_HOSTS,
                "p": {"host": "new.example.com", "service": "one", "port": 80},
                "q": {"host": "new.example.com", "service": "two", "port": 81},
            },
        ),
        "in one gap",
    ),
    "tolerations of one key": (
        _list(
            POD + "  tolerations:",
            ("spec", "tolerations"),
            {
                **_TOLERATIONS,
                "p": {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"},
                "q": {"key": "gpu", "operator": "Exists", "effect": "NoExecute"},
            },
        ),
        "in one gap",
    ),
    # equal but for one leaf that is the same in all of the base
    "equal but for the mode": (
        _list(
            _CUSTOM,
            ("spec", "things"),
            {
                **_PEERS,
                "p": {"from": "net-n", "to": "zone-n", "mode": "closed"},
                "q": {"from": "net-n", "to": "zone-n", "mode": "half"},
            },
        ),
        "in one gap",
    ),
    "equal but for the place": (  # where the base differs: two things
        _list(
            _CUSTOM,
            ("spec", "things"),
            {
                **_PEERS,
                "p": {"from": "net-n", "to": "zone-p", "mode": "open"},
                "q": {"from": "net-n", "to": "zone-q", "mode": "open"},
            },
        ),
        "never",
    ),
    # large and equal but for the name
    "map, ten leaves": (_map(10), "anywhere"),
    "map, six leaves": (_map(6), "keyed"),
    "map, ten leaves, quoted": (_map(10, quoted=True), "anywhere"),
    "inferred, ten leaves": (_inferred(10), "anywhere"),
    "inferred, ten leaves, no indent": (_inferred(10, indented=False), "anywhere"),
    "inferred, six leaves": (_inferred(6), "keyed"),
    "map, one leaf differs": (
        _with(
            _map(10),
            _service("new", "svc-p", 10),
            ["svc-q", {**_service("new", "svc-q", 10)[1], "port": "other"}],
        ),
        "keyed",
    ),
    "containers, ten leaves": (
        _list(
            POD + "  containers:",
            ("spec", "containers"),
            {
                **{x: _container(x, x) for x in "abc"},
                "p": _container("new", "p"),
                "q": _container("new", "q"),
            },
            keyed=True,
            ordered=False,
        ),
        "keyed",
    ),
    # what the issue names as no conflict
    "env of one secret key": (
        _list(
            _ENV,
            (*_IN, "env"),
            {
                **{x: {"name": x.upper(), "value": x} for x in "abc"},
                "p": _ref("MINE"),
                "q": _ref("YOURS"),
            },
            keyed=True,
        ),
        "keyed",
    ),
    "rules, another resource": (
        _list(
            ROLE,
            ("rules",),
            {
                x: {"apiGroups": [""], "resources": [f"{x}s"], "verbs": ["get", "list"]}
                for x in "abcpq"
            },
        ),
        "never",
    ),
    "mounts of one volume": (
        _list(
            _MOUNTS,
            (*_IN, "volumeMounts"),
            {x: {"name": "data", "mountPath": f"/data/{x}", "subPath": x} for x in "abcpq"},
            keyed=True,
            ordered=False,
        ),
        "keyed",
    ),
    "service accounts": (
        _list(
            _BINDING,
            ("subjects",),
            {
                x: {"kind": "ServiceAccount", "name": f"app-{x}", "namespace": "web"}
                for x in "abcpq"
            },
        ),
        "never",
    ),
    "services of one shape": (
        _with(_map(10), _service("p", "svc-p", 10), _service("q", "svc-q", 10)),
        "keyed",
    ),
}

# -- options

_TEXTS: dict[str, Callable[[int], str]] = {
    "v": lambda n: f"--v={n}",
    "word": lambda n: f"--level {n}",
    "port": lambda n: f"-p {8000 + n}:80",
    "header": lambda n: f"--header x-age: {n}",
    "variable": lambda n: f"LEVEL={n}",
    "url": lambda n: f"--server http://host-{n}:80/",
}


def _options(text: Callable[[int], str]) -> Listing:
    values = {**{x: f"--{x}=1" for x in "ab"}, **{str(n): text(n) for n in (1, 2, 3)}}
    return _list(POD_HEAD + "    args:", (*_IN, "args"), values)


OPTIONS = {
    **{name: _options(text) for name, text in _TEXTS.items()},
    "v in a chart": Listing(
        LISTINGS["chart options"].head,
        (*_IN, "args"),
        _options(_TEXTS["v"]).values,
        {},
        path="web/templates/pod.yaml",
        known={},
    ),
}
OPTION_BASES: list[Tokens] = [(), ("a",), ("a", "b"), ("1", "a"), ("a", "1", "b"), ("1", "2", "a")]


def option_triples() -> Iterator[tuple[Tokens, Tokens, Tokens]]:
    """Let each side add a value of the option, replace the old one, or take it away."""
    for base in OPTION_BASES:
        plain = [x for x in base if x in "ab"]
        sides: list[Tokens] = []
        for have in [[], ["1"], ["2"], ["3"], ["2", "1"], ["1", "3"], ["2", "3"], ["1", "2", "3"]]:
            for others in (plain, plain[::-1], plain[1:]):
                places = product(range(len(others) + 1), repeat=len(have))
                for where in places:
                    made = list(others)
                    for x, at in sorted(zip(have, where, strict=True), key=lambda p: -p[1]):
                        made.insert(at, x)
                    sides.append(tuple(made))
        sides = list(dict.fromkeys(sides))
        for ours, theirs in product(sides, repeat=2):
            if ours <= theirs and base not in (ours, theirs):
                yield base, ours, theirs


@lru_cache(None)
def answers_of_options(base: Tokens, ours: Tokens, theirs: Tokens) -> Answers:
    """Compute what a merge of lists with one option may come to."""
    old, mine, yours = ([x for x in v if x not in "ab"] for v in (base, ours, theirs))
    new = [[x for x in side if x not in old] for side in (mine, yours)]
    repeated = len(old) > 1 or (len(mine) > 1 and len(yours) > 1)
    if not repeated and any(x != y for x, y in product(*new)):
        return Answers(frozenset(), frozenset(), may_conflict=True)
    found: set[Tokens] = {()}
    for x in ("a", "b", "1", "2", "3"):
        times = [*counts(base, ours, theirs, x)]
        if x in new[0] and x in new[1]:
            times = [1, 2]
        found = {(*bag, *[x] * n) for bag in found for n in times}
    words = {word for bag in found for word in permutations(bag)}
    keep = [x for x in ("a", "b", *old) if all(x in v for v in (base, ours, theirs))]
    for x, y in permutations(keep, 2):
        before, here, there = (v.index(x) < v.index(y) for v in (base, ours, theirs))
        if here if there == before else there:
            words = {w for w in words if w.index(x) < w.index(y)}
    # only one side has touched the option: no reason to ask
    simple = [x for x in mine if x not in "ab"] == old or yours == old
    clash = bool(new[0] and len(mine) == len(old) and not set(old) <= set(yours)) or bool(
        new[1] and len(yours) == len(old) and not set(old) <= set(mine)
    )
    return Answers(frozenset(words), frozenset(words), not simple or clash or not words)

"""Random manifests, the way people write them.

All choices are made by a `random.Random`: a seed gives the same manifest again, and hypothesis
hands in one whose choices it can shrink. It shrinks towards the first of several choices, and
towards what `chance` denies: there the simplest manifest stands.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeVar

from rendering import FLOWS, Document, File
from trees import Alias, Entry, List, Map, Node, Scalar, Text, collections, copied, entries

Made = TypeVar("Made")

WORDS = ["web", "api", "db", "cache", "proxy", "batch", "red", "blue", "x", "y"]
KEYS = [
    *("image", "spec", "app.kubernetes.io/name", "x.yaml", "on", "1", "a b", "é", "null", "true"),
    *("key:", "<", "- a"),
]
SCALARS = [
    *("a", "b c", "1", "2", "3.10", "true", "no", "null", "~", "0x1F", "-", "- a", "a: b", "a #b"),
    *("http://x:80/?q=1", "{{ x }}", "*", "&", "!", "%d", "@x", "`tick", "é", "日本", "😀", "it's"),
    *("", "x, y", "[z]", "{w}", "?", "<<", "=", "a\\b", "500m", "10Gi", "2024-01-01", "end "),
    *('say "x"', "yes", "010", "1e3", "1.10", "-0.25", "-5", "1099511627776", "12:30", "True", " "),
    *("nginx:1.25.3", "two words", "a long line of words that somebody may want to fold", "..."),
    *("--- a", "tab\there", "\u2028", "a\x85b", "\ufeffbom", "a\nb\n", "  deep\n", "\n"),
    *("null", "~", ""),  # what clears, more often
]
LINES = [
    *("one", "two", "  deeper", "three", "", "# no comment", "a: b", "- x", "four", "}", "five"),
    *("\ttab", "trail ", "#!/bin/sh"),
]
COMMENTS = ["# note", "# keep", "#tight", "# see: docs", "# - old", "#"]
# lines above an entry, from its column on; behind \b they stand two columns less deep
ABOVE = [*COMMENTS, *COMMENTS, "", "", "  # deeper", "\b# less deep", "  "]
BLOCKS = [
    *(["# one", "", "# two"], ["", "# one"], ["#", "", "# two"], ["# one", "  # deep", ""]),
    *(["# two", "\b# less", "# one"], ["\b# less", "", "  # deep"]),
]
# an attribute of entries and its choices, as often as it is to be chosen
DECORATIONS: list[tuple[str, list[object]]] = [
    *[("", [])] * 66,
    *[("quote", ['"', "'"])] * 8,
    *[("gap", [2, 3])] * 9,
    *[("above", [[line] for line in ABOVE])] * 4,
    *[("above", [[""]])] * 2,
    *[("above", BLOCKS)] * 2,
    *[("tail", COMMENTS)] * 4,
    *[("question", [True])],
    *[("wide", [True])],
]
HEADERS = ["|", "|", "|-", "|+", ">", ">-", ">+", "|2", "|2-", "|-2", "|+2", ">2-"]
VERSIONS = {
    "Deployment": "apps/v1",
    "Widget": "example.com/v1",
    "CustomResourceDefinition": "apiextensions.k8s.io/v1",
    "ClusterRole": "rbac.authorization.k8s.io/v1",
}
# style and cut of a scalar
SPELLINGS = [("", 0)] * 6 + [("'", 0), ('"', 0), ("", 1), ("'", 1), ('"', 2), ("\\", 1)]


def chance(r: Random, percent: int) -> bool:
    """Whether something rare happens."""
    return r.randrange(100) >= 100 - percent


def weighted(*pairs: tuple[Callable[..., Made], int]) -> list[Callable[..., Made]]:
    """Each function as often as it is to be chosen."""
    return [function for function, weight in pairs for _ in range(weight)]


# -- files


def file(r: Random, kind: str = "") -> File:
    """A file of one to three documents, in one style; or one of a kind that is in `KINDS`."""
    if not kind and chance(r, 6):
        return json_file(r)
    makers, most, more = KINDS[kind] if kind else (MAKERS, 3, 35)
    made = File([])
    for name in WORDS[:most]:
        made.documents.append(Document(r.choice(makers)(r, name)))
        if not chance(r, more):
            break
    for document in made.documents:
        if chance(r, 14):
            share(r, document.root)
    indent(r, made)
    for document in made.documents:
        if chance(r, 50):
            decorate(r, document)
    made.bare, made.newline = not chance(r, 30), not chance(r, 10)
    made.crlf, made.bom = chance(r, 5), chance(r, 5)
    made.tail = "...\n" if chance(r, 4) else ""
    return made


def json_file(r: Random) -> File:
    """A JSON document, one member a line or compact."""
    root = r.choice([values, configmap, deployment])(r, "web")
    style = r.choice(["lines", "lines", "compact", "line"])
    for made in collections(root):
        made.flow = style
        for entry in made.entries:
            entry.quote, node = '"', entry.node
            if isinstance(node, Scalar) and node.text not in ("null", "true", "1", "2", "80"):
                node.style = '"'
    return File([Document(root)])


def indent(r: Random, made: File) -> None:
    """One indentation for the maps and one for the lists, or another one for each of them."""
    maps, lists = [r.choice([2, 2, 2, 4])], [r.choice([2, 0, 2, 0, 4])]
    if chance(r, 15):
        maps, lists = [2, 2, 3, 4, 8], [0, 2, 2, 1, 4]
    for document in made.documents:
        for each in collections(document.root):
            steps = lists if isinstance(each, List) else maps
            each.step = r.choice(steps) if len(steps) > 1 else steps[0]


def decorate(r: Random, document: Document) -> None:
    """Comments, blank lines, quotes and brackets here and there."""
    for entry in entries(document.root):
        for _ in range(2):
            attribute, choices = r.choice(DECORATIONS)
            if choices:
                setattr(entry, attribute, r.choice(choices))
        if chance(r, 10):
            restyle(r, entry)
    for each in collections(document.root):
        if chance(r, 5):
            each.foot = [r.choice(ABOVE)]
    if chance(r, 15):
        document.above = r.choice([["# a file", ""], ["..."], ["", "# end", "..."]])
        document.tail = r.choice(["", "# next"])


def restyle(r: Random, entry: Entry) -> None:
    """The same value in another spelling; quotes may make a number a text."""
    node = entry.node
    if isinstance(node, Text):
        node.header, node.depth = r.choice(HEADERS), r.choice([2, 2, 2, 1, 4])
    elif isinstance(node, Map):
        node.flow = r.choice(["", "", "", "line", "line", "lines", "lines", *FLOWS])
        node.step = r.choice([2, 2, 4, 1])
        if isinstance(node, List):
            node.step, node.own_line = r.choice([2, 0, 4]), chance(r, 10)
    elif isinstance(node, Scalar):
        node.style, node.cut = r.choice(SPELLINGS)
        node.tag = "!!str" if chance(r, 4) else ""


def share(r: Random, root: Node) -> None:
    """An anchor on something, and an alias or a merge key at the end of a collection around it."""
    around: list[Map] = []
    node = root
    while isinstance(node, Map) and node.entries and (not around or chance(r, 70)):
        around.append(node)
        node = r.choice(node.entries).node
    if not around or isinstance(node, Alias):
        return
    node.anchor = f"a{sum(bool(entry.node.anchor) for entry in entries(root))}"
    user, alias = r.choice(around), Alias(name=node.anchor)
    new: Node = alias
    if isinstance(node, Map) and not isinstance(node, List) and chance(r, 60):
        if not isinstance(user, List) and chance(r, 30):
            user.entries.append(Entry(alias, "<<"))
            return
        new = mapping(**{"<<": alias, "own": "1"})
    user.entries.append(Entry(new, None if isinstance(user, List) else "shared"))


# -- documents


def mapping(**children: Node | str | None) -> Map:
    """A mapping of what is given; texts are plain scalars."""
    return Map(entries=[Entry(_node(v), k) for k, v in children.items() if v is not None])


def sequence(*children: Node | str) -> List:
    """A list of these; texts are plain scalars."""
    return List(entries=[Entry(_node(child)) for child in children])


def _node(value: Node | str) -> Node:
    return Scalar(text=value) if isinstance(value, str) else value


def values(r: Random, name: str) -> Map:
    """A file of no known type: nested maps and lists of every kind."""
    return Map(entries=[Entry(node(r), key) for key in keys(r, 2, 4)])


def anything(r: Random, name: str) -> Node:
    """A document that need not be a mapping."""
    return node(r)


def configmap(r: Random, name: str) -> Map:
    """A ConfigMap with files in block scalars."""
    data = mapping(mode=r.choice(SCALARS), file=text(r), other=text(r), size="1")
    if chance(r, 20):
        data.entries.append(Entry(text(r), r.choice(KEYS)))
    return _resource(r, "ConfigMap", name, data=data)


def service(r: Random, name: str) -> Map:
    """A Service."""
    ports = [mapping(name=n, port=p) for n, p in (("http", "80"), ("grpc", "90"))]
    spec = mapping(selector=mapping(app=name), ports=sequence(*ports[: r.randint(1, 2)]))
    return _resource(r, "Service", name, spec=spec)


def kustomization(r: Random, name: str) -> Map:
    """A kustomization."""
    images = [mapping(name=n, newTag=str(r.randint(1, 3))) for n in ("app", "db")]
    files = sequence("a.yaml", "b.yaml", "c.yaml")
    return mapping(kind="Kustomization", namespace=name, resources=files, images=sequence(*images))


def deployment(r: Random, name: str) -> Map:
    """A Deployment of one or two containers."""
    pod = mapping(
        containers=sequence(*[container(r, n) for n in ("app", "side")[: r.randint(1, 2)]]),
        initContainers=sequence(container(r, "init")) if chance(r, 10) else None,
    )
    labels = mapping(labels=mapping(app=name))
    template = mapping(metadata=labels, spec=pod)
    return _resource(r, "Deployment", name, spec=mapping(replicas="3", template=template))


def custom(r: Random, name: str) -> Map:
    """A resource whose lists nobody knows."""
    return _resource(r, "Widget", name, spec=values(r, name))


def definition(r: Random, name: str) -> Map:
    """The definition of a custom resource."""
    fields = {
        field: mapping(type=r.choice(["string", "integer"]), description=r.choice(SCALARS))
        for field in keys(r, 2, 4)
    }
    schema = mapping(
        type="object",
        required=sequence(*fields),
        properties=Map(entries=[Entry(value, field) for field, value in fields.items()]),
    )
    versions = [
        mapping(name=n, served="true", schema=mapping(openAPIV3Schema=copied(schema)))
        for n in ("v1", "v1beta1")[: r.randint(1, 2)]
    ]
    spec = mapping(group="example.com", names=mapping(kind="Widget"), versions=sequence(*versions))
    return _resource(r, "CustomResourceDefinition", name, spec=spec)


def role(r: Random, name: str) -> Map:
    """A role of one to three rules."""
    rules = [
        mapping(
            apiGroups=sequence(*r.sample(["apps", "batch", "policy"], r.randint(1, 2))),
            resources=sequence(*r.sample(["pods", "nodes", "jobs", "events"], r.randint(1, 3))),
            verbs=sequence(*r.sample(["get", "list", "watch", "create"], r.randint(1, 4))),
        )
        for _ in range(r.randint(1, 3))
    ]
    return _resource(r, "ClusterRole", name, rules=sequence(*rules))


# kind of file: what makes its documents, how many there are at most, and how likely another one is
KINDS: dict[str, tuple[list[Callable[[Random, str], Node]], int, int]] = {
    "Deployment": ([deployment], 1, 0),
    "Service": ([service], 1, 0),
    "kustomization": ([kustomization], 1, 0),
    "CRD": ([definition], 1, 0),
    "values": ([values], 1, 0),
    "RBAC": ([role], 1, 0),
    "ConfigMap": ([configmap], 1, 0),
    "multi-document": ([deployment, service, configmap, role, custom], 5, 80),
}
MAKERS = weighted(
    (service, 4),
    (values, 6),
    (configmap, 5),
    (kustomization, 4),
    (deployment, 4),
    (custom, 2),
    (anything, 2),
)


def _resource(r: Random, kind: str, name: str, **children: Node) -> Map:
    version = VERSIONS.get(kind, "v1")
    metadata = mapping(name=name, labels=mapping(app=name, tier="web"))
    if chance(r, 10):
        metadata.entries.append(Entry(sequence("a/b", "c/d", "e/f"), "finalizers"))
    return mapping(apiVersion=version, kind=kind, metadata=metadata, **children)


def container(r: Random, name: str) -> Map:
    """A container with some of its usual lists."""
    env = [mapping(name=n, value=r.choice(WORDS)) for n in r.sample("ABC", r.randint(1, 3))]
    ports = [mapping(name=n, containerPort=p) for n, p in (("http", "80"), ("grpc", "90"))]
    return mapping(
        name=name,
        image=f"{name}:1.{r.randint(0, 3)}",
        args=sequence("-v", "--x=1", "--y") if chance(r, 60) else None,
        env=sequence(*env) if chance(r, 70) else None,
        ports=sequence(*ports) if chance(r, 50) else None,
        resources=mapping(limits=mapping(cpu="1", memory="1Gi")) if chance(r, 70) else Map(),
    )


# -- nodes


def node(r: Random, depth: int = 0) -> Node:
    """Any node; the deeper, the simpler."""
    kind = r.choice("vvvmml" if depth < 3 else "vv")
    if kind == "m":
        return Map(entries=[Entry(node(r, depth + 1), key) for key in keys(r, 0, 4)])
    if kind == "l":
        return elements(r, depth)
    return text(r) if chance(r, 10) else scalar(r)


def elements(r: Random, depth: int) -> List:
    """A list of scalars, of named mappings, or of anything."""
    kind = r.choice("ssssnnnaaa")
    if kind == "s":
        return sequence(*[scalar(r) for _ in range(r.randint(0, 4))])
    if kind == "a":
        return sequence(*[node(r, depth + 1) for _ in range(r.randint(0, 3))])
    names = r.sample(WORDS, r.randint(1, 3))
    return sequence(*[mapping(name=n, value=scalar(r), more=node(r, 3)) for n in names])


def keys(r: Random, least: int, most: int) -> list[str]:
    """Different keys, seldom an odd one."""
    found = r.sample(WORDS, r.randint(least, most))
    return [*found[1:], r.choice(KEYS)] if found and chance(r, 8) else found


def scalar(r: Random) -> Scalar:
    """Any scalar that is no block."""
    style, cut = r.choice(SPELLINGS)
    return Scalar(text=r.choice(SCALARS), style=style, cut=cut)


def text(r: Random) -> Text:
    """A block scalar."""
    return Text(lines=[r.choice(LINES) for _ in range(r.randint(1, 6))], header=r.choice(HEADERS))

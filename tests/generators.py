"""Random manifests, random edits of them, and their text in random styles.

Everything draws from a `random.Random`: hypothesis hands one in whose choices it can shrink, and
a seed gives the same trio again. A manifest is a tree of `Map`, `List`, `Text` and `Value`; an
edit changes the tree or its style; `text_of` writes it. What two versions share they spell alike,
unless an edit restyled it.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

WORDS = ["web", "api", "db", "cache", "proxy", "batch", "red", "blue", "x", "y"]
SCALARS = [
    *("a", "b c", "1", "2", "3.10", "true", "no", "null", "~", "0x1F", "-", "- a", "a: b", "a #b"),
    *(
        "http://x:80/?q=1",
        "{{ x }}",
        "*",
        "&",
        "!",
        "%d",
        "@x",
        "é",
        "日本",
        "😀",
        "it's",
        'say "x"',
    ),
    *("", "x, y", "[z]", "{w}", "?", "<<", "=", "a\\b", "500m", "10Gi", "2024-01-01", "end "),
]
LINES = ["one", "two", "  deeper", "three", "", "# no comment", "a: b", "- x", "four", "}", "five"]
COMMENTS = ["# note", "# keep", "#tight", "# see: docs", "# - old", "#"]
ABOVE = [*COMMENTS, *COMMENTS, "", "", "  # deeper", "\b# less deep", "  "]


@dataclass
class Entry:
    node: Node
    key: str | None = None
    above: list[str] = field(default_factory=list)
    tail: str = ""
    question: bool = False
    blanks: int = 1  # behind the colon or the dash
    quote: str = ""  # around the key


@dataclass
class Node:
    anchor: str = ""
    tag: str = ""


@dataclass
class Value(Node):
    value: str = "x"
    style: str = ""
    alias: str = ""


@dataclass
class Text(Node):
    lines: list[str] = field(default_factory=list)
    header: str = "|"


@dataclass
class Map(Node):
    items: list[Entry] = field(default_factory=list)
    flow: str = ""  # '', 'line', 'lines' or 'compact'
    foot: list[str] = field(default_factory=list)
    step: int = 2


@dataclass
class List(Map):
    own_line: bool = False  # the dash stands alone on its line


@dataclass
class File:
    documents: list[Map]
    openings: list[str]
    first_bare: bool = True
    crlf: bool = False
    bom: bool = False
    newline: bool = True
    tail: str = ""


# -- manifests


def file(r: Random) -> File:
    """A file of one to three documents, in one style."""
    if r.random() < 0.06:
        return json_file(r)
    count = r.choice([1, 1, 1, 1, 2, 3])
    makers = [deployment, service, configmap, values, values, kustomization]
    documents = [r.choice(makers)(r, f"{WORDS[i]}") for i in range(count)]
    made = File(documents, ["---"] * count, r.random() < 0.7)
    made.crlf, made.bom = r.random() < 0.05, r.random() < 0.05
    made.newline, made.tail = r.random() < 0.9, "...\n" if r.random() < 0.04 else ""
    steps = r.choice([[2], [2], [2], [0], [0], [4], [0, 2, 2, 3]])
    for document in documents:
        for node in collections(document):
            if isinstance(node, List):
                node.step = r.choice(steps)
            elif len(steps) > 1:
                node.step = r.choice([2, 2, 4])
        if r.random() < 0.5:
            decorate(r, document)
    return made


def json_file(r: Random) -> File:
    """A JSON document, one member a line or compact."""
    document = r.choice([deployment, configmap, values])(r, "web")
    style = r.choice(["lines", "lines", "compact", "line"])
    for entry in entries(document):
        entry.quote = '"'
        if isinstance(entry.node, Value) and not entry.node.alias:
            entry.node.style = '"'
    for made in collections(document):
        made.flow = style
    return File([document], ["---"])


def mapping(**children: Node | str | None) -> Map:
    """A mapping of what is given; texts are plain values."""
    return Map(items=[Entry(_node(v), k) for k, v in children.items() if v is not None])


def _node(value: Node | str) -> Node:
    return Value(value=value) if isinstance(value, str) else value


def sequence(nodes: list[Node]) -> List:
    """A list of these nodes."""
    return List(items=[Entry(node) for node in nodes])


def _resource(kind: str, name: str, **children: Node | None) -> Map:
    version = "apps/v1" if kind == "Deployment" else "v1"
    metadata = mapping(name=name, labels=mapping(app=name, tier="web"))
    return mapping(apiVersion=version, kind=kind, metadata=metadata, **children)


def deployment(r: Random, name: str) -> Map:
    """A Deployment of one or two containers."""
    pod = mapping(
        containers=sequence([container(r, n) for n in ("app", "side")[: r.randint(1, 2)]])
    )
    template = mapping(metadata=mapping(labels=mapping(app=name)), spec=pod)
    return _resource("Deployment", name, spec=mapping(replicas="3", template=template))


def container(r: Random, name: str) -> Map:
    """A container with some of its usual lists."""
    env = [
        mapping(name=n, value=r.choice(WORDS)) for n in r.sample(["A", "B", "C"], r.randint(1, 3))
    ]
    ports = [mapping(name=n, containerPort=p) for n, p in (("http", "80"), ("grpc", "90"))]
    return mapping(
        name=name,
        image=f"{name}:1.{r.randint(0, 3)}",
        args=sequence([Value(value=a) for a in ("-v", "--x=1", "--y")])
        if r.random() < 0.6
        else None,
        env=sequence(env) if r.random() < 0.7 else None,
        ports=sequence(ports) if r.random() < 0.5 else None,
        resources=Map() if r.random() < 0.3 else mapping(limits=mapping(cpu="1", memory="1Gi")),
    )


def service(r: Random, name: str) -> Map:
    """A Service."""
    ports = [mapping(name=n, port=p) for n, p in (("http", "80"), ("grpc", "90"))]
    spec = mapping(selector=mapping(app=name), ports=sequence(ports[: r.randint(1, 2)]))
    return _resource("Service", name, spec=spec)


def configmap(r: Random, name: str) -> Map:
    """A ConfigMap with files in block scalars."""
    data = mapping(mode=r.choice(SCALARS), file=text(r), other=text(r), size="1")
    return _resource("ConfigMap", name, data=data)


def kustomization(r: Random, name: str) -> Map:
    """A kustomization."""
    images = [mapping(name=n, newTag=f"{r.randint(1, 3)}") for n in ("app", "db")]
    files = [Value(value=f) for f in ("a.yaml", "b.yaml", "c.yaml")]
    return mapping(
        kind="Kustomization", namespace=name, resources=sequence(files), images=sequence(images)
    )


def values(r: Random, name: str) -> Map:
    """A file of no known type: nested maps and lists of every kind."""
    made = Map(items=[Entry(node(r, 0), key) for key in r.sample(WORDS, r.randint(2, 4))])
    if r.random() < 0.2:
        _with_alias(r, made)
    return made


def node(r: Random, depth: int) -> Node:
    """Any node."""
    kind = r.choice("vvvmml" if depth < 3 else "vv")
    if kind == "m":
        keys = r.sample(WORDS, r.randint(0, 4))
        return Map(items=[Entry(node(r, depth + 1), key) for key in keys])
    if kind == "l":
        choice = r.random()
        if choice < 0.4:
            return sequence([scalar(r) for _ in range(r.randint(0, 4))])
        if choice < 0.7:
            names = r.sample(WORDS, r.randint(1, 3))
            return sequence([mapping(name=n, value=scalar(r), more=node(r, 3)) for n in names])
        return sequence([node(r, depth + 1) for _ in range(r.randint(0, 3))])
    return text(r) if r.random() < 0.1 else scalar(r)


def scalar(r: Random) -> Value:
    """Any one-line scalar."""
    return Value(value=r.choice(SCALARS), style=r.choice(["", "", "", "'", '"', "w"]))


def text(r: Random) -> Text:
    """A block scalar."""
    lines = [r.choice(LINES) for _ in range(r.randint(1, 6))]
    return Text(lines=lines, header=r.choice(["|", "|", "|", "|-", "|+", ">", ">-"]))


def _with_alias(r: Random, root: Map) -> None:
    target = root.items[0].node
    target.anchor = "anchor"
    if r.random() < 0.5:
        root.items.append(Entry(Value(alias="anchor"), "alias"))
    else:
        root.items.append(Entry(mapping(**{"<<": Value(alias="anchor"), "own": "1"}), "merged"))


def decorate(r: Random, root: Map) -> None:
    """Comments, blank lines, quotes and flow here and there."""
    for entry in entries(root):
        choice = r.random()
        entry.blanks = r.choice([1, 1, 1, 1, 1, 1, 1, 1, 2, 3])
        entry.quote = r.choice(["", "", "", "", "", "", '"', "'"])
        if choice < 0.06:
            entry.above = [r.choice(ABOVE)]
        elif choice < 0.1:
            entry.above = [""]
        elif choice < 0.13:
            entry.above = r.sample(["# one", "", "# two", "#", "", "  # deep", "\b# less"], 3)
        elif choice < 0.2:
            entry.tail = r.choice(COMMENTS)
        elif choice < 0.21:
            entry.question = True
        restyle(r, entry) if r.random() < 0.1 else None
    for made in collections(root):
        if r.random() < 0.05:
            made.foot = [r.choice(ABOVE)]


def restyle(r: Random, entry: Entry) -> None:
    """The same value in another spelling."""
    made = entry.node
    if isinstance(made, Text):
        made.header = r.choice(["|", "|-", "|+", ">", ">-", "|2", "|2-"])
    elif isinstance(made, Map):
        made.flow = r.choice(["", "line", "lines"])
        if isinstance(made, List):
            made.step, made.own_line = r.choice([0, 2, 4]), r.random() < 0.1
        else:
            made.step = r.choice([2, 2, 4, 1])
    elif isinstance(made, Value) and not made.alias:
        made.style = r.choice(["", "'", '"', "w"])


# -- edits


def trio(r: Random, most: int = 3) -> tuple[bytes, bytes, bytes]:
    """Base, ours and theirs."""
    base = file(r)
    ours, theirs = copy.deepcopy(base), copy.deepcopy(base)
    for side in (ours, theirs):
        for _ in range(r.randint(1, most)):
            edit(r, side)
    return text_of(base), text_of(ours), text_of(theirs)


def edit(r: Random, made: File) -> None:
    """One change somewhere."""
    if r.random() < 0.08 or not made.documents:
        _edit_file(r, made)
        return
    document = r.choice(made.documents)
    where = [c for c in collections(document) if c.items]
    place = r.choice(where) if where else document
    act = r.random()
    if act < 0.3 or not place.items:
        _change(r, r.choice(place.items)) if place.items else _add(r, place)
    elif act < 0.5:
        _add(r, place)
    elif act < 0.65:
        place.items.remove(r.choice(place.items))
    elif act < 0.72:
        _rename(r, r.choice(place.items))
    elif act < 0.79:
        r.shuffle(place.items)
    elif act < 0.82:
        _move(r, place, r.choice(where))
    elif act < 0.9:
        _comment(r, place, r.choice(place.items))
    elif act < 0.97:
        restyle(r, r.choice(place.items))
    else:
        r.choice(place.items).node = node(r, 1)


def _edit_file(r: Random, made: File) -> None:
    act = r.choice(["add", "add", "drop", "swap", "bare", "newline", "crlf", "steps", "tail"])
    if act == "add":
        maker = r.choice([configmap, service, values])
        made.documents.insert(r.randint(0, len(made.documents)), maker(r, r.choice(WORDS[5:])))
        made.openings.append("---")
    elif act == "drop" and made.documents:
        made.documents.remove(r.choice(made.documents))
    elif act == "swap":
        r.shuffle(made.documents)
    elif act == "bare":
        made.first_bare = not made.first_bare
    elif act == "newline":
        made.newline = not made.newline
    elif act == "crlf":
        made.crlf = not made.crlf
    elif act == "tail":
        made.tail = "" if made.tail else "...\n"
    else:
        step = r.choice([0, 2, 4])
        for document in made.documents:
            for each in collections(document):
                each.step = step if isinstance(each, List) else max(step, 1)


def _change(r: Random, entry: Entry) -> None:
    made = entry.node
    if isinstance(made, Text):
        at = r.randint(0, len(made.lines) - 1) if made.lines else 0
        made.lines[at : at + r.randint(0, 2)] = [r.choice(LINES) for _ in range(r.randint(0, 2))]
    elif isinstance(made, Map):
        _change(r, r.choice(made.items)) if made.items else _add(r, made)
    elif isinstance(made, Value) and not made.alias:
        made.value = r.choice([*SCALARS, *WORDS])


def _add(r: Random, place: Map) -> None:
    new = Entry(node(r, 2))
    if not isinstance(place, List):
        free = [w for w in WORDS if w not in [e.key for e in place.items]]
        if not free:
            return
        new.key = r.choice(free)
    elif place.items and isinstance(place.items[0].node, Map) and r.random() < 0.8:
        new.node = copy.deepcopy(r.choice(place.items).node)
        if isinstance(new.node, Map) and new.node.items:
            _rename_element(r, new.node)
    if r.random() < 0.15:
        new.above = [r.choice(COMMENTS)]
    if r.random() < 0.1:
        new.tail = r.choice(COMMENTS)
    at = len(place.items) if r.random() < 0.5 else r.randint(0, len(place.items))
    place.items.insert(at, new)


def _rename_element(r: Random, element: Map) -> None:
    for entry in element.items:
        if entry.key in ("name", "containerPort", "port") and isinstance(entry.node, Value):
            number = entry.key != "name"
            entry.node.value = str(r.randint(1, 9)) if number else r.choice(WORDS)


def _rename(r: Random, entry: Entry) -> None:
    if entry.key is not None:
        entry.key += r.choice("12")
    elif isinstance(entry.node, Map):
        _rename_element(r, entry.node)


def _move(r: Random, place: Map, target: Map) -> None:
    entry = r.choice(place.items)
    inside = isinstance(entry.node, Map) and any(c is target for c in collections(entry.node))
    keys = [e.key for e in target.items]
    if isinstance(place, List) == isinstance(target, List) and not inside:
        place.items.remove(entry)
        if entry.key is None or entry.key not in keys:
            target.items.insert(r.randint(0, len(target.items)), entry)


def _comment(r: Random, place: Map, entry: Entry) -> None:
    act = r.choice(["above", "above", "tail", "drop", "foot"])
    if act == "above":
        entry.above = [r.choice(ABOVE) for _ in range(r.randint(1, 2))]
    elif act == "tail":
        entry.tail = r.choice([*COMMENTS, ""])
    elif act == "drop":
        entry.above = []
    else:
        place.foot = [r.choice(COMMENTS)]


# -- trees


def collections(root: Node) -> Iterator[Map]:
    """A collection and all below it."""
    if isinstance(root, Map):
        yield root
        for entry in root.items:
            yield from collections(entry.node)


def entries(root: Node) -> Iterator[Entry]:
    """All entries of a tree."""
    for made in collections(root):
        yield from made.items


# -- text


def text_of(made: File) -> bytes:
    """The bytes of a file."""
    out = ""
    for index, document in enumerate(made.documents):
        if index or not made.first_bare:
            out += "---\n"
        out += "".join(line + "\n" for line in _document(document))
    out += made.tail
    if not made.newline and out.endswith("\n") and not out.endswith("\n\n"):
        out = out[:-1]
    if made.crlf:
        out = out.replace("\n", "\r\n")
    return (b"\xef\xbb\xbf" if made.bom else b"") + out.encode()


def _document(root: Map) -> list[str]:
    if not root.items or root.flow:
        return [_flow(root, 0), *root.foot]
    return _block(root, 0)


def _block(made: Map, column: int) -> list[str]:
    pad, out = " " * column, []
    for entry in made.items:
        out += [_beside(pad, line) for line in entry.above]
        if isinstance(made, List):
            out += _item(entry, column, made)
        else:
            out += _pair(entry, column)
    return out + [_beside(pad, line) for line in made.foot]


def _beside(pad: str, line: str) -> str:
    """A comment line above or below what stands at a column, or at another column."""
    if line.startswith("\b"):
        return pad[:-2] + line[1:]
    return pad + line if line else ""


def _pair(entry: Entry, column: int) -> list[str]:
    pad = " " * column
    key = _key(entry)
    start = f"{pad}? {key}\n{pad}:" if entry.question else f"{pad}{key}:"
    return _value(start, entry, column)


def _key(entry: Entry) -> str:
    key = entry.key or ""
    if entry.quote and key.isalnum():
        return entry.quote + key + entry.quote
    return _plain_or_quoted(key)


def _item(entry: Entry, column: int, made: List) -> list[str]:
    node = entry.node
    start = " " * column + "-"
    block = isinstance(node, Map) and node.items and not node.flow and not node.anchor
    if block and not node.items[0].above and not made.own_line and not entry.tail:
        inner = column + 1 + entry.blanks
        lines = _block(node, inner)
        lines[0] = start + " " * entry.blanks + lines[0][inner:]
        return lines
    return _value(start, entry, column)


def _value(start: str, entry: Entry, column: int) -> list[str]:
    """The lines of an entry whose key or dash is `start`."""
    node, tail = entry.node, f"  {entry.tail}" if entry.tail else ""
    marks = " " * (entry.blanks - 1) + (f" &{node.anchor}" if node.anchor else "")
    if isinstance(node, Text):
        header = node.header
        first = next((line for line in node.lines if line), "")
        if first.startswith(" ") and not any(c.isdigit() for c in header):
            header = header[0] + "2" + header[1:]
        pad = " " * (column + 2)
        return [f"{start}{marks} {header}{tail}", *((pad + x if x else "") for x in node.lines)]
    if isinstance(node, Map) and node.items and not node.flow:
        step = node.step if not start.lstrip().startswith("-") else max(node.step, 1)
        return [start + marks + tail, *_block(node, column + step)]
    if isinstance(node, Map):
        return [f"{start}{marks} {_flow(node, column)}{tail}"]
    if isinstance(node, Value) and node.style == "w" and " " in node.value.strip():
        first, _, rest = _plain_or_quoted(node.value.strip()).partition(" ")
        if rest.strip() and not rest.startswith("#") and first[:1] not in "-?:":
            return [f"{start}{marks} {first}", " " * (column + 2) + rest.lstrip() + tail]
    written = _scalar(node)
    return [f"{start}{marks} {written}{tail}" if written else f"{start}{marks}{tail}"]


def _flow(made: Map, column: int) -> str:
    left, right = "[]" if isinstance(made, List) else "{}"
    parts = []
    for entry in made.items:
        node = entry.node
        value = _flow(node, column + 2) if isinstance(node, Map) else _scalar(node, flow=True)
        value = (f"&{node.anchor} " if node.anchor else "") + value
        parts.append(value if entry.key is None else f"{_key(entry)}: {value}")
    if made.flow == "lines" and parts:
        pad = " " * (column + 2)
        return left + "\n" + ",\n".join(pad + p for p in parts) + "\n" + " " * column + right
    return left + ("," if made.flow == "compact" else ", ").join(parts) + right


def _scalar(node: Node, *, flow: bool = False) -> str:
    if isinstance(node, Text):
        return _double("\n".join(node.lines))
    assert isinstance(node, Value)
    if node.alias:
        return f"*{node.alias} " if flow else f"*{node.alias}"
    if node.style == '"':
        return _double(node.value)
    if node.style == "'":
        return "'" + node.value.replace("'", "''") + "'"
    if flow and (any(c in node.value for c in ",[]{}") or node.value in ("", "?", "-")):
        return _double(node.value)
    return _plain_or_quoted(node.value)


def _plain_or_quoted(value: str) -> str:
    odd = value[:1] in ("*", "&", "!", "%", "@", "[", "{", "?", "") or value in ("-", "<<x", "=")
    if (
        odd
        or ": " in value
        or " #" in value
        or value.startswith("- ")
        or value.endswith((" ", ":"))
    ):
        return _double(value) if value else ""
    return value


def _double(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'

"""Write lists of many kinds and layouts in whole files, and read them again.

A token names an element and its edits: `a` is an element of the base, `a:timeout` the same element
with one edit, `a:timeout+host` with two. The values are read back from the text by PyYAML alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Value = object
Token = str
Tokens = tuple[Token, ...]
Edit = Callable[[Value], Value]


def who(token: Token) -> str:
    """Return the element that a token names."""
    return token.partition(":")[0]


def done(token: Token) -> list[str]:
    """Return the edits that a token names."""
    return [edit for edit in token.partition(":")[2].split("+") if edit]


@dataclass(frozen=True)
class Listing:
    """Describe a kind of list: its file, its elements, and what people change in one."""

    head: str  # the lines above the list, and its own key as the last
    at: tuple[str | int, ...]  # where the list is
    values: dict[str, Value]
    edits: dict[str, Edit]
    tail: str = ""
    path: str = ""
    keyed: bool = False
    ordered: bool = True
    size: int = 1  # how many elements of the list one token stands for
    indented: bool = True  # the dash stands right of the key
    quoted: bool = False
    flow: bool = False
    commented: bool = False
    spaced: bool = False  # an empty line between two elements
    documents: bool = False  # other documents stand above and below
    mapping: bool = False  # a map: an element is a pair of its key and its value
    known: dict[Token, str] = field(default_factory=dict, compare=False, hash=False, repr=False)

    def __hash__(self) -> int:
        return id(self)

    def value(self, token: Token) -> Value:
        """Return the element with its edits."""
        value = deepcopy(self.values[who(token)])
        for edit in done(token):
            if edit != "comment":
                value = self.edits[edit](value)
        return value

    def comment(self, token: Token) -> str:
        """Return the line above the element, or nothing."""
        if not self.commented:
            return ""
        return f"# about {who(token)}" + (", again" if "comment" in done(token) else "")

    def shown(self, token: Token) -> str:
        """Return what a reader finds of the element: its comment and its value."""
        if token not in self.known:
            self.known[token] = _shown(self.comment(token), self.value(token))
        return self.known[token]

    def write(self, tokens: Tokens) -> bytes:
        """Write the file with these elements."""
        key = self.head.rpartition("\n")[2]
        column = len(key) - len(key.lstrip(" -")) + (2 if self.indented else 0)
        lines = [self.head if tokens else self.head + (" {}" if self.mapping else " []")]
        for number, token in enumerate(tokens):
            if self.spaced and number:
                lines.append("")
            if self.commented:
                lines.append(" " * column + self.comment(token))
            value = self.value(token)
            for element in value if self.size > 1 else [value]:
                lines += [" " * column + line for line in self._element(element)]
        text = "\n".join(lines) + "\n" + self.tail
        return (_BEFORE + text + _BEHIND if self.documents else text).encode()

    def _element(self, element: Value) -> list[str]:
        if self.mapping:
            return block({element[0]: element[1]}, quoted=self.quoted)
        if self.flow and not isinstance(element, str):
            return ["- " + _flow(element, self.quoted)]
        lines = block(element, quoted=self.quoted)
        return ["- " + lines[0], *("  " + line for line in lines[1:])]

    def read(self, data: bytes) -> tuple[str, ...] | None:
        """Return the elements of a result, or nothing if the rest of the file has changed."""
        text = re.sub(r"\{\{.*?\}\}", "action", data.decode())
        documents = list(yaml.load_all(text, LOADER))
        try:
            holder = documents[1 if self.documents else 0]
            for step in self.at[:-1]:
                holder = holder[step]
            elements = holder[self.at[-1]]
            holder[self.at[-1]] = {} if self.mapping else []
        except (LookupError, TypeError):
            return None
        if self.mapping and isinstance(elements, dict):
            elements = [[key, value] for key, value in elements.items()]
        if documents != _rest(self) or not isinstance(elements, list):
            return None
        if self.size > 1:
            if len(elements) % self.size:
                return None
            elements = [elements[i : i + self.size] for i in range(0, len(elements), self.size)]
        comments = self._comments(text) if self.commented else [""] * len(elements)
        pairs = zip(comments, elements, strict=True)
        return tuple(_shown(comment, element) for comment, element in pairs)

    def _comments(self, text: str) -> list[str]:
        """Return the comment lines above each element."""
        node = list(yaml.compose_all(text, LOADER))[1 if self.documents else 0]
        for step in self.at:
            if isinstance(step, int):
                node = node.value[step]
            else:
                node = next(value for key, value in node.value if key.value == step)
        lines = text.split("\n")
        comments = []
        for element in node.value:
            above = []
            at = element.start_mark.line
            while lines[at - 1].lstrip().startswith("#"):
                at -= 1
                above.insert(0, lines[at].strip())
            comments.append("\n".join(above))
        return comments


_BEFORE = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: first\ndata:\n  one: '1'\n---\n"
_BEHIND = "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: last\ndata:\n  two: '2'\n"


@cache
def _rest(listing: Listing) -> list[Value]:
    """Return the documents without the elements of the list."""
    text = re.sub(r"\{\{.*?\}\}", "action", listing.write(()).decode())
    return list(yaml.load_all(text, LOADER))


def _shown(comment: str, value: Value) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return f"{comment} {text}".lstrip()


# -- text of values


def block(value: Value, *, quoted: bool = False) -> list[str]:
    """Return the lines of a value in block style."""
    if isinstance(value, dict) and value:
        lines = []
        for key, child in value.items():
            inside = block(child, quoted=quoted)
            if isinstance(child, dict | list) and child:
                lines += [f"{key}:", *("  " + line for line in inside)]
            else:
                lines.append(f"{key}: {inside[0]}")
        return lines
    if isinstance(value, list) and value:
        lines = []
        for child in value:
            first, *more = block(child, quoted=quoted)
            lines += ["- " + first, *("  " + line for line in more)]
        return lines
    return [_flow(value, quoted)]


def _flow(value: Value, quoted: bool) -> str:
    if isinstance(value, dict):
        inside = (f"{key}: {_flow(child, quoted)}" for key, child in value.items())
        return "{" + ", ".join(inside) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(child, quoted) for child in value) + "]"
    if isinstance(value, str):
        plain = re.fullmatch(r"[\w./=@-]+( [\w./=@-]+)*", value) and value[0] != "@"
        plain = plain and isinstance(yaml.load(value, LOADER), str)
        return value if plain and not quoted else json.dumps(value)
    return json.dumps(value)


# -- edits


def put(*steps: str | int, value: Value) -> Edit:
    """Set a value at a place inside of the element."""

    def edit(element: Value) -> Value:
        holder = element
        for step in steps[:-1]:
            holder = holder[step]
        holder[steps[-1]] = value(holder[steps[-1]]) if callable(value) else value
        return element

    return edit


def more(*steps: str | int, value: Value) -> Edit:
    """Append to a list inside of the element."""
    return put(*steps, value=lambda items: [*items, value])


def less(step: str) -> Edit:
    """Remove a field."""
    return lambda element: {key: value for key, value in element.items() if key != step}


def text(old: str, new: str) -> Edit:
    """Replace the end of a scalar."""
    return lambda element: re.sub(old + "$", new, element)


# -- kinds

POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n"
POD_HEAD = POD + "  containers:\n  - name: app\n"
_ROUTES = (
    "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata:\n  name: shop\nspec:\n"
    "  hosts:\n  - shop.example.com\n  http:"
)
_CHART = (
    "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata:\n"
    "  name: {{ .Values.name }}\nspec:\n  hosts:\n  - {{ .Values.host | quote }}\n  http:"
)
_CHART_POD = (
    "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Values.name }}\nspec:\n  containers:\n"
    "  - name: app\n    image: {{ .Values.image }}\n    args:"
)
ROLE = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: web\nrules:"
_WORKFLOW = "name: build\non: [push]\njobs:\n  build:\n    runs-on: ubuntu-latest\n    steps:"
_NAMES = {"a": "api", "b": "shop", "c": "admin", "d": "cart", "n": "search", "m": "blog"}
_TIMES = {"a": "5s", "b": "9s", "c": "5s", "d": "4s", "n": "3s", "m": "2s"}


def _each(make: Callable[[str], Value]) -> dict[str, Value]:
    return {letter: make(letter) for letter in _NAMES}


def _route(x: str) -> Value:
    name = _NAMES[x]
    return {
        "match": [{"uri": {"prefix": f"/{name}"}}],
        "route": [{"destination": {"host": name}}],
        "timeout": _TIMES[x],
    }


_ROUTE_EDITS = {
    "timeout": put("timeout", value="7s"),
    "host": put("route", 0, "destination", "host", value=lambda host: f"{host}-v2"),
    "prefix": put("match", 0, "uri", "prefix", value=lambda prefix: f"{prefix}/v2"),
    "retries": put("retries", value={"attempts": 3}),
    "no-timeout": less("timeout"),
}
_OPTION = {"a": "--level", "b": "--port", "c": "--mode", "d": "--host", "n": "--user", "m": "--log"}


def _args(make: Callable[[str], Value], edits: dict[str, Edit], size: int = 1) -> Listing:
    head, at = POD_HEAD + "    args:", ("spec", "containers", 0, "args")
    return Listing(head, at, _each(make), edits, "    tty: true\n", size=size)


LISTINGS: dict[str, Listing] = {
    "routes": Listing(_ROUTES, ("spec", "http"), _each(_route), _ROUTE_EDITS),
    "named routes": Listing(
        _ROUTES,
        ("spec", "http"),
        _each(lambda x: {"name": f"{_NAMES[x]}-route", **_route(x)} if x != "c" else _route(x)),
        _ROUTE_EDITS,
    ),
    "rules": Listing(
        ROLE,
        ("rules",),
        _each(
            lambda x: {
                "apiGroups": [""],
                "resources": [f"{_NAMES[x]}s"],
                "verbs": ["get", "list"],
            }
        ),
        {
            "verb": more("verbs", value="watch"),
            "resource": more("resources", value="extras"),
            "group": put("apiGroups", 0, value="example.com"),
        },
        ordered=False,
    ),
    "tolerations": Listing(
        POD_HEAD + "    tty: true\n  tolerations:",
        ("spec", "tolerations"),
        _each(lambda x: {"key": _NAMES[x], "operator": "Exists", "effect": "NoSchedule"}),
        {
            "effect": put("effect", value="NoExecute"),
            "seconds": put("tolerationSeconds", value=60),
            "key": put("key", value=lambda key: f"example.com/{key}"),
        },
    ),
    "options": _args(
        lambda x: f"{_OPTION[x]}=1", {"value": text("1", "2"), "third": text("1", "3")}
    ),
    "pairs": _args(
        lambda x: f"-p {8080 + ord(x)}:{8080 + ord(x)}",
        {"left": lambda v: v.replace("-p 8", "-p 9"), "right": lambda v: v.replace(":8", ":9")},
    ),
    "headers": _args(
        lambda x: f"--header x-{_NAMES[x]}: 1", {"value": text("1", "2"), "third": text("1", "3")}
    ),
    "urls": _args(
        lambda x: f"{_OPTION[x]} http://{_NAMES[x]}:80",
        {"port": text(":80", ":81"), "path": text(":80", ":80/x")},
    ),
    "phrases": _args(
        lambda x: f"{_NAMES[x]}: 1", {"value": text("1", "2"), "third": text("1", "3")}
    ),
    "words": _args(
        lambda x: _NAMES[x], {"word": lambda v: f"other-{v}", "more": lambda v: f"{v}-more"}
    ),
    "two lines": _args(
        lambda x: [_OPTION[x], f"{_NAMES[x]}.yaml"],
        {
            "value": put(1, value=lambda v: f"new-{v}"),
            "more": put(1, value=lambda v: f"more-{v}"),
        },
        size=2,
    ),
    "workflow": Listing(
        _WORKFLOW,
        ("jobs", "build", "steps"),
        _each(
            lambda x: (
                {
                    "uses": f"actions/{_NAMES[x]}@v1",
                    "with": {"path": f"{_NAMES[x]}/src", "depth": 1},
                }
                if x != "b"
                else {"name": "Lint", "run": "make lint", "shell": "bash"}
            )
        ),
        {
            "version": lambda v: (
                put("uses", value=lambda u: u.replace("v1", "v2"))(v)
                if "uses" in v
                else put("run", value="make lint all")(v)
            ),
            "depth": lambda v: (put("with", "depth", value=0) if "with" in v else less("shell"))(v),
            "if": put("if", value="always()"),
        },
    ),
    "task": Listing(
        "apiVersion: tekton.dev/v1\nkind: Task\nmetadata:\n  name: build\nspec:\n  steps:",
        ("spec", "steps"),
        _each(
            lambda x: {
                "name": _NAMES[x],
                "image": f"example.com/{_NAMES[x]}:1",
                "workingDir": f"/work/{_NAMES[x]}",
                "script": f"make {_NAMES[x]}",
                "timeout": "5m",
            }
        ),
        {
            "name": put("name", value=lambda name: f"{name}-all"),
            "image": put("image", value=lambda image: image.replace(":1", ":2")),
            "script": put("script", value=lambda script: f"{script} all"),
        },
        keyed=True,
        ordered=False,
    ),
    "containers": Listing(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:",
        ("spec", "containers"),
        _each(
            lambda x: {
                "name": _NAMES[x],
                "image": f"example.com/{_NAMES[x]}:1",
                "workingDir": f"/work/{_NAMES[x]}",
                "command": [f"/bin/{_NAMES[x]}", "serve"],
            }
        ),
        {
            "name": put("name", value=lambda name: f"{name}-app"),
            "image": put("image", value=lambda image: image.replace(":1", ":2")),
        },
        keyed=True,
        ordered=False,
    ),
    "chart routes": Listing(
        _CHART,
        ("spec", "http"),
        _each(_route),
        _ROUTE_EDITS,
        path="web/templates/routes.yaml",
    ),
    "chart options": Listing(
        _CHART_POD,
        ("spec", "containers", 0, "args"),
        _each(lambda x: f"{_OPTION[x]}=1"),
        {"value": text("1", "2"), "third": text("1", "3")},
        "    tty: true\n",
        path="web/templates/pod.yaml",
    ),
}

LISTINGS |= {
    "flags": _args(lambda x: f"--{_NAMES[x]}", {}),
    "own rules": Listing(
        ROLE,
        ("rules",),
        _each(lambda x: {"apiGroups": [x], "resources": [f"{_NAMES[x]}s"], "verbs": [_NAMES[x]]}),
        {},
        ordered=False,
    ),
    "uses": Listing(
        _WORKFLOW,
        ("jobs", "build", "steps"),
        _each(lambda x: {"uses": f"actions/{_NAMES[x]}@v1"}),
        {},
    ),
    "env": Listing(
        POD_HEAD + "    env:",
        ("spec", "containers", 0, "env"),
        _each(lambda x: {"name": _NAMES[x], "value": f"of-{x}"}),
        {},
        "    tty: true\n",
        keyed=True,
    ),
    "finalizers": Listing(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n  finalizers:",
        ("metadata", "finalizers"),
        _each(lambda x: f"example.com/{_NAMES[x]}"),
        {},
        "data:\n  key: value\n",
        keyed=True,
        ordered=False,
    ),
    "chart words": Listing(
        _CHART_POD,
        ("spec", "containers", 0, "args"),
        _each(lambda x: _NAMES[x]),
        {},
        "    tty: true\n",
        path="web/templates/pod.yaml",
    ),
}

LISTINGS |= {
    "routes, dash at the key": replace(LISTINGS["routes"], indented=False),
    "routes, quoted": replace(LISTINGS["routes"], quoted=True),
    "routes, flow": replace(LISTINGS["routes"], flow=True),
    "routes, comments": replace(
        LISTINGS["routes"], commented=True, edits={**_ROUTE_EDITS, "comment": lambda v: v}
    ),
    "routes, empty lines": replace(LISTINGS["routes"], spaced=True),
    "routes, documents": replace(LISTINGS["routes"], documents=True),
    "rules, flow": replace(LISTINGS["rules"], flow=True),
    "rules, dash at the key": replace(LISTINGS["rules"], indented=False),
    "tolerations, comments": replace(LISTINGS["tolerations"], commented=True),
    "tolerations, flow, quoted": replace(LISTINGS["tolerations"], flow=True, quoted=True),
    "options, quoted": replace(LISTINGS["options"], quoted=True),
    "options, comments": replace(LISTINGS["options"], commented=True, indented=False),
    "task, comments": replace(LISTINGS["task"], commented=True),
    "chart routes, comments": replace(LISTINGS["chart routes"], commented=True),
}
for _listing in LISTINGS.values():  # the copies have values of their own
    object.__setattr__(_listing, "known", {})

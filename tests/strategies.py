"""Generated manifests, the way people write them, and random edits of them.

A `Model` is plain values and a `Look`. The look decides how each node is spelled (indentation,
comments, quotes, flow, block scalars, anchors), by a hash of its seed and of the node's path: so
an edit of the values leaves the text of everything else as it was, as an editor would, and the
same values in another look are the same values in other words. Rendering uses no randomness.

    model = draw(models())                      one file
    base, ours, theirs = draw(merges())         one file and two edit scripts on it
    edit(model, draw(scripts()))                a changed file in the same look
    replace(model, look=draw(looks()))          the same values, written differently
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from hypothesis import strategies as st
from rendering import Look, note_path, render

SCALARS = [
    *("web", "api", "nginx:1.25.3", "registry.example.com/team/app:v2", "100m", "128Mi", "/healthz"),
    *("yes", "on", "null", "~", "010", "1e3", "1.10", "12:30", "2024-01-01", "0x1F", "true", "="),
    *("", " ", "a: b", "a #b", "- x", "é", "日本語 テキスト", "😀 ok", "it's", 'say "hi"', "back\\slash"),
    *("{{ .Values.x }}", "*star", "&and", "!bang", "%percent", "@at", "`tick", "[x]", "{x}", "a, b"),
    *("two words", "a long line of several words that somebody may want to fold over lines"),
    *("#!/bin/sh\nset -e\nexec app\n", "a\nb", "a\n\nb\n\n", "  deep\nless\n", "key: v\n# no\n", "\n"),
    *("tab\there", "x\n\ty\n", "trail \nx\n", "\u2028", "a\x85b", "\ufeffbom", "<<", "...", "--- a"),
    *(0, 1, 3, 8080, -5, 2**40, 1.5, -0.25, True, False, None),
]  # fmt: skip
KEYS = [
    *("name", "image", "env", "value", "replicas", "spec", "labels", "data", "args", "ports", "config"),
    *("app.kubernetes.io/name", "on", "1", "a b", "é", "x.yaml", "null", "true", "key:", "<", "- a"),
]  # fmt: skip
NAMES = ["web", "api", "db", "cache", "proxy", "init", "LOG_LEVEL", "PORT", "DEBUG", "HOME"]


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a value: the numbers choose among what the value offers."""

    kind: str  # set, add, delete, move, line, note
    place: int
    value: object
    name: str


@dataclass(frozen=True, slots=True)
class Model:
    """The documents of a file as plain values, and how they are written."""

    values: tuple[object, ...]
    look: Look
    notes: tuple[tuple[str, str], ...] = ()  # comments that edits put on paths

    @property
    def data(self) -> bytes:
        """The file."""
        return render(self.values, self.look, dict(self.notes))


def scalars() -> st.SearchStrategy[object]:
    """Plain scalars that real manifests hold, the tricky ones more often."""
    return st.sampled_from(SCALARS)


def json_values(leaves: int = 12) -> st.SearchStrategy[object]:
    """Any plain value, without a Kubernetes shape."""
    return st.recursive(
        scalars(),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
        ),
        max_leaves=leaves,
    )


def _text() -> st.SearchStrategy[str]:
    return st.sampled_from([text for text in SCALARS if isinstance(text, str)])


def _labels() -> st.SearchStrategy[dict[str, str]]:
    keys = ["app", "tier", "app.kubernetes.io/name", "version"]
    return st.dictionaries(st.sampled_from(keys), _text(), max_size=3)


def _named(fields: dict[str, st.SearchStrategy[object]], most: int) -> st.SearchStrategy[list]:
    """A list whose elements have different names."""
    element = st.fixed_dictionaries({"name": st.sampled_from(NAMES)}, optional=fields)
    return st.lists(element, max_size=most, unique_by=lambda item: item["name"])


def _containers() -> st.SearchStrategy[list]:
    ports = st.lists(
        st.fixed_dictionaries(
            {"containerPort": st.sampled_from([80, 443, 8080, 9090])},
            optional={"name": st.sampled_from(NAMES), "protocol": st.sampled_from(["TCP", "UDP"])},
        ),
        max_size=3,
        unique_by=lambda port: port["containerPort"],
    )
    quantities = st.dictionaries(
        st.sampled_from(["cpu", "memory"]), st.sampled_from(["100m", "1", "64Mi", 2]), max_size=2
    )
    return _named(
        {
            "image": st.sampled_from(["nginx:1.25.3", "app:v1", "app:v2", "redis"]),
            "args": st.lists(_text(), max_size=3),
            "env": _named({"value": _text()}, 4),
            "ports": ports,
            "resources": st.fixed_dictionaries(
                {}, optional={"limits": quantities, "requests": quantities}
            ),
        },
        3,
    )


def _metadata() -> st.SearchStrategy[dict]:
    return st.fixed_dictionaries(
        {"name": st.sampled_from(NAMES[:5])},
        optional={
            "namespace": st.sampled_from(["prod", "dev"]),
            "labels": _labels(),
            "annotations": _labels(),
            "finalizers": st.lists(st.sampled_from(["a/b", "c/d", "e/f"]), unique=True),
        },
    )


def _deployment() -> st.SearchStrategy[dict]:
    def build(metadata: dict, labels: dict, containers: list, init: list, replicas: int) -> dict:
        pod: dict = {"containers": containers}
        if init:
            pod["initContainers"] = init
        return {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": metadata,
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": pod},
            },
        }

    return st.builds(
        build, _metadata(), _labels(), _containers(), _containers() | st.just([]), st.integers(0, 5)
    )


def _config_map() -> st.SearchStrategy[dict]:
    return st.fixed_dictionaries(
        {
            "apiVersion": st.just("v1"),
            "kind": st.just("ConfigMap"),
            "metadata": _metadata(),
            "data": st.dictionaries(st.sampled_from(KEYS), _text(), max_size=4),
        }
    )


def _custom() -> st.SearchStrategy[dict]:
    return st.fixed_dictionaries(
        {
            "apiVersion": st.just("example.com/v1"),
            "kind": st.just("Widget"),
            "metadata": _metadata(),
            "spec": st.dictionaries(st.sampled_from(KEYS), json_values(8), max_size=4),
        }
    )


def values_files() -> st.SearchStrategy[dict]:
    """A file without identity, as Helm's values.yaml."""
    return st.dictionaries(st.sampled_from(KEYS), json_values(), min_size=1, max_size=6)


def resources() -> st.SearchStrategy[dict]:
    """One Kubernetes object as a plain value."""
    return _deployment() | _config_map() | _custom()


def looks() -> st.SearchStrategy[Look]:
    """How a file is written; simple looks come first, so that failures shrink to them."""
    return st.builds(
        Look,
        seed=st.integers(0, 999),
        indent=st.sampled_from([2, 4]),
        offset=st.sampled_from([0, 2]),
        eol=st.sampled_from(["\n", "\n", "\n", "\r\n"]),
        bom=st.sampled_from([False, False, False, True]),
        final_newline=st.sampled_from([True, True, True, False]),
        comments=st.sampled_from([0, 2, 5]),
        flow=st.sampled_from([0, 2, 7]),
        styles=st.sampled_from([0, 3, 8]),
        mixed=st.booleans(),
        anchors=st.sampled_from([False, False, True]),
        markers=st.integers(0, 2),
    )


def plain_looks() -> st.SearchStrategy[Look]:
    """Looks of tidy files: one indentation, some comments, no anchors, no odd bytes."""
    return st.builds(
        Look,
        seed=st.integers(0, 999),
        indent=st.sampled_from([2, 4]),
        offset=st.sampled_from([0, 2]),
        comments=st.sampled_from([0, 2]),
        styles=st.sampled_from([0, 2]),
    )


def models(most: int = 3, look: st.SearchStrategy[Look] | None = None) -> st.SearchStrategy[Model]:
    """A file of some resources, or one without identity."""
    several = st.lists(resources(), min_size=1, max_size=most).map(tuple)
    one = (values_files() | json_values().filter(lambda value: value is not None)).map(
        lambda value: (value,)
    )
    return st.builds(Model, several | one, look or looks())


def manifests() -> st.SearchStrategy[str]:
    """The text of a file, with LF line ends."""
    return (
        models()
        .map(lambda model: replace(model, look=replace(model.look, eol="\n", bom=False)))
        .map(lambda model: model.data.decode())
    )


def scripts(most: int = 4) -> st.SearchStrategy[tuple[Edit, ...]]:
    """Some edits; they fit every value."""
    one = st.builds(
        Edit,
        st.sampled_from(["set", "add", "delete", "move", "line", "note"]),
        st.integers(0, 500),
        json_values(3),
        st.sampled_from([*NAMES, *KEYS]),
    )
    return st.lists(one, min_size=1, max_size=most).map(tuple)


@st.composite
def merges(
    draw: st.DrawFn, most: int = 2, look: st.SearchStrategy[Look] | None = None
) -> tuple[Model, Model, Model]:
    """A file, and two edited versions of it in the same look."""
    base = draw(models(most, look))
    return base, edit(base, draw(scripts())), edit(base, draw(scripts()))


def edit(model: Model, script: tuple[Edit, ...]) -> Model:
    """The model after the edits."""
    for one in script:
        model = _apply(model, one)
    return model


Path = tuple[int | str, ...]


def paths(value: object) -> list[Path]:
    """The paths to everything in a value, itself included, parents first."""
    found: list[Path] = []
    todo: list[tuple[Path, object]] = [((), value)]
    while todo:
        path, current = todo.pop()
        found.append(path)
        if isinstance(current, dict):
            todo += [((*path, key), item) for key, item in reversed(current.items())]
        elif isinstance(current, list | tuple):
            todo += [((*path, number), item) for number, item in reversed(list(enumerate(current)))]
    return found


def at(value: object, path: Path) -> object:
    """What stands at a path."""
    for step in path:
        value = value[step]  # type: ignore[index]
    return value


def put(value: object, path: Path, change: Callable[[object], object]) -> object:
    """A copy in which what stands at a path is changed."""
    if not path:
        return change(value)
    step, *rest = path
    copy = dict(value) if isinstance(value, dict) else list(value)  # type: ignore[call-overload]
    copy[step] = put(copy[step], tuple(rest), change)
    return tuple(copy) if isinstance(value, tuple) else copy


def _apply(model: Model, one: Edit) -> Model:
    inside = [path for path in paths(model.values) if path]  # never the stream itself
    path = inside[one.place % len(inside)]
    if one.kind == "note":
        where = note_path(model.values, path)
        notes = {**dict(model.notes), where: f"note {one.place}"}
        return replace(model, notes=tuple(notes.items()))
    if one.kind == "set":
        if len(path) == 1:  # a document keeps its kind
            return model
        return _with(model, path, lambda old: one.value)
    if one.kind in ("add", "move"):
        return _with(model, path, lambda old: _grown(old, one))
    if one.kind == "line":
        return _with(model, path, lambda old: _other_line(old, one))
    if len(path) == 1:
        return model
    return _with(model, path[:-1], lambda old: _without(old, path[-1]))


def _with(model: Model, path: Path, change: Callable[[object], object]) -> Model:
    return replace(model, values=put(model.values, path, change))


def _without(value: object, step: int | str) -> object:
    if isinstance(value, dict):
        return {key: item for key, item in value.items() if key != step}
    return [item for number, item in enumerate(value) if number != step]  # type: ignore[arg-type]


def _grown(value: object, one: Edit) -> object:
    """A collection with one more element, or with an element at another place."""
    moving = one.kind == "move"
    if isinstance(value, dict):
        items = [(key, item) for key, item in value.items() if moving or key != one.name]
        if not moving:
            items.insert(one.place % (len(items) + 1), (one.name, one.value))
        elif len(items) > 1:
            items.insert(one.place % len(items), items.pop(one.place // 2 % len(items)))
        return dict(items)
    if isinstance(value, list):
        elements = list(value)
        if not moving:
            new = one.value
            if elements and all(isinstance(item, dict) and "name" in item for item in elements):
                elements = [item for item in elements if item["name"] != one.name]
                new = {"name": one.name, "value": one.value}
            elements.insert(one.place % (len(elements) + 1), new)
        elif len(elements) > 1:
            elements.insert(one.place % len(elements), elements.pop(one.place // 2 % len(elements)))
        return elements
    return value


def _other_line(value: object, one: Edit) -> object:
    """A text with a line changed, added or deleted."""
    if not isinstance(value, str) or "\n" not in value:
        return value
    lines = value.split("\n")
    number = one.place % len(lines)
    lines[number : number + one.place % 2] = [f"line {one.place}"] * (one.place % 3)
    return "\n".join(lines)

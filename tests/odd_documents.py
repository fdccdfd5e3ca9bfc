"""Documents that are valid and odd: what stands where in them is not what anybody expects.

A seed gives the same texts again. Every text is a Kubernetes object, or something like one, in
which some places hold values of another shape; written as blocks, as flow or as JSON.
"""

from __future__ import annotations

from random import Random

Odd = str | list["Odd"] | list[tuple[str, "Odd"]]  # a token, a list, or the entries of a map
Pairs = list[tuple[str, Odd]]

LAST = "kubectl.kubernetes.io/last-applied-configuration"
# scalars as they are spelled; all of them are YAML, those before the mark are JSON as well
JSON_TOKENS = [
    *("null", "true", "false", "0", "1", "-0", "1.5", "1e400", "12345678901234567890", '""', '"a"'),
    *('"1"', '"null"', '"\\u001b[2J"', '"\\u202e"', '"\\ud83d"', '"a\\nb\\n"', '"{{ x }}"', '"<<"'),
    *('"$patch"', '"delete"', '"a/b/c"', '"' + "k" * 1100 + '"', "{}", "[]", "[[]]", '[{}, "a"]'),
    *('{"": null}', '{"a": {"b": []}}', "[null]", '[1, "1", true]', '{"name": null}'),
]
YAML_TOKENS = [
    *("", "~", "a", "yes", "010", "0o7", "0x1F", ".nan", "-.inf", "1_000", "12:30", "2024-01-01"),
    *("!!str 1", "!!int 'x'", "!!binary aGk=", "!own a", "!!set {a, b}", "!!null ''", "! a", "<<"),
    *("=", "'it''s'", '"\\e\\x85\\L\\u200b"', "é日本", "\u202e", "&x 1", "*a", "&y {a: *a}", "&z"),
    *("{a, b: , c}", "[a: 1, b]", "{? a : 1}", "{[1]: 2}", "{a: 1, a: 2}", "{<<: *a, k: 1}", "- "),
    *("{<<: [*a, *a]}", "!own {a: 1}", "!!map []", "|\n  a\n   b\n", ">-\n  a\n\n  b\n", "|+\n\n"),
]
KEYS = [
    *("kind", "apiVersion", "metadata", "name", "namespace", "annotations", "labels", "items"),
    *("spec", "data", "template", "containers", "initContainers", "ports", "env", "image"),
    *("$patch", "$retainKeys", "$setElementOrder/containers", "$deleteFromPrimitiveList/finalizers"),
    *("finalizers", "resources", "patches", "patchesStrategicMerge", "images", "generateName"),
    *("1", "null", "true", "~", "1.5", "''", '"a b"', '"\\e"', "a.b/c", "é", "2024-01-01", "on"),
    *("k" * 900, "? [1, 2]\n", "? {a: 1}\n", "? |\n  x\n", "<<", "=", "!!str k", "&k k", "*a", "-a"),
]  # fmt: skip
KINDS = [
    *("Deployment", "List", "ConfigMapList", "Kustomization", "Component", "Service", "Widget"),
    *("CustomResourceDefinition", "null", "1", "[Deployment]", "{}", '""', "ConfigMap", "Secret"),
    *("ResourceList", "Chart", "true"),
]
VERSIONS = ["v1", "apps/v1", "apiextensions.k8s.io/v1", "a/b/c", "1", "null", "[]", '""', "x/v1"]
VERSIONS += ["kustomize.config.k8s.io/v1beta1", "config.kubernetes.io/v1"]
FRAMES = [
    *("{}", "---\n{}", "{}---\n", "# note\n---\n{}", "{}---\n# note\n", "%YAML 1.1\n---\n{}"),
    *("%YAML 1.2\n%TAG ! tag:x,2000:\n---\n{}", "\ufeff{}", "{}...\n", "---\n---\n{}---\n---\n{}"),
    *("{}---\n{}", "--- # x\n{}", "\n\n{}\n\n", "{}...\n---\n{}", "--- {}"),
]
# whole files that are no object at all
WHOLE = [
    *("", "\n", "---\n", "---\n---\n", "--- \n...\n", "# only a note\n", "\ufeff", "\ufeff---\n"),
    *("null\n", "~\n", "1\n", "a\n", '"a"\n', "[]\n", "{}\n", "- 1\n- a: 1\n", "[[]]\n", "- - - a\n"),
    *("|\n  a\n  b\n", "--- |\n  a\n", "--- >\n a\n--- a\n", "&a a\n", "&a [*a]\n", "*a\n", "&a\n"),
    *("!own\n", "!!str\n", "? a\n", "? \n", ": \n", "? a\n: b\n? c\n", "a:\n", "<<: {a: 1}\n"),
    *("a: 1\r\nb: 2\r\n", "a: 1\rb: 2\r", "a: 1\u2028b: 2\n", "a: 1\x85b: 2\n", "a:\tb\n", "\t\n"),
    *("%YAML 1.3\n---\na: 1\n", "%FOO x\n---\na\n", "%YAML 1.1\n", "a: &a {b: *a}\n", "a: b: c\n"),
    *("\x00", "\x1b", "a: \x07\n", "\ufffe", "{", "[", "a: [\n", "'", '"', "a\n b: c\n", "- a\nb: c\n"),
    *("<<<<<<< a\nx: 1\n=======\nx: 2\n>>>>>>> b\n", "kind: List\nitems:\n", "kind: List\n"),
    *("kind: List\nitems: {a: {kind: A}}\n", "kind: List\nitems: [1, [], null, {}]\n"),
    *("{{ x }}\n", "{{- if x }}\na: 1\n{{- end }}\n", "{{ if }}\n", "a: {{ x }}\n", "{{\n", "}}\n"),
    *('{"a":1}{"b":2}', '{"a":1}\n{"b":2}\n', '[{"op": "add", "path": "/a", "value": 1}]\n'),
]  # fmt: skip
BYTES = [
    b"\xff\xfea\x00:\x00 \x001\x00\n\x00",
    b"a: \xff\n",
    b"\xef\xbb",
    b"\xc3(\n",
    b"\xed\xa0\x80",
]


def odd_file(r: Random) -> bytes:
    """A file."""
    chosen = r.randrange(100)
    if chosen < 4:
        return r.choice(BYTES)
    if chosen < 22:
        return r.choice(WHOLE).encode("utf-8", "surrogatepass")
    return framed(r, odd_text(r, odd_object(r)))


def odd_trio(r: Random) -> tuple[bytes, bytes, bytes]:
    """Three versions of a file: the sides change the base here and there, or are something else."""
    made = odd_object(r)
    style, frame = r.randrange(4), r.choice(FRAMES)
    versions = []
    for number in range(3):
        if r.randrange(100) < 12:
            versions.append(odd_file(r))
            continue
        version = made
        for _ in range(number and r.randint(0, 3)):
            version = changed(r, version)
        text = odd_text(Random(style), version, style)
        versions.append(_in_bytes(frame.replace("{}", text)))
    return versions[0], versions[1], versions[2]


def framed(r: Random, text: str) -> bytes:
    """The text with what may stand around a document, and line ends of some kind."""
    whole = r.choice(FRAMES).replace("{}", text)
    return _in_bytes(whole.replace("\n", "\r\n") if r.randrange(10) == 0 else whole)


def _in_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


# -- objects


def odd_object(r: Random) -> Odd:
    """Something like a Kubernetes object; of some places the value is anything."""
    kind = r.choice(KINDS)
    names = [
        "web",
        "web",
        "&a web",
        "&a web",
        "&a web",
        "1",
        "null",
        "[]",
        '""',
        "{a: 1}",
        "&a {b: 1}",
    ]
    metadata: Odd = [("name", r.choice(names))]
    if r.randrange(3):
        metadata = maybe(r, [*_pairs(metadata), ("annotations", annotations(r))])
    if r.randrange(4) == 0:
        metadata = maybe(r, [*_pairs(metadata), ("finalizers", ["a", "b"])], 40)
        metadata = maybe(r, metadata, 20)
    made: Pairs = [
        ("apiVersion", r.choice(VERSIONS)),
        ("kind", kind),
        ("metadata", maybe(r, metadata, 25)),
    ]
    if kind.endswith("List") or r.randrange(12) == 0:
        items: Odd = [
            odd_object(r) if r.randrange(3) else anything(r) for _ in range(r.randrange(4))
        ]
        made.append(("items", maybe(r, items, 20)))
    elif kind in ("Kustomization", "Component"):
        for name in ("resources", "patches", "patchesStrategicMerge", "images", "generators"):
            if r.randrange(2):
                made.append((name, maybe(r, [["path", "x.yaml"], "y.yaml"][r.randrange(2) :], 70)))
    elif kind == "CustomResourceDefinition":
        made.append(("spec", maybe(r, definition(r), 30)))
    else:
        made.append(("spec", maybe(r, spec(r), 25)))
    if r.randrange(5) == 0:
        made.append((r.choice(KEYS), anything(r)))
    r.randrange(6) or r.shuffle(made)
    return made


def annotations(r: Random) -> Odd:
    """Annotations, often with one that `kubectl apply` might have written."""
    configs = ["{}", "[]", "null", "1", '"a"', "", "{", '{"metadata": null}', '{"metadata": "a"}']
    configs += ['{"metadata": []}', '{"metadata":{"annotations":[]}}', '{"spec":{"x":NaN}}']
    configs += ['{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web"},"spec":[]}']
    configs += ['{"a":1e999}', '{"a":1,"a":2}', '{"spec":{"template":null}}', "\ufeff{}", "[[[["]
    text = r.choice(configs).replace("'", "''")
    found: Odd = [(LAST, f"'{text}'" if r.randrange(4) else anything(r)), ("b", "c")]
    return maybe(r, found, 15)


def definition(r: Random) -> Odd:
    """What a CustomResourceDefinition says of its kind."""
    keys = maybe(r, ["name"], 40)
    field: Odd = [("type", "array"), ("x-kubernetes-list-type", "map"),
                  ("x-kubernetes-list-map-keys", keys), ("items", anything(r))]  # fmt: skip
    schema: Odd = [
        ("openAPIV3Schema", maybe(r, [("properties", maybe(r, [("l", field)], 30))], 20))
    ]
    version: Odd = [("name", "v1"), ("schema", maybe(r, schema, 20))]
    names = maybe(r, [("kind", "Widget"), ("plural", "widgets")], 20)
    return [("group", maybe(r, "x", 20)), ("names", names), ("versions", maybe(r, [version], 20))]


def spec(r: Random) -> Odd:
    """A spec of a workload."""
    container: Odd = [
        ("name", maybe(r, "app", 20)),
        ("image", maybe(r, "nginx:1", 10)),
        ("ports", maybe(r, [[("containerPort", maybe(r, "80", 30))], "90"][: r.randint(1, 2)], 20)),
        ("env", maybe(r, [[("name", "A"), ("value", maybe(r, "a", 20))], anything(r)], 20)),
    ]
    containers: Odd = [container, anything(r), [("name", "app"), ("$patch", maybe(r, "delete"))]]
    inner = maybe(r, [("containers", maybe(r, containers[: r.randint(1, 3)], 20))], 10)
    template: Odd = [("metadata", maybe(r, [("labels", "{a: b}")])), ("spec", inner)]
    found: Pairs = [("replicas", maybe(r, "1", 30)), ("template", maybe(r, template, 10))]
    return [*found, (r.choice(KEYS), anything(r))] if r.randrange(3) == 0 else found


def maybe(r: Random, value: Odd, percent: int = 30) -> Odd:
    """The value, or anything in its place."""
    return anything(r) if r.randrange(100) < percent else value


def anything(r: Random, depth: int = 2) -> Odd:
    """A value of any shape."""
    chosen = r.randrange(10)
    if chosen < 2 and depth:
        return [(r.choice(KEYS), anything(r, depth - 1)) for _ in range(r.randrange(4))]
    if chosen < 4 and depth:
        return [anything(r, depth - 1) for _ in range(r.randrange(3))]
    return r.choice(JSON_TOKENS if chosen < 7 else YAML_TOKENS)


def changed(r: Random, value: Odd) -> Odd:
    """The value with one place changed."""
    if isinstance(value, str) or not value or r.randrange(8) == 0:
        return anything(r)
    at, what = r.randrange(len(value)), r.randrange(10)
    if what == 0:
        return [*value[:at], *value[at + 1 :]]
    if what == 1:
        return [*value[:at], value[at], *value[at:]]
    entry = value[at]
    new = (entry[0], changed(r, entry[1])) if isinstance(entry, tuple) else changed(r, entry)
    return [*value[:at], new, *value[at + 1 :]]


def _pairs(value: Odd) -> Pairs:
    return [pair for pair in value if isinstance(pair, tuple)]


# -- texts


def odd_text(r: Random, value: Odd, style: int | None = None) -> str:
    """The value as blocks, as flow with YAML's tokens, or as JSON as far as it goes."""
    style = r.randrange(4) if style is None else style
    if style < 2:
        return "".join(_block(value, 0, step=2 * style)) or "{}\n"
    return _flow(value, json=style == 3) + "\n"


def _block(value: Odd, column: int, step: int) -> list[str]:
    pad = " " * column
    if isinstance(value, str):
        return [pad + _deeper(value, column) + "\n"]
    lines = []
    for entry in value:
        if isinstance(entry, tuple):
            key, inner = entry
            head = f"{pad}{_deeper(key, column)}:"
            if key.startswith("? "):
                head = f"{pad}{_deeper(key, column).rstrip()}\n{pad}:"
        else:
            head, inner = f"{pad}-", entry
        if isinstance(inner, str):
            lines.append(f"{head} {_deeper(inner, column)}\n")
        elif inner:
            deeper = column + (max(step, 2) if isinstance(entry, tuple) is False else 2)
            is_list = not isinstance(inner[0], tuple)
            own = column + step if is_list and isinstance(entry, tuple) else deeper
            lines += [f"{head}\n", *_block(inner, own, step)]
        else:
            lines.append(f"{head}\n")
    return lines


def _deeper(token: str, column: int) -> str:
    return token.rstrip("\n").replace("\n", "\n" + " " * (column + 2)) if "\n" in token else token


def _flow(value: Odd, *, json: bool) -> str:
    if isinstance(value, str):
        return _in_flow(value, json=json)
    if value and isinstance(value[0], tuple):
        pairs = _pairs(value)
        return (
            "{" + ", ".join(f"{_key(k, json=json)}: {_flow(v, json=json)}" for k, v in pairs) + "}"
        )
    return "[" + ", ".join(_flow(v, json=json) for v in value if not isinstance(v, tuple)) + "]"


def _key(key: str, *, json: bool) -> str:
    plain = key if key[:1] not in "?!&*\"'" else "k"
    return f'"{plain}"' if json else plain


def _in_flow(token: str, *, json: bool) -> str:
    if token in JSON_TOKENS:
        return token
    if json or token[:1] in "|>" or token in ("", "- "):
        return '"' + token.translate({10: "\\n", 34: '\\"', 92: "\\\\"}) + '"'
    return token

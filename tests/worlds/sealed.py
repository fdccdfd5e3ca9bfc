"""Every pair of edits of a file that SOPS encrypts, and whether a result can be decrypted.

A small model of SOPS seals a file and opens a text. As in SOPS, the checksum covers the values in
their order, an encrypted value is bound to its place, and the checksum to its date. One difference:
the checksum of the model covers the names of fields, too. A merge is right if its text can be
opened by every recipient and holds what both edits come to, whichever comes first.
"""

from __future__ import annotations

import configparser
import hashlib
import json
from collections.abc import Callable, Iterator
from itertools import product

import yaml

Row = tuple[str, ...]  # the names of a field and its value, or "#" and a comment
Opened = tuple[frozenset[Row], frozenset[str], frozenset[str], bool]

ENCRYPTED: dict[str, tuple[str, ...]] = {}  # what each encrypted text stands for
SECRET = ("data",)  # below these names values and comments are encrypted


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


def _encrypt(kind: str, *parts: str) -> str:
    text = f"ENC[AES256_GCM,data:{_hash(kind, *parts)},type:{kind}]"
    ENCRYPTED[text] = (kind, *parts)
    return text


class Field:
    """A field with its names, or a comment above the next field of the same map."""

    def __init__(self, names: Row, value: str, once: str = "") -> None:
        self.names, self.value = names, value
        self.once = once  # grows when the value is encrypted again

    @property
    def is_comment(self) -> bool:
        return self.names[-1] == "#"

    @property
    def is_secret(self) -> bool:
        return any(name in SECRET for name in self.names)


class File:
    """The content of a file, its recipients, and how it was sealed the last time."""

    def __init__(
        self, fields: list[Field], form: str, *, mac_only: bool = False, late: bool = False
    ) -> None:
        self.fields, self.form, self.mac_only = fields, form, mac_only
        self.late = late  # whether the recipients are at the end of the block, as with PGP
        self.people: dict[str, str] = {"age1anna": "", "age1bert": ""}  # to the wraps of the key
        self.key, self.mac, self.date, self.version = "", "", "", "3.9.0"
        self.indent, self.spaced = 4, False

    def copy(self) -> File:
        other = File([Field(f.names, f.value, f.once) for f in self.fields], self.form)
        for name in ("mac_only", "late", "key", "mac", "date", "version", "indent", "spaced"):
            setattr(other, name, getattr(self, name))
        other.people = dict(self.people)
        return other

    def seal(self, who: str, key: str = "") -> None:
        """Encrypt with the present key, or with a new one; as `sops edit` and `sops rotate` do."""
        if key or not self.key:
            self.key = key or "key0"
            self.people = dict.fromkeys(self.people, who)
            for field in self.fields:
                field.once = who
        self.date = f"2026-01-01T00:00:{len(who):02}Z/{who}"
        digest = _digest([(f.names, f.value, f.is_secret) for f in self.fields], self.mac_only)
        self.mac = _encrypt("mac", self.key, self.date, digest)

    def open(self) -> None:
        """Decrypt the file for good."""
        self.key = self.mac = ""

    def block(self) -> list[tuple[str, object]]:
        wraps = [
            {"recipient": name, "enc": _encrypt("key", name, self.key, once)}
            for name, once in self.people.items()
        ]
        only = [("mac_only_encrypted", True)] if self.mac_only else []
        people: list[tuple[str, object]] = [("age", wraps)]
        rest = [("lastmodified", self.date), ("mac", self.mac), ("encrypted_regex", "^data$")]
        rest += [*only, ("version", self.version)]
        return [*rest, *people] if self.late else [*people, *rest]

    def shown(self, field: Field) -> str:
        if not (self.key and field.is_secret):
            return field.value
        return _encrypt("str", self.key, "/".join(field.names[1:]), field.value, field.once)


def _digest(rows: list[tuple[Row, str, bool]], mac_only: bool) -> str:
    covered = [
        "=".join((*names[1:], value))
        for names, value, is_secret in rows
        if names[-1] != "#" and (is_secret or not mac_only)
    ]
    return _hash(*covered)


# -- texts


def written(file: File) -> bytes:
    """The text of the file; the first name of a field is the number of its document."""
    texts = []
    for number in dict.fromkeys(f.names[0] for f in file.fields):
        fields = [f for f in file.fields if f.names[0] == number]
        texts.append(FORMS[file.form](file, fields))
    return "---\n".join(texts).encode()


def _yaml(file: File, fields: list[Field]) -> str:
    out, above = [], ()
    for field in fields:
        *maps, name = field.names[1:]
        for depth, part in enumerate(maps):
            if tuple(maps[: depth + 1]) != above[: depth + 1]:
                out.append(" " * depth * file.indent + part + ":")
        above = tuple(maps)
        home = " " * len(maps) * file.indent
        if field.is_comment:
            out.append(f"{home}#{file.shown(field)}")
        else:
            out.append(f"{home}{name}: {' ' * file.spaced}{file.shown(field)}")
    if file.key:
        out.append("sops:")
        pad = " " * file.indent
        for name, value in file.block():
            if isinstance(value, list):
                out.append(f"{pad}{name}:")
                for wrap in value:
                    out += [f"{pad}{pad}- recipient: {wrap['recipient']}", f"{pad}{pad}  enc: |"]
                    out += [f"{pad}{pad}    {line}" for line in ("--BEGIN--", wrap["enc"])]
            else:
                shown = str(value).lower() if isinstance(value, bool) else value
                out.append(f"{pad}{name}: {shown}")
    return "\n".join(out) + "\n"


def _json(file: File, fields: list[Field]) -> str:
    tree: dict[str, object] = {}
    for field in fields:
        if not field.is_comment:
            *maps, name = field.names[1:]
            at = tree
            for part in maps:
                at = at.setdefault(part, {})  # type: ignore[assignment]
            at[name] = file.shown(field)
    if file.key:
        tree["sops"] = dict(file.block())
    text = json.dumps(tree, indent="\t" if file.indent == 4 else file.indent)
    return text.replace('": "', '":  "', 99 * file.spaced) + "\n"


def _flat(file: File) -> list[tuple[str, str]]:
    """The block as the formats without maps have it."""
    rows = []
    for name, value in file.block():
        if isinstance(value, list):
            for number, wrap in enumerate(value):
                rows += [(f"{name}__list_{number}__map_{key}", wrap[key]) for key in wrap]
        else:
            rows.append((name, str(value).lower() if isinstance(value, bool) else str(value)))
    return sorted(rows)


def _dotenv(file: File, fields: list[Field]) -> str:
    out = [
        f"#{file.shown(f)}" if f.is_comment else f"{'__'.join(f.names[1:])}={file.shown(f)}"
        for f in fields
    ]
    if file.key:
        out += [f"sops_{name}={value}" for name, value in _flat(file)]
    return "\n".join(out) + "\n"


def _ini(file: File, fields: list[Field]) -> str:
    out, above = [], ""
    for field in fields:
        section = field.names[1] if len(field.names) > 2 else "top"
        if section != above:
            out += [*[""] * bool(out), f"[{section}]"]
            above = section
        shown = file.shown(field)
        is_comment = field.is_comment
        out.append(f"#{shown}" if is_comment else f"{'__'.join(field.names[1:])} = {shown}")
    if file.key:
        out += ["", "[sops]", *(f"{name} = {value}" for name, value in _flat(file))]
    return "\n".join(out) + "\n"


FORMS: dict[str, Callable[[File, list[Field]], str]] = {
    "yaml": _yaml,
    "json": _json,
    "env": _dotenv,
    "ini": _ini,
}


# -- opening a text


def opened(text: bytes, form: str) -> Opened | None:
    """The fields, comments, recipients, and whether it is sealed; or None."""
    try:
        documents = READERS[form](text.decode())
    except (ValueError, yaml.YAMLError, configparser.Error):
        return None
    blocks = [block for _, _, block in documents]
    rows = [
        ((str(number), *names), value)
        for number, (fields, _, _) in enumerate(documents)
        for names, value in fields
    ]
    comments = [comment for _, comments, _ in documents for comment in comments]
    if not any(blocks):
        is_open = not any("ENC[" in value for _, value in rows) and "ENC[" not in str(comments)
        fields = frozenset((*names, value) for names, value in rows)
        return (fields, frozenset(comments), frozenset(), False) if is_open else None
    block = blocks[0]
    if any(other != block for other in blocks) or not block:
        return None
    return _decrypted(rows, comments, block)


def _decrypted(
    rows: list[tuple[Row, str]], comments: list[str], block: dict[str, object]
) -> Opened | None:
    keys, people = set(), set()
    for wrap in block["age"]:  # type: ignore[attr-defined]
        known = ENCRYPTED.get(str(wrap["enc"]).split()[-1])
        if known is None or known[:2] != ("key", wrap["recipient"]):
            return None
        keys.add(known[2])
        people.add(wrap["recipient"])
    if len(keys) != 1:
        return None
    (key,) = keys
    plain: list[tuple[Row, str, bool]] = []
    for names, value in rows:
        is_secret = any(name in SECRET for part in names for name in part.split("__"))
        if is_secret:
            known = ENCRYPTED.get(value)
            if known is None or known[:3] != ("str", key, "/".join(names[1:])):
                return None
            value = known[3]  # noqa: PLW2901
        elif value in ENCRYPTED:
            return None
        plain.append((names, value, is_secret))
    shown = set()
    for comment in comments:
        known = ENCRYPTED.get(comment)
        if known is not None and known[1] != key:
            return None
        shown.add(known[3] if known else comment)
    mac = ENCRYPTED.get(str(block["mac"]))
    mac_only = str(block.get("mac_only_encrypted")).lower() == "true"
    if mac != ("mac", key, str(block["lastmodified"]), _digest(plain, mac_only)):
        return None
    fields = frozenset((*names, value) for names, value, _ in plain)
    return fields, frozenset(shown), frozenset(people), True


Read = list[tuple[list[tuple[Row, str]], list[str], dict[str, object]]]


def _comment_lines(text: str) -> list[str]:
    return [line.strip()[1:] for line in text.split("\n") if line.strip().startswith("#")]


def _read_yaml(text: str) -> Read:
    found = []
    for part in text.split("\n---\n"):
        tree = yaml.load(f"{part}\n", _Strict)
        block = tree.pop("sops", {})
        found.append((_leaves(tree), _comment_lines(part), block))
    return found


class _Strict(yaml.BaseLoader):
    """Reads all values as text, and refuses repeated keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        names = [key.value for key, _ in node.value]
        if len(set(names)) < len(names):
            raise ValueError("a key twice")
        return super().construct_mapping(node, deep)


def _leaves(tree: object, names: Row = ()) -> list[tuple[Row, str]]:
    if not isinstance(tree, dict):
        return [(names, str(tree))]
    return [leaf for key in tree for leaf in _leaves(tree[key], (*names, key))]


def _read_json(text: str) -> Read:
    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key twice")
        return dict(pairs)

    tree = json.loads(text, object_pairs_hook=once)
    block = tree.pop("sops", {})
    return [(_leaves(tree), [], block)]


def _deep(rows: dict[str, str]) -> dict[str, object]:
    wraps: dict[str, dict[str, str]] = {}
    block: dict[str, object] = {}
    for name, value in rows.items():
        if "__list_" in name:
            number, _, key = name.partition("__list_")[2].partition("__map_")
            wraps.setdefault(number, {})[key] = value
        else:
            block[name] = value
    if rows:
        block["age"] = list(wraps.values())
    return block


def _read_dotenv(text: str) -> Read:
    rows = [line.split("=", 1) for line in text.split("\n") if line and line[0] != "#"]
    if len({name for name, _ in rows}) < len(rows):
        raise ValueError("a name twice")
    fields = [((*name.split("__"),), v) for name, v in rows if not name.startswith("sops_")]
    block = {n.removeprefix("sops_"): v for n, v in rows if n.startswith("sops_")}
    return [(fields, _comment_lines(text), _deep(block))]


def _read_ini(text: str) -> Read:
    file = configparser.ConfigParser(delimiters="=", interpolation=None)
    file.optionxform = str  # type: ignore[assignment]
    file.read_string(text)
    sections = {name: dict(file[name]) for name in file.sections()}
    block = sections.pop("sops", {})
    fields = [((*name.split("__"),), v) for rows in sections.values() for name, v in rows.items()]
    return [(fields, _comment_lines(text), _deep(block))]


READERS: dict[str, Callable[[str], Read]] = {
    "yaml": _read_yaml,
    "json": _read_json,
    "env": _read_dotenv,
    "ini": _read_ini,
}


def meaning(file: File) -> Opened:
    """What a text of the file must hold."""
    has_comments = file.form != "json"
    number = {name: str(n) for n, name in enumerate(dict.fromkeys(f.names[0] for f in file.fields))}
    fields = frozenset(
        (number[f.names[0]], *f.names[1:], f.value) for f in file.fields if not f.is_comment
    )
    comments = frozenset(f.value for f in file.fields if f.is_comment and has_comments)
    people = frozenset(file.people) if file.key else frozenset()
    return fields, comments, people, bool(file.key)


# -- edits

Edit = Callable[[File, str], None]
OLD = {"team": "red", "password": "pw"}


def at(file: File, name: str) -> int:
    places = [n for n, f in enumerate(file.fields) if (f.names[0], f.names[-1]) == ("0", name)]
    return places[0] if places else -1


def value_of(name: str, value: str = "new", *, sealed: bool = True) -> Edit:
    def edit(file: File, who: str) -> None:
        place = at(file, name)
        if place >= 0:
            field = file.fields[place]
            field.value, field.once = f"{value}", who
        if sealed and file.key:
            file.seal(who)

    return edit


def added(behind: str, name: str, value: str = "more", *, sealed: bool = True) -> Edit:
    def edit(file: File, who: str) -> None:
        place = at(file, behind)
        names = (*file.fields[place].names[:-1], name)
        if place >= 0 and at(file, name) < 0:
            file.fields.insert(place + 1, Field(names, value, who))
        if sealed and file.key:
            file.seal(who)

    return edit


def removed(name: str, *, sealed: bool = True) -> Edit:
    def edit(file: File, who: str) -> None:
        if at(file, name) >= 0:
            del file.fields[at(file, name)]
        if sealed and file.key:
            file.seal(who)

    return edit


def renamed(name: str, new: str, beside: str, *, sealed: bool = True) -> Edit:
    def edit(file: File, who: str) -> None:
        place = at(file, name)
        if place < 0:  # the other side removed the old name alone
            added(beside, new, OLD[name], sealed=sealed)(file, who)
        else:
            field = file.fields[place]
            field.names, field.once = (*field.names[:-1], new), who
        if sealed and file.key:
            file.seal(who)

    return edit


def swapped(one: str, other: str, *, sealed: bool = True) -> Edit:
    def edit(file: File, who: str) -> None:
        a, b = at(file, one), at(file, other)
        if min(a, b) >= 0:
            file.fields[a], file.fields[b] = file.fields[b], file.fields[a]
        if sealed and file.key:
            file.seal(who)

    return edit


def commented(above: str, text: str) -> Edit:
    def edit(file: File, who: str) -> None:
        place = max(at(file, above), 0)
        names = (*file.fields[place].names[:-1], "#")
        file.fields.insert(place, Field(names, f" {text}"))

    return edit


def comment_changed(text: str) -> Edit:
    def edit(file: File, who: str) -> None:
        for field in file.fields:
            field.value += " changed" * (field.value == text)

    return edit


def document_added(*, sealed: bool) -> Edit:
    def edit(file: File, who: str) -> None:
        file.fields += [Field(("9", "kind"), "Secret"), Field(("9", "data", "late"), "x", who)]
        if sealed and file.key:
            file.seal(who)

    return edit


def recipients(*names: str) -> Edit:
    """As `sops updatekeys`, which leaves the checksum and its date alone."""

    def edit(file: File, who: str) -> None:
        kept = {name: once for name, once in file.people.items() if f"-{name}" not in names}
        new = [name for name in names if not name.startswith("-")]
        file.people = kept | {name: who for name in new if name not in kept}

    return edit


def rotated(*, people: tuple[str, ...] = ()) -> Edit:
    def edit(file: File, who: str) -> None:
        if people:
            file.people = dict.fromkeys(people, who)
        if file.key:
            file.seal(who, f"key of {who}")

    return edit


def decrypted(file: File, who: str) -> None:
    file.open()


def encrypted(file: File, who: str) -> None:
    if not file.key:
        file.seal(who, f"key of {who}")


def reindented(*, sealed: bool) -> Edit:
    def edit(file: File, who: str) -> None:
        file.indent = 2
        if sealed and file.key:
            file.seal(who)

    return edit


def spaced(file: File, who: str) -> None:
    file.spaced = True


# the edits, and whether sops made them (`sops`), or a hand, in what kind of text
EDITS: dict[str, tuple[str, Edit]] = {
    "edits the first secret": ("sops", value_of("user", "root")),
    "edits the last secret": ("sops", value_of("token", "t2")),
    "edits it alike": ("sops", value_of("token", "t2")),
    "adds a secret": ("sops", added("host", "pin")),
    "adds a last secret": ("sops", added("token", "salt")),
    "removes a secret": ("sops", removed("password")),
    "renames a secret": ("sops", renamed("password", "pass", "host")),
    "swaps secrets": ("sops", swapped("user", "token")),
    "seals a plain value": ("sops", value_of("name", "shop")),
    "seals a new plain field": ("sops", added("tier", "zone")),
    "seals a plain order": ("sops", swapped("tier", "team")),
    "adds a document": ("sops", document_added(sealed=True)),
    "adds a recipient": ("sops", recipients("age1carl")),
    "adds another": ("sops", recipients("age1dora")),
    "removes a recipient": ("sops", recipients("-age1bert")),
    "rotates": ("sops", rotated()),
    "encrypts for others": ("sops", rotated(people=("age1emil",))),
    "decrypts": ("open", decrypted),
    "indents by sops": ("sops", reindented(sealed=True)),
    "indents by hand": ("comment", reindented(sealed=False)),
    "spaces": ("comment", spaced),
    "comments the top": ("comment", commented("kind", "about this")),
    "comments a label": ("comment", commented("team", "who")),
    "changes a comment": ("comment", comment_changed(" the secrets of shop 0")),
    "changes a late comment": ("comment", comment_changed(" the end")),
    "edits a plain value": ("hand", value_of("name", "shop", sealed=False)),
    "edits a late plain value": ("hand", value_of("type", "Other", sealed=False)),
    "adds a plain field": ("hand", added("tier", "zone", sealed=False)),
    "adds a late plain field": ("hand", added("type", "immutable", sealed=False)),
    "removes a plain field": ("hand", removed("team", sealed=False)),
    "renames a plain field": ("hand", renamed("team", "crew", "tier", sealed=False)),
    "swaps plain fields": ("hand", swapped("tier", "team", sealed=False)),
}
ONLY_YAML = ("adds a document", "indents by hand", "indents by sops", "spaces")
# where the base is plain
ENCRYPTS = {"encrypts": ("sops", encrypted)}


def base(
    form: str,
    *,
    documents: int = 1,
    mac_only: bool = False,
    plain: bool = False,
    late: bool = False,
) -> File:
    fields = []
    for number in map(str, range(documents)):
        rows: list[tuple[Row, str]] = [
            (("#",), f" the secrets of shop {number}"),
            (("apiVersion",), "v1"),
            (("kind",), "Secret"),
            (("metadata", "name"), f"db{number}"),
            (("metadata", "namespace"), "shop"),
            (("metadata", "labels", "tier"), "back"),
            (("metadata", "labels", "part"), "db"),
            (("metadata", "labels", "team"), "red"),
            (("metadata", "labels", "cost"), "low"),
            (("data", "#"), " for people"),
            (("data", "user"), "admin"),
            (("data", "host"), "h"),
            (("data", "password"), "pw"),
            (("data", "port"), "5432"),
            (("data", "token"), "t1"),
            (("#",), " the end"),
            (("type",), "Opaque"),
        ]
        fields += [Field((number, *names), value, "base") for names, value in rows]
    if form == "ini":  # what is in no section comes first
        fields.sort(key=lambda field: len(field.names) > 2)
    file = File(fields, form, mac_only=mac_only, late=late)
    if not plain:
        file.seal("base")
    return file


BASES: dict[str, Callable[[], File]] = {
    "yaml": lambda: base("yaml"),
    "yaml, mac of the encrypted": lambda: base("yaml", mac_only=True),
    "yaml, two documents": lambda: base("yaml", documents=2),
    "yaml, two documents, mac of the encrypted": lambda: base("yaml", documents=2, mac_only=True),
    "yaml, plain": lambda: base("yaml", plain=True),
    "yaml, recipients at the end": lambda: base("yaml", late=True),
    "json": lambda: base("json"),
    "json, mac of the encrypted": lambda: base("json", mac_only=True),
    "json, plain": lambda: base("json", plain=True),
    "env": lambda: base("env"),
    "env, mac of the encrypted": lambda: base("env", mac_only=True),
    "ini": lambda: base("ini"),
    "ini, mac of the encrypted": lambda: base("ini", mac_only=True),
}


def edited(start: File, *edits: tuple[str, Edit]) -> File:
    file = start.copy()
    for who, edit in edits:
        edit(file, who)
    return file


class Merge:
    """Three texts, what both edits come to, if one thing, and whether a merge should be clean."""

    def __init__(self, start: File, mine: str, yours: str, edits: dict[str, tuple[str, Edit]]):
        (kind, one), (other_kind, other) = edits[mine], edits[yours]
        self.name, self.form, self.kinds = f"{mine} / {yours}", start.form, {kind, other_kind}
        here, there = ("ours", one), ("theirs", other)
        self.base = written(start)
        self.ours, self.theirs = written(edited(start, here)), written(edited(start, there))
        ends = [meaning(edited(start, *both)) for both in ((here, there), (there, here))]
        self.truth = ends[0] if ends[0] == ends[1] else None
        self.is_free = _is_free({kind, other_kind}, start)


def _is_free(kinds: set[str], start: File) -> bool:
    """Whether the rules promise a clean merge, where the edits do not touch."""
    if not start.key:
        return "sops" not in kinds or kinds == {"sops", "comment"}
    if "open" in kinds:
        return "sops" not in kinds
    return "comment" in kinds and "hand" not in kinds if not start.mac_only else kinds != {"sops"}


def merges(name: str) -> Iterator[Merge]:
    """Every pair of edits of a base, in which all versions differ."""
    start = BASES[name]()
    edits = EDITS | (ENCRYPTS if not start.key else {})
    if start.form != "yaml":  # there are no documents, and a format without maps has no columns
        edits = {name: edits[name] for name in edits if name not in ONLY_YAML}
    text = written(start)
    for mine, yours in product(edits, repeat=2):
        made = Merge(start, mine, yours, edits)
        if len({text, made.ours, made.theirs}) == 3:
            yield made

"""Compare nodes by text or by meaning, read scalars as Kubernetes does, and write strings.

There are two families of readers: YAML 1.1 (kubectl, Helm, Argo CD, Flux: go-yaml v2 and JSON
types) and YAML 1.2 (kustomize's kyaml, ruamel.yaml). `resolve` reads as kubectl does. Two different
spellings are `same` only if they have the same value in both families: a missed equality only
causes a conflict, but a wrong equality loses a change. For this reason floats (`1.10` and `1.1` may
be versions), dates and base-60 numbers are the same only if their text is the same.
"""

from __future__ import annotations

from kmerge_git.text.pieces import UNDECIDED
from kmerge_git.tree.nodes import Alias, Collection, Entry, Mapping, Node, Scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable

    Meaning = tuple[str, object]
    # the keys are node ids (the node is kept so that its id stays unique), or text and column
    Known = dict[Hashable, tuple[Node, Hashable]]


def same_text(a: Node, b: Node) -> bool:
    """Return whether two nodes have the same characters and start at the same column."""
    if a.end - a.start != b.end - b.start or a.raw != b.raw:
        return False
    return a.text.find("\n", a.start, a.end) < 0 or _column(a) == _column(b)


def same_lines(a: Node, b: Node) -> bool:
    """Return whether two nodes have the same text, including the comments in block collections."""
    if isinstance(a, Collection) and isinstance(b, Collection) and not a.flow and not b.flow:
        ours, theirs = min(a.start, a.top), min(b.start, b.top)
        return a.column == b.column and a.text[ours : a.bottom] == b.text[theirs : b.bottom]
    return same_text(a, b)


def same_entry_text(a: Entry, b: Entry) -> bool:
    """Return whether two entries have the same lines, including comments."""
    if a.end - a.lead != b.end - b.lead or a.start - a.line != b.start - b.line:
        return False
    return a.value.text[a.lead : a.end] == b.value.text[b.lead : b.end]


def same_bare(a: Entry, b: Entry) -> bool:
    """Return whether two entries have the same lines and meaning, apart from the indentation."""
    if a.value.text.count("\n", a.lead, a.end) != b.value.text.count("\n", b.lead, b.end):
        return False
    return _bare_lines(a) == _bare_lines(b) and same_node(a.value, b.value)


def _bare_lines(entry: Entry) -> list[str]:
    return [line.lstrip(" ") for line in entry.value.text[entry.lead : entry.end].split("\n")]


def same_node(a: Node, b: Node) -> bool:
    """Return whether two nodes have the same value, anchors and tags, in any spelling."""
    if same_text(a, b):
        return True
    if a.anchor != b.anchor:
        return False
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return same(a, b)
    if type(a) is not type(b) or a.tag != b.tag:
        return False
    if isinstance(a, Alias) and isinstance(b, Alias):
        return a.name == b.name
    return isinstance(a, Collection) and isinstance(b, Collection) and _same_entries(a, b)


def _same_entries(a: Collection, b: Collection) -> bool:
    if len(a.entries) != len(b.entries):
        return False
    others = b.entries
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        there = b.index()
        if len(there) == len(others):
            if a.index().keys() != there.keys():
                return False
            others = tuple([there[entry.name] for entry in a.entries])
        elif [entry.name for entry in a.entries] != [entry.name for entry in others]:
            return False  # with repeated keys the order counts
    return all(same_node(x.value, y.value) for x, y in zip(a.entries, others, strict=True))


def canon(node: Node, known: Known | None = None) -> Hashable:
    """Return a value that is equal for two nodes if and only if they are `same_node`.

    `known` caches the values of collections, so that each nested list is read only once.
    """
    if isinstance(node, Scalar):
        return (node.anchor, meaning(node))
    if not isinstance(node, Collection):
        return ("*", node.raw)
    if known is not None and id(node) in known:
        return known[id(node)][1]
    key: Hashable
    if isinstance(node, Mapping):
        pairs = [(e.name, canon(e.value, known)) for e in node.entries]
        order_free = frozenset(pairs) if len(node.index()) == len(pairs) else tuple(pairs)
        key = (node.anchor, node.tag, "map", order_free)
    else:
        key = (node.anchor, node.tag, "list", tuple([canon(e.value, known) for e in node.entries]))
    if known is not None:
        known[id(node)] = node, key
    return key


def canon_of(node: Node, known: Known) -> Hashable:
    """Return the `canon` value of a list element.

    The value is cached by the text of the element, because versions share most elements.
    """
    if not isinstance(node, Collection):
        return canon(node)
    if id(node) in known:
        return known[id(node)][1]
    text = node.raw
    place = text, _column(node) if "\n" in text else -1
    if place not in known:
        known[place] = node, canon(node, known)
    known[id(node)] = node, known[place][1]
    return known[place][1]


def is_undecided(node: Node | None) -> bool:
    """Return whether a node is a placeholder for a conflict in the merge of two merge bases.

    A placeholder equals no node of either side.
    """
    return isinstance(node, Mapping) and UNDECIDED in node.index()


def same_comments(a: Entry, b: Entry) -> bool:
    """Return whether two entries with the same meaning have the same comments."""
    return comments(a.value.text[a.attached : a.end]) == comments(b.value.text[b.attached : b.end])


def comments(text: str) -> list[str]:
    """Return the comments of a text.

    The search may miss a comment. Then a conflict about this comment may be missing, too.
    """
    if "#" not in text:
        return []
    texts = []
    for line in [line for line in text.split("\n") if "#" in line]:
        at = 0 if line.startswith("#") else line.find(" #") + 1
        if at or line.startswith("#"):
            texts.append(line[at:].strip())
        elif line.lstrip("\t").startswith("#"):
            texts.append(line.strip())
    return texts


def _column(node: Node) -> int:
    return node.start - (node.text.rfind("\n", 0, node.start) + 1)


_INF = float("inf")
_NAN = float("nan")

# Every plain word that go-yaml v2 does not read as a string.
_WORDS: dict[str, object] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), _INF),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -_INF),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), _NAN),
}
# The plain words on which all readers agree; every other word equals only its own spelling.
# A strict YAML 1.1 reader does not read `=` and `<<` as strings.
_MEANINGS: dict[str, Meaning] = {
    **{word: ("spelling", word) for word in (*_WORDS, "=", "<<")},
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), ("null", None)),
    **dict.fromkeys(("true", "True", "TRUE"), ("bool", True)),
    **dict.fromkeys(("false", "False", "FALSE"), ("bool", False)),
}
_NUMBER_STARTS = frozenset("0123456789+-.")
_CORE = ("!!", "!<tag:yaml.org,2002:")
_DIGITS = "0123456789"
_HEX = "0123456789abcdefABCDEF"
_NUMBER_LETTERS = _HEX + "xXoO_.:+-TtZz \t"  # the characters of any number or date
_TYPES = {"int": "int", "float": "float", "bool": "bool", "NoneType": "null"}


def resolve(value: str, style: str = "", tag: str = "") -> object:
    """Return the value of a scalar as kubectl reads it: str, int, float, bool or None.

    Floats below 1e21 without a fraction become ints, because JSON prints both alike. If kubectl
    refuses the scalar (`!!int x`), return the text of the scalar.
    """
    if tag:
        return _resolve_tagged(value, tag)
    return _resolve_plain(value) if not style else value


def kind_of(value: str, style: str = "", tag: str = "") -> str:
    """Return the type of a scalar in kubectl: 'str', 'int', 'float', 'bool' or 'null'."""
    return _TYPES.get(type(resolve(value, style, tag)).__name__, "str")


def is_null(scalar: Scalar) -> bool:
    """Return whether a scalar is `null`, `~` or empty."""
    if scalar.tag:
        return resolve(scalar.value, scalar.style, scalar.tag) is None
    return not scalar.style and _MEANINGS.get(scalar.value, ("", 0))[1] is None


def same(a: Scalar, b: Scalar) -> bool:
    """Return whether two scalars mean the same to all readers of YAML."""
    is_same = a.value == b.value and a.style == b.style and a.tag == b.tag
    return is_same or meaning(a) == meaning(b)


def meaning(scalar: Scalar) -> Meaning:
    """Return a value that is equal for two scalars if and only if they are `same`."""
    value = scalar.value
    if scalar.tag:
        return _meaning_tagged(value, scalar.tag)
    return ("str", value) if scalar.style else _meaning_plain(value)


def respell(value: str, style: str) -> str | None:
    """Return a string as a plain (''), `'` or `"` scalar on one line, or None if impossible."""
    if style == '"':
        return _double(value)
    if not all(map(_is_printable, value)):
        return None
    if style == "'":
        return "'" + value.replace("'", "''") + "'"
    return value if style == "" and _can_be_plain(value) else None


def _resolve_plain(value: str) -> object:
    if value in _WORDS:
        return _WORDS[value]
    if value[0] in _NUMBER_STARTS:
        number = _go_number(value)
        if number is not None:
            return number
    return value


def _resolve_tagged(value: str, tag: str) -> object:
    name = _core_name(tag)
    if name in ("int", "float", "bool", "null"):
        value_of_plain = _resolve_plain(value)
        kind = _TYPES.get(type(value_of_plain).__name__, "str")
        # `!!float 1` is fine; `!!int 1.5` is an error to kubectl, and `!!int 1e3` too
        if kind == name or (name == "float" and kind == "int"):
            return value_of_plain
    return _decode(value) if name == "binary" else value


def _core_name(tag: str) -> str:
    """Return the short name of a standard tag (`int` for `!!int`), or '' for a custom tag."""
    for prefix in _CORE:
        if tag.startswith(prefix):
            return tag[len(prefix) :].rstrip(">")
    return ""


def _decode(value: str) -> str:
    from binascii import Error, a2b_base64

    try:
        return a2b_base64(value).decode("utf-8", "replace")
    except (Error, ValueError):
        return value


def _go_number(value: str) -> int | float | None:
    """Return a number as go-yaml v2 reads it (Go's ParseInt with base 0, then a float), or None."""
    # go-yaml removes underscores, but not after a leading point
    plain = value if value[0] == "." else value.replace("_", "")
    signed = plain[:1] in ("+", "-")
    body = plain[1:] if signed else plain
    if not body or body[0] not in "0123456789.":
        return None
    whole = _go_integer(body)
    if whole is not None:
        whole = -whole if plain[0] == "-" else whole
        if -(2**63) <= whole < 2 ** (63 if signed else 64):
            return whole
    if body.strip("0123456789.eE+-"):
        return None
    try:
        number = float(plain)
    except ValueError:
        return None
    if number in (_INF, -_INF):
        return None  # out of range: a string
    return int(number) if abs(number) < 1e21 and number == int(number) else number


def _go_integer(body: str) -> int | None:
    if len(body) > 70:
        return None  # more than 64 bits in any base
    if body[0] != "0" or body == "0":
        return int(body) if not body.strip(_DIGITS) else None
    for letters, base, digits in (("xX", 16, _HEX), ("bB", 2, "01"), ("oO", 8, "01234567")):
        if body[1] in letters:
            rest = body[2:]
            return int(rest, base) if rest and not rest.strip(digits) else None
    return int(body, 8) if not body.strip("01234567") else None


def _meaning_plain(value: str) -> Meaning:
    known = _MEANINGS.get(value)
    if known is not None:
        return known
    if value[0] not in _NUMBER_STARTS:
        return ("str", value)
    number = _agreed_integer(value)
    if number is not None:
        return ("int", number)
    return ("spelling", value) if _is_number_to_somebody(value) else ("str", value)


def _meaning_tagged(value: str, tag: str) -> Meaning:
    name = _core_name(tag)
    if name == "str" or tag == "!":
        return ("str", value)
    plain = _meaning_plain(value)
    if name and plain[0] == name:
        return plain
    return ("!!" + name if name else tag, value)


def _agreed_integer(value: str) -> int | None:
    """Return the value of a decimal or hexadecimal number if all readers agree on it, or None."""
    if len(value) > 40:
        return None
    body = value[1:] if value[0] in "+-" else value
    if body and not body.strip(_DIGITS):
        return int(value) if body[0] != "0" or body == "0" else None
    if value.startswith("0x") and len(value) > 2 and not value[2:].strip(_HEX):
        return int(value, 16) if len(value) <= 18 else None
    return None


def _is_number_to_somebody(value: str) -> bool:
    """Return whether kubectl or a strict YAML 1.1 reader takes a value for a number or a date."""
    if value.strip(_NUMBER_LETTERS):
        return False
    body = value.lstrip("+-").replace("_", "")
    if body in ("", ".", "0x", "0b", "0o") and "_" in value:
        return True  # `-_` and `0x_` are broken numbers to some readers
    if _is_date(value) or _looks_like_a_number(body):
        return True
    if ":" not in body or body.strip("0123456789:."):
        return False
    parts = body.split(":")  # base 60
    parts[-1] = parts[-1].replace(".", "", 1)
    return all(part and not part.strip(_DIGITS) for part in parts)


def _looks_like_a_number(body: str) -> bool:
    """Return whether a text is a number of any size.

    If a number is too large, kubectl reads the number as a string.
    """
    for prefix, digits in (("0x", _HEX), ("0b", "01"), ("0o", "01234567")):
        if body[:2].lower() == prefix:
            return len(body) > 2 and not body[2:].strip(digits)
    if body[:1] in ("", "+", "-") or body.strip("0123456789.eE+-"):
        return False
    try:
        float(body)
    except ValueError:
        return False
    return True


def _is_date(value: str) -> bool:
    return (
        len(value) > 7
        and value[4] == "-"
        and not value[:4].strip(_DIGITS)
        and not value[5:].strip("0123456789-:.TtZz+ \t")
    )


def _is_printable(char: str) -> bool:
    """Return whether YAML allows a character without an escape in a line."""
    return (
        " " <= char <= "~"
        or ("\xa0" <= char <= "\ud7ff" and char not in "\u2028\u2029")
        or ("\ue000" <= char <= "\ufffd" and char != "\ufeff")
        or char >= "\U00010000"
    )


def _can_be_plain(value: str) -> bool:
    if not value or value[0] in " ,[]{}#&*!|>'\"%@`" or value[-1] in " :":
        return False
    if ": " in value or " #" in value or value.startswith(("---", "...")):
        return False
    if value[0] in "-?:" and value[1:2] in ("", " "):
        return False
    return _meaning_plain(value)[0] == "str"


_ESCAPES = {
    "\\": "\\\\",
    '"': '\\"',
    "\0": "\\0",
    "\a": "\\a",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\v": "\\v",
    "\f": "\\f",
    "\r": "\\r",
    "\x1b": "\\e",
    "\x85": "\\N",
    "\u2028": "\\L",
    "\u2029": "\\P",
}


def _double(value: str) -> str | None:
    out = []
    for char in value:
        if char in _ESCAPES:
            out.append(_ESCAPES[char])
        elif _is_printable(char):
            out.append(char)
        elif "\ud800" <= char <= "\udfff":
            return None  # half a character, which YAML cannot hold
        else:
            code = ord(char)
            out.append(f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
    return '"' + "".join(out) + '"'

"""T01-T03: find unquoted words that YAML readers understand differently; off by default.

The tables of ruamel.yaml tell how YAML 1.1 and YAML 1.2 read a word.
"""

from __future__ import annotations

from kmerge_git.check.page_values import Map, Text, is_integer, scalars
from kmerge_git.check.patches.field_types import typed
from kmerge_git.check.registry import OBJECT, WARNING, Check, Found
from kmerge_git.tree.same import kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


_resolvers: list[Any] = []
INT = "tag:yaml.org,2002:int"
SHORT = "tag:yaml.org,2002:"
NAMES = {"str": "a string", "bool": "a boolean", "int": "a number", "float": "a number",
         "timestamp": "a time", "null": "null", "merge": "a merge key"}  # fmt: skip


@Check(
    "T01", WARNING, OBJECT, "a word that YAML 1.1 and YAML 1.2 read differently",
    kubectl="It reads YAML 1.1: `yes`, `on` and `y` are booleans.",
    kustomize="It reads YAML 1.2 in most places: they are strings.",
    example="data:\n  enabled: yes",
    counter="data:\n  enabled: \"yes\"",
    mend="Quote a string; write true or false for a boolean.",
)  # fmt: skip
def read_differently(path: str, root: Map) -> Iterator[Found]:
    """Find words like `yes`, `off`, `1:30` or a date, which YAML 1.1 and 1.2 read differently."""
    for value, older, newer in _plain_words(root):
        if older != newer and INT not in (older, newer):
            yield Found(
                value.at,
                f"{value.text} is {_name(older)} in YAML 1.1 (kubectl, Helm, Argo CD) and "
                f"{_name(newer)} in YAML 1.2; quote it, or write it plainly",
            )


@Check(
    "T02", WARNING, OBJECT, "a number that looks octal, or is one for some readers only",
    kubectl="It reads YAML 1.1: `0644` is 420, `0o644` is a string.",
    kustomize="It passes the number on as it is written.",
    example="defaultMode: 0644",
    counter="defaultMode: 420",
    mend="Write the decimal number: 420.",
)  # fmt: skip
def octal_like(path: str, root: Map) -> Iterator[Found]:
    """Find numbers such as `0644` or `1_000`, which YAML 1.1 and 1.2 read differently."""
    for value, *tags in _plain_words(root):
        older, newer = _number(value.text, tags[0], 8), _number(value.text, tags[1], 10)
        if INT in tags and older != newer:
            yield Found(
                value.at,
                f"{value.text} is {older} in YAML 1.1 (kubectl, Helm, Argo CD) and {newer} "
                "in YAML 1.2; write the decimal number, or quote it",
            )


@Check(
    "T03", WARNING, OBJECT, "a plain number or boolean in a field for strings",
    kubectl="The API server refuses it: `cannot unmarshal number into Go struct field .. of type "
    "string`.",
    kustomize="It is passed on as it is.",
    example="env:\n- name: PORT\n  value: 8080",
    counter="env:\n- name: PORT\n  value: \"8080\"",
    mend="Quote it.",
)  # fmt: skip
def unquoted_string(path: str, root: Map) -> Iterator[Found]:
    """Find a plain number or boolean in a field of type string, such as an env value or a label."""
    for where, type, value in typed(root):
        if type != "string" or not value.is_plain or value.null:
            continue
        text = value.text
        is_boolean = kind_of(text) == "bool"
        if is_boolean or is_integer(text) or _is_float(text):
            what = "boolean" if is_boolean else "number"
            message = f'the field holds strings, {text} is a {what}; write "{text}"'
            yield Found(value.at, message, path=where)


def _plain_words(root: Map) -> Iterator[tuple[Text, str, str]]:
    """Yield each unquoted scalar with its tag in YAML 1.1 and its tag in YAML 1.2."""
    for value in scalars(root):
        if value.is_plain and value.text:
            yield value, *_tags(value.text)


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text[:1].isdigit() or text[:1] in "+-."


def _tags(word: str) -> tuple[str, str]:
    if not _resolvers:
        from ruamel.yaml.nodes import ScalarNode
        from ruamel.yaml.resolver import VersionedResolver

        for version in ((1, 1), (1, 2)):
            resolver = VersionedResolver(version)
            _resolvers.append(lambda text, r=resolver: r.resolve(ScalarNode, text, (True, False)))
    older, newer = (str(resolve(word)) for resolve in _resolvers)
    return older, newer


def _number(text: str, tag: str, octal: int) -> str:
    """Describe how a YAML reader understands a word: as a decimal number or as a string."""
    if tag != INT:
        return f'the string "{text}"'
    bare = text.replace("_", "")
    try:
        if ":" in bare:
            total = 0
            for part in bare.lstrip("+-").split(":"):
                total = total * 60 + int(part)
            return str(-total if bare[0] == "-" else total)
        if bare[:2] in ("0x", "0b", "0o"):
            return str(int(bare, 0))
        base = octal if bare.lstrip("+-")[:1] == "0" and bare.lstrip("+-") != "0" else 10
        return str(int(bare, base))
    except ValueError:
        return f'the string "{text}"'


def _name(tag: str) -> str:
    return NAMES.get(tag.removeprefix(SHORT), tag)

"""M01-M03, M05-M10: find the damage of careless merges in files and in lists with keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kmerge_git.check.checked_texts import Book, Page, is_fixture
from kmerge_git.check.not_yaml import is_filled_in
from kmerge_git.check.page_values import KeyedList, Map, Plain, alike, identity, is_set
from kmerge_git.check.registry import (
    BOOK,
    ERROR,
    INFO,
    KEYED,
    PATCH_KEYED,
    REPEATED,
    TEMPLATE,
    TEXT,
    UNREAD,
    WARNING,
    Check,
    Found,
    also,
)
from kmerge_git.errors import CannotParse
from kmerge_git.kube.identity import Identity, describe
from kmerge_git.patch import PATCH

# A line that looks like a marker: its indentation, the marker, and the marker's character.
MARKER = re.compile(r"^( *)(([<>|=])\3{2,})(?=\r*$| )", re.MULTILINE)
# What decides whether a line of `=======` in a template is a marker.
LONE = re.compile(r"^=======(?=\r*$)|\{\{-?\s*(define\b)?|\}\}", re.MULTILINE)
# Keys that may be repeated outside of Kubernetes: merge keys, because Python, Ruby and JavaScript
# use all of them, and keys that people use for comments in JSON.
REPEATABLE = frozenset(("<<", "//", "#", "_comment", "__comment", "$comment", "_comment_"))
# Kinds of test suites (Chainsaw, the Kyverno CLI, Gatekeeper). No cluster gets them, so that some
# may share a name. Only Testkube has such a kind in the cluster.
SUITES = frozenset(("Test", "TestSuite", "Suite"))
NO_TEXTS = frozenset(("true", "false", "yes", "no", "on", "off", "null", "~", "y", "n"))


@Check(
    "M01", ERROR, TEXT, "leftover conflict markers",
    kubectl="The file is not YAML, or the markers become part of a text value.",
    kustomize="The build fails.",
    example="<<<<<<< HEAD\n  replicas: 2\n=======\n  replicas: 3\n>>>>>>> topic",
    counter="data:\n  notes: |\n    Changes\n    =======\n    none yet",
    mend="Decide what to keep, remove the markers, and run `git add` on the file.",
)  # fmt: skip
def leftover_markers(page: Page) -> Iterator[Found]:
    """Find conflict markers such as `<<<<<<<` or `=======`, also longer ones."""
    text = page.source.text
    is_likely = any(mark in text for mark in ("<<<", ">>>", "|||", "==="))
    lines = MARKER.finditer(text) if is_likely else ()
    marks = [(line.start(2), line[3], len(line[2]), len(line[1])) for line in lines]
    # git writes markers at the start of a line: there a single marker is enough
    alone = [mark for mark in marks if mark[1] != "=" and mark[3] == 0]
    sure = {(0, length) for _, _, length, _ in alone if length >= 7} | _complete(marks, text)
    for at, char, length, indent in marks:
        if (indent, length) in sure:
            where = " between two sides" if char == "=" else ""
            yield Found(at, f"leftover conflict marker {char * length}{where}")


def _complete(marks: list[tuple[int, str, int, int]], text: str) -> set[tuple[int, int]]:
    """Return the indentation and the length of the markers that form a complete conflict.

    Each of the `marks` is an offset, a character, a length and an indentation.
    """
    complete = set()
    for indent, length in {(mark[3], mark[2]) for mark in marks}:
        group = [mark for mark in marks if mark[2:] == (length, indent) and mark[1] != "|"]
        if "<=>" in "".join(mark[1] for mark in group):
            opening = next(at for at, char, _, _ in group if char == "<")
            if not indent or (length >= 7 and not _in_a_block(text, opening, indent)):
                complete.add((indent, length))
    return complete


def _in_a_block(text: str, at: int, indent: int) -> bool:
    """Return whether a line is inside a block scalar, where a marker may be ordinary text."""
    for line in reversed(text[:at].split("\n")[:-1]):
        depth = len(line) - len(line.lstrip(" "))
        if line.strip() and depth < indent:
            header = line.strip().partition(" #")[0].split()[-1]
            if header[0] in "|>" and not header[1:].strip("+-123456789"):
                return True
            indent = depth
    return False


@also("M01", TEMPLATE)
def lone_marker(page: Page) -> Iterator[Found]:
    """Find a single `=======`, which is never YAML at the start of a line.

    The line is skipped in an action, such as a comment, and in or after a definition, because a
    definition may be any text.
    """
    text, is_inside = page.source.text, False
    for mark in LONE.finditer(text) if "\n=======" in text else ():
        if mark[1]:
            return
        if mark[0] == "=======" and not is_inside:
            yield Found(mark.start(), "leftover conflict marker =======")
        elif mark[0] != "=======":
            is_inside = mark[0] != "}}"


@Check(
    "M02", ERROR, REPEATED, "duplicate key in a mapping",
    twin="D66", is_eased=True,
    kubectl="kubectl uses only the last value. Strict parsers refuse the file.",
    kustomize="kustomize refuses the file, or uses only the first value.",
    example="spec:\n  replicas: 2\n  replicas: 3",
    counter="spec:\n  replicas: 2\n  revisionHistoryLimit: 3",
    mend="Keep one of the two keys: both sides of a merge may have added the same key.",
)  # fmt: skip
def repeated_key(plain: Plain) -> Iterator[Found]:
    """Find a key that a mapping has twice, such as a key that both sides of a merge added.

    Equal values in JSON are only an info, because readers of JSON accept them.
    """
    root = plain.root
    of_kubernetes = bool(root and root.string("kind") and "apiVersion" in root.fields)
    for key, at, is_alike, is_quoted_once in plain.repeated:
        bare = key.lstrip("+-").replace("_", "").replace(".", "", 1)
        is_text = not bare.isdigit() and key.lower() not in NO_TEXTS
        if not of_kubernetes and (key in REPEATABLE or (is_quoted_once and not is_text)):
            continue  # 200 and "200" are two keys
        lost, severity = "only one of the two values is used", ""
        if is_alike or key == "<<":
            lost = "many YAML parsers refuse the file"
        if is_alike and plain.is_json:
            lost, severity = "both values are equal", INFO
        yield Found(at, f"duplicate key {key}; {lost}", severity=severity)


@Check(
    "M03", ERROR, BOOK, "duplicate resource in a file",
    is_eased=True,
    kubectl="`kubectl apply` applies both documents; the last one wins.",
    kustomize="The build fails: `may not add resource with an already registered id`.",
    example="apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n---\napiVersion: v1\n"
    "kind: ConfigMap\nmetadata:\n  name: web",
    counter="apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n---\napiVersion: v1\n"
    "kind: ConfigMap\nmetadata:\n  name: web\n  namespace: test",
    mend="Keep one of the two documents, or merge their content.",
)  # fmt: skip
def same_resource_twice(book: Book, is_listed: bool) -> Iterator[Found]:
    """Find a resource that a file has twice, for example because both sides added it.

    If the two documents are equal and no kustomization lists the file, the finding is only a
    warning.
    """
    if not is_listed and is_fixture(book.page.path):
        return
    seen: dict[Identity, Map] = {}
    for root in book.objects():
        who = identity(root)
        is_named = bool(who.name) and not is_filled_in(f"{who.namespace} {who.name}")
        is_suite = who.kind in SUITES and not who.group.endswith("testkube.io")
        if who in seen and is_named and not is_suite:
            line = book.page.position(seen[who].at)[0]
            message = f"duplicate resource {describe(who)}; the first one is in line {line}"
            is_harmless = not is_listed and alike(root, seen[who])
            yield Found(root.at, message, severity=WARNING if is_harmless else "")
        seen.setdefault(who, root)


class Unread(NamedTuple):
    """Hold a text that cannot be decoded or parsed, the error, and other versions of the file."""

    error: CannotParse
    at: int  # the offset of the error
    text: str = ""
    was_yaml: bool = False  # the file in HEAD can be parsed
    others: Iterable[tuple[str, bytes | None]] = ()  # names and contents


@Check(
    "M07", ERROR, UNREAD, "an alias without an anchor",
    kubectl="The file cannot be parsed.",
    kustomize="The file cannot be parsed.",
    example="resources: *defaults",
    counter="requests: &defaults\n  cpu: 1\nlimits: *defaults",
    mend="Restore the `&anchor`: one side of a merge may have removed the anchor while the other "
    "side used it.",
)  # fmt: skip
def undefined_alias(unread: Unread) -> Iterator[Found]:
    """Find an alias without an anchor, as when one side of a merge removed the `&anchor`."""
    if "undefined alias" not in unread.error.why:
        return
    name = re.split(r"[\s,\[\]{}]", unread.text[unread.at + 1 :], maxsplit=1)[0]
    yield Found(
        unread.at, f"this alias has no anchor above it in its document{_where(unread, name)}"
    )


def _where(unread: Unread, name: str) -> str:
    """Return where the anchor of an alias is: elsewhere in the file, or in another version."""
    line = _line_of_anchor(unread.text, name)
    if line:
        place = "below the alias" if line > unread.error.line else "in another document"
        return f"; &{name} is in line {line}, {place}"
    for version, data in unread.others:
        line = _line_of_anchor((data or b"").decode("utf-8", "replace"), name)
        if line:
            return f"; {version} has &{name} in line {line}"
    return ""


def _line_of_anchor(text: str, name: str) -> int:
    """Return the number of the first line with an anchor, or 0."""
    anchor = re.search(
        rf"^[^\n#]*(?<![^\s\[{{,])&{re.escape(name)}(?![^\s,\]}}])", text, re.MULTILINE
    )
    return text.count("\n", 0, anchor.end()) + 1 if anchor else 0


@Check(
    "M10", ERROR, UNREAD, "a file that cannot be parsed",
    kubectl="The file cannot be parsed.",
    kustomize="The file cannot be parsed.",
    example="spec:\n  replicas: 2\n   paused: true",
    counter="spec:\n  replicas: {{ .Values.replicas }}\n  paused: true",
    mend="Correct the YAML. Templates and JSON with comments are not reported.",
)  # fmt: skip
def unparseable(unread: Unread) -> Iterator[Found]:
    """Find a file that should be YAML but cannot be parsed.

    Such a file looks like a manifest, was named by the user, or was YAML in HEAD.
    """
    error = unread.error
    if "undefined alias" not in error.why:
        since = "; the version in HEAD is valid YAML" if unread.was_yaml else ""
        hint = f"; {error.hint}" if error.hint else ""
        yield Found(unread.at, f"{error.why}{since}{hint}")


# The lists in which a repeated key breaks the object; in other lists the key is only odd.
BREAKING = frozenset(
    ("containers", "initContainers", "ephemeralContainers", "env", "ports", "volumes",
     "volumeMounts", "volumeDevices", "topologySpreadConstraints", "resourceClaims",
     "schedulingGates", "versions", "webhooks", "matchConditions", "variables")
)  # fmt: skip
# Lists whose elements may share a key: a node with two networks has two addresses of one type, and
# a container may have two requests of one claim.
REPEATING = frozenset(("addresses", "claims"))

# A merge leaves at most those of base, ours and theirs; an object with more sources is an example
# that shows all possible sources.
MOST_SIDES = 3


def _elements(site: KeyedList) -> Iterator[Map]:
    """Yield the elements that are mappings without a `$patch`."""
    for value in site.elements:
        if isinstance(value, Map) and PATCH not in value.fields:
            yield value


@Check(
    "M05", ERROR, KEYED, "two list elements with the same merge key",
    hides=("M22",), is_eased=True,
    kubectl="`kubectl apply` merges the two elements, or the API server refuses duplicates.",
    kustomize="Patches change only one of the two elements.",
    example="env:\n- name: MODE\n  value: a\n- name: MODE\n  value: b",
    counter="env:\n- name: MODE\n  value: a\n- name: LEVEL\n  value: b",
    mend="Keep one of the two elements: both sides of a merge may have added the same element.",
)  # fmt: skip
def repeated_element(site: KeyedList) -> Iterator[Found]:
    """Find a container, env entry, port, volume, mount or webhook that a list has twice.

    Two ports are the same if they have the same number and protocol. A container port under two
    names is only a warning, because the API server accepts it.
    """
    if site.name in BREAKING:
        yield from _repeated(site)


@Check(
    "M06", WARNING, KEYED, "two list elements with the same merge key, in a list where the API "
    "server accepts that",
    hides=("M22",),
    kubectl="Server-side apply refuses the duplicate, and patches change only one of the two "
    "elements.",
    kustomize="Patches change only one of the two elements.",
    example="imagePullSecrets:\n- name: registry\n- name: registry",
    counter="imagePullSecrets:\n- name: registry\n- name: mirror",
    mend="Keep one of the two elements.",
)  # fmt: skip
def repeated_other_element(site: KeyedList) -> Iterator[Found]:
    """Find a pull secret, host alias or similar element that a list has twice."""
    if site.name not in BREAKING and site.name not in REPEATING:
        yield from _repeated(site)


def _repeated(site: KeyedList) -> Iterator[Found]:
    seen: dict[tuple[str, ...], Map] = {}
    for value in _elements(site):
        parts = tuple(value.string(key) or default for key, default in site.keys)
        if not parts[0]:
            continue
        if parts in seen and not any(map(is_filled_in, parts)):
            shown = ", ".join(f"{k}: {p}" for (k, _), p in zip(site.keys, parts, strict=True) if p)
            names = {value.string("name"), seen[parts].string("name")} - {""}
            effect, severity = "; only one of them is used, or the API server refuses both", ""
            if "containerPort" in value.fields and len(names) > 1:
                effect, severity = " and different names; patches change only one of them", WARNING
            elif site.name not in BREAKING:
                effect = "; patches and server-side apply treat them as one element"
            what = f"two elements with {shown} in {site.name}{effect}"
            yield Found(value.at, what, path=site.path, severity=severity)
        seen[parts] = value


@also("M08", PATCH_KEYED)
@Check(
    "M08", ERROR, KEYED, "an env entry with both `value` and `valueFrom`",
    kubectl="The API server refuses the object.",
    kustomize="The output has both fields.",
    example='env:\n- name: A\n  value: "1"\n  valueFrom:\n    secretKeyRef: {name: s, key: a}',
    counter="env:\n- name: A\n  value: \"\"\n  valueFrom:\n    secretKeyRef: {name: s, key: a}",
    mend="Keep one of the two fields: each side of a merge may have added one.",
)  # fmt: skip
def value_and_value_from(site: KeyedList) -> Iterator[Found]:
    """Find an env entry with both `value` and `valueFrom`, as after a careless merge.

    An empty `value` is correct, because the API server accepts it next to a `valueFrom`.
    """
    if site.name == "env":
        for entry in _elements(site):
            source = entry.map("valueFrom") if is_set(entry, "valueFrom") else None
            if source is not None and entry.string("value") and len(source.fields) <= MOST_SIDES:
                at, name = (
                    max(entry.at_key("value"), entry.at_key("valueFrom")),
                    entry.string("name"),
                )
                message = f"{name} has both value and valueFrom; the API server refuses that"
                yield Found(at, message, path=(*site.path, (("name", name),)))


@also("M09", PATCH_KEYED)
@Check(
    "M09", ERROR, KEYED, "a volume with two sources",
    kubectl="The API server refuses the object: `may not specify more than 1 volume type`.",
    kustomize="The output has both sources.",
    example="volumes:\n- name: data\n  emptyDir: {}\n  hostPath:\n    path: /data",
    counter="volumes:\n- name: data\n  emptyDir: {}\n- name: logs\n  hostPath:\n    path: /data",
    mend="Keep one of the two sources: each side of a merge may have added one.",
)  # fmt: skip
def two_volume_sources(site: KeyedList) -> Iterator[Found]:
    """Find a volume with two sources, for example one from each side of a merge."""
    if site.name != "volumes":
        return
    for volume in _elements(site):
        maps = (key for key in volume.fields if volume.map(key) is not None)
        sources = [key for key in maps if key[:1] != "$" and is_set(volume, key)]
        if len(sources) > 1 and len(sources) <= MOST_SIDES:
            name = volume.string("name")
            what = f"volume {name} has two sources, {sources[0]} and {sources[1]}"
            message = f"{what}; the API server refuses that"
            path = (*site.path, (("name", name),))
            yield Found(volume.at_key(sources[1]), message, path=path)

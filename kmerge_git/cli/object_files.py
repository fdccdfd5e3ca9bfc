"""Kubernetes objects in files: read, found by name, written back with their comments.

A file is YAML or JSON, with one document or many. An error of a patch gets the place in its
file. `--schema FILE` names a cluster's OpenAPI document, for kinds that no table knows.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from typing import Any

from kmerge_git.cli import in_and_out
from kmerge_git.cli.haste import make_haste
from kmerge_git.cli.printing import Paint, add_color, unified
from kmerge_git.errors import PatchConflict, PatchError, Unsupported, UsageError
from kmerge_git.merge.bulk import refuse_at_sight, refuse_entries
from kmerge_git.patch.json_values import no_number
from kmerge_git.patch.patch_schema import NO_DOCUMENT, Schema, definitions_of, schema_for
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document, Stream, split
from kmerge_git.tree.nodes import Entry, Mapping, Node, Sequence
from kmerge_git.tree.plain_values import load as load_values
from kmerge_git.tree.plain_values import to_value

Map = dict[str, Any]
PAIRED = "objects are paired by kind, namespace and name, each must be there once"


@dataclass(frozen=True, slots=True)
class Loaded:
    """One document with the map that it holds."""

    document: Document
    value: Map

    def matches(self, wanted: Map) -> bool:
        """Whether this is the object that another one names; what is not said matches."""
        return all(
            not theirs or ours == theirs
            for ours, theirs in zip(naming(self.value), naming(wanted), strict=True)
        )


@dataclass(frozen=True, slots=True)
class ObjectFile:
    """A file of objects."""

    path: str
    source: Source
    stream: Stream
    objects: list[Loaded]
    called: dict[str, list[Loaded]]  # the objects by their names

    def matching(self, wanted: Map) -> list[Loaded]:
        """The objects that another one names."""
        name = naming(wanted)[3]
        some = self.called.get(name, []) if name else self.objects
        return [loaded for loaded in some if loaded.matches(wanted)]

    def error(self, why: str, hint: str = "") -> UsageError:
        """An error that names the file."""
        return UsageError(why, path=self.source.path, hint=hint)

    def require_objects(self) -> None:
        """Raise where there is nothing to work on."""
        if not self.objects:
            raise self.error("the file has no object")

    def only(self, found: list[Loaded], wanted: Map) -> Loaded:
        """The only object that was found for another one; none or several are an error."""
        if len(found) != 1:
            count = "is not" if not found else "is more than once"
            raise self.error(f"{title(wanted)} {count} in it", PAIRED)
        return found[0]

    def text(self, changed: dict[int, str]) -> bytes:
        """The file with some documents (by number) rewritten."""
        texts = [changed.get(d.number, d.text) for d in self.stream.documents]
        return self.source.encode(self.stream.prologue + "".join(texts) + self.stream.tail)


def add_output(parser: argparse.ArgumentParser) -> None:
    """Define where a result goes."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="write to this file; `json` or `yaml`: print new text in that format",
    )
    parser.add_argument("--in-place", action="store_true", help="change the file itself")
    parser.add_argument("-n", "--dry-run", action="store_true", help="show a diff, write nothing")
    add_color(parser, "colour the diff")


def add_overwrite(parser: argparse.ArgumentParser, text: str) -> None:
    """Define `--overwrite`."""
    parser.add_argument(
        "--overwrite", action=argparse.BooleanOptionalAction, default=True, help=text
    )


def check(args: argparse.Namespace, *inputs: str | None) -> None:
    """Refuse what makes no sense before anything is read."""
    if getattr(args, "in_place", False) and args.output:
        raise UsageError("--in-place and -o exclude each other")
    if inputs.count("-") > 1:
        raise UsageError("only one of the files can be stdin")


def load(path: str, data: bytes | None = None) -> ObjectFile:
    """The objects of a file; documents of comments alone hold none."""
    make_haste()
    shown = "<stdin>" if path == "-" else path
    source = Source(in_and_out.read(path) if data is None else data, shown)
    try:
        refuse_at_sight(source)
    except Unsupported as error:
        error.path = source.path
        raise
    stream = split(source)
    objects = []
    for document in stream.documents:
        if document.root is None:
            continue
        try:
            refuse_entries(document)
            value = to_value(document.root)
        except Unsupported as error:
            error.path = source.path
            raise
        # a list of operations, and no object at all
        if isinstance(value, list) and value and all(map(_is_operation, value)):
            raise Unsupported(
                "JSON 6902 patches are not supported",
                path=source.path,
                hint="write a strategic merge patch, or a JSON merge patch for --type merge",
            )
        if not isinstance(value, dict):
            wrong = PatchError("invalid JSON document", hint="a map is expected")
            raise placed(wrong, document)
        odd = no_number(value)
        if odd is not None:  # kubectl refuses the file
            wrong = PatchError("JSON has no such number", steps=odd, hint="write it as a text")
            raise placed(wrong, document)
        objects.append(Loaded(document, value))
    called: dict[str, list[Loaded]] = {}
    for loaded in objects:
        called.setdefault(naming(loaded.value)[3], []).append(loaded)
    return ObjectFile(path, source, stream, objects, called)


def _is_operation(item: object) -> bool:
    return isinstance(item, dict) and "op" in item


def naming(value: Map) -> tuple[str, str, str, str]:
    """Group, kind, namespace and name, as far as they are said."""
    metadata = value.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    group = str(value.get("apiVersion") or "").rpartition("/")[0]
    kind, namespace, name = value.get("kind"), metadata.get("namespace"), metadata.get("name")
    return group, str(kind or ""), str(namespace or ""), str(name or "")


def title(value: Map) -> str:
    """`Deployment/web`: an object in messages."""
    _, kind, _, name = naming(value)
    return f"{kind or 'object'}/{name}" if name else kind or "the object"


def placed(error: PatchError, document: Document) -> PatchError:
    """The error with the line and column of its field in the document, and on one line."""
    node = document.root
    offset = node.start if node is not None else 0
    for step in error.steps:
        entry = _entry(node, step)
        if entry is None:
            break
        node, offset = entry.value, entry.key.start if entry.key is not None else entry.value.start
    source = document.source
    error.path = source.path
    error.line, error.column = source.position(offset)
    error.excerpt = source.line_at(offset)
    error.why = " ".join(error.why.split())
    if isinstance(error, PatchConflict):
        error.why = "the live object was changed there too, and differently"
        error.hint = "--overwrite takes what the config says"
    return error


def _entry(node: Node | None, step: str | int) -> Entry | None:
    if isinstance(node, Mapping) and isinstance(step, str):
        return node.index().get(step)
    if isinstance(node, Sequence) and isinstance(step, int) and step < len(node.entries):
        return node.entries[step]
    return None


def write_values(values: list[Map], output: str | None) -> None:
    """New text to a file, or to stdout: YAML documents, or with `-o json` as kubectl prints it."""
    if output == "json":
        from kmerge_git.patch.json_values import sorted_keys

        texts = (json.dumps(sorted_keys(v), indent=4, ensure_ascii=False) for v in values)
        text = "".join(f"{text}\n" for text in texts)
    else:
        from kmerge_git.tree.emit import dump

        text = "---\n".join(map(dump, values))
    in_and_out.write(None if output in ("json", "yaml") else output, text.encode())


def emit(args: Any, file: ObjectFile, text: bytes, values: list[Map]) -> None:
    """The result where the options want it: a diff, new text, the file itself, another file."""
    if args.dry_run:
        sys.stdout.write(difference(file, text, Paint(args.color, sys.stdout)))
    elif args.output in ("json", "yaml"):
        write_values(values, args.output)
    elif args.in_place:
        if file.path == "-":
            raise UsageError("stdin cannot be changed in place")
        if text != file.source.data:
            in_and_out.write(file.path, text)
    else:
        in_and_out.write(args.output, text)


def difference(file: ObjectFile, text: bytes, paint: Paint) -> str:
    """Return a unified diff of the file and its new text."""

    def shown(number: int, line: str) -> str:
        colour = {"+": "green", "-": "red", "@": "blue"}.get(line[0], "") if number > 1 else "bold"
        return paint(line.rstrip("\r\n"), colour)

    return unified(file.source.path, file.source.data, text, shown)


Definitions = dict[str, Any]


def add_schema(parser: argparse.ArgumentParser) -> None:
    """Define `--schema`."""
    parser.add_argument(
        "--schema",
        metavar="FILE",
        help="the cluster's OpenAPI document (kubectl get --raw /openapi/v2), for kinds that the "
        "built-in table does not know; its fields are complete, unknown ones are errors",
    )


def add_type(parser: argparse.ArgumentParser) -> None:
    """Define `--type`, the kind of a patch."""
    parser.add_argument(
        "--type",
        choices=("strategic", "merge"),
        default="strategic",
        help="merge: a JSON merge patch (RFC 7386), as custom resources need (default: strategic)",
    )


def read_schema(path: str | None) -> Definitions | None:
    """The OpenAPI document of `--schema`."""
    if path is None:
        return None
    data = in_and_out.read(path)
    try:
        found = json.loads(data)
    except ValueError:
        documents = load_values(data, path)
        found = documents[0] if documents else None
    if not isinstance(found, dict):
        raise UsageError(NO_DOCUMENT, path=path)
    try:
        definitions_of(found)
    except PatchError as error:
        error.path = path
        raise
    return found


def find_schema(document: Definitions | None, resource: dict[str, Any]) -> Schema | None:
    """The schema of an object: the document's, else the built-in one, else none."""
    version, kind = str(resource.get("apiVersion", "")), str(resource.get("kind", ""))
    found = schema_for(document, version, kind) if document else None
    return found or Schema.find(version, kind)


def need_schema(document: Definitions | None, resource: dict[str, Any]) -> Schema:
    """The schema of an object; none for a custom resource is an error."""
    version, kind = str(resource.get("apiVersion", "")), str(resource.get("kind", ""))
    return find_schema(document, resource) or Schema.builtin(version, kind)

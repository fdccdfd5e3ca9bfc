"""Read Kubernetes objects from files, find them by name, write them back with their comments.

A file is YAML or JSON, with one document or many. An error about a patch has the line and column
in the file. `--schema FILE` reads a cluster's OpenAPI document, for kinds that are not built in.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from typing import Any

from kmerge_git.cli import in_and_out
from kmerge_git.cli.in_and_out import Paint, add_color, unified
from kmerge_git.cli.main import make_haste
from kmerge_git.errors import PatchConflict, PatchError, Unsupported, UsageError
from kmerge_git.merge.bulk import refuse_at_sight, refuse_entries
from kmerge_git.patch.json_values import Map, no_number
from kmerge_git.patch.patch_schema import NO_DOCUMENT, Schema, definitions_of, schema_for
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import Document, Stream, split
from kmerge_git.tree.nodes import Entry, Mapping, Node, Sequence
from kmerge_git.tree.plain_values import load as load_values
from kmerge_git.tree.plain_values import to_value

PAIRED = "objects are paired by kind, namespace and name, which must be unique in a file"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Hold a document and its value, which is a map."""

    document: Document
    value: Map

    def matches(self, wanted: Map) -> bool:
        """Return whether this object has the names in `wanted`; names that it omits match."""
        return all(
            not theirs or ours == theirs
            for ours, theirs in zip(naming(self.value), naming(wanted), strict=True)
        )


@dataclass(frozen=True, slots=True)
class ObjectFile:
    """Hold a file and its Kubernetes objects."""

    path: str
    source: Source
    stream: Stream
    objects: list[Loaded]
    called: dict[str, list[Loaded]]  # the objects by their names

    def matching(self, wanted: Map) -> list[Loaded]:
        """Return the objects of the file that have the names in `wanted`."""
        name = naming(wanted)[3]
        some = self.called.get(name, []) if name else self.objects
        return [loaded for loaded in some if loaded.matches(wanted)]

    def error(self, why: str, hint: str = "") -> UsageError:
        """Return an error with the path of the file."""
        return UsageError(why, path=self.source.path, hint=hint)

    def require_objects(self) -> None:
        """Refuse a file without objects."""
        if not self.objects:
            raise self.error(
                "the file has no Kubernetes object", "an object has apiVersion and kind"
            )

    def only(self, found: list[Loaded], wanted: Map) -> Loaded:
        """Return the only object in `found`; refuse an empty list and a list of several objects."""
        if len(found) != 1:
            count = "is not" if not found else "occurs more than once"
            raise self.error(f"{title(wanted)} {count} in the file", PAIRED)
        return found[0]

    def text(self, values: dict[int, Any]) -> bytes:
        """Return the file with the new values of documents, by number; None removes a document."""
        from kmerge_git.merge.reshape import reshape  # loaded here because it loads the YAML writer

        texts = []
        for document in self.stream.documents:
            if document.number not in values:
                texts.append(document.text)
            elif values[document.number] is not None:
                texts.append(reshape(document, values[document.number]))
        return self.source.encode(self.stream.prologue + "".join(texts) + self.stream.tail)


def add_output(parser: argparse.ArgumentParser) -> None:
    """Define the options for the output."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="write to this file; `json` or `yaml`: print the result in that format",
    )
    parser.add_argument("--in-place", action="store_true", help="change the file itself")
    parser.add_argument("-n", "--dry-run", action="store_true", help="show a diff, write nothing")
    add_color(parser, "colour the diff")


def add_overwrite(parser: argparse.ArgumentParser, text: str) -> None:
    """Define the options `--overwrite` and `--no-overwrite`."""
    parser.add_argument(
        "--overwrite", action=argparse.BooleanOptionalAction, default=True, help=text
    )


def check(args: argparse.Namespace, *inputs: str | None) -> None:
    """Refuse options that exclude each other, before any file is read."""
    if getattr(args, "in_place", False) and args.output:
        raise UsageError("--in-place and -o cannot be used together")
    if inputs.count("-") > 1:
        raise UsageError("only one of the files can be stdin")


def load(path: str, data: bytes | None = None) -> ObjectFile:
    """Read the objects of a file; skip documents that hold only comments."""
    make_haste()
    shown = "<stdin>" if path == "-" else path
    source = Source(in_and_out.read(path) if data is None else data, shown)
    try:
        refuse_at_sight(source)
        stream = split(source)
        objects = [_loaded(d, d.root) for d in stream.documents if d.root is not None]
    except Unsupported as error:
        error.path = source.path
        raise
    called: dict[str, list[Loaded]] = {}
    for loaded in objects:
        called.setdefault(naming(loaded.value)[3], []).append(loaded)
    return ObjectFile(path, source, stream, objects, called)


def _loaded(document: Document, root: Node) -> Loaded:
    refuse_entries(document)
    value = to_value(root)
    if isinstance(value, list) and value and all(isinstance(v, dict) and "op" in v for v in value):
        raise Unsupported(
            "JSON 6902 patches are not supported",
            hint="write a strategic merge patch, or a JSON merge patch for --type merge",
        )
    if not isinstance(value, dict):
        raise placed(PatchError("invalid JSON document", hint="a map is expected"), document)
    odd = no_number(value)
    if odd is not None:  # kubectl refuses such a file
        wrong = PatchError("JSON cannot hold this number", steps=odd, hint="write it as a string")
        raise placed(wrong, document)
    return Loaded(document, value)


def naming(value: Map) -> tuple[str, str, str, str]:
    """Return group, kind, namespace and name of an object; use an empty text for a missing one."""
    metadata = value.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    group = str(value.get("apiVersion") or "").rpartition("/")[0]
    kind, namespace, name = value.get("kind"), metadata.get("namespace"), metadata.get("name")
    return group, str(kind or ""), str(namespace or ""), str(name or "")


def title(value: Map) -> str:
    """Return the name of an object for messages, such as `Deployment/web`."""
    _, kind, _, name = naming(value)
    return f"{kind or 'object'}/{name}" if name else kind or "the object"


def placed(error: PatchError, document: Document) -> PatchError:
    """Add the line and column of the field to an error, and join the error's text into one line."""
    node = document.root
    offset = node.start if node is not None else 0
    for step in error.steps:
        entry = _entry(node, step)
        if entry is None:
            break
        node, offset = entry.value, (entry.key or entry.value).start
    source = document.source
    error.path = source.path
    error.line, error.column = source.position(offset)
    error.excerpt = source.line_at(offset)
    error.why = " ".join(error.why.split())
    if isinstance(error, PatchConflict):
        error.why = "this field was changed differently in the live object"
        error.hint = "use --overwrite to apply the value of the config"
    return error


def _entry(node: Node | None, step: str | int) -> Entry | None:
    if isinstance(node, Mapping) and isinstance(step, str):
        return node.index().get(step)
    if isinstance(node, Sequence) and isinstance(step, int) and step < len(node.entries):
        return node.entries[step]
    return None


def write_values(values: list[Map], output: str | None) -> None:
    """Write objects to a file or to stdout: as YAML, or with `-o json` as kubectl prints them."""
    if output == "json":
        from kmerge_git.patch.json_values import sorted_keys

        texts = (json.dumps(sorted_keys(v), indent=4, ensure_ascii=False) for v in values)
        text = "".join(f"{text}\n" for text in texts)
    else:
        from kmerge_git.tree.emit import dump

        text = "---\n".join(map(dump, values))
    in_and_out.write(None if output in ("json", "yaml") else output, text.encode())


def emit(args: Any, file: ObjectFile, text: bytes, values: list[Map]) -> None:
    """Write the result as the options say: print a diff or new text, or write it to a file."""
    if args.dry_run:
        sys.stdout.write(difference(file, text, Paint(args.color, sys.stdout)))
    elif args.output in ("json", "yaml"):
        write_values(values, args.output)
    elif args.in_place:
        if file.path == "-":
            raise UsageError("--in-place needs a file, not stdin")
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
    """Define the option `--schema`."""
    parser.add_argument(
        "--schema",
        metavar="FILE",
        help="the cluster's OpenAPI document (kubectl get --raw /openapi/v2), for kinds that are "
        "not built in; a field that is missing there is an error",
    )


def add_type(parser: argparse.ArgumentParser) -> None:
    """Define the option `--type` for the kind of the patch."""
    parser.add_argument(
        "--type",
        choices=("strategic", "merge"),
        default="strategic",
        help="merge: a JSON merge patch (RFC 7386), for custom resources (default: strategic)",
    )


def read_schema(path: str | None) -> Definitions | None:
    """Return the OpenAPI document of `--schema`, or None without this option."""
    if path is None:
        return None
    data = in_and_out.read(path)
    try:
        document = json.loads(data)
    except ValueError:
        document = next(iter(load_values(data, path)), None)
    if not isinstance(document, dict):
        raise UsageError(NO_DOCUMENT, path=path)
    try:
        definitions_of(document)
    except PatchError as error:
        error.path = path
        raise
    return document


def find_schema(document: Definitions | None, resource: dict[str, Any]) -> Schema | None:
    """Return the object's schema from the OpenAPI document or the built-in schemas, or None."""
    version, kind = str(resource.get("apiVersion", "")), str(resource.get("kind", ""))
    return (schema_for(document, version, kind) if document else None) or Schema.find(version, kind)


def need_schema(document: Definitions | None, resource: dict[str, Any]) -> Schema:
    """Return the schema of an object; refuse a custom resource that has no schema."""
    version, kind = str(resource.get("apiVersion", "")), str(resource.get("kind", ""))
    return find_schema(document, resource) or Schema.builtin(version, kind)

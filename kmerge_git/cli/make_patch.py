"""`kmerge make-patch ORIGINAL MODIFIED`: make the patch that turns ORIGINAL into MODIFIED."""

from __future__ import annotations

import argparse

from kmerge_git.cli import object_files
from kmerge_git.cli.in_and_out import warn
from kmerge_git.cli.main import add_old
from kmerge_git.cli.object_files import (
    Definitions,
    Loaded,
    ObjectFile,
    add_schema,
    add_type,
    need_schema,
    read_schema,
)
from kmerge_git.errors import PatchConflict, PatchError, UsageError
from kmerge_git.patch.json_values import Map
from kmerge_git.patch.make_patch import (
    make_json_patch,
    make_json_patch3,
    make_patch,
    make_patch3,
)

EPILOG = """\
examples:
  kmerge make-patch old.yaml new.yaml                     a strategic merge patch
  kmerge make-patch old.yaml new.yaml -o json
  kmerge make-patch last.yaml config.yaml --live live.yaml    the patch that kubectl apply sends
  kmerge make-patch old-foo.yaml new-foo.yaml --type merge      a custom resource

A patch has the apiVersion, kind, metadata.name and namespace of its object, so that a kustomization
(`patches:`) and `kmerge patch` can find the object. If the files have several objects, they are
paired by kind, namespace and name.

exit code: 0 the patch is made (`{}` if nothing changed), 1 a conflict with --no-overwrite,
2 an error
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command line."""
    add = parser.add_argument
    add("original", metavar="ORIGINAL", help="the old object; `-` reads stdin")
    add("modified", metavar="MODIFIED", help="the new object")
    live = add("--live", metavar="LIVE", help="make a 3-way patch for this live object")
    add_old(parser, "--current", live)
    object_files.add_overwrite(
        parser, "--no-overwrite: report a conflict if MODIFIED and LIVE both changed a field"
    )
    add_type(parser)
    add("-o", "--output", metavar="OUT", help="write to this file; `json`: print the patch as JSON")
    add_schema(parser)


def run(args: argparse.Namespace) -> int:
    """Make a patch for each object and write the patches."""
    object_files.check(args, args.original, args.modified, args.live)
    if not args.overwrite and not args.live:
        raise UsageError("--no-overwrite needs --live")
    original, modified = object_files.load(args.original), object_files.load(args.modified)
    current = object_files.load(args.live) if args.live else None
    schema = read_schema(args.schema)
    single = len(original.objects) == len(modified.objects) == 1
    patches = []
    try:
        for wanted in modified.objects:
            before = original.objects[0] if single else _partner(original, wanted)
            live = _live(current, wanted, single) if current else None
            for other in (before, *([live] if live else [])):
                _require_one_kind(other, wanted)
            patch = _patch(before, wanted, live, schema, args)
            if patch:
                patches.append(_named(before.value, wanted.value, patch))
    except PatchConflict as conflict:
        warn(conflict)
        return 1
    _complain_about_lost(original, modified, single)
    object_files.write_values(patches or [{}], args.output)
    return 0


def _partner(file: ObjectFile, wanted: Loaded) -> Loaded:
    names = object_files.naming(wanted.value)
    same = [one for one in file.called.get(names[3], ()) if object_files.naming(one.value) == names]
    return file.only(same, wanted.value)


def _live(current: ObjectFile, wanted: Loaded, single: bool) -> Loaded | None:
    return current.objects[0] if single and len(current.objects) == 1 else _partner(current, wanted)


def _require_one_kind(before: Loaded, wanted: Loaded) -> None:
    """Refuse two objects of different kinds, because a patch cannot change the kind."""
    old, new = before.value.get("kind"), wanted.value.get("kind")
    if old and new and old != new:
        raise UsageError(
            f"the object is a {new}, but in {before.document.source.path} it is a {old}",
            path=wanted.document.source.path,
            hint="use two versions of one object, as a patch cannot change the kind",
        )


def _complain_about_lost(original: ObjectFile, modified: ObjectFile, single: bool) -> None:
    names = {object_files.naming(loaded.value) for loaded in modified.objects}
    for loaded in [] if single else original.objects:
        if object_files.naming(loaded.value) not in names:
            warn(
                f"{object_files.title(loaded.value)} is only in {original.source.path}; "
                "a patch cannot delete an object"
            )


def _named(before: Map, wanted: Map, patch: Map) -> Map:
    """Add the apiVersion, kind, name and namespace of the object, if the patch keeps its name."""
    if object_files.naming(before) != object_files.naming(wanted):
        return patch  # no object has the new name yet
    heads: Map = {key: wanted[key] for key in ("apiVersion", "kind") if key in wanted}
    metadata = wanted.get("metadata")
    if isinstance(metadata, dict):
        names = {key: metadata[key] for key in ("name", "namespace") if metadata.get(key)}
        if names:
            heads["metadata"] = names | patch.get("metadata", {})
    return heads | patch | heads  # the names come first


def _patch(
    before: Loaded,
    wanted: Loaded,
    live: Loaded | None,
    document: Definitions | None,
    args: argparse.Namespace,
) -> Map:
    try:
        if args.type == "merge":
            if live is None:
                return make_json_patch(before.value, wanted.value)
            return make_json_patch3(before.value, wanted.value, live.value)
        schema = need_schema(document, wanted.value)
        if live is None:
            return make_patch(before.value, wanted.value, schema)
        return make_patch3(before.value, wanted.value, live.value, schema, overwrite=args.overwrite)
    except PatchError as error:
        raise object_files.placed(error, wanted.document) from None

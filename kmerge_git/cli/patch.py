"""`kmerge patch TARGET --patch P`: apply a patch to a file and keep the comments of the file."""

from __future__ import annotations

import argparse

from kmerge_git.cli import object_files
from kmerge_git.cli.in_and_out import say
from kmerge_git.cli.main import add_old
from kmerge_git.cli.object_files import (
    Definitions,
    Loaded,
    ObjectFile,
    add_schema,
    add_type,
    find_schema,
    need_schema,
    read_schema,
)
from kmerge_git.errors import PatchError, UsageError
from kmerge_git.patch.apply_patch import apply_json_patch, apply_patch
from kmerge_git.patch.json_values import Map, same

EPILOG = """\
examples:
  kmerge patch deployment.yaml --patch add-sidecar.yaml            print the result
  kmerge patch deployment.yaml --patch add-sidecar.yaml --in-place
  kmerge patch deployment.yaml --patch add-sidecar.yaml --dry-run  print only a diff
  kmerge patch deployment.yaml --patch '{"spec": {"replicas": 3}}'
  kmerge patch foo.yaml --patch p.yaml --type merge                a custom resource
  kmerge patch all.yaml --patch p.yaml --object Service/web        one object of many
  kubectl get deploy web -o yaml | kmerge patch - --patch p.yaml -o json

A strategic merge patch has the same result as with kubectl and the API server; --type merge is
RFC 7386. If TARGET has several objects, kmerge finds the object by the kind and metadata.name of
the patch, or by --object. If a patch file has several documents, they are applied one by one.

exit code: 0 patched, 2 an error: nothing is written
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command line."""
    parser.add_argument("target", metavar="TARGET", help="YAML or JSON; `-` reads stdin")
    parser.add_argument(
        "-p",
        "--patch",
        required=True,
        action="append",
        metavar="P",
        help="a patch file, or the patch itself if it starts with `{`; may be repeated",
    )
    add_type(parser)
    tool = parser.add_argument(
        "--tool",
        choices=("kubectl", "kustomize"),
        default="kubectl",
        help="kustomize: apply the patch as `patches:` of a kustomization does",
    )
    add_old(parser, "--flavor", tool)
    wanted = parser.add_argument(
        "--object",
        dest="wanted",
        default="",
        metavar="KIND/NAME",
        help="the object to patch, if TARGET has several",
    )
    add_old(parser, "--target", wanted)
    add_schema(parser)
    object_files.add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Apply the patches to the file one after the other, and write the result."""
    object_files.check(args, args.target, *args.patch)
    if args.type == "merge" and args.tool == "kustomize":
        raise UsageError("--tool needs a strategic merge patch", hint="omit --type merge")
    target = object_files.load(args.target)
    target.require_objects()
    schema = read_schema(args.schema)
    results: dict[int, Map] = {one.document.number: one.value for one in target.objects}
    for patch in [patch for text in args.patch for patch in _patches(text)]:
        loaded = _chosen(target, patch, args.wanted)
        number = loaded.document.number
        if results[number]:
            results[number] = _patched(results[number], patch, loaded, schema, args)
    changed = {}
    for loaded in target.objects:
        value = results[loaded.document.number]
        if not same(value, loaded.value):
            changed[loaded.document.number] = value or None
            if not value:  # a kustomize patch removed the object
                say(f"the patch removed {object_files.title(loaded.value)}")
    object_files.emit(args, target, target.text(changed), [v for v in results.values() if v])
    return 0


def _patches(text: str) -> list[Loaded]:
    inline = text.lstrip().startswith(("{", "["))
    file = object_files.load("--patch" if inline else text, text.encode() if inline else None)
    if not file.objects:
        raise PatchError("invalid JSON document", path=file.source.path, hint="the patch is empty")
    return file.objects


def _chosen(target: ObjectFile, patch: Loaded, wanted: str) -> Loaded:
    """Return the object named by `--object` or by the patch, or the file's only object."""
    _, kind, _, name = object_files.naming(patch.value)
    if wanted:
        wanted_kind, slash, wanted_name = wanted.rpartition("/")
        if not slash or not wanted_kind or not wanted_name:
            raise UsageError(f"--object {wanted} is not KIND/NAME")
        described: Map = {"kind": wanted_kind, "metadata": {"name": wanted_name}}
    elif kind and name:
        described = patch.value
    elif len(target.objects) == 1:
        return target.objects[0]
    else:
        raise target.error(
            f"the file has {len(target.objects)} objects, and the patch has no kind and name",
            "add kind and metadata.name to the patch, or use --object KIND/NAME",
        )
    found = target.matching(described)
    if len(found) == 1:
        return found[0]
    count = "no object" if not found else f"{len(found)} objects"
    here = ", ".join(object_files.title(loaded.value) for loaded in target.objects[:5])
    why = f"{object_files.title(described)} matches {count} in the file; the file has {here}"
    raise target.error(why, "use --object KIND/NAME")


def _patched(
    value: Map, patch: Loaded, loaded: Loaded, schema: Definitions | None, args: argparse.Namespace
) -> Map:
    blamed = patch
    try:
        if args.type == "merge":
            return apply_json_patch(value, patch.value)
        known = find_schema(schema, value)
        if known is None and args.tool == "kubectl":
            blamed = loaded  # the kind of the object is unknown, so the error names the object
            known = need_schema(schema, value)
        return apply_patch(value, patch.value, known, flavor=args.tool)
    except PatchError as error:
        raise object_files.placed(error, blamed.document) from None

"""`kmerge apply CONFIG --live LIVE`: show the result of `kubectl apply` without a cluster."""

from __future__ import annotations

import argparse
import sys

from kmerge_git.cli import object_files
from kmerge_git.cli.in_and_out import Paint, say, warn
from kmerge_git.cli.object_files import (
    Definitions,
    Loaded,
    ObjectFile,
    add_schema,
    find_schema,
    read_schema,
)
from kmerge_git.errors import PatchConflict, PatchError, UsageError
from kmerge_git.patch.applied_annotation import LAST_APPLIED, go_json
from kmerge_git.patch.apply_config import ABSENT, Applied, Field, explain, plan_apply
from kmerge_git.visible import counted

EPILOG = """\
examples:
  kubectl get deploy web -o yaml > live.yaml
  kmerge apply web.yaml --live live.yaml                print the resulting object
  kmerge apply web.yaml --live live.yaml --dry-run      print the changes of the live object
  kmerge apply web.yaml --live live.yaml --explain      also print the reason for each change
  kmerge apply web.yaml --live live.yaml --show-patch   print the patch that kubectl would send
  kmerge apply web.yaml                                 create the object

kmerge takes the last applied config from the annotation of the live object, or from
--last-applied FILE. Built-in kinds are merged by strategic merge patch, custom resources by JSON
merge patch.

exit code: 0 applied, 1 a conflict with --no-overwrite, 2 an error: nothing is written
"""

_COLOURS = {"changed": "yellow", "added": "green", "removed": "red"}
Done = tuple[Loaded, Loaded | None, Applied]  # a config, the live object, and the object to be


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments of the command."""
    add = parser.add_argument
    add("config", metavar="CONFIG", help="the objects to apply; `-` reads stdin")
    add("--live", metavar="LIVE", help="the objects in the cluster (default: create new objects)")
    add(
        "--last-applied",
        metavar="FILE",
        help="the last applied config (default: from the annotation of LIVE)",
    )
    object_files.add_overwrite(
        parser,
        "--no-overwrite: report a conflict if config and live object both changed the same field",
    )
    add(
        "--namespace",
        default="",
        help="the namespace for a config that has none (default: that of the live object)",
    )
    add("--explain", action="store_true", help="print changes, owners and reasons on stderr")
    add("-a", "--all", action="store_true", help="like --explain, with the unchanged fields")
    add("--show-patch", action="store_true", help="print the patch instead of the object")
    add_schema(parser)
    object_files.add_output(parser)


def run(args: argparse.Namespace) -> int:
    """Apply a file of configs to a file of live objects."""
    object_files.check(args, args.config, args.live, args.last_applied)
    if args.in_place and not args.live:
        raise UsageError("--in-place changes the live file", hint="add --live LIVE")
    config = object_files.load(args.config)
    live = object_files.load(args.live) if args.live else None
    last = object_files.load(args.last_applied) if args.last_applied else None
    config.require_objects()
    schema = read_schema(args.schema)
    done: list[Done] = []
    for wanted in config.objects:
        partner = _partner(live, wanted, len(config.objects))
        before = _partner(last, wanted, len(config.objects))
        try:
            applied = _applied(args, wanted, partner, before, schema)
        except PatchConflict as conflict:
            warn(conflict)
            return 1
        done.append((wanted, partner, applied))
        _report(wanted, applied)
        if args.explain or args.all:
            live_value = partner.value if partner else {}
            fields = explain(applied, live_value, find_schema(schema, wanted.value))
            _explain(fields, Paint(args.color, sys.stderr), whole=args.all)
    if args.show_patch:
        object_files.write_values([applied.patch for _, _, applied in done], args.output)
    else:
        _write(args, config, live, done)
    return 0


def _applied(
    args: argparse.Namespace,
    wanted: Loaded,
    partner: Loaded | None,
    before: Loaded | None,
    schema: Definitions | None,
) -> Applied:
    try:
        return plan_apply(
            wanted.value,
            partner.value if partner else {},
            last_applied=before.value if before else None,
            schema=find_schema(schema, wanted.value),
            overwrite=args.overwrite,
            namespace=args.namespace,
        )
    except PatchError as error:
        is_of_live = not isinstance(error, PatchConflict) and LAST_APPLIED in error.steps
        blamed = partner if partner and is_of_live else wanted
        raise object_files.placed(error, blamed.document) from None


def _partner(file: ObjectFile | None, wanted: Loaded, many: int) -> Loaded | None:
    """Return the object of `file` with the same name as `wanted`; return None without a match."""
    if file is None:
        return None
    here = object_files.title(wanted.value)
    matching = file.matching(wanted.value)
    if len(matching) > 1:
        raise file.error(f"{here} is in the file {len(matching)} times", object_files.PAIRED)
    if not matching and many == 1 and file.objects:
        raise file.error(
            f"{here} is not in the file, but {object_files.title(file.objects[0].value)} is",
            "use the live object of the same name, or omit --live to create the object",
        )
    return next(iter(matching), None)


def _report(wanted: Loaded, applied: Applied) -> None:
    for warning in applied.warnings:
        say(f"warning: {warning}")
    word = "created" if applied.created else "configured" if applied.changed else "unchanged"
    group, kind, _, name = object_files.naming(wanted.value)
    say(f"{kind.lower()}{'.' + group if group else ''}/{name} {word}")


def _explain(fields: list[Field], paint: Paint, *, whole: bool) -> None:
    """Print a line for each field that changes, or with `whole` for every field."""
    shown = [field for field in fields if whole or field.what in _COLOURS]
    for field in shown:
        values = [_short(value) for value in (field.before, field.after) if value is not ABSENT]
        change = " -> ".join(dict.fromkeys(values))
        what = (f"{field.what:9}", _COLOURS.get(field.what, ""))
        rest = f" {field.path} = {change}  [{field.owner}: {field.why}]"
        print(paint.line(what, rest), file=sys.stderr)
    left = len(fields) - len(shown)
    if left:
        say(f"{counted(left, 'field')} {'is' if left == 1 else 'are'} unchanged; --all shows them")


def _short(value: object) -> str:
    text = go_json(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _write(
    args: argparse.Namespace, config: ObjectFile, live: ObjectFile | None, done: list[Done]
) -> None:
    """Write the new objects into the live file's text; without a live file, into the config's."""
    from kmerge_git.merge.reshape import reshape

    results = [applied.result for _, _, applied in done]
    if live is None:
        text = config.text({wanted.document.number: a.result for wanted, _, a in done})
        object_files.emit(args, config, text, results)
        return
    text = live.text(
        {
            partner.document.number: applied.result
            for _, partner, applied in done
            if partner is not None and applied.result != partner.value
        }
    )
    for wanted, partner, applied in done:
        if partner is None:
            document = reshape(wanted.document, applied.result)
            body = document if document.startswith("---") else f"---\n{document}"
            text += b"" if text.endswith(b"\n") or not text else b"\n"
            text += live.source.encode(body)
    object_files.emit(args, live, text, results)

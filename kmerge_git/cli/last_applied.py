"""`kmerge last-applied view|set|edit FILE`: view or change the annotation of `kubectl apply`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from kmerge_git import time_limit
from kmerge_git.cli import object_files
from kmerge_git.cli.in_and_out import say, warn
from kmerge_git.cli.object_files import Loaded, ObjectFile
from kmerge_git.errors import PatchError, UsageError
from kmerge_git.patch.applied_annotation import annotation, last_applied, with_last_applied
from kmerge_git.patch.json_values import Map

EPILOG = """\
examples:
  kubectl get deploy web -o yaml > live.yaml
  kmerge last-applied view live.yaml                     print the last applied config as YAML
  kmerge last-applied view live.yaml -o json
  kmerge last-applied set live.yaml --config web.yaml --in-place
  kmerge last-applied edit live.yaml --in-place          use $KUBE_EDITOR, $VISUAL or $EDITOR

To stop managing a field without deleting it, remove it from the annotation first, then from the
config. kmerge writes the annotation as `kubectl apply` does, so the next apply does not change it.

exit code: 0 done, 2 an error: nothing is written
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command line."""
    parser.add_argument("action", choices=("view", "set", "edit"))
    parser.add_argument("file", metavar="FILE", help="the live objects; `-` reads stdin")
    parser.add_argument("--config", metavar="CONFIG", help="set: the config for the annotation")
    parser.add_argument(
        "--create-annotation",
        action="store_true",
        help="set: add the annotation if the live object has none",
    )
    object_files.add_output(parser)


def run(args: argparse.Namespace) -> int:
    """View, set or edit the annotation of each object in the file."""
    _check(args)
    file = object_files.load(args.file)
    file.require_objects()
    if args.action == "view":
        return _view(args, file)
    configs = _given(args, file) if args.action == "set" else _edited(file)
    values = {one.document.number: one.value for one in file.objects}
    for loaded, config in configs:
        try:
            values[loaded.document.number] = with_last_applied(loaded.value, config)
        except PatchError as error:
            raise object_files.placed(error, loaded.document) from None
    changed = {
        one.document.number: values[one.document.number]
        for one in file.objects
        if values[one.document.number] != one.value
    }
    object_files.emit(args, file, file.text(changed), list(values.values()))
    return 0


def _check(args: argparse.Namespace) -> None:
    object_files.check(args)
    if args.action == "set" and not args.config:
        raise UsageError("`set` needs --config CONFIG")
    if args.action != "set" and (args.config or args.create_annotation):
        raise UsageError("only `set` accepts --config and --create-annotation")
    if args.action == "view" and (args.in_place or args.dry_run):
        raise UsageError(
            "only `set` and `edit` accept --in-place and --dry-run",
            hint="use -o FILE to write the annotation to a file",
        )


def _view(args: argparse.Namespace, file: ObjectFile) -> int:
    configs = [_read(loaded) for loaded in file.objects]
    for loaded, config in zip(file.objects, configs, strict=True):
        if not config:
            warn(f"{object_files.title(loaded.value)} has no last-applied annotation")
    object_files.write_values([config for config in configs if config], args.output)
    return 0


def _read(loaded: Loaded) -> Map | None:
    try:
        return last_applied(loaded.value)
    except PatchError as error:
        raise object_files.placed(error, loaded.document) from None


def _given(args: argparse.Namespace, file: ObjectFile) -> list[tuple[Loaded, Map]]:
    pairs = []
    for config in object_files.load(args.config).objects:
        live = file.only(file.matching(config.value), config.value)
        if annotation(live.value) is None and not args.create_annotation:
            why = f"{object_files.title(config.value)} has no last-applied annotation"
            raise file.error(why, "use --create-annotation to add it")
        pairs.append((live, config.value))
    return pairs


def _edited(file: ObjectFile) -> list[tuple[Loaded, Map]]:
    """Let a person edit the annotations; return each changed annotation with its object."""
    annotated = [(loaded, config) for loaded in file.objects if (config := _read(loaded))]
    if not annotated:
        hint = "`kmerge last-applied set --create-annotation` adds one"
        raise file.error("no object has a last-applied annotation", hint)
    from kmerge_git.tree.emit import dump

    time_limit.stop()  # a person may edit for longer than the time limit
    text = "---\n".join(dump(config) for _, config in annotated)
    after = object_files.load("edited.yaml", _in_editor(text).encode())
    if len(after.objects) != len(annotated):
        raise UsageError(
            f"the edited text has {len(after.objects)} objects instead of {len(annotated)}",
            hint="do not add or remove objects",
        )
    pairs = []
    for (loaded, config), edited in zip(annotated, after.objects, strict=True):
        if edited.value != config:
            pairs.append((loaded, edited.value))
        else:
            say(f"{object_files.title(loaded.value)}: edit cancelled, no changes made")
    return pairs


def _in_editor(text: str) -> str:
    import shlex
    import subprocess
    import tempfile

    names = ("KUBE_EDITOR", "VISUAL", "EDITOR")
    editor = next((os.environ[name] for name in names if os.environ.get(name)), "vi")
    with tempfile.TemporaryDirectory(prefix="kmerge-") as directory:
        path = Path(directory, "last-applied.yaml")
        path.write_text(text, encoding="utf-8")
        try:
            done = subprocess.run([*shlex.split(editor), str(path)], check=False)
        except OSError as error:
            raise UsageError(
                f"cannot start the editor {editor}: {error.strerror}", hint="set $EDITOR"
            ) from None
        if done.returncode:
            raise UsageError(f"the editor {editor} failed with exit code {done.returncode}")
        return path.read_text(encoding="utf-8")

"""`kmerge status`: show whether the merge driver works here, or which settings a file has."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from kmerge_git.cli.in_and_out import add_color, inside, show
from kmerge_git.errors import UsageError
from kmerge_git.git.probes import Probe, probe_all
from kmerge_git.git.run_git import ask_git, ask_here
from kmerge_git.report.results import CommandResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.git.settings_in_force import InForce, Said
    from kmerge_git.report.results import Line


EPILOG = """\
examples:
  kmerge status                       one line a probe, and what to do where one fails
  kmerge status --json                the same for programs
  kmerge status >/dev/null || echo 'manifests are merged as text'
  kmerge status apps/web.yaml         what counts for this file, and who said so

exit code: 0 the driver works here, 1 a probe failed, 2 an error. `kmerge doctor` looks closer.
With files: 0 the driver takes all of them, 1 it does not take one.
"""
COLOURS = {"ok": "green", "warn": "yellow", "FAIL": "red"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    what = "show every setting in force for these files, and where it comes from"
    parser.add_argument("files", nargs="*", metavar="FILE", help=what)
    add_output(parser)


def add_output(parser: argparse.ArgumentParser) -> None:
    """Define the options of the report; `kmerge doctor` has the same options."""
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    add_color(parser, "(default: auto)")


def run(args: argparse.Namespace) -> int:
    """Run and print every probe; if files are given, print their settings instead."""
    if args.files:
        return report_files(args.files, as_json=args.json, color=args.color)
    return report(probe_all(Path.cwd()), as_json=args.json, color=args.color)


def report(probes: list[Probe], *, as_json: bool, color: str) -> int:
    """Print the results of the probes; return 1 if a probe failed."""
    works = all(probe.state != "FAIL" for probe in probes)
    result = CommandResult(
        lambda: {"ok": works, "probes": [asdict(probe) for probe in probes]},
        lambda: (line for probe in probes for line in _lines(probe)),
    )
    show(result, as_json=as_json, color=color)
    return 0 if works else 1


def _lines(probe: Probe) -> Iterator[Line]:
    yield ((f"{probe.state:5}", COLOURS[probe.state]), f" {probe.name}: {probe.text}")
    if probe.hint and probe.state != "ok":
        yield f"      -> {probe.hint}"


def report_files(given: list[str], *, as_json: bool, color: str) -> int:
    """Print the settings of each file; return 1 if the driver does not merge one of the files."""
    from kmerge_git.git.settings_in_force import in_force

    top = Path(ask_here("--show-toplevel", ", or leave FILE out to see whether the driver works"))
    named = in_force(top, list(dict.fromkeys(_known(path, top) for path in given)))
    files = [replace(f, problems=(*f.problems, *_problems(f, top))) for f in named]
    is_driven = not any(file.why for file in files)
    result = CommandResult(
        lambda: {"ok": is_driven, "files": [_fields(file) for file in files]},
        lambda: (line for file in files for line in _file_lines(file)),
    )
    show(result, as_json=as_json, color=color)
    return 0 if is_driven else 1


def _problems(file: InForce, top: Path) -> list[str]:
    """Return the problems in those settings of a file that switch off checks or name CRD files."""
    from kmerge_git.cli.check_repository import attribute_ids, known_ids
    from kmerge_git.kube.crds import learn_files, learn_own

    problems: list[str] = []
    named: dict[str, list[str]] = {"config": [], "attribute": []}
    for said in file.settings:
        if said.name == "crd":
            named[said.source.by].append(said.value)
        elif said.name == "check" and said.source.by == "attribute":
            problems += attribute_ids(said.value if said.value != "no check" else "")[1]
        elif said.name == "check":
            words = [word.removeprefix("-") for word in said.value.split(",")]
            problems += known_ids(said.source.key, words)[1]
    problems += learn_files(str(top / place) for place in named["config"])
    return problems + learn_own(str(top), named["attribute"])


def _known(given: str, top: Path) -> str:
    """Return the path of a file from the top of the working tree; refuse a missing file."""
    path = inside(given, str(top))
    if os.path.isdir(given) and not os.path.islink(given):
        raise UsageError("it is a folder", path=given, hint="name files")
    literal = f":(top,literal){path}"
    if not os.path.lexists(given) and not ask_git("ls-files", "-z", "--", literal, cwd=top).out:
        raise UsageError("no such file", path=given, hint="check its name")
    return path


def _file_lines(file: InForce) -> Iterator[Line]:
    taken = ("merged by the driver", "green")
    left = (f"not merged by the driver: {file.why}", "yellow")
    yield ((file.path, "bold"), ": ", left if file.why else taken)
    rows = [(said.name, said.value, said.source.words) for said in file.settings]
    rows += [
        (f"policy {number}", f"{said.name}: {said.value}", said.source.words)
        for number, said in enumerate(file.policies, 1)
    ]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for name, value, words in rows:
        colour = "dim" if words == "default" else ""
        yield (f"  {name:<{widths[0]}}  {value:<{min(widths[1], 40)}}  ", (words, colour))
    for note in file.notes:
        yield f"  {note}"
    if file.looks_generated:
        yield (
            f"  perhaps a generator writes it ({file.looks_generated}): then say so, "
            "`kmerge-generated` in .gitattributes"
        )
    for problem in file.problems:
        yield ("  ", (problem, "yellow"))


def _fields(file: InForce) -> dict[str, Any]:
    return {
        "path": file.path,
        "driver": not file.why,
        "why": file.why,
        "generated": file.is_generated,
        "looks_generated": file.looks_generated,
        "settings": [_said(said, "name", "value") for said in file.settings],
        "policies": [_said(said, "field", "policy") for said in file.policies],
        "notes": list(file.notes),
        "problems": list(file.problems),
    }


def _said(said: Said, name: str, value: str) -> dict[str, str]:
    return {name: said.name, value: said.value, **asdict(said.source)}

"""`kmerge status`: whether the merge driver works here."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from kmerge_git.cli.printing import add_color, show
from kmerge_git.git.probes import Probe, probe_all
from kmerge_git.report.results import CommandResult

TYPE_CHECKING = False
if TYPE_CHECKING:
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
    """Define how to print it; `kmerge doctor` has the same options."""
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    add_color(parser, "(default: auto)")


def run(args: argparse.Namespace) -> int:
    """Ask every probe, or with files print what counts for them."""
    if args.files:
        from kmerge_git.cli.status_file import report_files

        return report_files(args.files, as_json=args.json, color=args.color)
    return report(probe_all(Path.cwd()), as_json=args.json, color=args.color)


def report(probes: list[Probe], *, as_json: bool, color: str) -> int:
    """Print what the probes found; return 1 if one of them is a failure."""
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

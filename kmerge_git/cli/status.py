"""`kmerge status`: whether the merge driver works here."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

from kmerge_git.cli.printing import Paint, add_color, tell_json
from kmerge_git.git.probes import Probe, probe_all

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
    """How to print it; `kmerge doctor` has the same options."""
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    add_color(parser, "(default: auto)")


def run(args: argparse.Namespace) -> int:
    """Ask every probe; 0 unless one fails. With files: what counts for them."""
    if args.files:
        from kmerge_git.cli.status_file import report_files

        return report_files(args.files, as_json=args.json, color=args.color)
    return report(probe_all(Path.cwd()), as_json=args.json, color=args.color)


def report(findings: list[Probe], *, as_json: bool, color: str) -> int:
    """Print the findings; 1 if one of them is a failure."""
    works = all(finding.state != "FAIL" for finding in findings)
    if as_json:
        probes = [asdict(finding) for finding in findings]
        tell_json({"ok": works, "probes": probes})
        return 0 if works else 1
    paint = Paint(color, sys.stdout)
    for finding in findings:
        state = (f"{finding.state:5}", COLOURS[finding.state])
        print(paint.line(state, f" {finding.name}: {finding.text}"))
        if finding.hint and finding.state != "ok":
            print(paint.line(f"      -> {finding.hint}"))
    return 0 if works else 1

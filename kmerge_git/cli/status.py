"""`kmerge status`: show whether the merge driver works, or the settings of files."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from kmerge_git.cli.in_and_out import add_color, inside, say, show
from kmerge_git.errors import KmergeError, UsageError
from kmerge_git.git.config_places import SCOPES, in_repository, scopes_of
from kmerge_git.git.installation import (
    DRIVER,
    DRIVER_NAME,
    ConfigChange,
    SetupChange,
    Wish,
    plan_install,
    renewals,
)
from kmerge_git.git.probes import Probe, examine, leftovers, probe_all
from kmerge_git.git.run_git import ask_git, ask_here
from kmerge_git.report.results import CommandResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.git.settings_in_force import InForce, Said
    from kmerge_git.report.results import Line


EPILOG = """\
examples:
  kmerge status                       print one line for each check, and a fix if it fails
  kmerge status --deep                also make a real merge in a scratch repository
  kmerge status --fix                 register kmerge again, in every scope, if its registration is
                                      missing, broken or outdated, and remove the temporary files
                                      of killed merges
  kmerge status --json                print the same for programs
  kmerge status apps/web.yaml         print the settings of this file, and where each one is set

exit code: 0 the driver works, 1 a check failed, 2 an error.
With files: 0 git merges all of them with kmerge, 1 it does not.
"""
COLOURS = {"ok": "green", "warn": "yellow", "FAIL": "red"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command line."""
    what = "show all settings that apply to these files, and where each one is set"
    parser.add_argument("files", nargs="*", metavar="FILE", help=what)
    parser.add_argument(
        "--deep", action="store_true", help="also make a merge in a scratch repository"
    )
    parser.add_argument(
        "--fix",
        action="store_true",
        help="repair broken registrations, and remove leftover temporary files",
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    add_color(parser, "use colors (default: auto)")


def run(args: argparse.Namespace) -> int:
    """Run and print every probe; if files are given, print their settings instead."""
    if args.files:
        if args.deep or args.fix:
            raise UsageError("--deep and --fix take no files", hint="omit FILE")
        return report_files(args.files, as_json=args.json, color=args.color)
    if args.fix:
        _repair(Path.cwd())
    probes = (examine if args.deep else probe_all)(Path.cwd())
    works = all(probe.state != "FAIL" for probe in probes)
    result = CommandResult(
        lambda: {"ok": works, "probes": [asdict(probe) for probe in probes]},
        lambda: (line for probe in probes for line in _lines(probe)),
    )
    show(result, as_json=args.json, color=args.color)
    return 0 if works else 1


def _repair(cwd: Path) -> None:
    """Renew broken and outdated registrations, and remove the files of killed merges."""
    changes: list[SetupChange] = [*renewals(cwd)]
    lines = scopes_of(DRIVER, cwd)
    if not (lines and lines[-1][1]):
        # a driver with a name and no command stops every merge, so the name alone gives the scope
        places = lines or scopes_of(DRIVER_NAME, cwd)
        scope = next((s for s in SCOPES if places and s == places[-1][0]), None)
        changes += plan_install(Wish(scope=scope), cwd).changes if scope else ()
    for change in changes:
        try:
            change.make(cwd)
        except KmergeError as error:
            if not isinstance(change, ConfigChange) or change.scope != "system":
                raise
            say(f"not repaired: {error}")
        else:
            say(f"repaired: {change.summary}")
    for path in leftovers(cwd) if in_repository(cwd) else []:
        try:
            path.unlink()
        except OSError as error:
            raise KmergeError(
                f"cannot remove this file: {error.strerror}", path=str(path)
            ) from error
        say(f"repaired: removed {path}")


def _lines(probe: Probe) -> Iterator[Line]:
    name = "command" if probe.name == "line" else probe.name  # JSON keeps the old name
    yield ((f"{probe.state:5}", COLOURS[probe.state]), f" {name}: {probe.text}")
    if probe.hint and probe.state != "ok":
        yield f"      -> {probe.hint}"


def report_files(given: list[str], *, as_json: bool, color: str) -> int:
    """Print the settings of each file; return 1 if the driver does not merge one of the files."""
    from kmerge_git.git.settings_in_force import in_force

    top = Path(ask_here("--show-toplevel", ", or omit FILE to check whether the driver works"))
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
        raise UsageError("this is a directory", path=given, hint="give the paths of files")
    literal = f":(top,literal){path}"
    if not os.path.lexists(given) and not ask_git("ls-files", "-z", "--", literal, cwd=top).out:
        raise UsageError("no such file", path=given, hint="check the path")
    return path


def _file_lines(file: InForce) -> Iterator[Line]:
    taken = ("merged by the driver", "green")
    left = (f"not merged by the driver: {file.why}", "yellow")
    yield ((file.path, "bold"), ": ", left if file.why else taken)
    rows = [(said.name, said.value, said.source.words) for said in file.settings]
    rows += [
        (f"policy {number}", f"{said.name}: {said.value}".removeprefix(": "), said.source.words)
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
            f"  this file may be generated ({file.looks_generated}); if it is, set "
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

"""`kmerge doctor`: run the probes of `kmerge status` and a real merge, and find leftovers."""

from __future__ import annotations

import argparse
from pathlib import Path

from kmerge_git.cli import status
from kmerge_git.cli.in_and_out import say
from kmerge_git.errors import KmergeError
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
from kmerge_git.git.probes import examine, leftovers

EPILOG = """\
examples:
  kmerge doctor                       everything that `kmerge status` asks, and a trial merge
  kmerge doctor --fix                 register again, in every scope, what is missing, does not run
                                      or is of an older kmerge, and remove the temporary files of
                                      killed merges

exit code: 0 all is well, 1 a probe failed, 2 an error
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments of the command."""
    status.add_output(parser)
    parser.add_argument("--fix", action="store_true", help="repair what can be repaired")


def run(args: argparse.Namespace) -> int:
    """Examine the installation, repair it if asked to, and examine it again."""
    cwd = Path.cwd()
    findings = examine(cwd)
    missing = any(f.name == "driver" and f.state == "FAIL" for f in findings)
    if args.fix and _repair(cwd, missing=missing):
        findings = examine(cwd)
    return status.report(findings, as_json=args.json, color=args.color)


def _repair(cwd: Path, *, missing: bool) -> bool:
    """Make the repairs, and return whether anything was repaired."""
    done = []
    changes: list[SetupChange] = [*renewals(cwd)]
    if missing:
        # a driver with a name and no command stops every merge, so the name alone gives the scope
        places = scopes_of(DRIVER, cwd) or scopes_of(DRIVER_NAME, cwd)
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
            done.append(change.summary)
    for path in leftovers(cwd) if in_repository(cwd) else []:
        try:
            path.unlink()
        except OSError as error:
            raise KmergeError(f"cannot be removed: {error.strerror}", path=str(path)) from error
        done.append(f"removed {path}")
    for line in done:
        say(f"repaired: {line}")
    return bool(done)

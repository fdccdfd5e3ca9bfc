"""`kmerge doctor`: `status`, a real merge, and what killed merges left behind."""

from __future__ import annotations

import argparse
from pathlib import Path

from kmerge_git.cli import status
from kmerge_git.cli.files import say
from kmerge_git.errors import KmergeError
from kmerge_git.git.doctor import examine, leftovers
from kmerge_git.git.install import DRIVER, DRIVER_NAME, Wish, plan_install
from kmerge_git.git.places import SCOPES, in_repository, scopes_of

EPILOG = """\
examples:
  kmerge doctor                       everything that `kmerge status` asks, and a trial merge
  kmerge doctor --fix                 register the driver again where its command does not run
                                      or is missing, and remove the temporary files of killed merges

exit code: 0 all is well, 1 a probe failed, 2 an error
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `kmerge doctor`."""
    status.add_output(parser)
    parser.add_argument("--fix", action="store_true", help="repair what can be repaired")


def run(args: argparse.Namespace) -> int:
    """Look, repair if asked to, and look again."""
    cwd = Path.cwd()
    findings = examine(cwd)
    if args.fix:
        broken = any(f.name in ("line", "driver") and f.state == "FAIL" for f in findings)
        if _repair(cwd, broken=broken):
            findings = examine(cwd)
    return status.report(findings, as_json=args.json, color=args.color)


def _repair(cwd: Path, *, broken: bool) -> bool:
    done = []
    # a name without a driver stops every merge, so the name alone tells a scope, too
    found = scopes_of(DRIVER, cwd) or scopes_of(DRIVER_NAME, cwd)
    scope = next((s for s in SCOPES if found and s == found[-1][0]), None)
    if broken and scope:
        for change in plan_install(Wish(scope=scope), cwd).changes:
            change.make(cwd)
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

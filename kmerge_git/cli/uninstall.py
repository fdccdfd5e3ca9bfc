"""`kmerge uninstall`: remove from git everything that `kmerge install` wrote."""

from __future__ import annotations

import argparse
from pathlib import Path

from kmerge_git.cli.install import add_places, carry_out
from kmerge_git.git.installation import Wish, plan_uninstall

EPILOG = """\
examples:
  kmerge uninstall                    this clone
  kmerge uninstall --global           your user's configuration and attributes
  kmerge uninstall --shared           also take the block out of .gitattributes

Only what `kmerge install` wrote goes. Your own settings (`git config kmerge.*`), hooks that you
changed, and every other line of the attribute files stay as they are.
"""


add_arguments = add_places


def run(args: argparse.Namespace) -> int:
    """Unregister the driver; a second call changes nothing."""
    plan = plan_uninstall(Wish(scope=args.scope, shared=args.shared), Path.cwd())
    carry_out(plan, dry_run=args.dry_run, nothing="not registered here, nothing to do")
    return 0

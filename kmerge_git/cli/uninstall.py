"""`kmerge uninstall`: remove from git everything that `kmerge install` wrote."""

from __future__ import annotations

import argparse
import shutil
from contextlib import suppress
from pathlib import Path

from kmerge_git.cli.in_and_out import tell
from kmerge_git.cli.install import add_places, carry_out
from kmerge_git.git.installation import Wish, plan_uninstall

EPILOG = """\
examples:
  kmerge uninstall                    this clone
  kmerge uninstall --global           your user's configuration and attributes
  kmerge uninstall --shared           the block in the committed .gitattributes

The command removes only what kmerge wrote; with --global also what `kmerge vendor` fetched, in
$XDG_CACHE_HOME/kmerge/vendor or ~/.cache/kmerge/vendor. Your own settings (`git config kmerge.*`),
hooks that you changed, and every other line of the attribute files stay.
"""


add_arguments = add_places


def run(args: argparse.Namespace) -> int:
    """Unregister the driver; a second call changes nothing."""
    from kmerge_git.vendored.upstream_copies import cache_folder

    plan = plan_uninstall(Wish(scope=args.scope, shared=args.shared), Path.cwd())
    carry_out(plan, dry_run=args.dry_run, nothing="not registered here, nothing to do")
    if args.scope == "global" and (cache := cache_folder()).is_dir():
        if not args.dry_run:
            shutil.rmtree(cache)
            with suppress(OSError):  # somebody else's files are next to it
                cache.parent.rmdir()
        tell(f"{cache}: remove" if args.dry_run else f"removed {cache}")
    return 0

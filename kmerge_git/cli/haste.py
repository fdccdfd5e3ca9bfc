"""What a command that is all of its process may leave out, to be done sooner."""

from __future__ import annotations

import gc


def make_haste() -> None:
    """Load a quarter of PyYAML, and look for no circles of objects: the trees hold none."""
    from kmerge_git.cli import main
    from kmerge_git.tree import parser

    if main.owns_process:
        gc.disable()
        parser.bare()

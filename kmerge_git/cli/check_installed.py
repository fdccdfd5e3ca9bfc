"""`kmerge check --installed`: does git know the driver that `.gitattributes` names?"""

from __future__ import annotations

import os

from kmerge_git.cli.files import say
from kmerge_git.errors import UsageError

MARK = b"merge=kmerge"


def report() -> int:
    """0 where nobody asks for the driver or git knows it, else 1 and what to do."""
    from kmerge_git.git.blobs import answer, top_of_tree, tracked

    top = top_of_tree()
    if top is None:
        raise UsageError(
            "--installed needs a git repository with a working tree", hint="go into one"
        )
    naming = [
        path
        for path in tracked(top, ".gitattributes", "*/.gitattributes")
        if _asks_for_the_driver(os.path.join(top, path))
    ]
    if not naming or answer("config", "--get", "merge.kmerge.driver").strip():
        return 0
    say(
        f"kmerge: {naming[0]} names the merge driver kmerge, but git here does not know it, so "
        "manifests are merged line by line; run `kmerge install`"
    )
    return 1


def _asks_for_the_driver(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return False
    return any(MARK in line.split() for line in lines if not line.lstrip().startswith(b"#"))

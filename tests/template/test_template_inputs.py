"""Inputs that are no finished templates: git's lines stand, though their blocks could be merged."""

from __future__ import annotations

import pytest

from kmerge_git import merge_files

OPEN = "<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n"


def define(name: str, body: str = "") -> str:
    return f'{{{{- define "{name}" -}}}}\n{body or name}\n{{{{- end }}}}\n'


@pytest.mark.parametrize(
    "path, base, is_refused",
    [
        ("templates/_a.tpl", define("a", OPEN), True),
        ("templates/a.yaml", define("a", OPEN), True),
        ("templates/_a.tpl", define("a"), False),
        ("templates/_a.tpl", define("a", "b\n======="), False),
    ],
)
def test_conflict_markers_in_an_input(path: str, base: str, is_refused: bool) -> None:
    ours, theirs = (base + define(name) for name in ("ours", "theirs"))
    outcome = merge_files(base.encode(), ours.encode(), theirs.encode(), path=path)
    assert outcome.clean != is_refused
    assert outcome.method == ("lines" if is_refused else "structure")

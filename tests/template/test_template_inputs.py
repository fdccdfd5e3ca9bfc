"""What leaves git's lines as they are: inputs that are no finished templates, a fault of our own."""

from __future__ import annotations

import pytest

from kmerge_git import merge_files
from kmerge_git.template import template_merge

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


@pytest.mark.parametrize("is_clean", [False, True])
def test_a_bug_costs_a_conflict_and_no_data(
    is_clean: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise ValueError("a bug")

    monkeypatch.setattr(template_merge.Bodies, "by_structure", fail)
    monkeypatch.setattr(template_merge, "new_damage", fail)
    base = "a: {{ .a }}\n\n\nb: 1\n"
    theirs = base.replace("b: 1", "b: 2") if is_clean else "d: 1\n" + base
    outcome = merge_files(base.encode(), b"c: 1\n" + base.encode(), theirs.encode())
    assert (outcome.method, outcome.clean) == ("lines", is_clean)
    assert outcome.reason == "internal error: ValueError: a bug"

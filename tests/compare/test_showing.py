"""What is read: at most as many lines as git prints, and nothing that misleads."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from compare.pull_requests import PULLS, Files

from kmerge_git.compare.folder_changes import FileVersion, compare_folders
from kmerge_git.compare.shown_changes import lines
from kmerge_git.compare.shown_values import folded


def shown(old: Files, new: Files, *, full: bool = False) -> list[str]:
    found = compare_folders(
        *({p: FileVersion(t.encode()) for p, t in v.items()} for v in (old, new))
    )
    return [text for text, _ in lines(found, full=full)]


def git_lines(old: Files, new: Files, root: Path) -> list[str]:
    for name, files in (("a", old), ("b", new)):
        for path, text in files.items():
            place = root / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    command = ["git", "diff", "--no-index", "--no-ext-diff", "-M", "a", "b"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    return done.stdout.splitlines()


def test_there_are_twenty() -> None:
    assert len(PULLS) >= 20


@pytest.mark.parametrize("name", PULLS)
def test_no_more_lines_than_git(name: str, tmp_path: Path) -> None:
    old, new = PULLS[name]
    assert 0 < len(shown(old, new)) <= len(git_lines(old, new, tmp_path))


def test_a_line_has_at_most_160_characters() -> None:
    """The value is below its path, or the path goes on below; --full folds nothing."""
    path = [f"aVeryLongNameOfALevel{n}" for n in range(5)]
    deep = (
        "".join(f"{'  ' * n}{name}:\n" for n, name in enumerate(path)) + f"{'  ' * 5}last: {{}}\n"
    )
    old, new = ({"a.yaml": deep.format(word)} for word in ("some words " * 5, "other words " * 5))
    assert shown(old, new)[1:] == [
        f"  {'.'.join(path)}.last:",
        f"        {('some words ' * 5).strip()} -> {('other words ' * 5).strip()}",
    ]
    assert len(shown(old, new, full=True)) == 2
    path = [f"aVeryLongNameOfALevel{n}" for n in range(9)]
    deep = (
        "".join(f"{'  ' * n}{name}:\n" for n, name in enumerate(path)) + f"{'  ' * 9}last: {{}}\n"
    )
    old, new = ({"a.yaml": deep.format(word)} for word in ("x", "y"))
    assert shown(old, new)[1:] == [
        f"  {'.'.join(path[:6])}",
        f"        .{'.'.join(path[6:])}.last: x -> y",
    ]


def test_a_value_that_is_too_long_for_a_line_begins_below_its_path() -> None:
    name = "aVeryLongNameOfALevel" * 5
    old, new = (f"{n * 3}: {' '.join([f'{n * 9} word'] * 5)}" for n in "xy")
    (path, *rest) = folded(f"  {name}: {old} -> {new}")
    assert path == f"  {name}:"
    assert rest == [f"        {old}", f"        -> {new}"]
    assert [*folded("x" * 350)] == ["x" * 160, f"      {'x' * 154}", f"      {'x' * 36}"]

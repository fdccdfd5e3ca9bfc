"""Every pair of edits of a file that SOPS encrypts: a clean result can be opened and has both."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from depth import part
from worlds.sealed import BASES, Merge, merges, opened, written

from kmerge_git.check.merges.git_versions import (
    GitVersions,
    MergeVersions,
    changed_without_mac,
)
from kmerge_git.git.inmemory import Libgit2LineMerge
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Options, Outcome
from kmerge_git.pipeline import merge, merge_files
from kmerge_git.text.linemerge import Given
from kmerge_git.text.undecided import UNDECIDED
from kmerge_git.tree.documents import YamlText

LINES = Libgit2LineMerge()


@cache
def samples(name: str) -> list[Merge]:
    return [*merges(name)]


def merged(made: Merge, **options: object) -> Outcome:
    texts = made.base, made.ours, made.theirs
    return merge_files(*texts, path=f"s.{made.form}", line_merge=LINES, **options)  # type: ignore[arg-type]


def mirrored(made: Merge) -> Outcome:
    texts = made.base, made.theirs, made.ours
    return merge_files(*texts, path=f"s.{made.form}", line_merge=LINES)


def is_right(made: Merge, text: bytes) -> bool:
    return made.truth is not None and opened(text, made.form) == made.truth


@pytest.mark.parametrize("name", BASES)
def test_the_model_opens_what_it_seals(name: str) -> None:
    file = BASES[name]()
    text = written(file)
    assert opened(text, file.form) is not None
    if not file.mac_only and file.key:
        assert opened(text.replace(b"back", b"front"), file.form) is None


@pytest.mark.parametrize("name", BASES)
def test_a_clean_result_can_be_opened_and_has_both_sides(name: str) -> None:
    clean, wrong, worse, needless = 0, [], [], 0
    for made in part(samples(name)):
        outcome = merged(made)
        if outcome.clean:
            clean += 1
            if not is_right(made, outcome.text) or finds_mac(made, outcome):
                wrong.append(made.name)
            continue
        needless += made.is_free and made.truth is not None
        by_git, is_clean = LINES(made.base, made.ours, made.theirs)
        # both sides changed what SOPS wrote: one value, although git may be lucky
        if is_clean and is_right(made, by_git) and made.kinds != {"sops"}:
            worse.append(made.name)
    assert not (wrong or worse)
    if made.form in ("yaml", "json"):  # the other formats are merged by lines
        assert needless <= clean // 50


def finds_mac(made: Merge, outcome: Outcome) -> bool:
    sides = Three[bytes | None](made.base, made.ours, made.theirs)
    versions = GitVersions(lambda: made.ours, lambda: MergeVersions(sides, outcome.text))
    return made.form == "yaml" and bool([*changed_without_mac(outcome.text, versions)])


@pytest.mark.parametrize("name", BASES)
def test_a_conflict_has_markers_and_the_lines_of_both_sides(name: str) -> None:
    wrong = []
    for made in part(samples(name)[::3]):
        outcome, mirror = merged(made), mirrored(made)
        if (outcome.clean, outcome.reason) != (mirror.clean, mirror.reason) and (
            not outcome.clean or not mirror.clean
        ):
            wrong.append(f"{made.name}: another result with the sides swapped")
        if outcome.clean:
            if opened(outcome.text, made.form) != opened(mirror.text, made.form):
                wrong.append(f"{made.name}: another meaning with the sides swapped")
            continue
        lines = outcome.text.decode().splitlines()
        starts = [line for line in lines if line.startswith("<<<<<<< ")]
        is_marked = starts and lines.count("=======") == len(starts)
        if outcome.method == "sealed" and f"`kmerge explain s.{made.form}`" not in "".join(starts):
            wrong.append(f"{made.name}: the label names no command")
        for side in (made.ours, made.theirs):
            new = set(side.decode().splitlines()) - set(made.base.decode().splitlines())
            if not (is_marked and new <= set(lines)):
                wrong.append(f"{made.name}: lines of a side are not there")
    assert not wrong


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("settings", [{"favor": "theirs"}, {"rules": "kyaml"}])
def test_no_setting_gets_around_the_seal(name: str, settings: dict[str, str]) -> None:
    """Settings decide nothing in a file that is sealed in one of the versions."""
    for made in part(samples(name)[::17]):
        if b"ENC[" in made.ours + made.theirs:
            plain, settled = merged(made), merged(made, **settings)
            assert (settled.clean, settled.text) == (plain.clean, plain.text), made.name


def test_a_merge_of_ancestors_has_a_placeholder() -> None:
    """What both sides solve differently afterwards is a conflict, although one is the old base."""

    def inner(made: Merge) -> Outcome:
        texts = Three(made.base, made.ours, made.theirs).map(lambda data: YamlText(data, "s.yaml"))
        return merge(texts, Options("s.yaml", virtual=True), starter(made))

    for made in part(samples("yaml")[::7]):
        outcome = inner(made)
        if merged(made).clean:
            assert outcome.text == merged(made).text
        elif outcome.method == "sealed":
            assert UNDECIDED in outcome.text.decode()
            for theirs in (made.theirs, made.base):
                after = merge_files(outcome.text, made.ours, theirs, line_merge=LINES)
                assert not after.clean


def starter(made: Merge) -> Callable[[str, int], Given]:
    return lambda favor, size: Given(*LINES(made.base, made.ours, made.theirs))

"""Which files a proposed policy is for, and whether all lines to paste do what each of them says."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from random import Random

import pytest

from kmerge_git.git.settings import matches
from kmerge_git.replay.left_conflicts import FieldPolicy, Judgement, Remaining
from kmerge_git.replay.past_merges import Replayed, Tried
from kmerge_git.replay.policy_trials import Case, Trial, attribute_lines, narrowed, narrowest


@pytest.mark.parametrize(
    "paths, glob",
    [
        (["Chart.yaml"], "/Chart.yaml"),
        (["charts/a/Chart.yaml"], "charts/a/Chart.yaml"),
        (["charts/a/Chart.yaml", "charts/b/Chart.yaml"], "charts/*/Chart.yaml"),
        (["charts/a/Chart.yaml", "charts/a/b/Chart.yaml"], "charts/a/**/Chart.yaml"),
        (["charts/a/Chart.yaml", "Chart.yaml"], "**/Chart.yaml"),
        (["a/x.yaml", "a/y.yaml"], "a/*.yaml"),
        (["a/x.yaml", "a/y.yml"], "a/*"),
        (["a/x.yaml", "b/c/y.yaml"], "**/*.yaml"),
        (["x.yaml", "y.yaml"], "/*.yaml"),
        (["a b/it's.yaml"], "a?b/it?s.yaml"),
        (["!a/für*.yaml"], "?a/f*r?.yaml"),  # git's `?` is one byte
    ],
)
def test_the_narrowest_pattern(paths: list[str], glob: str) -> None:
    assert narrowest(paths) == glob
    assert all(matches(glob, path) for path in paths)


FOLDERS = ["", "a/", "b/", "a/c/", "a/d/", "b/c/", "a/c/d/"]
PATHS = ["".join(parts) for parts in product(FOLDERS, ("x.yaml", "y.yaml", "x.yml"))]


def case(path: str) -> Case:
    file = Replayed("", "", path, {}, False, (), False, (), "", False, "gone", (), (), 0)
    return file, Remaining("", "f.g", "", ("f", "g"))


def test_a_pattern_is_only_widened_where_it_must_be() -> None:
    """Two that have some files in common, and each others of its own, cannot be two lines."""
    fresh = [case("b/x.yaml"), case("b/y.yaml")]
    for other in ("a/*.yaml", "b/*/x.yaml", "b/x.yaml", "b/**", "**/*.yml"):
        assert narrowed("**/*.yaml", "f", fresh, [other]) == ("b/*.yaml", "f.g")
    assert narrowed("**/*.yaml", "f", fresh, ["*/x.yaml"])[0] == "**/*.yaml"
    assert narrowed("**/*.yaml", "f", fresh, ["*/x.yaml", "a/**"])[0] == "*"


def test_a_wider_line_comes_first() -> None:
    rules = [FieldPolicy("11/x.yaml", "a", "higher"), FieldPolicy("?1/x.yaml", "b", "higher")]
    assert attribute_lines([Trial(rule, (), 0) for rule in rules]) == [
        "?1/x.yaml kmerge-policy=b:higher",
        "11/x.yaml kmerge-policy=a:higher,b:higher",
    ]


def test_a_folder_of_deletions_hides_no_policy() -> None:
    rules = [
        FieldPolicy("charts/*/Chart.yaml", "version", "rebump"),
        FieldPolicy("charts/old/**", "", "deletion"),
        FieldPolicy("charts/old/a/b.yaml", "x", "higher"),
        FieldPolicy("apps/*.yaml", "x", "higher"),
    ]
    assert attribute_lines([Trial(rule, (), 0) for rule in rules]) == [
        "apps/*.yaml kmerge-policy=x:higher",
        "charts/*/Chart.yaml kmerge-policy=version:rebump",
        "charts/old/** kmerge-policy=version:rebump,deletion",
        "charts/old/a/b.yaml kmerge-policy=deletion,x:higher",
    ]


@pytest.mark.parametrize(
    "policy, matches, standing",
    [
        ("higher", {"as people": 9, "otherwise": 1}, "safe here"),
        ("higher", {"as people": 5, "unknown": 90, "silent": 90}, "safe here"),
        ("higher", {"as people": 4, "unknown": 5}, ""),
        ("higher", {"as people": 8, "new": 2}, "saves work"),
        ("higher", {"as people": 7, "new": 3}, ""),
        ("rebump", {"as people": 7, "new": 3}, "saves work"),
        ("rebump", {"as people": 5, "new": 5}, "saves work"),
        ("rebump", {"as people": 4, "new": 5}, ""),
        ("union", {"as people": 7, "new": 3}, ""),
        ("ours", {"as people": 9}, ""),
        ("theirs", {"as people": 9}, ""),
    ],
)
def test_the_standing_of_a_policy(policy: str, matches: dict[str, int], standing: str) -> None:
    """Each case is one of another merge and author."""
    names = [name for name, count in matches.items() for _ in range(count)]
    tried = []
    for number, name in enumerate(names):
        file, left = case("a.yaml")
        file = replace(file, commit=str(number), author=str(number))
        is_new = name == "new"
        judgement = Judgement("otherwise" if is_new else name, is_new=is_new)  # type: ignore[arg-type]
        tried.append(Tried(file, ((left, judgement),), ""))
    assert Trial(FieldPolicy("*", "**", policy), tuple(tried), 9).standing == standing


def test_all_lines_together_do_what_each_says() -> None:
    """For every file the last line that matches it has all policies of it, and no other."""
    for seed in range(300):
        random = Random(seed)
        trials: list[Trial] = []
        for number in range(random.randint(1, 5)):
            paths = random.sample(PATHS, random.randint(1, 4))
            name = paths[0].rpartition("/")[2]
            known = [trial.rule.glob for trial in trials]
            glob, _ = narrowed(f"**/{name}", "f", [*map(case, paths)], known)
            assert all(matches(glob, path) for path in paths if path.endswith(name)) or glob == "*"
            trials.append(Trial(FieldPolicy(glob, f"f{number}", "higher"), (), 0))
        lines = [line.split(" kmerge-policy=") for line in attribute_lines(trials)]
        for path in PATHS:
            meant = [t.rule.field for t in trials if matches(t.rule.glob, path)]
            last = next((p for glob, p in reversed(lines) if matches(glob, path)), "")
            found = [word.partition(":")[0] for word in last.split(",") if word]
            assert sorted(found) == sorted(meant), (seed, path, lines)

"""Charts that both sides raised to one version, though other files of them differ."""

from __future__ import annotations

import pytest

from kmerge_git.git.merge_sides import Change, TreeEntry
from kmerge_git.whole.raised_charts import in_words, raised_alike

Files = dict[str, str]
BASE = {
    "c/Chart.yaml": "version: 1.2.0\n",
    "c/values.yaml": "a: 1\n",
    "c/templates/x.yaml": "a: 1\n",
    "c/charts/sub/Chart.yaml": "version: 1.0.0\n",
    "c/charts/sub/values.yaml": "a: 1\n",
    "d/values.yaml": "a: 1\n",
}
UP = {"c/Chart.yaml": "version: 1.3.0\n"}
ON = {"c/values.yaml": "a: 2\n"}


def entry(text: str | None) -> TreeEntry | None:
    return TreeEntry(text, 0o100644) if text is not None else None


def raised(
    ours: dict[str, str | None], theirs: dict[str, str | None]
) -> list[tuple[str, str, list[str]]]:
    sides = (
        [Change(name, name, entry(BASE.get(name)), entry(text)) for name, text in side.items()]
        for side in (ours, theirs)
    )
    there = {name for name in {**BASE, **ours, **theirs} if ours.get(name, "") is not None}
    return list(raised_alike(*sides, str.encode, there.__contains__))


FOUND = ("c/Chart.yaml", "1.3.0")


@pytest.mark.parametrize(
    "ours, theirs, files",
    [
        ({**UP, **ON}, UP, ["c/values.yaml"]),
        (UP, {**UP, **ON}, ["c/values.yaml"]),
        ({**UP, **ON}, {**UP, "c/values.yaml": "a: 3\n"}, ["c/values.yaml"]),
        ({**UP, "c/new": "x"}, {**UP, "c/templates/x.yaml": None}, ["c/new", "c/templates/x.yaml"]),
        # one that was cherry-picked, or no release at all
        ({**UP, **ON}, {**UP, **ON}, []),
        (UP, UP, []),
        ({**UP, **ON, "d/values.yaml": "a: 2\n"}, {**UP, **ON}, []),
        # a chart in it, and a file beside it, are not of the chart
        ({**UP, "c/charts/sub/values.yaml": "a: 2\n"}, UP, []),
        ({**UP, "c/charts/new/Chart.yaml": "version: 1.0.0\n"}, UP, []),
        ({**UP, "c/charts/new/values.yaml": "a: 1\n"}, UP, ["c/charts/new/values.yaml"]),
        ({**UP, "cc/values.yaml": "a: 1\n", "values.yaml": "a: 1\n"}, UP, []),
        # not both raised it, not to one version, or not up
        ({**UP, **ON}, {}, []),
        (ON, UP, []),
        ({**UP, **ON}, {"c/Chart.yaml": "version: 1.3.1\n"}, []),
        ({"c/Chart.yaml": "version: 1.1.0\n", **ON}, {"c/Chart.yaml": "version: 1.1.0\n"}, []),
        ({"c/Chart.yaml": None, **ON}, UP, []),
        ({"c/Chart.yaml": "version: [\n", **ON}, {"c/Chart.yaml": "version: [\n"}, []),
        ({"c/Chart.yaml": "", **ON}, {"c/Chart.yaml": ""}, []),
        ({"c/Chart.yaml": "- 1.3.0\n", **ON}, {"c/Chart.yaml": "- 1.3.0\n"}, []),
        ({"d/Chart.yaml": "version: 1.3.0\n", "d/x": "1"}, {"d/Chart.yaml": "version: 1.3.0\n"}, []),
    ],
)  # fmt: skip
def test_which_charts(
    ours: dict[str, str | None], theirs: dict[str, str | None], files: list[str]
) -> None:
    assert raised(ours, theirs) == ([(*FOUND, files)] if files else [])


def test_the_version_counts_and_not_the_rest_of_the_file() -> None:
    ours = {"c/Chart.yaml": "version: '1.3.0'\nappVersion: 2\n", **ON}
    assert raised(ours, dict(UP)) == [(*FOUND, ["c/values.yaml"])]


def test_a_prerelease_is_raised_too() -> None:
    pre = {"c/Chart.yaml": "version: 1.3.0-beta.2\n"}
    assert raised({**pre, **ON}, dict(pre)) == [("c/Chart.yaml", "1.3.0-beta.2", ["c/values.yaml"])]


def test_the_words() -> None:
    words = "both sides raised the version to 1.3.0 but differ in a"
    assert in_words("1.3.0", ["a"]) == words
    assert in_words("1.3.0", ["a", "b", "c"]) == f"{words} and 2 more"

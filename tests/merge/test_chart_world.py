"""Every pair of versions and changelogs of a chart under `rebump` and `mine`, for either side."""

from __future__ import annotations

import pytest
from depth import part
from worlds.charts import RULES, charts

from kmerge_git.api import merge_files
from kmerge_git.merge.decide.policies import policy_for
from kmerge_git.merge.plan import Why
from kmerge_git.outcome import Outcome

PATH = "charts/x/Chart.yaml"
FIELD = RULES[1][0]


@pytest.mark.parametrize(
    "mine, is_topic",
    [("ours", True), ("ours", False), ("ours", None), ("theirs", False), ("", None)],
)
def test_what_goes_on_top(mine: str, is_topic: bool | None) -> None:
    """None: nobody asks what is merged into, as in the merge of three files."""
    ask = None if is_topic is None else lambda: bool(is_topic)
    policy = policy_for(RULES, mine, PATH, ask)
    with_changes = mine == "theirs" or is_topic is not False
    wrong = []
    for chart in part(charts()):
        texts = (chart.text(number).encode() for number in range(3))
        made = merge_files(*texts, path=PATH, policy=policy)
        number = ("", "ours", "theirs").index(mine)
        text, left = chart.truth(number, with_changes=with_changes)
        found = {conflict.field for conflict in made.conflicts}
        if found != left or (not left and made.text.decode() != text):
            wrong.append((chart, made.text.decode(), left, found))
    assert not wrong, f"{len(wrong)}: {wrong[:3]}"


CHART = """\
version: {}
annotations:
  images: {}
  artifacthub.io/changes: |
    - {}
"""


def merged(rules: list[tuple[str, str]], path: str = PATH, of: str = CHART) -> Outcome:
    texts = (("1.0.0", "a", "a"), ("1.0.1", "b", "b"), ("1.1.0", "c", "c"))
    policy = policy_for(rules, "ours", path)
    return merge_files(*(of.format(*each).encode() for each in texts), path=path, policy=policy)


def left(outcome: Outcome) -> list[str]:
    return [conflict.field for conflict in outcome.conflicts]


def test_every_use_is_reported() -> None:
    made = merged([("version", "rebump"), (FIELD, "mine"), ("**.images", "mine")])
    assert made.text.decode() == CHART.format("1.1.1", "b", "b")
    assert [(d.path, d.side, d.rule) for d in made.decisions] == [
        ("version", "neither", "12 policy rebump"),
        ("annotations.images", "ours", "12 policy mine"),
        (FIELD, "ours", "12 policy mine"),
    ]


@pytest.mark.parametrize("field", ["**", "annotations.**", "annotations.*", "annotations[*]"])
def test_only_for_what_a_pattern_names(field: str) -> None:
    made = merged([("version", "rebump"), (field, "mine")])
    assert left(made) == ["annotations.images", FIELD]
    said = [d.what for d in made.explained if d.path == FIELD]
    assert said == [f"{Why.BOTH_CHANGED}"]


@pytest.mark.parametrize(
    "path, of, count",
    [(PATH, CHART, 0), (PATH, CHART.replace("annotations", "notes"), 2), ("c/x.yaml", CHART, 2)],
)
def test_only_for_annotations_of_a_chart(path: str, of: str, count: int) -> None:
    rules = [("version", "ours"), ("*.images", "mine"), ("*[artifacthub.io/changes]", "mine")]
    assert len(left(merged(rules, path, of))) == count


@pytest.mark.parametrize(
    "policy, has_both",
    [("rebump", True), ("ours", True), ("higher", False), ("theirs", False), ("union", False)],
)
def test_the_version_of_the_same_side_is_decided_first(policy: str, has_both: bool) -> None:
    """Or the changelog of a version that stays would be lost."""
    made = merged([("version", policy), (FIELD, "mine")])
    assert (FIELD not in left(made)) == has_both
    if not has_both:
        why = f"{Why.BOTH_CHANGED} (policy mine: no policy took the chart's `version` from ours)"
        assert [d.what for d in made.explained if d.path == FIELD] == [why]


def test_comments_merge_as_always() -> None:
    texts = [CHART.format("1.0.0", "a", "a"), CHART.format("1.0.1", "b", "b")]
    texts += [CHART.format("1.1.0", "c", "c")]
    texts[2] = texts[2].replace("  artifacthub", "  # new\n  artifacthub")
    policy = policy_for(
        [("version", "rebump"), (FIELD, "mine"), ("**.images", "mine")], "ours", PATH
    )
    made = merge_files(*(text.encode() for text in texts), path=PATH, policy=policy)
    assert made.text.decode() == CHART.format("1.1.1", "b", "b").replace(
        "  artifacthub", "  # new\n  artifacthub"
    )

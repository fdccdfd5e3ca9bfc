"""What holds of every policy: the same for either side, nothing clean becomes a conflict."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kmerge_git.api import merge_files
from kmerge_git.merge.decide.policies import policy_for
from kmerge_git.outcome import Outcome
from kmerge_git.tree.plain_values import load

TAGS = [
    "1.0",
    "1.1",
    "1.2-alpine",
    '"1.9"',
    "1.10",
    "v2",
    "v2.0.1-rc.1",
    "a:1",
    "a:2",
    "b:2@sha256:0",
]
ODD = [
    "20240101-4b1eb2a",
    "20240201-0a1eb2a",
    "PR-1",
    "PR-2",
    "3",
    "5",
    "0.5",
    "~",
    "!!str 1.1",
    "main",
    "",
]
CHARTS = [
    "1.2.0",
    "1.2.1",
    "1.3.0",
    "2.0.0",
    "1.3.0-rc.1",
    "1.2.0+b",
    '"1.2"',
    "1.3",
    "v1.2.3",
    "v1.2.9",
]
COMMENTS = ["", "  # one", "  # two"]
FIELDS = ("version", "tag", "digest", "image", "repository", "time")

value = st.sampled_from([*TAGS, *ODD, *CHARTS])
line = st.tuples(value, st.sampled_from(COMMENTS))
version = st.dictionaries(st.sampled_from(FIELDS), line, min_size=1)
elements = st.lists(st.sampled_from(["- x", "- y", "- z  # c", "- 1.1"]), max_size=4)
side = st.tuples(version, version, elements)
rules = st.lists(
    st.tuples(
        st.sampled_from(["**", "version", "**.tag", "**.digest", "image"]),
        st.sampled_from(["higher", "rebump", "union"]),
    ),
    min_size=1,
    max_size=3,
)
OTHER = {"ours": "theirs", "theirs": "ours", "": ""}


def text(
    top: dict[str, tuple[str, str]], inner: dict[str, tuple[str, str]], args: list[str]
) -> bytes:
    """A chart with fields of its own, a map of others and a list."""
    lines = [f"{name}: {found}{comment}" for name, (found, comment) in sorted(top.items())]
    lines += ["sub:", *(f"  {name}: {v}{c}" for name, (v, c) in sorted(inner.items()))]
    return "\n".join([*lines, "args:", *args, "end: 1", ""]).encode()


def merged(three: list[bytes], found: list[tuple[str, str]], mine: str) -> Outcome:
    policy = policy_for(found, mine, "a/Chart.yaml")
    return merge_files(three[0], three[1], three[2], path="a/Chart.yaml", policy=policy)


def places(outcome: Outcome) -> set[str]:
    return {conflict.place for conflict in outcome.conflicts}


@settings(max_examples=200)
@given(side, side, side, rules, st.sampled_from(["ours", "theirs", ""]))
def test_the_laws_of_policies(
    base: tuple, ours: tuple, theirs: tuple, found: list[tuple[str, str]], mine: str
) -> None:
    three = [text(*base), text(*ours), text(*theirs)]
    plain = merged(three, [], "")
    made = merged(three, found, mine)
    assert "internal error" not in made.reason
    again = merged(three, found, mine)
    assert (made.text, places(made)) == (again.text, places(again))
    if plain.clean:
        assert made.text == plain.text and made.clean
    assert len(made.conflicts) <= len(plain.conflicts)
    back = merged([three[0], three[2], three[1]], found, OTHER[mine])
    assert (back.clean, places(back)) == (made.clean, places(made))
    if made.clean and not any(d.side == "union" for d in made.decisions):
        assert load(back.text) == load(made.text)


@given(*[st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=20)] * 3)
def test_any_value_is_settled_or_left(base: str, ours: str, theirs: str) -> None:
    """Whatever stands there, as text in quotes; nothing breaks the merge."""
    three = [f"version: {_quoted(v)}\ntag: {_quoted(v)}\n".encode() for v in (base, ours, theirs)]
    for name in ("higher", "rebump", "union"):
        made = merged(three, [("**", name), ("version", name)], "ours")
        assert "internal error" not in made.reason


def test_digits_of_other_scripts_are_no_numbers() -> None:
    for one, other in (("²", "²"), ("٣", "٣"), ("1", "²")):
        three = [f"tag: {v}\n".encode() for v in ("a", f"{one}.5", f"{other}.6")]
        assert "internal error" not in merged(three, [("**", "higher")], "ours").reason


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"

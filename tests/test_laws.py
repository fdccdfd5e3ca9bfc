"""The laws of a merge over random manifests with random edits, and over any bytes at all."""

from __future__ import annotations

from random import Random

import laws
import pytest
import strategies
from depth import quarter_of_examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kmerge_git.api import merge_files
from kmerge_git.merge import by_resource, elision


def obey_the_laws(trio: strategies.Trio) -> None:
    assume(laws.comparable(trio))
    laws.obey(trio)


# The law for each number of edits a side: 800 merges in all; `tools/check_laws.py random --day`
# makes others every day. Nothing is drawn inside of a test, or the first quarter of its examples
# would not end where it does in the whole.
RANDOM_EDITS = {
    most: settings(max_examples=200)(given(trio=strategies.trios(most))(obey_the_laws))
    for most in (1, 2, 3, 5)
}


@pytest.mark.parametrize("most", RANDOM_EDITS)
def test_random_edits_obey_the_laws(most: int) -> None:
    with quarter_of_examples(RANDOM_EDITS[most]):
        RANDOM_EDITS[most]()


@settings(max_examples=300)
@given(trio=strategies.text_trios())
def test_edits_of_one_text_obey_the_laws(trio: strategies.Trio) -> None:
    assume(laws.comparable(trio))
    laws.obey(trio)


@pytest.mark.rates
def test_almost_every_merge_is_made_by_structure() -> None:
    """A result that does not pass the proof costs a merge by lines: that must be rare."""
    made = [strategies.trio(Random(seed), 3) for seed in range(300)]
    outcomes = [laws.merge(trio) for trio in made if laws.comparable(trio)]
    assert len(outcomes) > 250
    assert sum(outcome.method == "lines" for outcome in outcomes) <= 2


@pytest.mark.rates
def test_the_referee_hardly_ever_objects() -> None:
    """What it objects to is a fault of the merge that costs a conflict: that must be rare, too."""
    made = [strategies.trio(Random(seed), 3) for seed in range(300)]
    outcomes = [laws.merge(trio) for trio in made if laws.comparable(trio)]
    assert sum(map(laws.is_uncertain, outcomes)) <= 9


@settings(max_examples=100)
@given(trio=strategies.trios(3), favor=st.sampled_from(["ours", "theirs"]))
def test_a_favoured_side_leaves_no_conflict(trio: strategies.Trio, favor: str) -> None:
    assume(laws.comparable(trio))
    outcome = merge_files(*trio, favor=favor, line_merge=lambda *_: (b"", False))
    if outcome.method == "structure":
        assert outcome.clean
        laws.load(outcome.text)


@settings(max_examples=100)
@given(trio=strategies.trios(2))
def test_a_large_document_merges_as_a_small_one(trio: strategies.Trio) -> None:
    """Runs that nobody changed are taken out of large documents: that must not be seen."""
    assume(laws.comparable(trio))
    whole = laws.merge(trio)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(elision, "WORTH", 20)
        patch.setattr(by_resource, "LARGE", 0)
        elided = laws.merge(trio)
    assert elided.text == whole.text
    assert [c.place for c in elided.conflicts] == [c.place for c in whole.conflicts]


@settings(max_examples=100)
@given(trio=strategies.trios(2))
def test_with_the_line_merge_of_git_a_clean_result_is_sound(trio: strategies.Trio) -> None:
    assume(laws.comparable(trio))
    outcome = merge_files(*trio)
    if outcome.clean:
        laws.load(outcome.text)


YAML_LIKE = st.lists(
    st.sampled_from(
        [
            *(
                b"a",
                b"b",
                b"- ",
                b": ",
                b":",
                b"\n",
                b"\n  ",
                b"\n    ",
                b"#",
                b" ",
                b"\t",
                b"---\n",
            ),
            *(
                b"...\n",
                b"{",
                b"}",
                b"[",
                b"]",
                b",",
                b"'",
                b'"',
                b"|",
                b">",
                b"-",
                b"?",
                b"&x ",
                b"*x",
            ),
            *(b"!t ", b"%", b"\r\n", b"\r", b"<<<<<<< x\n", b"=======\n", b">>>>>>> y\n", b"<<: "),
            *(
                b"\xef\xbb\xbf",
                b"\xc2\x85",
                b"\xe2\x80\xa8",
                b"kind: A\n",
                b"metadata:\n  name: b\n",
            ),
        ]
    ),
    max_size=14,
).map(b"".join)


@settings(max_examples=200)
@given(base=st.binary(max_size=40), ours=st.binary(max_size=40), theirs=st.binary(max_size=40))
def test_any_bytes_have_an_outcome(base: bytes, ours: bytes, theirs: bytes) -> None:
    outcome = merge_files(base, ours, theirs)
    assert outcome.clean == (not outcome.conflicts)


@settings(max_examples=500)
@given(base=YAML_LIKE, ours=YAML_LIKE, theirs=YAML_LIKE)
def test_anything_like_yaml_obeys_the_laws(base: bytes, ours: bytes, theirs: bytes) -> None:
    trio = (base, ours, theirs)
    outcome = laws.merge(trio)
    assert outcome.clean == (not outcome.conflicts)
    if laws.comparable(trio) and outcome.method == "structure":
        laws.nothing_lost(trio, outcome)

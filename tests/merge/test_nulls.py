"""The quick look for nulls may see one too many, but never misses one."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kmerge_git.errors import KmergeError
from kmerge_git.merge.kyaml.value_parts import holds_null, may_hold_null
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split

LINES = st.sampled_from(
    [
        "a:",
        "b: 1",
        "  c:",
        "  d: x",
        "- e:",
        "- f: 1",
        "  - g:",
        "  - h",
        "# i:",
        "  # j",
        "",
        "   ",
        "k: # l",
        "m: {}",
        "n: {o: }",
        "p: [q: ]",
        "r: ~",
        "? s",
        ": t",
        "    v:",
        "w: null",
        "x: &y",
        "z: !!null",
        "- - a:",
        "    - b: 1",
        "c:  ",
        "d: 'null'",
        "-",
        "e: f:",
    ]
)


@given(st.lists(LINES, max_size=9).map(lambda lines: "".join(f"{line}\n" for line in lines)))
@example("a:\n  b:\n")
@example("l:\n- a:\n- b: 1\n")
def test_no_null_is_missed(text):
    try:
        documents = split(Source(text.encode())).documents
        found = any(d.root is not None and holds_null(d.root) for d in documents)
    except KmergeError:
        return
    assert may_hold_null(text) or not found


@pytest.mark.parametrize(
    "text",
    [
        "a:\n  b: 1\n",
        "l:\n- a: 1\n- b:\n    c: 1\n",
        "a: # why\n  # more\n\n  b: {}\n",
        "- a:\n  - b\n",
        "kind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - name: a\n",
    ],
)
def test_usual_texts_need_no_parser(text):
    assert not may_hold_null(text)

"""Our spelling of a key with theirs' value: what stands between them, and at which columns."""

from __future__ import annotations

import pytest

from kmerge_git.api import merge_files

# Ours puts a key in quotes, theirs changes its value.
TABLE = {
    "a list below a key without a value": (
        "k:\n  ? a\n  b: 1\n",
        "k:\n  ? 'a'\n  b: 1\n",
        "k:\n  ? a\n  : - 1\n    - 2\n  b: 1\n",
        "k:\n  ? 'a'\n  : - 1\n    - 2\n  b: 1\n",
    ),
    "a map below a key without a value": (
        "k:\n  ? a\n  b: 1\n",
        "k:\n  ? 'a'\n  b: 1\n",
        "k:\n  ? a\n  :\n    x: 1\n  b: 1\n",
        "k:\n  ? 'a'\n  :\n    x: 1\n  b: 1\n",
    ),
    "a comment between the key and a text": (
        "k:\n  ? a # c\n  : |\n    x\n  b: 1\n",
        "k:\n  ? 'a' # c\n  : |\n    x\n  b: 1\n",
        "k:\n  ? a # c\n  : 1\n  b: 1\n",
        "k:\n  ? 'a' # c\n  : 1\n  b: 1\n",
    ),
    "a blank before the colon": (
        "k:\n  a : |\n    x\n  b: 1\n",
        "k:\n  'a' : |\n    x\n  b: 1\n",
        "k:\n  a : 1\n  b: 1\n",
        "k:\n  'a' : 1\n  b: 1\n",
    ),
    "several lines between brackets, further right": (
        "k: {a: 1, b: 1}\n",
        'k: {a: 1, "b": 1}\n',
        "k: {\n  a: 1,\n  b: {\n    x: 2\n  }\n}\n",
        'k: {a: 1, "b": {\n            x: 2\n          }}\n',
    ),
    "several lines between brackets, further left": (
        "k: {a: 1,\n  b: 1}\n",
        'k: {a: 1,\n  "b": 1}\n',
        "k: {a: 1, b: {\n             x: 2\n          }}\n",
        'k: {a: 1,\n  "b": {\n     x: 2\n  }}\n',
    ),
}


@pytest.mark.parametrize("base, ours, theirs, expected", TABLE.values(), ids=TABLE)
def test_a_key_of_ours_with_a_value_of_theirs(
    base: str, ours: str, theirs: str, expected: str
) -> None:
    trio = (text.encode() for text in (base, ours, theirs))
    outcome = merge_files(*trio, line_merge=lambda *_: (b"", False))
    assert (outcome.text.decode(), outcome.clean) == (expected, True)

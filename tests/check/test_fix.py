"""`--fix`: what is mended, byte for byte, and what is left alone."""

from __future__ import annotations

import pytest

from kmerge_git.check.fix import fixed
from kmerge_git.check.run import Run
from kmerge_git.check.world import nowhere

HEAD = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: a\nspec:\n"
LIST = "  template:\n    spec:\n      containers:\n"

MENDED = [
    ("  strategy:\n    $path: replace\n    type: Recreate\n", "  strategy:\n    $patch: replace\n    type: Recreate\n"),
    ('  strategy:\n    "$Patch" : replace # a\n', '  strategy:\n    "$patch" : replace # a\n'),
    ("  strategy: {$pacth: replace, type: R}\n", "  strategy: {$patch: replace, type: R}\n"),
    (LIST + "      - name: a\n        patch: delete\n", LIST + "      - name: a\n        $patch: delete\n"),
    ("  strategy:\n    # why\n    $patch: merge # x\n    type: R\n", "  strategy:\n    # why\n    type: R\n"),
    ("  strategy: {$patch: merge, type: R}\n", "  strategy: {type: R}\n"),
    ("  strategy: {type: R, $patch: merge}\n", "  strategy: {type: R}\n"),
    (LIST + "      - $patch: merge\n        name: a\n", LIST + "      - name: a\n"),
    ("  strategy:\n    rollingUpdate:\n      $patch: delete\n    type: R\n", "  strategy:\n    rollingUpdate: null\n    type: R\n"),
    ("  strategy:\n    rollingUpdate: {$patch: delete}\n", "  strategy:\n    rollingUpdate: null\n"),
    (
        "  strategy:\n    rollingUpdate:\n      $patch: delete\n  template:\n    $path: replace\n    spec: {}\n",
        "  strategy:\n    rollingUpdate: null\n  template:\n    $patch: replace\n    spec: {}\n",
    ),
]  # fmt: skip

LEFT = [
    "  strategy:\n    $patch: merge\n",  # the map would become a null
    "  strategy:\n    rollingUpdate:\n      # why\n      $patch: delete\n",
    "  strategy:\n    rollingUpdate:\n      $patch: delete\n      maxSurge: 1\n",
    "  strategy:\n    $patch: remove\n",  # nobody knows what was meant
    "  strategy:\n    $path: remove\n    type: R\n",  # one error would make room for another
]


def mend(text: bytes) -> tuple[bytes, list[str]]:
    def again(data: bytes) -> list:
        return Run(nowhere()).file("a-patch.yaml", data)

    new, done = fixed(text, again(text), again)
    return new, [finding.id for finding in done]


@pytest.mark.parametrize("old, new", MENDED)
@pytest.mark.parametrize("eol", ["\n", "\r\n"])
@pytest.mark.parametrize("begin", ["", "\ufeff"])
def test_mended(old: str, new: str, eol: str, begin: str) -> None:
    def encoded(text: str) -> bytes:
        return (begin + HEAD + text).replace("\n", eol).encode()

    result, done = mend(encoded(old))
    assert result == encoded(new)
    assert done


@pytest.mark.parametrize("text", LEFT)
def test_left_alone(text: str) -> None:
    data = (HEAD + text).encode()
    assert mend(data) == (data, [])


def test_inside_an_inline_patch() -> None:
    def again(data: bytes) -> list:
        return Run(nowhere()).file("kustomization.yaml", data)

    text = (
        b"resources: [https://x]\npatches:\n- patch: |\n    apiVersion: apps/v1\n    kind: Deployment\n"
        b"    metadata: {name: a}\n    spec:\n      strategy:\n        $path: replace\n        type: R\n"
    )
    new, done = fixed(text, again(text), again)
    assert new == text.replace(b"$path", b"$patch")
    assert [f.id for f in done] == ["D50"]

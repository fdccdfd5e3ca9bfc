"""`--fix`: what is mended, byte for byte, and what is left alone."""

from __future__ import annotations

import pytest

from kmerge_git.check.checked_texts import nowhere
from kmerge_git.check.patches.patch_fix import fixed
from kmerge_git.check.run import Run
from kmerge_git.finding import Finding

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
    ("  strategy:\n    rollingUpdate: {'$patch': 'delete'}\n", "  strategy:\n    rollingUpdate: null\n"),
    ("  strategy:\n    'rollingUpdate':\n      \"$patch\" : delete\n", "  strategy:\n    'rollingUpdate': null\n"),
    ("  strategy: {\n    rollingUpdate: {\n      $patch: delete\n    }\n  }\n", "  strategy: {\n    rollingUpdate: null\n  }\n"),
    (LIST + "      - resources:\n          $patch: delete\n        name: a\n", LIST + "      - resources: null\n        name: a\n"),
    (LIST + "      - $patch: merge # why\n        name: a\n", LIST + "      - name: a\n"),
    (LIST + '      - "$patch": "merge"\n        name: a\n', LIST + "      - name: a\n"),
    (LIST + "      - {$patch: merge, name: a}\n", LIST + "      - {name: a}\n"),
    (LIST + "      - {name: a, '$patch': merge }\n", LIST + "      - {name: a }\n"),
    ("  strategy: {\n    $patch: merge,\n    type: R\n  }\n", "  strategy: {\n    type: R\n  }\n"),
    ("  strategy: {\n    type: R,\n    $patch: merge\n  }\n", "  strategy: {\n    type: R\n  }\n"),
    ("  strategy: {type: R,\n    $patch: merge}\n", "  strategy: {type: R}\n"),
    (LIST + "      - $path: delete\n        name: a\n", LIST + "      - $patch: delete\n        name: a\n"),
    (LIST + "      - {name: a, '$Patch': delete}\n", LIST + "      - {name: a, '$patch': delete}\n"),
    (LIST + '      - "patch": delete\n        name: a\n', LIST + '      - "$patch": delete\n        name: a\n'),
    (LIST + "      - {name: a, patch: delete}\n", LIST + "      - {name: a, $patch: delete}\n"),
    (LIST + "      - name: a\n        image: b\n        patch: delete\n", LIST + "      - name: a\n        image: b\n        $patch: delete\n"),
    ("  strategy:\n    retainKeys: [type]\n    type: R\n", "  strategy:\n    $retainKeys: [type]\n    type: R\n"),
    ("  template:\n    spec:\n      $setElementorder/containers:\n      - name: a\n", "  template:\n    spec:\n      $setElementOrder/containers:\n      - name: a\n"),
    (
        "  strategy:\n    rollingUpdate:\n      $patch: delete\n  template:\n    $path: replace\n    spec: {}\n",
        "  strategy:\n    rollingUpdate: null\n  template:\n    $patch: replace\n    spec: {}\n",
    ),
]  # fmt: skip

LEFT = [
    LIST + "      - name: a\n        $patch:\n          merge\n        image: b\n",
    "  strategy:\n    type: R\n    rollingUpdate:\n      $patch:\n        delete\n",
    "  strategy:\n    $patch: merge\n",  # the map would become a null
    "  strategy:\n    rollingUpdate:\n      # why\n      $patch: delete\n",
    "  strategy:\n    rollingUpdate:\n      $patch: delete\n      maxSurge: 1\n",
    "  strategy:\n    $patch: remove\n",  # nobody knows what was meant
    "  strategy:\n    $path: remove\n    type: R\n",  # one error would make room for another
    "  strategy:\n    $patch: merge\n    $patch: merge\n    type: R\n",  # which of the two?
    "  strategy: {type: R, # why\n    $patch: merge}\n",  # the comment would take the brace
    "  strategy:\n    rollingUpdate: # why\n      $patch: delete\n",
    "  strategy:\n    rollingUpdate: &a\n      $patch: delete\n",
    "  $patch: delete\n",  # nobody means a null
    "  strategy:\n    retainKeys: [type]\n    rollingUpdate: {}\n",  # would be refused
    "  strategy: {? $patch : merge, type: R}\n",
]


FAULTS_OF_KUBECTL = ("$patch: merge", "$patch: delete", "$patch : delete")


def mend(text: bytes, tools: str = "") -> tuple[bytes, list[str]]:
    def again(data: bytes) -> list[Finding]:
        return Run(nowhere(), told="patch", tools=tools).file("a.yaml", data)

    found = again(text)
    new, done = fixed(text, found, again)
    # what can be mended says so, and nothing else does
    assert [f for f in found if f.fix] == done
    assert [f for f in found if "--fix" in f.mend] == done
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
    assert mend(encoded(old), "K")[0] == encoded(new)
    # kustomize knows neither these faults nor the other directives
    is_kustomize = "retain" not in old and "Element" not in old and not is_fault_of_kubectl(old)
    if is_kustomize:
        assert mend(encoded(old), "Z")[0] == encoded(new)


def is_fault_of_kubectl(text: str) -> bool:
    return any(word in text.replace("'", "").replace('"', "") for word in FAULTS_OF_KUBECTL)


@pytest.mark.parametrize("text", LEFT)
def test_left_alone(text: str) -> None:
    data = (HEAD + text).encode()
    for tools in ("", "K", "Z"):
        assert mend(data, tools) == (data, [])


FOR_KUSTOMIZE = [
    "  strategy:\n    retainKeys: [type]\n    type: R\n",
    "  strategy:\n    $retainkeys: [type]\n    type: R\n",
    "  strategy:\n    $patch: merge\n    type: R\n",
    "  strategy:\n    rollingUpdate:\n      $patch: delete\n",
]


@pytest.mark.parametrize("text", FOR_KUSTOMIZE)
def test_kustomize_needs_another_mend(text: str) -> None:
    data = (HEAD + text).encode()
    assert mend(data)[1]
    assert mend(data, "Z") == (data, [])


def test_what_kustomize_does_not_know_is_not_proposed() -> None:
    found = Run(nowhere(), told="patch", tools="Z").file(
        "a.yaml", (HEAD + FOR_KUSTOMIZE[0]).encode()
    )
    assert [f.id for f in found] == ["D51"]
    assert found[0].message.endswith("; kustomize knows only $patch; remove this directive")


def test_inside_an_inline_patch() -> None:
    def again(data: bytes) -> list[Finding]:
        return Run(nowhere()).file("kustomization.yaml", data)

    text = (
        b"resources: [https://x]\npatches:\n- patch: |\n    apiVersion: apps/v1\n    kind: Deployment\n"
        b"    metadata: {name: a}\n    spec:\n      strategy:\n        $path: replace\n        type: R\n"
    )
    new, done = fixed(text, again(text), again)
    assert new == text.replace(b"$path", b"$patch")
    assert [f.id for f in done] == ["D50"]


SPELLED = [
    ("literal", "  patch: |\n    {}\n", True),
    ("literal with an indent", "  patch: |2-\n    {}\n", True),
    ("folded", "  patch: >\n    {}\n", False),
    ("quoted", '  patch: "{}"\n', False),
]


@pytest.mark.parametrize("why, begin, is_mended", SPELLED, ids=[c[0] for c in SPELLED])
def test_an_inline_patch_is_mended_where_its_lines_are(
    why: str, begin: str, is_mended: bool
) -> None:
    patch = HEAD + LIST + "      - name: b\n        patch: delete\n"
    if why == "quoted":
        text = begin.format(patch.replace("\n", "\\n"))
    else:
        blank = "\n\n" if why == "folded" else "\n"
        lines = patch.rstrip("\n").split("\n")
        text = begin.format(f"{blank}    ".join(lines))
    data = ("resources: [https://x]\npatches:\n-" + text[1:]).encode()

    def again(data: bytes) -> list[Finding]:
        return Run(nowhere()).file("kustomization.yaml", data)

    found = again(data)
    new, done = fixed(data, found, again)
    assert [f for f in found if f.fix] == done
    assert new == (data.replace(b" patch: delete", b" $patch: delete") if is_mended else data)
    assert "D51" in {f.id for f in found}

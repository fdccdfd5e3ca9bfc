"""How the paths of findings are printed: all in the language of `kube.fieldpath`, quoted."""

from __future__ import annotations

import pytest
from tables import DEPLOYMENT, POD_SPEC, as_kubectl, check

UNKNOWN = "  $patch: x\n"
CASES = [
    ("a plain key", f"metadata:\n{UNKNOWN}", "metadata"),
    ("dots and slashes", "metadata:\n  labels:\n    a.b/c: {$patch: x}\n", 'metadata.labels["a.b/c"]'),
    ("a key with quotes", f"'a\"b':\n{UNKNOWN}", '["a\\"b"]'),
    ("a key of two lines", f'"a\\nb":\n{UNKNOWN}', '["a\\nb"]'),
    ("an empty key", f"'':\n{UNKNOWN}", '[""]'),
    ("letters of any script", f"größe:\n{UNKNOWN}", '["größe"]'),
    ("an element by its key", "spec:\n  containers:\n  - name: web\n    env: {$patch: x}\n", 'spec.containers[name="web"].env'),
    ("an element by its place", "spec:\n  tolerations:\n  - env: {$patch: x}\n", "spec.tolerations[0].env"),
    ("a key of an element with quotes", "spec:\n  volumes:\n  - {name: 'a\"b', nfs: {$patch: x}}\n", 'spec.volumes[name="a\\"b"].nfs'),
]  # fmt: skip


@pytest.mark.parametrize("why, text, path", CASES, ids=[c[0] for c in CASES])
def test_the_path_of_a_finding(why: str, text: str, path: str) -> None:
    found = [f for f in as_kubectl("kind: Pod\napiVersion: v1\n" + text) if f.id == "D01"]
    assert [f.path for f in found] == [path]
    assert found[0].message.startswith(f'{path}: "$patch: x" is no')


def test_the_value_of_a_key_with_dots() -> None:
    found = as_kubectl(DEPLOYMENT + "  annotations:\n    a.b/c: yes\n")
    assert [f.path for f in found] == ['metadata.annotations["a.b/c"]']


def test_a_directive_stands_as_it_is_written() -> None:
    text = POD_SPEC + "      hostname: a\n      $setElementOrder/containers: [{name: a}]\n"
    found = check({"web.yaml": text.replace("spec:\n", "spec:\n  selector: {}\n", 1)})
    assert [(f.id, f.path) for f in found if f.id == "D60"] == [
        ("D60", "spec.template.spec.$setElementOrder/containers")
    ]


def test_a_message_names_the_key_itself() -> None:
    text = "kind: Pod\napiVersion: v1\nmetadata:\n  labels:\n    a.b: {$patch: delete}\n"
    messages = [f.message for f in as_kubectl(text) if f.id == "D04"]
    assert messages == ["kubectl leaves an empty map; write a.b: null to remove the key"]

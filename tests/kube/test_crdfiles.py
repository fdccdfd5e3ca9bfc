"""Which kinds a file is searched for, before definitions of them are parsed."""

from __future__ import annotations

import pytest

from kmerge_git.kube.crds import kinds_of


@pytest.mark.parametrize(
    "text",
    [
        "kind: Foo\n",
        "\ufeffkind: Foo\r\n",
        "a: 1\nkind:   Foo # why\n",
        'kind: "Foo"\n',
        "'kind' : 'Foo'\n",
        "kind: !!str Foo\n",
        "kind: &k !!str 'Foo'\n",
        "items:\n- kind: Foo\n",
        "{apiVersion: v1, kind: Foo}\n",
        '{"kind":"Foo","spec":{}}',
        '{\n  "kind" : "Foo",\n',
        "mankind: Foo\nkinds: [a]\nkind of: b\n",
    ],
)
def test_however_a_kind_is_written(text: str) -> None:
    assert kinds_of(text) == ["Foo"]


def test_several_none_and_what_only_a_parser_reads() -> None:
    assert kinds_of("kind: Foo\n---\nkind: Bar\n") == ["Foo", "Bar"]
    assert kinds_of("a: kinds\nb: kindness\n") == []
    for text in ("kind:\n  Foo\n", "kind: {{ x }}\n", 'kind: "\\x46oo"\n', "kind: Foo\nkind: ''\n"):
        assert kinds_of(text) is None

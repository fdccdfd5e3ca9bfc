"""A result as a whole: what no reader takes, or has other documents than planned, is not clean."""

from __future__ import annotations

import json
from itertools import product
from random import Random

import pytest
import whole_text
from depth import part
from random_streams import json_trio, stream_trio
from worlds.lines import git_lines

from kmerge_git import Outcome, merge_files
from kmerge_git.merge import by_resource
from kmerge_git.merge.merged import MergedFile
from kmerge_git.merge.three import Three
from kmerge_git.merge.verify.whole_file import fault
from kmerge_git.text.markers import resolve
from kmerge_git.tree import parser
from kmerge_git.tree.documents import YamlText


def made(base: str, ours: str, theirs: str, path: str = "a.yaml", **settings: object) -> Outcome:
    texts = (text.encode() for text in (base, ours, theirs))
    return merge_files(*texts, path=path, line_merge=git_lines, **settings)


def space(name: str, more: str = "") -> str:
    return f"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {name}\n{more}"


A, B, C = map(space, "abc")
LABEL = "  labels: {x: y}\n"
DIRECTIVE = "...\n%YAML 1.1\n---\n"


# -- how a file begins and ends


# base, ours, theirs and the result, or None for a conflict
FRAMES: dict[str, tuple[str, str, str, str | None]] = {
    "the first is gone": (f"{A}---\n{B}", f"{A}...\n---\n{B}", B, B),
    "the only one is gone": (A, f"{A}...\n", "", ""),
    "a comment behind it stays": (A, f"{A}...\n# end\n", "", "# end\n"),
    "comments above stay": (f"# head\n---\n{A}", f"# head\n---\n{A}...\n", "# head\n", "# head\n"),
    "a directive is no first line": (
        f"{A}{DIRECTIVE}{B}", f"{A}{DIRECTIVE}{B}{LABEL}", f"%YAML 1.1\n---\n{B}",
        f"%YAML 1.1\n---\n{B}{LABEL}",
    ),
    "a directive behind a document": (
        f"%YAML 1.1\n---\n{B}", f"{A}{DIRECTIVE}{B}", f"%YAML 1.1\n---\n{B}{LABEL}",
        f"{A}{DIRECTIVE}{B}{LABEL}",
    ),
    "edited and gone": (A, f"{A}{LABEL}...\n", "", None),
    "the first is edited and gone": (f"{A}...\n---\n{B}", f"{A}{LABEL}...\n---\n{B}", B, None),
    "both go, each on a side": (
        f"{A}...\n---\n{B}...\n", f"{A}{LABEL}...\n---\n", f"---\n{B}{LABEL}...\n", None,
    ),
    "an empty one in place of all": (
        f"---\n{A}...\n---\n{B}", f"{A}...\n---\n{B}{LABEL}", "---\n", None,
    ),
    "a comment behind `---`": (f"{A}---\n{B}", B, f"{A}--- # b\n{B}", f"--- # b\n{B}"),
    "a comment behind `---` on both": (f"---\n{A}", f"--- # a\n{A}", f"--- # b\n{A}", None),
    "a directive and an end": (
        f"{A}---\n{B}", f"{A}{DIRECTIVE}{B}", f"{A}...\n---\n{B}{LABEL}",
        f"{A}{DIRECTIVE}{B}{LABEL}",
    ),
    "a directive leaves and changes": (
        f"%YAML 1.2\n---\n{A}", f"%YAML 1.2\n# l\n---\n{A}", A, None,
    ),
    "comments above go below a directive": (
        f"# l\n{A}", f"---\n{A}", f"%YAML 1.2\n# l\n---\n{A}", None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("base, ours, theirs, wanted", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("is_swapped", [False, True])
def test_how_a_file_begins_and_ends(
    base: str, ours: str, theirs: str, wanted: str | None, is_swapped: bool
) -> None:
    sides = (theirs, ours) if is_swapped else (ours, theirs)
    texts = [text.encode() for text in (base, *sides)]
    outcome = merge_files(*texts, path="a.yaml")
    assert outcome.clean is (wanted is not None)
    assert whole_text.unread(texts, outcome.text, clean=outcome.clean) == ""
    assert outcome.clean or b"<<<<<<<" in outcome.text
    if wanted is not None:
        assert outcome.text.decode() == wanted


def test_a_side_of_a_conflict_that_is_empty_ends_with_nothing() -> None:
    outcome = made(A, f"{A}{LABEL}...\n", "")
    assert resolve(outcome.text.decode(), "theirs") == ""
    assert resolve(outcome.text.decode(), "ours") == f"{A}{LABEL}...\n"
    for favor, wanted in (("ours", f"{A}{LABEL}...\n"), ("theirs", "")):
        assert made(A, f"{A}{LABEL}...\n", "", favor=favor).text.decode() == wanted


# -- JSON


def value(name: str, kind: str = "Namespace", **more: object) -> str:
    return json.dumps({"kind": kind, "metadata": {"name": name}} | more) + "\n"


JSON: dict[str, tuple[str, str, str]] = {
    "renamed apart": (value("a"), value("b"), value("c")),
    "two other values": (value("a"), value("b", "Secret"), value("c", "Service")),
    "two new files": ("", value("b", "Secret"), value("c", "Service")),
    "another one, and an edit": (value("a"), value("b", "Secret"), value("a", x=1)),
    "a list and a map": ("[]\n", "[1]\n", "{}\n"),
}


@pytest.mark.parametrize("base, ours, theirs", JSON.values(), ids=JSON)
@pytest.mark.parametrize("path", ["a.json", ""])
@pytest.mark.parametrize("favor", ["", "ours", "theirs"])
def test_json_never_becomes_two_texts(
    base: str, ours: str, theirs: str, path: str, favor: str
) -> None:
    outcome = made(base, ours, theirs, path=path, favor=favor)
    assert outcome.clean is bool(favor)
    for reading in whole_text.readings(outcome.text, [], clean=outcome.clean):
        json.loads(reading)


def test_json_with_a_repeated_key_is_refused() -> None:
    texts = Three(*(YamlText(text, "a.json") for text in (b"{}", b'{"a": 1}', b'{"b": 1}')))
    assert fault(b'{"a": 1, "b": 1}', texts) == ""
    assert fault(b'{"a": 1, "a": 1}', texts) == "the file is not valid JSON"
    assert fault(b'{"a": 1}\n---\n{"b": 1}', texts) == "the file is not valid JSON"


def test_what_a_version_has_is_no_fault() -> None:
    notes = Three(*(YamlText(text, "a.json") for text in (b"{}", b"// no JSON\n{}", b"{}")))
    assert fault(b"// no JSON\n{}", notes) == ""  # nor is it YAML
    begun = Three(*(YamlText(text, "a.yaml") for text in (b"a: 1\n", b"...\na: 1\n", b"a: 2\n")))
    assert fault(b"...\na: 2\n", begun) == ""
    sound = Three(begun.base, begun.theirs, begun.base)
    assert fault(b"...\na: 2\n", sound) == "the file is not valid YAML"


# -- a writer that is broken on purpose: the reader alone stands between it and a clean result


@pytest.mark.parametrize("name", ["the first is gone", "the only one is gone"])
def test_an_end_without_a_document_is_not_clean(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    texts = [text.encode() for text in FRAMES[name][:3]]
    assert merge_files(*texts).clean
    merge = by_resource.merge

    def faulty(*args: object) -> MergedFile:
        merged = merge(*args)  # type: ignore[arg-type]
        for document in merged.documents[-1:]:
            document.opening = "...\n---\n"
        merged.tail = "" if merged.documents else "...\n"
        return merged

    monkeypatch.setattr(by_resource, "merge", faulty)
    outcome = merge_files(*texts)
    assert whole_text.unread(texts, outcome.text, clean=outcome.clean) == ""
    assert not outcome.clean or outcome.method == "lines"


@pytest.mark.parametrize("path", ["a.json", ""])
def test_two_texts_of_json_are_not_clean(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    texts = [text.encode() for text in JSON["two other values"]]
    monkeypatch.setattr(by_resource, "is_json", lambda path, versions: False)
    outcome = merge_files(*texts, path=path)
    assert not outcome.clean
    for reading in whole_text.readings(outcome.text, [], clean=False):
        json.loads(reading)


# -- the reader


@pytest.mark.parametrize(
    "text, count",
    [
        ("", 0), ("# c\n", 0), ("a: 1\n", 1), ("---\n", 1), ("---\n---\n", 2), ("a: 1\n---\n", 2),
        ("# c\n---\na: 1\n", 1), ("a: 1\n---\nb: 1\n...\n", 2), ("%YAML 1.1\n---\na: 1\n", 1),
        ("--- # c\na: 1\n--- b\n", 2), ("a: |\n  ---\n  x\n", 1), ("a: 1\r\n---\r\nb: 1\r\n", 2),
        ("\ufeffa: 1\n---\nb: 1\n", 2), ("a: '---'\n", 1), ("---a: 1\n", 1), ("a:\n --- b\n", 1),
        ("a: &x 1\nb: &x 2\nc: *x\n---\n[" + "[], " * 90 + "]\n", 2), ("a: x\u2028--- b\n", 2),
    ],
)  # fmt: skip
def test_how_many_documents_there_are(text: str, count: int) -> None:
    assert parser.count_documents(text.encode()) == count
    assert whole_text.documents(text.encode()) == count


@pytest.mark.parametrize(
    "text", ["...\n", "a: [\n", "a: 1\n...\nb: 1\n", "\ta", "[" * 3000, "*a\n"]
)
def test_what_is_not_read(text: str) -> None:
    with pytest.raises((parser.TooDeep, parser.yaml_error())):
        parser.count_documents(text.encode() + b"[" * 70 * (text == "*a\n"))


# -- at random


@pytest.mark.parametrize("maker, path", [(stream_trio, "a.yaml"), (json_trio, "a.json")])
def test_random_streams_are_read_as_a_whole(maker: object, path: str) -> None:
    """`tools/check_laws.py random streams json` tries more of them."""
    for seed, favor in part(product(range(300), ("", "ours"))):
        trio, count = maker(Random(f"suite {seed}"))  # type: ignore[operator]
        outcome = merge_files(*trio, path=path, line_merge=git_lines, favor=favor)
        assert whole_text.unread(trio, outcome.text, clean=outcome.clean, path=path) == "", seed
        if outcome.clean and count is not None and not favor:
            assert whole_text.documents(outcome.text, path) == count, seed

"""Git is asked for its line merge only where a merge by lines of our own cannot tell."""

from __future__ import annotations

import pytest

from kmerge_git.api import merge_files
from kmerge_git.merge.verify.proof import same_but_for_order
from kmerge_git.tree.documents import YamlText, split_text

BASE = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
data:
  one: "1"
  two: "2"
  three: "3"
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: b
data:
  one: "1"
"""


def asked(ours: str, theirs: str, base: str = BASE) -> tuple[bool, str]:
    """Whether git was asked, and the result."""
    calls = []

    def line_merge(*texts: bytes) -> tuple[bytes, bool]:
        calls.append(texts)
        return b"", False

    outcome = merge_files(base.encode(), ours.encode(), theirs.encode(), line_merge=line_merge)
    assert outcome.clean
    return bool(calls), outcome.text.decode()


ONE = BASE.replace('one: "1"\n  two', 'one: "9"\n  two')
THREE = BASE.replace('three: "3"', 'three: "9"')
LAST = BASE.removesuffix('"1"\n') + '"9"\n'


STARTED = "# who\n---\n" + THREE


@pytest.mark.parametrize("ours, theirs", [(ONE, THREE), (ONE, LAST), (THREE, ONE), (ONE, STARTED)])
def test_lines_that_agree_need_no_git(ours: str, theirs: str) -> None:
    was_asked, text = asked(ours, theirs)
    assert not was_asked
    assert text.count('"9"') == 2


@pytest.mark.parametrize(
    "ours, theirs",
    [
        pytest.param(ONE, BASE + "---\nkind: C\napiVersion: v1\nmetadata: {name: c}\n", id="new"),
        pytest.param(ONE, BASE.partition("---\n")[0], id="deleted"),
        pytest.param(ONE.replace("\n", "\r\n"), THREE, id="line ends"),
        pytest.param("# we\n---\n" + ONE, "# who\n---\n" + THREE, id="prologue"),
    ],
)
def test_where_they_do_not_git_is_asked(ours: str, theirs: str) -> None:
    assert asked(ours, theirs)[0]


@pytest.mark.parametrize(
    "ours, theirs",
    [
        pytest.param(ONE, BASE.replace('two: "2"', 'two: "9"'), id="neighbours"),
        pytest.param(
            ONE, THREE.replace("  one:", "    one:").replace("  t", "    t"), id="indented"
        ),
    ],
)
def test_lines_that_clash_need_no_git(ours: str, theirs: str) -> None:
    """What clashes by the rule of git clashes for git: the result is proved, and stands."""
    was_asked, text = asked(ours, theirs)
    assert not was_asked
    assert text.count('"9"') == 2


ANCHOR = "a: &x 8080\nb: 1\nc: 1\nd: [80]\n"
SCRIPT = "kind: ConfigMap\ndata:\n  run.sh: |\n      echo a\n      echo b\n  z: 1\n"


@pytest.mark.parametrize(
    "base, ours, theirs",
    [
        (ANCHOR, ANCHOR.replace("&x ", ""), ANCHOR.replace("[80]", "[80,*x]")),
        (ANCHOR, ANCHOR.replace("&x ", ""), ANCHOR + "*x : 1\n"),
        (
            ANCHOR,
            ANCHOR.replace("b: 1", "b: &x 2"),
            ANCHOR.replace("[80]", "[80,*x]"),
        ),
        (  # the first line of ours makes the comment of theirs a line of the text
            SCRIPT,
            SCRIPT.replace("|\n", "|\n    #!/bin/sh\n"),
            SCRIPT.replace("  z: 1", "    # see docs\n  z: 1"),
        ),
    ],
)
def test_where_lines_cannot_tell_the_result_is_proved(base: str, ours: str, theirs: str) -> None:
    """The lines of these do not touch, and what they make together is broken."""
    texts = (base.encode(), ours.encode(), theirs.encode())
    assert not merge_files(*texts, line_merge=lambda *_: (b"", False)).clean


def test_the_same_line_twice_is_no_agreement() -> None:
    item = '  new: "1"\n'
    ours = BASE.replace("\ndata:\n", "\ndata:\n" + item, 1)
    theirs = BASE.replace('three: "3"\n', 'three: "3"\n' + item)
    was_asked, text = asked(ours, theirs)
    assert was_asked
    assert text.count(item) == 1


@pytest.mark.parametrize(
    "one, other, expected",
    [
        ("a: [1, 2]\n", "a:\n- 2\n- 1\n", True),
        ("a: [1, 1, 2]\n", "a: [1, 2, 2]\n", False),
        ("a: [[1, 2], [3]]\n", "a: [[2, 1], [3]]\n", True),
        ("a: [[1, 2], [3]]\n", "a: [[3], [1, 2]]\n", False),
        ("a: {b: 1, c: 2}\n", "a:\n  c: 2\n  b: 1\n", True),
        ("a: [[1, 2], [3]]\n", "a: [[1], [2, 3]]\n", False),
        ("a: [{b: 1}]\n", "a: [{b: '1'}]\n", False),
        ("a: {b: 1}\n", "a: [b, 1]\n", False),
        ("a: []\n", "a: {}\n", False),
        ("a: 1\n---\n---\nb: 1\n", "a: 1\n---\nb: 1\n", True),
        ("a: 1\n---\nb: 1\n", "b: 1\n---\na: 1\n", False),
        ("a: 1\n---\na: 1\n", "a: 1\n", False),
        ("a: &x [1]\nb: *x\n", "a: &y [1]\nb: *y\n", False),
        ("a: 1\n", "a: [\n", False),
    ],
)
def test_the_same_in_another_order(one, other, expected):
    assert same_but_for_order(YamlText(other.encode()), split_text(one)) is expected

"""The binding alone, without the rest of PyYAML, is the same parser."""

import itertools
import json
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest
import yaml

from kmerge_git.tree import parser

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted((ROOT / "tests" / "cases" / "documents").glob("*.yaml"))
BAD = [
    "a: [\n",
    "a: *x\n",
    "a: &x 1\nb: &x 2\nc: *x\nd: &x [*x, &y {e: *x}]\n? &x f\n: *y\ng: &x !t |\n  h\ni: *x\n",
    "a: \x01\n",
    "a:\n\tb: 1\n",
    "[" * 100_000,
    "-  " * 60_000,
    "a: 1 # \u2028\n",
    "a: |\u2028 x\n",
    "a: 'x\u2028y'\nb: |\n  z\u2028  y\n",
]
# Prints what each text becomes: its nodes with their spans, or the error.
SCRIPT = """
import sys
sys.path[:0] = [{root!r}, {library!r}]
from kmerge_git.tree import parser
if {bare}:
    parser.bare()
from kmerge_git.errors import CannotParse
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split
from kmerge_git.tree.nodes import Collection

def nodes(node):
    yield type(node).__name__, node.start, node.end, node.anchor, node.tag, getattr(node, "value", "")
    if isinstance(node, Collection):
        for entry in node.entries:
            if entry.key is not None:
                yield from nodes(entry.key)
            yield from nodes(entry.value)
            yield entry.lead, entry.attached, entry.line, entry.end

import itertools
import json
found = []
for text in json.load(sys.stdin):
    try:
        roots = [document.root for document in split(Source(text.encode())).documents]
        found.append([list(nodes(root)) for root in roots if root is not None])
    except CannotParse as error:
        found.append(str(error))
whole = "yaml.resolver" in sys.modules  # a part of PyYAML that nothing here needs
print(json.dumps([found, whole, parser.accepts("a: 1"), parser.accepts("a: [")]))
"""


def outcome(texts: list[str], bare: bool) -> list:
    library = str(Path(yaml.__file__).parent.parent)
    script = SCRIPT.format(root=str(ROOT), library=library, bare=bare)
    command = [sys.executable, "-I", "-S", "-c", script]
    done = subprocess.run(
        command, input=json.dumps(texts), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_binding_alone_gives_the_same_nodes_and_errors():
    texts = [file.read_bytes().decode() for file in DOCUMENTS] + BAD
    bare = outcome(texts, bare=True)
    whole = outcome(texts, bare=False)
    assert bare[0] == whole[0]
    assert sum(isinstance(found, str) for found in bare[0]) == len(BAD) - 2
    assert (bare[1], whole[1]) == (False, True)
    assert bare[2:] == whole[2:] == [True, False]


def test_bare_does_nothing_where_yaml_is_loaded_already():
    before = sys.modules["yaml"]
    parser.bare()
    assert sys.modules["yaml"] is before


def test_a_broken_stand_in_leaves_no_trace(monkeypatch, tmp_path):
    """A file that is no binding is met when the modules around it stand there already."""
    (tmp_path / "yaml").mkdir()
    for suffix in EXTENSION_SUFFIXES:
        (tmp_path / "yaml" / f"_yaml{suffix}").write_bytes(b"not the binding that was expected")
    for name in [name for name in sys.modules if name == "yaml" or name.startswith("yaml.")]:
        monkeypatch.delitem(sys.modules, name)
    parser.bare([str(tmp_path)])
    assert not [name for name in sys.modules if name == "yaml" or name.startswith("yaml.")]


@pytest.mark.parametrize(
    "text, deep",
    [
        ("a: 1\n", False),
        ("[" * 60, False),
        ("[" * 70, True),
        (" " * 60 + "a: 1\n", False),
        (" " * 70 + "a: 1\n", True),
        ("- " * 40 + "a", True),
        ("-  " * 30 + "a", True),
        ("? " * 40 + "a", True),
        ("x\r" + "- " * 40 + "a", True),
        ("x\u2028" + "- " * 40 + "a", True),
        ("x\x85" + "- " * 40 + "a", True),
        ("a: " + "- " * 40 + "a", False),  # no indicators: they are text
        ("a: |\n" + "  x\n" * 1000, False),
    ],
)
def test_the_guard_suspects_whatever_could_be_deep(text, deep):
    assert parser.may_be_deep(text) == deep


HEADS = (
    "",
    "- ",
    "- x",
    '- "x"',
    "k:",
    "? ",
    "!t",
    "- !t",
    "[",
    "[x",
    "['x'",
    "{",
    '{"k"',
    '{"k":',
)
TAILS = (" 1\n- *a\n", " 1, *a]\n", " 1, k: *a}\n", " 1\nj: *a\n", "\n- *a\n", " {}, *a]\n")
BEFORE = [*map(chr, range(128)), "\x85", "\xa0", "\u2028", "\u2029", "\ufeff", "é", "日"]


def has_an_alias(text):
    seen, todo = set(), [parser.compose(text)]
    while todo:
        node = todo.pop()
        if id(node) in seen:
            return True
        seen.add(id(node))
        for child in node.value if node is not None and not isinstance(node.value, str) else ():
            todo += child if isinstance(child, tuple) else (child,)
    return False


def test_whatever_has_an_alias_of_an_anchor_is_suspected():
    found = 0
    for head, before, tail in itertools.product(HEADS, ["", *BEFORE], TAILS):
        text = f"{head}{before}&a{tail}"
        try:
            is_one = has_an_alias(text)
        except (yaml.YAMLError, parser.TooDeep):
            continue
        found += is_one
        assert parser.may_alias(text) or not is_one, text
    assert found > 50


@pytest.mark.parametrize("text", ["a: R&D, 2*3\n", "a: |\n  x && **y**\n", "a: *b\n", "a: &b c\n"])
def test_text_without_an_alias_of_an_anchor_is_not_suspected(text):
    assert not parser.may_alias(text)

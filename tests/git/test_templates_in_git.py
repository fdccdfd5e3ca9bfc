"""Templates in a real history: criss-crosses, rerere, what is open, and every command about it."""

from __future__ import annotations

import pytest
from world import Driven

from kmerge_git.merge.three import Three
from kmerge_git.outcome import Options
from kmerge_git.pipeline import merge
from kmerge_git.text.linemerge import Given

PATH = "web/templates/web.yaml"
BASE = """\
spec:
  {{- if .Values.on }}
  replicas: 2
  {{- end }}
  image: web
  name: web
"""
OURS = BASE.replace("replicas: 2", "replicas: 3")
THEIRS = BASE.replace("replicas: 2", "replicas: 4")
GUARDED = BASE.replace("if .Values.on", "if and .Values.on .Values.ready")

# git's lines of both are clean, and have a key twice
PLAIN = """\
spec:
  serviceAccountName: web
  containers:
    - name: web
      image: web
  volumes: []
"""
ABOVE = "  securityContext:\n    {{- toYaml .Values.podSecurity | nindent 4 }}\n"
BELOW = "  securityContext:\n    {{- toYaml .Values.security | nindent 4 }}\n"
FIRST = PLAIN.replace("  serviceAccountName", ABOVE + "  serviceAccountName")
SECOND = PLAIN.replace("  volumes", BELOW + "  volumes")
TWICE = FIRST.replace("  volumes", BELOW + "  volumes")


# -- criss-crosses


def crossed(repo: Driven, texts: tuple[str, str, str], then: tuple[str, str]) -> None:
    """Two branches that merged each other's first commit, each solving in its own way."""
    base, ours, theirs = texts
    repo.fork({PATH: base}, {PATH: ours}, {PATH: theirs})
    one, other = repo.head("main"), repo.head("side")
    for branch, into, text in (("main", other, then[0]), ("side", one, then[1])):
        repo.switch(branch)
        repo.merge("-q", "--no-commit", into)
        repo.commit(f"{branch} merged", {PATH: text})
    repo.switch("main")
    repo.log.unlink(missing_ok=True)


def test_an_inner_merge_by_blocks(driven: Driven) -> None:
    both = GUARDED.replace("replicas: 2", "replicas: 3")
    ours, theirs = both + "  a: {{ .a }}\n", both + "  b: {{ .b }}\n"
    crossed(driven, (BASE, GUARDED, OURS), (ours, theirs))
    assert driven.merge().code == 0
    assert driven.text(PATH) == both + "  a: {{ .a }}\n  b: {{ .b }}\n"
    assert [size for size, _ in driven.sized_calls()] == [9, 7]


@pytest.mark.parametrize(
    "texts, solved",
    [
        ((BASE, OURS, THEIRS), BASE.replace("replicas: 2", "replicas: 5")),
        ((PLAIN, FIRST, SECOND), SECOND),
    ],
    ids=["lines", "damage"],
)
def test_an_open_ancestor_that_both_solved_alike(
    driven: Driven, texts: tuple[str, str, str], solved: str
) -> None:
    crossed(driven, texts, (solved + "  a: {{ .a }}\n", solved.replace("image: web", "image: x")))
    done = driven.merge()
    assert (done.code, "kmerge" in done.err) == (0, False)
    assert driven.text(PATH) == solved.replace("image: web", "image: x") + "  a: {{ .a }}\n"


def test_an_open_ancestor_that_each_solved_for_itself(driven: Driven) -> None:
    crossed(driven, (BASE, OURS, THEIRS), (OURS + "  a: {{ .a }}\n", THEIRS))
    assert driven.merge().code == 1
    assert driven.text(PATH) == (
        OURS.replace(
            "  replicas: 3\n",
            "<<<<<<< HEAD\n  replicas: 3\n=======\n  replicas: 4\n>>>>>>> side\n",
        )
        + "  a: {{ .a }}\n"
    )


@pytest.mark.parametrize("ours, theirs", [(FIRST, SECOND), (SECOND, FIRST), (FIRST, PLAIN)])
def test_damage_is_no_ancestor(driven: Driven, ours: str, theirs: str) -> None:
    """Lines with both keys as the base: each side took one away, and the result would have none."""
    crossed(driven, (PLAIN, FIRST, SECOND), (ours, theirs))
    assert driven.merge().code == 1
    assert driven.unmerged() == [PATH]
    for text in (ours, theirs):
        assert set(text.splitlines()) <= set(driven.text(PATH).splitlines())


@pytest.mark.parametrize(
    "texts, clean",
    [((BASE, OURS, THEIRS), b""), ((PLAIN, FIRST, SECOND), TWICE.encode())],
    ids=["lines", "damage"],
)
def test_an_ancestor_favours_nobody(texts: tuple[str, str, str], clean: bytes) -> None:
    """A base that has one side's answer would make the other's the only change."""
    marked = b"<<<<<<<<< ours\n=========\n>>>>>>>>> theirs\n"

    def lines(favor: str) -> Given:
        return Given(clean or (b"favoured\n" if favor else marked), bool(clean or favor))

    options = Options(PATH, favor="theirs", marker_size=9, virtual=True)
    made = merge(Three(*(text.encode() for text in texts)), options, lines)
    assert not made.clean
    assert made.text.count(b"<<<<<<<<< ours") == made.text.count(b">>>>>>>>> theirs\n") == 1

"""Templates in a real history: criss-crosses, rerere, what is open, and every command about it."""

from __future__ import annotations

import json

import pytest
from world import Driven

from kmerge_git.errors import Refused
from kmerge_git.git.repository import Repository
from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Options
from kmerge_git.pipeline import merge
from kmerge_git.text.linemerge import Given
from kmerge_git.tree.documents import YamlText
from kmerge_git.whole.resolving import Resolving

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
@pytest.mark.costly
def test_an_open_ancestor_that_both_solved_alike(
    driven: Driven, texts: tuple[str, str, str], solved: str
) -> None:
    crossed(driven, texts, (solved + "  a: {{ .a }}\n", solved.replace("image: web", "image: x")))
    done = driven.merge()
    assert (done.code, "kmerge" in done.err) == (0, False)
    assert driven.text(PATH) == solved.replace("image: web", "image: x") + "  a: {{ .a }}\n"


@pytest.mark.costly
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
@pytest.mark.costly
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

    def lines(favor: str, size: int) -> Given:
        return Given(clean or (b"favoured\n" if favor else marked), bool(clean or favor))

    options = Options(PATH, favor="theirs", marker_size=9, virtual=True)
    made = merge(Three(*(YamlText(text.encode(), PATH) for text in texts)), options, lines)
    assert not made.clean
    assert made.text.count(b"<<<<<<<<< ours") == made.text.count(b">>>>>>>>> theirs\n") == 1


# -- commands inside a conflict


@pytest.fixture
def damaged(driven: Driven) -> Driven:
    driven.fork({PATH: PLAIN}, {PATH: FIRST}, {PATH: SECOND})
    assert driven.merge().code == 1
    return driven


def test_both_sides_of_damage_are_the_damage(damaged: Driven) -> None:
    """Not even as two documents: the conflict stands in the middle of one."""
    marked = damaged.text(PATH)
    assert "choices: ours, theirs, base" in damaged.kmerge("resolve", "--list", check=False).out
    done = damaged.kmerge("resolve", "--take", "both", check=False)
    assert (done.code, damaged.unmerged(), damaged.text(PATH)) == (1, [PATH], marked)
    assert "the file would contain the same entry twice" in done.said


@pytest.mark.parametrize("side, text", [("ours", FIRST), ("theirs", SECOND), ("base", PLAIN)])
def test_one_answer_to_damage_is_that_version(damaged: Driven, side: str, text: str) -> None:
    damaged.kmerge("resolve", "--take", side)
    assert (damaged.unmerged(), damaged.text(PATH)) == ([], text)


def test_solve_and_explain_say_what_would_be_broken(damaged: Driven) -> None:
    why = "duplicate key: spec securityContext (if all conditions are true)"
    done = damaged.kmerge("solve", check=False)
    assert (done.code, damaged.unmerged()) == (1, [PATH])
    assert f"CONFLICT {PATH} (both modified; {why}; 1 conflict left)" in done.out
    assert f"git alone has no conflict ({why})" in damaged.kmerge("explain").out
    assert damaged.kmerge("solve", "--favor", "theirs").code == 0
    assert damaged.text(PATH) == SECOND


def test_preview_and_replay_meet_the_same_damage(driven: Driven) -> None:
    driven.fork({PATH: PLAIN}, {PATH: FIRST}, {PATH: SECOND})
    told = driven.kmerge("preview", "side", check=False).out
    assert f"CONFLICT  {PATH}  duplicate key: spec securityContext" in told
    driven.write(".git/info/attributes", "")
    assert driven.merge().code == 0
    assert driven.text(PATH) == TWICE
    report = json.loads(driven.kmerge("replay", "--json").out)
    assert (report["counts"]["new_conflicts"], report["counts"]["git_conflicts"]) == (1, 0)
    assert report["new_conflicts"][0]["conflicts"] == [
        f"{Why.DAMAGE}: duplicate key securityContext"
    ]


# -- rerere, attributes, policies

BESIDE = "web/templates/beside.yaml"


@pytest.fixture
def both_kinds(driven: Driven) -> Driven:
    """Two branches with a template that lines would break, and one in which they conflict."""
    driven.fork(
        {PATH: PLAIN, BESIDE: BASE}, {PATH: FIRST, BESIDE: OURS}, {PATH: SECOND, BESIDE: THEIRS}
    )
    return driven


@pytest.mark.costly
def test_rerere_knows_conflicts_of_templates_from_both_sides(both_kinds: Driven) -> None:
    driven = both_kinds
    driven.git("config", "rerere.enabled", "true")
    driven.merge()
    driven.write(PATH, FIRST)
    driven.write(BESIDE, GUARDED)
    driven.git("commit", "-qam", "merged")
    driven.git("reset", "-q", "--hard", "HEAD~1")
    for branch, other in (("main", "side"), ("side", "main")):
        driven.switch(branch)
        done = driven.git("merge", other, check=False)
        for path, text in ((PATH, FIRST), (BESIDE, GUARDED)):
            assert f"Resolved '{path}' using previous resolution." in done.said
            assert driven.text(path) == text
        driven.git("merge", "--abort")


def test_a_generated_template_is_ours_as_a_whole(both_kinds: Driven) -> None:
    both_kinds.write(".git/info/attributes", "*.yaml merge=kmerge kmerge-generated\n")
    done = both_kinds.merge()
    assert (done.code, both_kinds.unmerged()) == (1, [BESIDE, PATH])
    assert (both_kinds.text(PATH), both_kinds.text(BESIDE)) == (FIRST, OURS)
    assert done.err.count("a generated file; our version is kept") == 2


def test_a_generated_template_merges_by_blocks(driven: Driven) -> None:
    driven.write(".git/info/attributes", "*.yaml merge=kmerge kmerge-generated\n")
    driven.fork({PATH: BASE}, {PATH: GUARDED}, {PATH: OURS})
    assert driven.merge().code == 0
    assert driven.text(PATH) == GUARDED.replace("replicas: 2", "replicas: 3")


def test_no_policy_decides_in_a_template(driven: Driven) -> None:
    """What a field is worth is known when it is rendered."""
    driven.git("config", "kmerge.policy", "* **.image higher")
    plain = "spec:\n  image: web:{}\n"
    base, ours, theirs = (
        {PATH: BASE.replace("image: web", f"image: web:{at}"), "x.yaml": plain.format(at)}
        for at in (2, 3, 4)
    )
    driven.fork(base, ours, theirs)
    done = driven.merge()
    assert (done.code, driven.unmerged()) == (1, [PATH])
    assert driven.text("x.yaml") == plain.format(4)
    assert f"kmerge: {PATH}: a template: {Why.BOTH_CHANGED} at spec.image\n" in done.err


# -- answers

ADDED = [BASE.replace("replicas: 2\n", f"replicas: 2\n  tag: {value}\n") for value in ("a", "b")]


def stopped(repo: Driven) -> None:
    """A merge whose sides add one key to one branch of an `if`."""
    repo.fork({PATH: BASE}, {PATH: ADDED[0]}, {PATH: ADDED[1]})
    assert repo.merge().code == 1


@pytest.mark.costly
def test_no_answer_puts_a_key_twice_into_a_branch(driven: Driven) -> None:
    stopped(driven)
    marked = driven.text(PATH)
    done = driven.kmerge("resolve", "--take", "both", check=False)
    assert done.code == 1
    assert (
        "the file would be damaged: duplicate key: spec tag (if all conditions are true)"
        in done.said
    )
    assert driven.unmerged() == [PATH]
    assert driven.text(PATH) == marked
    id_ = json.loads(driven.kmerge("resolve", "--list", "--json", check=False).out)
    answer = {"lines": "  tag: a\n  {{- if .Values.more }}\n  tag: b\n  {{- end }}\n"}
    id_["conflicts"][0]["answer"] = answer
    done = driven.kmerge("resolve", "--from", "-", check=False, stdin=json.dumps(id_))
    assert (done.code, driven.unmerged()) == (2, [PATH])
    assert "duplicate key: spec tag" in done.said
    answer["lines"] = "  tag: a\n  {{- if .Values.more }}\n  tags: b\n  {{- end }}\n"
    driven.kmerge("resolve", "--from", "-", stdin=json.dumps(id_))
    assert driven.unmerged() == []
    assert answer["lines"] in driven.show(f":{PATH}")


def test_a_broken_file_is_not_taken_as_it_stands(
    driven: Driven, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(driven)
    monkeypatch.chdir(driven.path)
    resolving = Resolving.start(Repository.open())
    for broken in (
        ADDED[0].replace("tag: a\n", "tag: a\n  tag: b\n"),
        ADDED[0].replace("  {{- end }}\n", ""),
    ):
        driven.write(PATH, broken)
        with pytest.raises(Refused, match="the file would be damaged: "):
            resolving.take_file(PATH)
        assert driven.unmerged() == [PATH]
    driven.write(PATH, ADDED[0])
    resolving.take_file(PATH)
    assert driven.unmerged() == []

"""The driver where git does something of its own to the texts: line ends, ancestors, recordings."""

from __future__ import annotations

from pathlib import Path

import pytest
from manifests import deployment, stream
from world import BASE, MERGED, OURS, THEIRS, Driven, Repo, World

from kmerge_git.git.run_git import git_version
from kmerge_git.merge.plan import Why
from kmerge_git.text.markers import resolve

CONFLICT = "a: 3\nb: 2\n"  # against OURS: `a` is in conflict, `b` is not


def crlf(text: str) -> bytes:
    return text.replace("\n", "\r\n").encode()


# -- line ends ------------------------------------------------------------------------------------


def test_crlf_blobs_stay_crlf(driven: Driven) -> None:
    driven.fork({"x.yaml": crlf(BASE)}, {"x.yaml": crlf(OURS)}, {"x.yaml": crlf(THEIRS)})
    assert driven.merge().code == 0
    assert driven.bytes("x.yaml") == crlf(MERGED)


def test_crlf_in_the_working_tree_alone(driven: Driven) -> None:
    driven.commit("attributes", {".gitattributes": "*.yaml text eol=crlf\n"})
    driven.fork({"x.yaml": crlf(BASE)}, {"x.yaml": crlf(OURS)}, {"x.yaml": crlf(THEIRS)})
    assert driven.merge().code == 0
    assert driven.bytes("x.yaml") == crlf(MERGED)
    assert driven.show("HEAD:x.yaml") == MERGED
    assert driven.git("status", "--porcelain").out == ""


def test_autocrlf(driven: Driven) -> None:
    driven.git("config", "core.autocrlf", "true")
    driven.fork({"x.yaml": crlf(BASE)}, {"x.yaml": crlf(OURS)}, {"x.yaml": crlf(THEIRS)})
    assert driven.merge().code == 0
    assert driven.show("HEAD:x.yaml") == MERGED
    assert driven.bytes("x.yaml") == crlf(MERGED)


def test_one_side_converted_the_line_ends(driven: Driven) -> None:
    driven.fork({"x.yaml": BASE}, {"x.yaml": crlf(OURS)}, {"x.yaml": THEIRS})
    assert driven.merge().code == 0
    assert driven.bytes("x.yaml") == crlf(MERGED)


def test_renormalize(driven: Driven) -> None:
    driven.git("config", "merge.renormalize", "true")
    driven.commit("base", {"x.yaml": crlf(BASE)})
    driven.branch("side")
    driven.commit("theirs", {"x.yaml": crlf(THEIRS)})
    driven.switch("main")
    driven.write(".gitattributes", "*.yaml text\n")
    driven.git("add", ".gitattributes")
    driven.git("add", "--renormalize", ".")
    driven.commit("ours", {"x.yaml": OURS})
    assert driven.merge().code == 0
    assert driven.show("HEAD:x.yaml") == MERGED


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_a_file_without_its_last_line_end(driven: Driven, side: str) -> None:
    texts = {"ours": OURS, "theirs": THEIRS}
    texts[side] = texts[side].removesuffix("\n")
    driven.fork({"x.yaml": BASE}, {"x.yaml": texts["ours"]}, {"x.yaml": texts["theirs"]})
    assert driven.merge().code == 0
    assert driven.text("x.yaml") == MERGED  # to drop it is no work that could be lost


def test_working_tree_encoding(driven: Driven) -> None:
    driven.commit("a", {".gitattributes": "*.yaml text working-tree-encoding=UTF-16LE-BOM\n"})
    wide = [("\ufeff" + text).encode("utf-16-le") for text in (BASE, OURS, THEIRS, MERGED)]
    driven.fork({"x.yaml": wide[0]}, {"x.yaml": wide[1]}, {"x.yaml": wide[2]})
    assert driven.merge().code == 0
    assert driven.bytes("x.yaml") == wide[3]


# -- worktrees, submodules, bare ------------------------------------------------------------------


def test_linked_worktree(driven: Driven) -> None:
    driven.fork_one()
    driven.git("worktree", "add", "-q", "../linked", "-b", "linked")
    linked = Repo(driven.world, driven.world.root / "linked")
    assert linked.merge().code == 0
    assert linked.text("x.yaml") == MERGED
    assert driven.text("x.yaml") == OURS


def test_submodule(driven: Driven, world: World) -> None:
    outer = world.init("outer")
    driven.fork_one()
    outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", driven.path, "sub")
    sub = Driven(world, outer.path / "sub")
    sub.drive(driven.config("merge.kmerge.driver")[0].partition("; ")[2])
    info = Path(sub.git("rev-parse", "--git-path", "info/attributes").out.strip())
    (sub.path / info).parent.mkdir(exist_ok=True)
    (sub.path / info).write_text("*.yaml merge=kmerge\n")
    assert sub.merge("origin/side").code == 0
    assert sub.text("x.yaml") == MERGED


@pytest.mark.skipif(git_version() < (2, 38), reason="git has no merge-tree --write-tree")
def test_bare_repository(driven: Driven, world: World) -> None:
    driven.fork_one()
    world.git("clone", "-q", "--bare", driven.path, "bare.git")
    bare = Repo(world, world.root / "bare.git")
    line = driven.config("merge.kmerge.driver")[0]
    bare.git("config", "merge.kmerge.driver", line)
    bare.write("info/attributes", "*.yaml merge=kmerge\n")
    tree = bare.git("merge-tree", "--write-tree", "main", "side").out.strip()
    assert bare.show(f"{tree}:x.yaml") == MERGED


# -- criss-cross ----------------------------------------------------------------------------------


def criss_cross(repo: Driven, ours: str, theirs: str, then: tuple[str, str]) -> None:
    """Two branches that merged each other's first commit, each solving in its own way."""
    repo.commit("base", {"x.yaml": BASE})
    repo.branch("side")
    repo.commit("theirs", {"x.yaml": theirs})
    repo.switch("main")
    repo.commit("ours", {"x.yaml": ours})
    one, other = repo.head("main"), repo.head("side")
    for branch, into, text in (("main", other, then[0]), ("side", one, then[1])):
        repo.switch(branch)
        repo.merge("-q", "--no-commit", into)
        repo.commit(f"{branch} merged", {"x.yaml": text})
    repo.switch("main")
    repo.log.unlink(missing_ok=True)


def test_criss_cross_with_a_clean_inner_merge(driven: Driven) -> None:
    criss_cross(driven, OURS, THEIRS, (MERGED + "c: 1\n", "a: 2\nb: 4\n"))
    assert driven.merge().code == 0
    assert driven.text("x.yaml") == "a: 2\nb: 4\nc: 1\n"
    assert [size for size, _ in driven.sized_calls()] == [9, 7]


def test_criss_cross_with_a_conflict_inside(driven: Driven) -> None:
    # inside, `a` is in conflict (2 or 3): both solved it as 2
    criss_cross(driven, OURS, "a: 3\nb: 1\n", ("a: 2\nb: 1\nc: 1\n", "a: 2\nb: 5\n"))
    done = driven.merge()
    assert (done.code, "kmerge" in done.err) == (0, False)
    assert driven.text("x.yaml") == "a: 2\nb: 5\nc: 1\n"
    assert [size for size, _ in driven.sized_calls()] == [9, 7]


def test_criss_cross_whose_sides_disagree_still(driven: Driven) -> None:
    criss_cross(driven, OURS, "a: 3\nb: 1\n", ("a: 2\nb: 1\nc: 1\n", "a: 3\nb: 5\n"))
    assert driven.merge().code == 1
    text = driven.text("x.yaml")
    assert text.count("<<<<<<< ") == text.count(">>>>>>> ") == 1
    assert "a: 2\n=======\na: 3\n" in text
    assert {"b: 5", "c: 1"} <= set(text.splitlines())


def test_a_favoured_side_in_a_criss_cross(driven: Driven) -> None:
    """Told is what it decided between the branches, and nothing of their ancestors."""
    criss_cross(driven, OURS, "a: 3\nb: 1\n", ("a: 2\nb: 1\nc: 1\n", "a: 3\nb: 5\n"))
    done = driven.git("merge", "side", env={"KMERGE_FAVOR": "theirs"})
    assert driven.text("x.yaml") == "a: 3\nb: 5\nc: 1\n"
    assert [line for line in done.err.splitlines() if "kmerge" in line] == [
        f"kmerge: x.yaml: a: {Why.BOTH_CHANGED}, theirs taken (rule 13 favor)"
    ]


@pytest.mark.costly
def test_criss_cross_of_which_one_side_went_back_to_the_base(driven: Driven) -> None:
    """The base is not what the sides come from where they clashed: 2 and 1 disagree."""
    criss_cross(driven, OURS, "a: 3\nb: 1\n", ("a: 2\nb: 1\nc: 1\n", "a: 1\nb: 5\n"))
    driven.git("config", "merge.conflictStyle", "diff3")
    assert driven.merge().code == 1
    text = driven.text("x.yaml")
    assert "a: 2\n||||||| base\n=======\na: 1\n" in text.replace(
        " merged common ancestors", " base"
    )
    assert {"b: 5", "c: 1"} <= set(text.splitlines())


def test_a_larger_marker_size_is_no_criss_cross(driven: Driven) -> None:
    driven.commit("a", {".gitattributes": "*.yaml conflict-marker-size=12\n"})
    driven.fork({"x.yaml": BASE}, {"x.yaml": OURS}, {"x.yaml": CONFLICT})
    assert driven.merge().code == 1
    assert driven.text("x.yaml").startswith("<" * 12 + " ")
    assert f"\n{'=' * 12}\n" in driven.text("x.yaml")


@pytest.mark.world
@pytest.mark.parametrize("value", ["99999999", "9x", "4294967305"])
@pytest.mark.parametrize("kind", ["structure", "lines", "whole", "off"])
def test_an_odd_marker_size_is_no_criss_cross(driven: Driven, value: str, kind: str) -> None:
    driven.commit("a", {".gitattributes": f"*.yaml conflict-marker-size={value}\n"})
    before = "\t" if kind == "lines" else ""
    driven.fork(*({"x.yaml": before + text} for text in (BASE, OURS, CONFLICT)))
    if kind == "whole":
        done = driven.kmerge("merge", "side", check=False)
    else:
        off = {"KMERGE": "0"} if kind == "off" else {}
        done = driven.git("merge", "side", check=False, env=off)
    assert done.code == 1
    size = len(driven.text("x.yaml").partition(" ")[0])
    assert 7 <= size <= 200
    assert driven.text("x.yaml").startswith("<" * size + " ")
    assert f"\n{'=' * size}\n" in driven.text("x.yaml")


# -- rerere ---------------------------------------------------------------------------------------


@pytest.fixture
def recorded(driven: Driven) -> Driven:
    """A conflict whose solution was recorded; the merge is undone again."""
    driven.git("config", "rerere.enabled", "true")
    driven.fork({"x.yaml": BASE}, {"x.yaml": OURS}, {"x.yaml": CONFLICT})
    assert "Recorded preimage for 'x.yaml'" in driven.merge().err
    driven.write("x.yaml", "a: 23\nb: 2\n")
    driven.git("add", "x.yaml")
    assert "Recorded resolution" in driven.git("commit", "-q", "-m", "merged").said
    driven.git("reset", "-q", "--hard", "HEAD~1")
    return driven


def test_rerere_replays(recorded: Driven) -> None:
    done = recorded.merge()
    assert "Resolved 'x.yaml' using previous resolution." in done.said
    assert recorded.text("x.yaml") == "a: 23\nb: 2\n"


def test_rerere_replays_on_a_file_that_went_on(recorded: Driven) -> None:
    more = "".join(f"k{i}: {i}\n" for i in range(9))
    recorded.commit("more", {"x.yaml": OURS + more})
    done = recorded.merge()
    assert "Resolved 'x.yaml' using previous resolution." in done.said
    assert recorded.text("x.yaml") == "a: 23\nb: 2\n" + more


@pytest.mark.costly
def test_rerere_forgets(recorded: Driven) -> None:
    recorded.merge()
    recorded.git("rerere", "forget", "x.yaml")
    recorded.git("checkout", "-m", "--", "x.yaml")
    assert recorded.text("x.yaml").startswith("<<<<<<< ")


def test_a_conflict_is_the_same_text_every_time(driven: Driven) -> None:
    driven.fork({"x.yaml": BASE}, {"x.yaml": OURS}, {"x.yaml": CONFLICT})
    seen = set()
    for _ in range(2):
        driven.merge()
        seen.add(driven.text("x.yaml"))
        driven.git("merge", "--abort")
    assert len(seen) == 1


# -- settings -------------------------------------------------------------------------------------


def conflict(repo: Driven) -> None:
    repo.fork({"x.yaml": BASE}, {"x.yaml": OURS}, {"x.yaml": CONFLICT})


@pytest.mark.world
@pytest.mark.parametrize("side, value", [("ours", "2"), ("theirs", "3")])
@pytest.mark.parametrize("where", ["environment", "config", "attribute"])
def test_a_favourite_side(driven: Driven, where: str, side: str, value: str) -> None:
    conflict(driven)
    env = {}
    if where == "environment":
        env = {"KMERGE_FAVOR": side}
    elif where == "config":
        driven.git("config", "kmerge.favor", side)
    else:
        driven.write(".git/info/attributes", f"*.yaml merge=kmerge kmerge-favor={side}\n")
    done = driven.git("merge", "side", env=env)
    assert driven.text("x.yaml") == f"a: {value}\nb: 2\n"
    assert f"{side} taken" in done.err


def test_two_places_of_one_path_are_told_apart(driven: Driven) -> None:
    """By their resources, in a policy's line as in a conflict's."""
    texts = [stream(deployment(n), deployment(n, name="b", image=f"b:{n}")) for n in (1, 2, 3)]
    driven.write(".git/info/attributes", "*.yaml merge=kmerge kmerge-policy=**.image:higher\n")
    driven.fork(*({"x.yaml": text} for text in texts))
    done = driven.git("merge", "side", env={"KMERGE_FAVOR": "ours"})
    image = "spec.template.spec.containers[name=app].image"
    assert [line for line in done.err.splitlines() if "taken" in line] == [
        f"kmerge: x.yaml: Deployment/web spec.replicas: {Why.BOTH_CHANGED}, ours taken (rule 13 favor)",
        f"kmerge: x.yaml: Deployment/b spec.replicas: {Why.BOTH_CHANGED}, ours taken (rule 13 favor)",
        f"kmerge: x.yaml: Deployment/b {image}: {Why.BOTH_CHANGED}, theirs taken "
        "(rule 12 policy higher)",
    ]


def test_a_list_of_both_is_no_side(driven: Driven) -> None:
    driven.write(".git/info/attributes", "*.yaml merge=kmerge kmerge-policy=hosts:union\n")
    base, ours, theirs = (f"hosts:\n- a\n{more}" for more in ("", "- b\n", "- c\n"))
    driven.fork({"x.yaml": base}, {"x.yaml": ours}, {"x.yaml": theirs})
    done = driven.merge()
    assert driven.text("x.yaml") == "hosts:\n- a\n- b\n- c\n"
    assert "both kept (rule 12 policy union)" in done.err


def test_a_side_taken_by_lines_is_told(driven: Driven) -> None:
    """No field can be named there, but nobody's side goes without a word."""
    text = "a: {{ .Values.a }}\n{{- if .Values.b }}\nb: 1\n{{- end }}\n"
    ours, theirs = text.replace("b: 1", "b: 2"), text.replace("b: 1", "b: 3")
    driven.fork({"x.yaml": text}, {"x.yaml": ours}, {"x.yaml": theirs})
    done = driven.git("merge", "side", env={"KMERGE_FAVOR": "theirs"})
    assert driven.text("x.yaml") == theirs
    assert (
        "kmerge: x.yaml: merged with git's line merge; theirs taken in every conflict" in done.err
    )


LOSSES = {
    "a value": (
        ("a: 1\nb: 1\n", "a: 3\nb: 1\n", "a: 2\nb: 1\n"),
        "a: 2\nb: 1\n",
        f"a: {Why.BOTH_CHANGED} (M2): ours 3, theirs 2",
    ),
    "a long value": (
        ("a: 1\n", "a: " + "x" * 70 + "\n", "a: \u202e\n"),
        "a: \u202e\n",
        f"a: {Why.BOTH_CHANGED} (M2): ours " + "x" * 59 + "\u2026, theirs \\u202e",
    ),
    "a deletion": (
        ("a: 1\nb: 1\n", "a: 3\nb: 1\n", "b: 1\n"),
        "b: 1\n",
        f"a: {Why.THEIRS_GONE} (M4): ours 3, theirs has nothing",
    ),
    "a template": (
        ("a: {{ .a }}\n", "a: {{ .b }}\n", "a: {{ .c }}\n"),
        "a: {{ .b }}\n",
        "[line 1]: both sides changed these lines; our lines are kept (lines): ours a: {{ .b }}, theirs a: {{ .c }}",
    ),
}


@pytest.mark.world
@pytest.mark.parametrize("case", LOSSES.values(), ids=LOSSES)
def test_what_rules_kyaml_lose_is_told(driven: Driven, case: tuple) -> None:
    versions, merged, told = case
    driven.git("config", "kmerge.rules", "kyaml")
    driven.fork(*({"x.yaml": version} for version in versions))
    done = driven.merge()
    assert done.code == 0
    assert driven.text("x.yaml") == merged
    assert [line for line in done.err.splitlines() if "lost" in line] == [
        f"kmerge: x.yaml: lost: {told}"
    ]


def test_nothing_is_lost_where_nobody_lost_anything(driven: Driven) -> None:
    driven.git("config", "kmerge.rules", "kyaml")
    driven.fork({"x.yaml": BASE}, {"x.yaml": OURS}, {"x.yaml": THEIRS})
    assert "lost" not in driven.merge().err


@pytest.mark.world
@pytest.mark.parametrize("key", ["merge.conflictStyle", "kmerge.conflictStyle"])
@pytest.mark.parametrize("style", ["diff3", "zdiff3"])
def test_conflict_style(driven: Driven, key: str, style: str) -> None:
    conflict(driven)
    driven.git("config", key, style)
    driven.merge()
    inside = driven.text("x.yaml").splitlines()
    assert inside[1] == "a: 2"
    assert inside[2].startswith("||||||| ")
    assert inside[3:6] == ["a: 1", "=======", "a: 3"]


def test_labels_are_never_a_placeholder(driven: Driven) -> None:
    conflict(driven)
    driven.merge()
    first, *_, last = (
        n for n in driven.text("x.yaml").splitlines() if n[:7] in ("<<<<<<<", ">>>>>>>")
    )
    assert first.startswith("<<<<<<< HEAD")
    assert last.startswith(">>>>>>> side")
    assert "%" not in first + last


def test_a_setting_without_sense_is_told_and_passed_over(driven: Driven) -> None:
    driven.git("config", "kmerge.favor", "mine")
    driven.fork_one()
    done = driven.merge()
    assert done.code == 0
    assert "kmerge: x.yaml: kmerge.favor: `mine` is not one of ours, theirs" in done.err


def test_a_policy_of_the_configuration(driven: Driven) -> None:
    driven.git("config", "--add", "kmerge.policy", "charts/*/Chart.yaml version higher")
    for name in ("charts/a/Chart.yaml", "Chart.yaml"):
        driven.commit(name, {name: "version: 1.2.0\nb: 1\n"})
    driven.branch("side")
    driven.commit(
        "theirs", dict.fromkeys(("charts/a/Chart.yaml", "Chart.yaml"), "version: 1.10.0\nb: 1\n")
    )
    driven.switch("main")
    driven.commit(
        "ours", dict.fromkeys(("charts/a/Chart.yaml", "Chart.yaml"), "version: 1.9.0\nb: 1\n")
    )
    done = driven.merge()
    assert driven.unmerged() == ["Chart.yaml"]
    assert driven.text("charts/a/Chart.yaml") == "version: 1.10.0\nb: 1\n"
    assert f"version: {Why.BOTH_CHANGED}, theirs taken (rule 12 policy higher)" in done.err


def test_a_policy_of_the_attributes(driven: Driven) -> None:
    driven.write(".git/info/attributes", "*.yaml merge=kmerge kmerge-policy=a:theirs\n")
    conflict(driven)
    assert driven.merge().code == 0
    assert driven.text("x.yaml") == "a: 3\nb: 2\n"


# -- files that are not merged by field -----------------------------------------------------------


def test_an_encrypted_file_has_markers_and_says_how_to_go_on(driven: Driven) -> None:
    def secret(value: str) -> str:
        return f"data: {value}\nsops:\n    mac: ENC[AES256_GCM,data:{value}]\n    version: 3.8.1\n"

    driven.fork({"x.yaml": secret("1")}, {"x.yaml": secret("2")}, {"x.yaml": secret("3")})
    done = driven.merge()
    assert done.code == 1
    hint = "<<<<<<< HEAD (encrypted: see `kmerge explain x.yaml`)\n"
    assert resolve(driven.text("x.yaml"), "ours") == secret("2")
    assert resolve(driven.text("x.yaml"), "theirs") == secret("3")
    assert driven.text("x.yaml").count(hint) == 1
    assert driven.unmerged() == ["x.yaml"]
    assert "x.yaml: a SOPS file: both sides changed the file" in done.err


def test_an_encrypted_file_without_a_result_in_time_has_markers(driven: Driven) -> None:
    """Git's clean lines would be a file that nobody can decrypt."""
    lines = [f"k{n}: 1\n" for n in range(9)]
    seal = "sops:\n    mac: ENC[1]\n"
    texts = ["".join([*lines[:n], *lines[n + 1 :], seal]) for n in (99, 0, 8)]
    driven.fork(*({"x.yaml": text} for text in texts))
    done = driven.git("merge", "side", env={"KMERGE_TIMEOUT": "0.000001"}, check=False)
    assert (done.code, driven.unmerged()) == (1, ["x.yaml"])
    assert [resolve(driven.text("x.yaml"), side) for side in ("ours", "theirs")] == texts[1:]
    assert "no result within" in done.err


@pytest.mark.world
@pytest.mark.parametrize("line", ["{{- if .Values.on }}", "\tx: 1", "a: 9", "<<<<<<< x"])
def test_what_cannot_be_parsed_is_merged_by_lines(driven: Driven, line: str) -> None:
    far = "".join(f"k{i}: {i}\n" for i in range(9))
    texts = [f"{line}\na: {a}\n{far}z: {z}\n" for a, z in ((1, 1), (2, 1), (1, 2), (2, 2))]
    driven.fork({"x.yaml": texts[0]}, {"x.yaml": texts[1]}, {"x.yaml": texts[2]})
    assert driven.merge().code == 0
    assert driven.text("x.yaml") == texts[3]


CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.example.org}
spec:
  group: example.org
  names: {kind: Foo}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        properties:
          spec:
            properties:
              rules:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [id]
                items: {type: object}
"""
FOO = """\
apiVersion: example.org/v1
kind: Foo
metadata:
  name: f
spec:
  rules:
  - id: a
    weight: 1
"""
RULE = "  - id: {0}\n    weight: 2\n"


@pytest.mark.parametrize("place", ["crds", "crds/foo.yaml"])
def test_lists_of_custom_resources_merge_as_they_declare(driven: Driven, place: str) -> None:
    driven.fork(
        {"x.yaml": FOO, "crds/foo.yaml": CRD, "crds/README": "no YAML: ["},
        {"x.yaml": FOO + RULE.format("b")},
        {"x.yaml": FOO + RULE.format("c")},
    )
    assert driven.merge().code == 1  # nobody said that `id` is a key
    driven.git("merge", "--abort")
    driven.git("config", "kmerge.crd", place)
    assert "resolved" in driven.kmerge("preview", "side").out
    done = driven.merge()
    assert done.code == 0
    assert driven.text("x.yaml") == FOO + RULE.format("b") + RULE.format("c")
    assert "kmerge" not in done.err


@pytest.mark.parametrize("place, why", [("gone", "no such file"), ("x.yaml", "contains no Custom")])
def test_a_place_without_definitions_is_told(driven: Driven, place: str, why: str) -> None:
    driven.fork_one()
    driven.git("config", "kmerge.crd", place)
    done = driven.merge()
    assert done.code == 0
    assert done.err.startswith("kmerge: x.yaml: kmerge.crd: ")
    assert why in done.err

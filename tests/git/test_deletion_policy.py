"""Policy `deletion` in the real git: what the side on top took away stays away, if it is gone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from world import Driven

from kmerge_git.merge.plan import Why

Files = dict[str, str | bytes]


def app(name: str, replicas: int = 1) -> str:
    """A resource of many values, few of which any other has; its replicas may be edited."""
    rows = "".join(f"    {name}-{n}: {name}{n}\n" for n in range(8))
    spec = f"spec:\n  replicas: {replicas if replicas == 1 else f'{replicas} # of {name}'}\n"
    head = f"apiVersion: v1\nkind: Deployment\nmetadata:\n  name: {name}\n  labels:\n"
    return head + rows + spec


def edit_of(name: str) -> str:
    return f"# of {name}\n"


def both(*texts: str) -> str:
    return "---\n".join(texts)


@dataclass(frozen=True)
class Case:
    """Files of base, of the side that deletes, and of the side that edits."""

    base: Files
    deleter: Files
    editor: Files
    kept: bool  # whether the deletion may stand
    path: str  # of the file that is in conflict if it does not
    name: str  # of the edited resource
    left: str | None = None  # its text if the deletion stands, None: the file is gone


def cases(at: str) -> Iterator[Case]:
    """The ways to delete below a folder `at`, whose names no other case has."""
    own = at.replace("/", "-")
    one, two, three = (f"{own}{n}" for n in "xyz")
    a, b, c, d, e, f, g, h = (f"{at}/{name}.yaml" for name in "abcdefgh")
    # the file; a resource of a file; a file without resources
    yield Case({a: app(f"{own}a")}, {}, {a: app(f"{own}a", 2)}, True, a, f"{own}a")
    more = [app(f"{own}also{n}") for n in range(3)]
    several = both(app(one), app(two), *more)
    edited = both(app(one, 2), app(two), *more)
    yield Case({b: several}, {b: app(two)}, {b: edited}, True, b, one, app(two))
    values = f"{own}: 1\nimage: {own}web\nport: 80{len(own)}\n"
    yield Case({c: values}, {}, {c: f"{values}more: 1 # of {own}c\n"}, True, c, f"{own}c")
    # renamed, in a file of its own and in the same file; with another resource of the editor
    renamed = app(f"{own}d").replace(f"name: {own}d", f"name: {own}new")
    edited = app(f"{own}d", 2)
    yield Case(
        {d: app(f"{own}d")}, {f"{at}/{own}new.yaml": renamed}, {d: edited}, False, d, f"{own}d"
    )
    renamed = app(three).replace(f"name: {three}", f"name: {three}new")
    yield Case({e: app(three)}, {e: renamed}, {e: app(three, 2)}, False, e, three)
    more = both(app(f"{own}f", 2), app(f"{own}more"))
    yield Case({f: app(f"{own}f")}, {}, {f: more}, False, f, f"{own}f")
    # moved into a template, whose text is nothing that a merge follows
    text = app(f"{own}g").replace("replicas: 1", "replicas: {{ .Values.replicas }}")
    template = f"{{{{- if .Values.on }}}}\n{text}{{{{- end }}}}\n"
    moved = f"{at}/templates/{own}g.yaml"
    yield Case({g: app(f"{own}g")}, {moved: template}, {g: app(f"{own}g", 2)}, False, g, f"{own}g")
    # an item of a list is no document
    items = "apiVersion: v1\nkind: List\nitems:\n"
    here, there = ("- " + app(f"{own}h", n).replace("\n", "\n  ").rstrip(" ") for n in (1, 2))
    rest = "- " + app(f"{own}i").replace("\n", "\n  ").rstrip(" ")
    yield Case(
        {h: items + here + rest}, {h: items + rest}, {h: items + there + rest}, False, h, f"{own}h"
    )
    # renamed or copied into a bundle, which git takes for no rename
    i, j, k, bundle = (f"{at}/{name}.yaml" for name in ("i", "j", "k", "bundle"))
    rest = both(*(app(f"{own}b{n}") for n in range(5)))
    renamed = app(f"{own}i").replace(f"name: {own}i", f"name: {own}inew")
    base = {i: app(f"{own}i"), bundle: rest}
    yield Case(
        base,
        {bundle: both(rest, renamed)},
        {i: app(f"{own}i", 2), bundle: rest},
        False,
        i,
        f"{own}i",
    )
    other = both(app(f"{own}j"), app(f"{own}stays"))
    renamed = app(f"{own}j").replace(f"name: {own}j", f"name: {own}jnew")
    into = {j: app(f"{own}stays"), f"{at}/bundle2.yaml": both(rest, renamed)}
    edited = both(app(f"{own}j", 2), app(f"{own}stays"))
    start = {j: other, f"{at}/bundle2.yaml": rest}
    yield Case(start, into, start | {j: edited}, False, j, f"{own}j")
    # it may have moved to one of two files, where it was rewritten
    anew = [both(rest, rewritten(f"{own}k", n)) for n in "12"]
    to = [f"{at}/bundle3.yaml", f"{at}/bundle4.yaml"]
    start = dict.fromkeys(to, rest) | {k: app(f"{own}k")}
    yield Case(
        start, dict(zip(to, anew, strict=True)), start | {k: app(f"{own}k", 2)}, False, k, f"{own}k"
    )
    both_k = both(app(f"{own}l"), app(f"{own}stays"))
    to = [f"{at}/bundle5.yaml", f"{at}/bundle6.yaml"]
    anew = [both(rest, rewritten(f"{own}l", n)) for n in "12"]
    l_ = f"{at}/l.yaml"
    start = dict.fromkeys(to, rest) | {l_: both_k}
    edited = both(app(f"{own}l", 2), app(f"{own}stays"))
    deleted = dict(zip(to, anew, strict=True)) | {l_: app(f"{own}stays")}
    yield Case(start, deleted, start | {l_: edited}, False, l_, f"{own}l")


def rewritten(name: str, how: str) -> str:
    return app(f"{name}{how}").replace(f"name: {name}{how}\n", f"name: {name}\n", 1)


OURS, THEIRS = [*cases("ours")], [*cases("theirs")]  # by the side that deletes


def of(side: str, cases: list[Case]) -> Files:
    return {name: text for case in cases for name, text in getattr(case, side).items()}


@pytest.fixture
def forked(driven: Driven) -> Driven:
    """Files that main deleted and `side` edited, and the other way round; with the policy."""
    driven.write(".git/info/attributes", "*.yaml merge=kmerge kmerge-policy=deletion,**.x:ours\n")
    driven.commit("base", of("base", [*OURS, *THEIRS]))
    driven.branch("side")
    change(driven, OURS, "editor")
    change(driven, THEIRS, "deleter")
    driven.commit("side")
    driven.switch("main")
    change(driven, OURS, "deleter")
    change(driven, THEIRS, "editor")
    driven.commit("main")
    return driven


def change(driven: Driven, cases: list[Case], side: str) -> None:
    """Write what a side makes of its files."""
    for case in cases:
        for name in case.base:
            (driven.path / name).unlink()
        for name, text in getattr(case, side).items():
            driven.write(name, text)


def expect(driven: Driven, mine: str) -> None:
    """That side's deletions stand; of all others the edit is there, or its file is in conflict."""
    unmerged = driven.unmerged()
    files = [file for file in driven.path.rglob("*.yaml") if file.is_file()]
    texts = "".join(file.read_text() for file in files)
    for side, cases in (("ours", OURS), ("theirs", THEIRS)):
        for case in cases:
            if not (case.kept and side == mine):
                assert case.path in unmerged or edit_of(case.name) in texts, case.path
                assert not case.kept or case.path in unmerged, case.path
                continue
            assert case.path not in unmerged
            if case.left is None:
                assert not (driven.path / case.path).exists(), case.path
            else:
                assert driven.text(case.path) == case.left, case.path


def test_a_merge_by_kmerge_itself(forked: Driven) -> None:
    done = forked.kmerge("merge", "side", check=False)
    expect(forked, "ours")
    taken = "ours taken (rule 12 policy deletion)"
    what = "Deployment/oursa spec.replicas, Deployment/oursa comments"
    assert f"ours/a.yaml: the file: {Why.OURS_GONE} ({what}), {taken}" in done.said
    what = "spec.replicas, comments"
    assert f"ours/b.yaml: Deployment/oursx: {Why.OURS_GONE} ({what}), {taken}" in done.said
    assert done.said.count("rule 12") == 3


@pytest.mark.costly
def test_the_driver_sees_one_file_and_solve_all(forked: Driven) -> None:
    forked.merge()
    assert {"ours/a.yaml", "ours/b.yaml"} <= set(forked.unmerged())
    done = forked.kmerge("solve", check=False)
    expect(forked, "ours")
    assert "ours/b.yaml" in done.out and "(rule 12 policy deletion)" in done.out


@pytest.mark.costly
def test_preview_and_refresh_say_the_same(forked: Driven) -> None:
    done = forked.kmerge("preview", "side", "--write-tree", check=False)
    names = forked.git("ls-tree", "-r", "--name-only", done.lines[0]).lines
    assert "ours/a.yaml" not in names and "theirs/a.yaml" in names
    assert "(rule 12 policy deletion)" in forked.kmerge("preview", "side", check=False).out
    rebased = forked.kmerge("preview", "--rebase", "side", check=False).out
    assert "theirs taken (rule 12 policy deletion)" in rebased


@pytest.mark.parametrize("backend", ["--merge", "--apply"])
@pytest.mark.costly
def test_a_rebase(forked: Driven, backend: str) -> None:
    """The commit of `side` goes on top, which is theirs to git."""
    forked.switch("side")
    forked.git("rebase", backend, "main", check=False)
    forked.kmerge("solve", check=False)
    expect(forked, "theirs")


@pytest.mark.costly
def test_a_cherry_pick(forked: Driven) -> None:
    forked.git("cherry-pick", "side", check=False)
    forked.kmerge("solve", check=False)
    expect(forked, "theirs")


def test_what_is_said_of_such_a_merge_afterwards(driven: Driven) -> None:
    """A deletion that stands is nothing lost to `check`, and `explain` says who decided it."""
    driven.write(".git/info/attributes", "*.yaml merge=kmerge kmerge-policy=deletion\n")
    driven.fork({"a.yaml": app("a")}, {"b.yaml": app("b")}, {"c.yaml": app("c")})
    driven.switch("side")
    driven.commit("edit", {"a.yaml": app("a", 2)})
    driven.switch("main")
    driven.git("rm", "-q", "a.yaml")
    driven.commit("delete")
    assert driven.kmerge("merge", "side", check=False).code == 0
    assert "nothing found" in driven.kmerge("check", "--merge-of", "HEAD").out
    explained = driven.kmerge("explain", "HEAD").out
    assert "a.yaml: the file stays deleted; git alone leaves a conflict" in explained
    assert "(Deployment/a spec.replicas, Deployment/a comments); ours taken" in explained
    driven.write(".git/info/attributes", "*.yaml merge=kmerge\n")
    assert (
        "ours deleted this file, theirs changed it"
        in driven.kmerge("check", "--merge-of", "HEAD", check=False).out
    )


@pytest.mark.costly
def test_refresh_asks_it(forked: Driven) -> None:
    forked.commit("policy", {".gitattributes": "*.yaml merge=kmerge kmerge-policy=deletion\n"})
    words = ("refresh", "--with", "main", "--branches", "side", "--dry-run", "--json")
    told = json.loads(forked.kmerge(*words, check=False).out)["branches"][0]["files"]
    decided = {file["path"]: [one["by"] for one in file["decided"]] for file in told}
    stands = [case.path for case in THEIRS if case.kept]
    assert [path for path in decided if decided[path]] == stands
    assert set(map(tuple, decided.values())) == {(), ("policy deletion",)}


def test_status_tells_it(forked: Driven) -> None:
    """The settings of a file name it; `status` warns where most of the repository has it."""
    file = json.loads(forked.kmerge("status", "theirs/b.yaml", "--json").out)["files"][0]
    assert [(said["field"], said["policy"]) for said in file["policies"]] == [
        ("**.x", "ours"),
        ("", "deletion"),
    ]
    assert " deletion  " in forked.kmerge("status", "theirs/b.yaml").out
    warned = "warn  deletion: the policy `deletion` covers"
    assert warned in forked.kmerge("status", check=False).out
    forked.write(".git/info/attributes", "*.yaml merge=kmerge\n")
    forked.git("config", "kmerge.policy", "ours/* deletion")
    assert warned not in forked.kmerge("status", check=False).out
    forked.git("config", "--add", "kmerge.policy", "theirs/* deletion")
    assert warned in forked.kmerge("status", check=False).out


@pytest.mark.parametrize("value", ["spec:deletion", "deletions"])
def test_it_has_no_field(forked: Driven, value: str) -> None:
    forked.write(".git/info/attributes", f"*.yaml merge=kmerge kmerge-policy={value}\n")
    done = forked.kmerge("merge", "side", check=False)
    assert f"kmerge-policy: `{value}` is not of the form FIELDPATH:POLICY or deletion" in done.err
    expect(forked, "")


REVIVED = {
    "reverted": {"a.yaml": app("a"), "c.yaml": app("c")},
    "in another file": {"d.yaml": app("a"), "c.yaml": app("c")},
    "under another name": {
        "d.yaml": app("a").replace("name: a\n", "name: z\n"),
        "c.yaml": app("c"),
    },
    "gone": {"c.yaml": app("c")},
}


@pytest.mark.parametrize(
    "how, command",
    [
        *((how, "rebase") for how in REVIVED),
        *(
            (how, command)
            for how in ("reverted", "gone")
            for command in ("rebase --apply", "cherry-pick", "preview")
        ),
    ],
)
@pytest.mark.costly
def test_a_later_commit_brings_it_back(driven: Driven, how: str, command: str) -> None:
    """Of commits that are applied one by one the last one says what is gone."""
    driven.write(".git/info/attributes", "*.yaml merge=kmerge kmerge-policy=deletion\n")
    driven.commit("base", {"a.yaml": app("a"), "b.yaml": app("b")})
    driven.branch("side")
    driven.git("rm", "-q", "a.yaml")
    driven.commit("delete")
    driven.commit("more", REVIVED[how])
    driven.switch("main")
    driven.commit("edit", {"a.yaml": app("a", 2)})
    if command == "preview":
        driven.switch("side")
        done = driven.kmerge("preview", "--rebase", "main", check=False)
        assert done.code == (0 if how == "gone" else 1)
        return
    driven.switch("side" if command != "cherry-pick" else "main")
    driven.git(
        *command.split(), *(["main"] if "rebase" in command else ["side~2..side"]), check=False
    )
    assert driven.unmerged() == ["a.yaml"]
    driven.kmerge("solve", check=False)
    assert driven.unmerged() == ([] if how == "gone" else ["a.yaml"])


CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n"
CONFIG += "  DB: pg.internal.example\n  REGION: eu-central-1\n  MAIL: ops@example.com\n"
NEW_HOMES = {
    "values.yaml": "db: pg.internal.example\nregion: eu-central-1\nmail: ops@example.com\n",
    ".env": "DB=pg.internal.example\nREGION=eu-central-1\nMAIL=ops@example.com\n",
    "args.yaml": 'args: ["--db=pg.internal.example", "--region=eu-central-1", --mail=ops@example.com]\n',
    "commented.yaml": "".join(f"# {line}\n" for line in CONFIG.splitlines()),
    "app.json": '{"db": "pg.internal.example", "region": "eu-central-1", "mail": "ops@example.com"}\n',
}


@pytest.mark.parametrize("name", [*NEW_HOMES, ""])
def test_values_are_looked_for_under_any_key(driven: Driven, name: str) -> None:
    driven.write(".git/info/attributes", "*.yaml merge=kmerge kmerge-policy=deletion\n")
    driven.commit("base", {"c.yaml": CONFIG})
    driven.branch("side")
    driven.commit("edit", {"c.yaml": CONFIG.replace("eu-central-1", "eu-west-3")})
    driven.switch("main")
    driven.git("rm", "-q", "c.yaml")
    driven.commit("move", {name: NEW_HOMES[name]} if name else {})
    done = driven.kmerge("merge", "side", check=False)
    assert (done.code, driven.unmerged()) == ((1, ["c.yaml"]) if name else (0, []))


TEMPLATE = "{{- if .Values.on }}\n" + app("a") + "{{- end }}\n"


@pytest.mark.parametrize("text", [TEMPLATE, "a: [\n" + app("a")])
def test_of_a_file_that_is_no_yaml_nothing_is_known(driven: Driven, text: str) -> None:
    """Whether the other side added a resource to it is not seen."""
    driven.write(".git/info/attributes", "*.yaml merge=kmerge kmerge-policy=deletion\n")
    driven.commit("base", {"a.yaml": text})
    driven.branch("side")
    driven.commit("edit", {"a.yaml": f"{text}---\n{app('b')}"})
    driven.switch("main")
    driven.git("rm", "-q", "a.yaml")
    driven.commit("delete")
    assert driven.kmerge("merge", "side", check=False).code == 1
    assert driven.unmerged() == ["a.yaml"]


@pytest.mark.parametrize("setting", ["kmerge-favor=theirs", "kmerge-policy=**.image:theirs"])
@pytest.mark.parametrize("command", ["merge", "solve"])
def test_what_is_merged_has_no_say_in_how(driven: Driven, setting: str, command: str) -> None:
    """The attributes that a branch brings count when it is merged, and not before."""
    driven.write(".git/info/attributes", "")
    attributes = "*.yaml merge=kmerge\n"
    driven.commit("base", {"a.yaml": "image: web:1\n", ".gitattributes": attributes})
    driven.branch("side")
    brought = {".gitattributes": f"*.yaml merge=kmerge {setting}\n"}
    driven.commit("edit", {"a.yaml": "image: web:2\n"} | brought)
    driven.switch("main")
    driven.commit("edit", {"a.yaml": "image: web:3\n"})
    if command == "solve":
        driven.merge()
        assert driven.unmerged() == ["a.yaml"]
    assert driven.kmerge(*([command, "side"][: 1 + (command == "merge")]), check=False).code == 1
    assert driven.unmerged() == ["a.yaml"]
    assert "image: web:3" in driven.text("a.yaml")
    driven.git("checkout", "-q", "--ours", "--", "a.yaml")
    driven.commit("merged")
    driven.branch("next")
    driven.commit("edit", {"a.yaml": "image: web:4\n"})
    driven.switch("main")
    driven.commit("edit", {"a.yaml": "image: web:5\n"})
    assert driven.kmerge("merge", "next", check=False).code == 0
    assert driven.text("a.yaml") == "image: web:4\n"


@pytest.mark.costly
def test_am(forked: Driven) -> None:
    """Of the trees of `git am` nothing is known, so nothing shows that a resource is gone."""
    patch = forked.git("format-patch", "-1", "--stdout", "side").out
    forked.git("am", "-3", check=False, stdin=patch)
    forked.kmerge("solve", check=False)
    expect(forked, "")


@pytest.mark.costly
def test_a_revert_takes_nothing_away(forked: Driven) -> None:
    """The revert of a commit that added the files deletes them, and is on top of nothing."""
    forked.git("revert", "--no-edit", "HEAD~1", check=False)
    assert "theirs/a.yaml" in forked.unmerged()
    assert "rule 12" not in forked.kmerge("solve", check=False).out
    assert "theirs/a.yaml" in forked.unmerged()


@pytest.mark.costly
def test_a_stash_takes_nothing_away(forked: Driven) -> None:
    forked.git("checkout", "-q", "main~1")
    change(forked, OURS, "editor")
    change(forked, THEIRS, "deleter")
    forked.git("stash", "-u")
    forked.switch("main")
    forked.git("stash", "apply", check=False)
    forked.kmerge("solve", check=False)
    expect(forked, "")

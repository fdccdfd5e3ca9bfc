"""A resource that moved to another file comes out the same, whatever command makes the merge."""

from __future__ import annotations

import pytest
from manifests import deployment, service, stream
from test_solve import is_sound
from world import Repo

from kmerge_git.text.markers import resolve

Files = dict[str, str | bytes]
DOORS = ("merge", "preview", "solve")
SIDES = ("ours", "theirs")


def through(door: str, repo: Repo) -> list[str]:
    """Make the merge by one command, and return the files that are left in conflict.

    A preview writes a tree, which is checked out here so that the files can be read as elsewhere.
    """
    if door == "preview":
        done = repo.kmerge("preview", "side", "--write-tree", check=False)
        repo.git("checkout", "-q", done.lines[0], "--", ".")
        return sorted(line.split()[1] for line in done.lines[1:] if line.startswith("CONFLICT"))
    if door == "merge":
        repo.kmerge("merge", "side", "--no-commit", check=False)
    else:
        assert repo.merge("--no-commit").code == 1
        repo.kmerge("solve", check=False)
    return repo.unmerged()


def fork(repo: Repo, mover: str, base: Files, moved: Files, edited: Files) -> None:
    """Make the two branches; `mover` names the side that has the files `moved`."""
    repo.fork(base, *((moved, edited) if mover == "ours" else (edited, moved)))


KEPT = stream(deployment(), deployment(name="kept"))
OLD = {"all.yaml": stream(KEPT, service(80))}


@pytest.mark.parametrize("mover", SIDES)
@pytest.mark.parametrize("door", DOORS)
def test_into_a_file_that_both_sides_changed(repo: Repo, door: str, mover: str) -> None:
    moved = {"all.yaml": KEPT, "new.yaml": stream(deployment(2, name="n"), service(80))}
    edited = {
        "all.yaml": stream(KEPT, service(8443)),
        "new.yaml": deployment(image="app:2", name="n"),
    }
    fork(repo, mover, {**OLD, "new.yaml": deployment(name="n")}, moved, edited)
    assert through(door, repo) == []
    assert repo.text("all.yaml") == KEPT
    assert repo.text("new.yaml") == stream(deployment(2, "app:2", name="n"), service(8443))


@pytest.mark.parametrize("mover", SIDES)
@pytest.mark.parametrize("door", DOORS)
def test_into_a_file_with_a_conflict_of_its_own(repo: Repo, door: str, mover: str) -> None:
    moved = {"all.yaml": KEPT, "new.yaml": stream(deployment(2, name="n"), service(80))}
    edited = {"all.yaml": stream(KEPT, service(8443)), "new.yaml": deployment(3, name="n")}
    fork(repo, mover, {**OLD, "new.yaml": deployment(name="n")}, moved, edited)
    assert through(door, repo) == ["all.yaml", "new.yaml"]
    assert "port: 8443" in repo.text("all.yaml")


@pytest.mark.parametrize("mover", SIDES)
@pytest.mark.parametrize("door", DOORS)
def test_both_edited_the_resource_in_the_same_field(repo: Repo, door: str, mover: str) -> None:
    moved = {"all.yaml": KEPT, "new.yaml": stream(deployment(2, name="n"), service(81))}
    edited = {
        "all.yaml": stream(KEPT, service(8443)),
        "new.yaml": deployment(image="app:2", name="n"),
    }
    fork(repo, mover, {**OLD, "new.yaml": deployment(name="n")}, moved, edited)
    assert through(door, repo) == ["new.yaml"]
    assert repo.text("all.yaml") == KEPT
    text = repo.text("new.yaml")
    assert all(part in text for part in ("port: 81\n", "port: 8443\n", "app:2", "replicas: 2"))


@pytest.mark.parametrize("door", DOORS)
def test_two_resources_change_their_files(repo: Repo, door: str) -> None:
    """Ours moves one resource from a to b, theirs another one from b to a; each edits the other."""
    a, b = deployment(name="a"), deployment(name="b")
    base = {"a.yaml": stream(a, service(1, "one")), "b.yaml": stream(b, service(2, "two"))}
    ours = {"a.yaml": a, "b.yaml": stream(b, service(22, "two"), service(1, "one"))}
    theirs = {"a.yaml": stream(a, service(11, "one"), service(2, "two")), "b.yaml": b}
    repo.fork(base, ours, theirs)
    assert through(door, repo) == []
    assert repo.text("a.yaml") == stream(a, service(22, "two"))
    assert repo.text("b.yaml") == stream(b, service(11, "one"))


PROD, DEV = (f"overlays/{name}/deploy.yaml" for name in ("prod", "dev"))


@pytest.mark.parametrize("door", DOORS)
def test_a_deleted_resource_does_not_follow_another_one_of_its_name(repo: Repo, door: str) -> None:
    """In git, too, the deletion conflicts with the edit in the old file."""
    repo.commit("base", {PROD: deployment(3), DEV: deployment(1)})
    repo.branch("side")
    repo.commit("theirs", {PROD: deployment(3, image="app:2")})
    repo.switch("main")
    repo.git("rm", "-q", PROD)
    repo.git("mv", DEV, "overlays/dev/app.yaml")
    repo.commit("ours")
    assert through(door, repo) == [PROD]
    assert repo.text("overlays/dev/app.yaml") == deployment(1)


@pytest.mark.parametrize("mover", SIDES)
@pytest.mark.parametrize("door", DOORS)
def test_each_edit_follows_its_own_resource_of_that_name(repo: Repo, door: str, mover: str) -> None:
    """Dev's goes to the folder of prod, and prod's out of it."""
    owners = {PROD: deployment(name="p"), DEV: deployment(name="d")}
    base = {path: stream(owners[path], service(80 + len(path))) for path in (PROD, DEV)}
    edited = {
        path: text.replace("targetPort: 8080", f"targetPort: {len(path)}")
        for path, text in base.items()
    }
    moved = owners | {
        "overlays/prod/old.yaml": service(80 + len(DEV)),
        "overlays/old.yaml": service(80 + len(PROD)),
    }
    fork(repo, mover, base, moved, edited)
    assert through(door, repo) == []
    for path, target in ((PROD, "overlays/old.yaml"), (DEV, "overlays/prod/old.yaml")):
        service_there = service(80 + len(path)).replace("8080", str(len(path)))
        assert repo.text(target) == service_there
        assert repo.text(path) == owners[path]


@pytest.mark.parametrize("door, is_clean", [*((door, False) for door in DOORS), ("merge", True)])
def test_git_takes_the_file_of_another_resource_for_the_renamed_one(
    repo: Repo, door: str, is_clean: bool
) -> None:
    """Prod's is deleted and dev's is copied; whether git sees a conflict depends on the lines."""
    new = "overlays/qa/deploy.yaml"
    beside = deployment(3).replace("replicas: 3", "replicas: 3\n  paused: true")
    repo.commit("base", {PROD: deployment(3), DEV: deployment(1)})
    repo.branch("side")
    repo.commit("theirs", {PROD: deployment(3, image="app:2") if is_clean else beside})
    repo.switch("main")
    repo.git("rm", "-q", PROD)
    repo.commit("ours", {new: deployment(1)})
    assert through(door, repo) == [new]
    if door == "merge":
        said = f"git assumes that {PROD} was renamed to this file, but the Deployment/web in it is a different resource"
        assert said in repo.kmerge("solve", check=False).said


DEV_S, PROD_S = "overlays/dev/svc.yaml", "overlays/prod/svc.yaml"
ALL = stream(service(80), deployment())
MANY = tuple(f"V{n}={n}" for n in range(12))
SPLIT = {"charts/dev/s.yaml": service(80), "charts/dev/d.yaml": deployment()}
# base; what the mover adds to what it keeps; the edited file; where the edit is then; the conflicts
WRONG_RENAMES: dict[str, tuple[Files, Files, str, str, list[str]]] = {
    "two environments with equal files are renamed": (
        {DEV_S: service(80), PROD_S: service(80)},
        {"overlays/development/svc.yaml": service(80), "overlays/production/svc.yaml": service(80)},
        DEV_S,
        DEV_S,
        [DEV_S],
    ),
    "a chart is split, and copied to another one": (
        {"charts/dev/all.yaml": ALL},
        {**SPLIT, "charts/apac/all.yaml": ALL},
        "charts/dev/all.yaml",
        "charts/dev/s.yaml",
        [],
    ),
    "one becomes two": (
        {PROD_S: service(80)},
        {"overlays/eu/svc.yaml": service(80), "overlays/us/svc.yaml": service(80)},
        PROD_S,
        PROD_S,
        [PROD_S],
    ),
    "renamed and edited, and copied to another overlay": (
        {PROD: deployment(env=MANY)},
        {
            "overlays/prod/d.yaml": deployment(2, env=MANY),
            "overlays/eu/d.yaml": deployment(env=MANY),
        },
        PROD,
        PROD,
        [PROD],
    ),
    "one of two files with equal names is split": (
        {"charts/dev/all.yaml": ALL, "charts/prod/all.yaml": stream(service(81), deployment(3))},
        {**SPLIT, "charts/prod/all.yaml": stream(service(81), deployment(3))},
        "charts/dev/all.yaml",
        "charts/dev/s.yaml",
        [],
    ),
}


@pytest.mark.parametrize("mover", SIDES)
@pytest.mark.parametrize("door", ["merge", "preview"])
@pytest.mark.parametrize("name", WRONG_RENAMES)
def test_a_file_that_git_takes_for_a_renamed_one_of_another_overlay(
    repo: Repo, name: str, door: str, mover: str
) -> None:
    base, moved, source, home, left = WRONG_RENAMES[name]
    text = str(base[source])
    edited = text.replace(*("8080", "9090") if "8080" in text else ("app:1", "app:9090"))
    assert edited != text
    texts = base, moved, base | {source: edited}
    side, other = ("main", "side") if mover == "ours" else ("side", "main")
    repo.commit("base", texts[0])
    repo.branch("side")
    for branch, files in ((side, texts[1]), (other, texts[2])):
        repo.switch(branch)
        gone = [path for path in base if path not in files]
        if gone:
            repo.git("rm", "-q", *gone)
        repo.commit(branch, files)
    repo.switch("main")
    if door == "preview":  # a file that the tree lacks would stay
        (repo.path / source).unlink(missing_ok=True)
    assert through(door, repo) == left
    there = [
        path
        for path in {*base, *moved}
        if (repo.path / path).exists() and "9090" in repo.text(path)
    ]
    assert there == [home]


@pytest.mark.parametrize("mover", SIDES)
def test_another_resource_in_the_place_of_an_edited_one(repo: Repo, mover: str) -> None:
    """Staging's Service was moved over dev's; the namespaces tell that it is another one."""
    dev, staging = "dev/svc.yaml", "staging/svc.yaml"
    one, other = (
        service(port).replace("  name: web\n", f"  name: web\n  namespace: {space}\n")
        for port, space in ((80, "dev"), (82, "staging"))
    )
    edited = one.replace("8080", "9090")
    fork(repo, mover, {dev: one, staging: other}, {dev: other}, {dev: edited, staging: other})
    if (repo.path / staging).exists():
        repo.git("rm", "-q", staging)
        repo.commit("moved")
    done = repo.kmerge("merge", "side", check=False)
    assert repo.unmerged() == [dev]
    assert (
        "one side edited Service/web, but the other has a different resource in this file"
        in done.err
    )


def test_the_editor_may_have_renamed_the_file(repo: Repo) -> None:
    old, new = "overlays/prod/all.yaml", "overlays/prod/everything.yaml"
    edited = service(80).replace("8080", "9090")
    repo.commit("base", {old: stream(KEPT, service(80)), DEV: stream(KEPT, service(81))})
    repo.branch("side")
    repo.git("mv", old, new)
    repo.commit("theirs", {new: stream(KEPT, edited)})
    repo.switch("main")
    repo.commit("ours", {old: KEPT, "overlays/prod/s.yaml": service(80)})
    assert through("merge", repo) == []
    assert repo.text(new) == KEPT
    assert repo.text("overlays/prod/s.yaml") == edited


def test_what_one_side_deleted_is_not_said_to_be_moved_with_another_one(repo: Repo) -> None:
    """Prod's is deleted on one side and moved on the other: dev's has nothing to do with it."""
    base = {PROD: stream(KEPT, service(80)), DEV: stream(KEPT, service(9000, "web"))}
    ours = {PROD: KEPT, DEV: KEPT, "overlays/dev/s.yaml": service(9000)}
    repo.fork(base, ours, {PROD: KEPT, "overlays/prod/s.yaml": service(80)})
    done = repo.kmerge("merge", "side")
    said = f"Service/web was deleted from {PROD} in ours and moved from {PROD} to overlays/prod/s.yaml in theirs"
    assert said in done.said
    assert repo.text("overlays/dev/s.yaml") == service(9000)
    assert repo.text("overlays/prod/s.yaml") == service(80)


@pytest.mark.parametrize("door", ["merge", "solve"])
def test_a_solved_file_brings_its_conflict_and_the_edit_back(repo: Repo, door: str) -> None:
    """After `git checkout -m` of the new file alone, the edit is still there."""
    moved = {"all.yaml": KEPT, "new.yaml": stream(deployment(2, name="n"), service(80))}
    edited = {"all.yaml": stream(KEPT, service(8443)), "new.yaml": deployment(3, name="n")}
    edited["new.yaml"] = deployment(image="app:2", name="n")
    repo.fork({**OLD, "new.yaml": deployment(name="n")}, moved, edited)
    assert through(door, repo) == []
    before = repo.text("new.yaml")
    repo.git("checkout", "-m", "--", "new.yaml")
    assert repo.unmerged() == ["new.yaml"]
    repo.kmerge("solve")
    assert repo.text("new.yaml") == before
    repo.git("merge", "--abort")
    assert repo.text("new.yaml") == moved["new.yaml"]
    assert is_sound(repo)


APART = {"all.yaml": KEPT, "b.yaml": stream(deployment(name="b"), service(80))}
OTHER = {"all.yaml": KEPT, "c.yaml": stream(deployment(2, name="c"), service(80))}
BASE = {**OLD, "b.yaml": deployment(name="b"), "c.yaml": deployment(name="c")}


@pytest.mark.parametrize("ports", [(80, 80), (81, 81), (81, 80), (80, 81), (81, 82)])
@pytest.mark.parametrize("door", ["merge", "preview", "solve"])
def test_both_moved_it_to_different_files(repo: Repo, door: str, ports: tuple[int, int]) -> None:
    """Ours has it in a conflict that names theirs' file, unless the sides edited it differently."""
    ours = {
        "all.yaml": KEPT,
        "b.yaml": stream(deployment(name="b"), service(ports[0])),
        "x.yaml": service(1, "x"),
    }
    theirs = {"all.yaml": KEPT, "c.yaml": stream(deployment(2, name="c"), service(ports[1]))}
    base = {**BASE, "x.yaml": service(0, "x")}
    repo.fork(base, ours, {**theirs, "x.yaml": service(2, "x")} if door == "solve" else theirs)
    left = through(door, repo)
    assert [path for path in left if path != "x.yaml"] == ["b.yaml", "c.yaml"]
    assert repo.text("c.yaml") == theirs["c.yaml"]
    text = repo.text("b.yaml")
    markers = [line for line in text.split("\n") if line.startswith(("<<<<<<<", ">>>>>>>"))]
    if ports[0] == ports[1]:
        assert len(markers) == 2
        assert "c.yaml" in "".join(markers)
        assert resolve(text, "ours") == ours["b.yaml"]
        assert resolve(text, "theirs") == deployment(name="b")
    else:
        assert text == ours["b.yaml"]
        if door != "preview":
            said = repo.kmerge("resolve", "--list", check=False).said
            assert (
                "moved to b.yaml in ours, but to c.yaml in theirs; correct the file, then" in said
            )
            assert "run `git add`): b.yaml, c.yaml" in said
            repo.kmerge("resolve", "--take", "ours", check=False)
            assert {"b.yaml", "c.yaml"} <= {*repo.unmerged()}
            assert (repo.text("b.yaml"), repo.text("c.yaml")) == (ours["b.yaml"], theirs["c.yaml"])


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.costly
def test_the_answer_decides_both_files(repo: Repo, side: str) -> None:
    repo.fork(BASE, APART, OTHER)
    assert through("merge", repo) == ["b.yaml", "c.yaml"]
    assert repo.git("commit", "-m", "too early", check=False).code != 0
    repo.kmerge("solve", check=False)
    assert repo.unmerged() == ["b.yaml", "c.yaml"]
    assert "still in conflict" not in repo.kmerge("resolve", "--take", side).said
    assert repo.unmerged() == []
    b, c = deployment(name="b"), deployment(2, name="c")
    wanted = (stream(b, service(80)), c) if side == "ours" else (b, stream(c, service(80)))
    assert (repo.text("b.yaml"), repo.text("c.yaml")) == wanted
    repo.kmerge("resolve", "--undo", "b.yaml")
    assert repo.unmerged() == ["b.yaml", "c.yaml"]
    repo.kmerge("resolve", "--take", side)
    assert (repo.text("b.yaml"), repo.text("c.yaml")) == wanted
    repo.git("commit", "-q", "--no-edit")
    assert is_sound(repo)


def test_a_file_with_nothing_else_in_it(repo: Repo) -> None:
    base = {"all.yaml": stream(KEPT, service(80))}
    repo.fork(
        base, {"all.yaml": KEPT, "b.yaml": service(80)}, {"all.yaml": KEPT, "c.yaml": service(80)}
    )
    assert through("merge", repo) == ["b.yaml", "c.yaml"]
    assert repo.text("c.yaml") == service(80)
    repo.kmerge("resolve", "--take", "theirs")
    assert repo.unmerged() == []
    assert not (repo.path / "b.yaml").exists()
    assert repo.text("c.yaml") == service(80)


@pytest.mark.parametrize("staged", ["b.yaml", "c.yaml"])
def test_a_decision_by_hand_is_not_asked_again(repo: Repo, staged: str) -> None:
    """Who stages one of the two files stages the other one, too: nothing is taken out of it."""
    repo.fork(BASE, APART, OTHER)
    assert through("merge", repo) == ["b.yaml", "c.yaml"]
    text = {**APART, "c.yaml": deployment(2, name="c")}[staged]
    (other,) = {"b.yaml", "c.yaml"} - {staged}
    repo.write(staged, text)
    repo.git("add", staged)
    before = repo.text(other)
    for words in (("solve",), ("resolve", "--take", "ours")):
        done = repo.kmerge(*words, check=False)
        assert "correct the file, then run `git add`" in done.said
        assert repo.unmerged() == [other]
        assert (repo.text(staged), repo.text(other)) == (text, before)


def test_one_file_that_waits_for_two(repo: Repo) -> None:
    """Who stages one of three files stages the rest, too: nothing is in two files unseen."""
    one, two = service(1, "s1"), service(2, "s2")
    ours = {"all.yaml": KEPT, "o1.yaml": one, "o2.yaml": two}
    repo.fork(
        {"all.yaml": stream(KEPT, one, two)}, ours, {"all.yaml": KEPT, "t.yaml": stream(one, two)}
    )
    assert through("merge", repo) == ["o1.yaml", "o2.yaml", "t.yaml"]
    repo.write("o1.yaml", one)
    repo.git("add", "o1.yaml")
    repo.kmerge("resolve", "--take", "ours", check=False)
    assert "t.yaml" in repo.unmerged()
    assert repo.text("t.yaml") == stream(one, two)


@pytest.mark.parametrize("side", SIDES)
def test_a_favoured_side_decides_no_place(repo: Repo, side: str) -> None:
    repo.fork(BASE, APART, OTHER)
    assert repo.kmerge("merge", "-X", side, "side", check=False).code == 1
    assert repo.unmerged() == ["b.yaml", "c.yaml"]


def test_an_abort_takes_the_two_files_back(repo: Repo) -> None:
    repo.fork(BASE, APART, OTHER)
    assert through("merge", repo) == ["b.yaml", "c.yaml"]
    repo.git("merge", "--abort")
    assert {path: repo.text(path) for path in APART} == APART
    assert repo.text("c.yaml") == BASE["c.yaml"]
    assert is_sound(repo)


@pytest.mark.parametrize("door", ["merge", "preview"])
def test_both_moved_it_to_the_same_file(repo: Repo, door: str) -> None:
    ours = {"all.yaml": KEPT, "new.yaml": service(81)}
    theirs = {"all.yaml": KEPT, "new.yaml": service(80).replace("8080", "9090")}
    repo.fork(OLD, ours, theirs)
    assert through(door, repo) == []
    assert repo.text("new.yaml") == service(81).replace("8080", "9090")


@pytest.mark.parametrize("mover", SIDES)
@pytest.mark.costly
def test_moved_here_and_deleted_there_is_told(repo: Repo, mover: str) -> None:
    moved, deleted = {"all.yaml": KEPT, "new.yaml": service(80)}, {"all.yaml": KEPT}
    fork(repo, mover, OLD, moved, deleted)
    said = (
        "Service/web was moved from all.yaml to new.yaml in ours and deleted from all.yaml in theirs"
        if mover == "ours"
        else "Service/web was deleted from all.yaml in ours and moved from all.yaml to new.yaml in theirs"
    )
    said += "; it stays in new.yaml"
    assert said in repo.kmerge("preview", "side").said
    assert said in repo.kmerge("refresh", "--with", "side", "main", "--dry-run").said
    done = repo.kmerge("merge", "side")
    assert said in done.said
    assert said in repo.kmerge("explain", "HEAD").said
    assert repo.text("new.yaml") == service(80)


@pytest.mark.parametrize("edited", [2, 22])
@pytest.mark.parametrize("side", SIDES)
def test_both_split_the_file_in_other_ways(repo: Repo, side: str, edited: int) -> None:
    """No file of the two sides is in the tree of the other side."""
    one, two, three = (service(n, f"s{n}") for n in (1, 2, 3))
    ours = {"all.yaml": KEPT, "o.yaml": stream(one, service(edited, "s2")), "o3.yaml": three}
    theirs = {"all.yaml": KEPT, "t.yaml": stream(one, two, three)}
    repo.fork({"all.yaml": stream(KEPT, one, two, three)}, ours, theirs)
    assert through("merge", repo) == ["o.yaml", "o3.yaml", "t.yaml"]
    repo.kmerge("resolve", "--take", side, check=False)
    if edited == 22:  # all three files hang together
        assert repo.unmerged() == ["o.yaml", "o3.yaml", "t.yaml"]
        files = {**ours, **theirs}
    else:
        assert repo.unmerged() == []
        files = ours if side == "ours" else theirs
    for path in ("o.yaml", "o3.yaml", "t.yaml"):
        assert (repo.path / path).exists() == (path in files)
        assert path not in files or repo.text(path) == files[path]


@pytest.mark.parametrize("where", ["both files", "no file", "one file"])
def test_a_check_of_the_merge_finds_it(repo: Repo, where: str) -> None:
    """Git alone merges it clean, and somebody may lose the resource who decides by hand."""
    ours, theirs = ({"all.yaml": KEPT, path: service(80)} for path in ("o.yaml", "t.yaml"))
    repo.fork(OLD, ours, theirs)
    assert repo.merge("--no-commit").code == 0
    for path in {"both files": (), "no file": ("o.yaml", "t.yaml"), "one file": ("o.yaml",)}[where]:
        repo.git("rm", "-qf", path)
    done = repo.kmerge("check", "--merge", check=False)
    if where == "both files":
        assert done.code == 1
        assert "M04 duplicate resource Service/web: ours moved it from all.yaml" in done.out
    else:
        assert ("M11 Service/web is lost" in done.out) == (where == "no file")


def test_a_check_of_the_merge_tells_what_was_moved_and_deleted(repo: Repo) -> None:
    repo.fork(OLD, {"all.yaml": KEPT, "o.yaml": service(80)}, {"all.yaml": KEPT})
    assert repo.merge("--no-commit").code == 0
    said = "M11 Service/web was moved from all.yaml to o.yaml in ours and deleted from all.yaml in theirs"
    assert said in repo.kmerge("check", "--merge").out

"""`kmerge merge REV` in real repositories: what git refuses, what it keeps, what is told."""

from __future__ import annotations

import json
import re

import pytest
from manifests import deployment, service, stream
from test_merge_equal import registered
from test_solve import is_sound
from world import Done, Repo, World

from kmerge_git.merge.plan import Why
from kmerge_git.text.markers import resolve

BASE = deployment()
OURS = deployment(env=("A=1", "OURS=1"))
THEIRS = deployment(env=("A=1", "THEIRS=1"))
BOTH = deployment(env=("A=1", "OURS=1", "THEIRS=1"))
WAYS = ("git", "kmerge")


def forked(repo: Repo, name: str = "app.yaml") -> Repo:
    repo.fork({name: BASE}, {name: OURS}, {name: THEIRS})
    return repo


def clashing(repo: Repo) -> Repo:
    repo.fork(
        *({"app.yaml": deployment(n), "b.yaml": t} for n, t in ((1, BASE), (2, OURS), (3, THEIRS)))
    )
    return repo


def snapshot(repo: Repo) -> dict[str, bytes]:
    """Every file of the working tree and what git has staged."""
    files = {
        str(path.relative_to(repo.path)): path.read_bytes()
        for path in sorted(repo.path.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }
    return files | {":index": repo.git("ls-files", "-s", "-z").out.encode()}


def test_a_merge_that_lines_cannot_make(repo: Repo) -> None:
    forked(repo)
    done = repo.kmerge("merge", "side")
    assert repo.text("app.yaml") == BOTH
    assert repo.git("log", "-1", "--format=%s %p").out == (
        f"Merge branch 'side' {repo.head('main^1')[:7]} {repo.head('side')[:7]}\n"
    )
    assert done.err == ("kmerge: git alone would leave 1 file in conflict, kmerge leaves none\n")
    assert is_sound(repo)
    assert not [p for p in (repo.path / ".git").iterdir() if p.name.startswith("kmerge")]


def test_nothing_is_said_where_git_alone_does_the_same(repo: Repo) -> None:
    lines = "".join(f"l{n}: {n}\n" for n in range(20))
    ours, theirs = lines.replace("l2: 2", "l2: o"), lines.replace("l17: 17", "l17: t")
    repo.fork({"a.yaml": lines}, {"a.yaml": ours}, {"a.yaml": theirs})
    assert repo.kmerge("merge", "side").err == ""
    assert is_sound(repo)


@pytest.mark.parametrize("mover", ["ours", "theirs"])
def test_a_resource_that_moved_is_followed(repo: Repo, mover: str) -> None:
    base = {"all.yaml": stream(deployment(), service(80))}
    moved = {"all.yaml": deployment(), "service.yaml": service(80)}
    edited = {"all.yaml": stream(deployment(), service(8443))}
    repo.fork(base, *((moved, edited) if mover == "ours" else (edited, moved)))
    done = repo.kmerge("merge", "side")
    assert repo.text("all.yaml") == deployment()
    assert repo.text("service.yaml") == service(8443)
    assert "Service/web moved to service.yaml; its change in all.yaml is applied there" in done.err
    assert is_sound(repo)


def test_documents_that_both_sides_put_in_orders_that_contradict_each_other(repo: Repo) -> None:
    a, b, c = (service(name=name) for name in "abc")
    orders = stream(a, b, c), stream(b, a, c), stream(a, c, b)
    repo.fork(*({"a.yaml": text} for text in orders))
    told = "kmerge: a.yaml: document: both sides changed the order of the documents, ours taken"
    assert told in repo.kmerge("merge", "side").err
    assert repo.text("a.yaml") == orders[1]
    found = repo.kmerge("check", "--merge-of", "HEAD").out
    assert (
        "warning M28 Service/c is after Service/b, but before it on one side of the merge" in found
    )


def test_documents_that_both_sides_moved_follow_both(repo: Repo) -> None:
    a, b, c, d = (service(name=name) for name in "abcd")
    orders = stream(a, b, c, d), stream(b, a, c, d), stream(a, b, d, c)
    repo.fork(*({"a.yaml": text} for text in orders))
    assert "order of the documents" not in repo.kmerge("merge", "side").err
    assert repo.text("a.yaml") == stream(b, a, d, c)
    assert "M28" not in repo.kmerge("check", "--merge-of", "HEAD").out


def test_a_file_of_a_moved_resource_that_is_deleted(repo: Repo) -> None:
    repo.fork({"old.yaml": BASE, "x": "1"}, {"x": "1"}, {"old.yaml": THEIRS})
    repo.git("rm", "-q", "old.yaml")
    others = [service(n, f"s{n}") for n in range(9)]  # to git, no rename
    repo.commit("moved", {"sub/new.yaml": stream(*others, BASE)})
    done = repo.kmerge("merge", "side")
    assert repo.text("sub/new.yaml") == stream(*others, THEIRS)
    assert "in conflict, kmerge leaves none" in done.err
    assert is_sound(repo)


def test_what_is_no_manifest_is_told_as_left(repo: Repo) -> None:
    repo.fork(*({"a.yaml": t, "x.txt": f"{n}\n"} for n, t in enumerate((BASE, OURS, THEIRS))))
    done = repo.kmerge("merge", "side", check=False)
    assert done.err == (
        "kmerge: git alone would leave 2 files in conflict, kmerge leaves 1\n"
        "kmerge: still in conflict (not a manifest): x.txt\n"
        "kmerge: edit these files, then run `git add` and `git commit`\n"
    )


def test_local_work_where_a_moved_resource_is_now(repo: Repo) -> None:
    base = {"all.yaml": stream(deployment(), service(80))}
    moved = {"all.yaml": deployment(), "service.yaml": service(80)}
    repo.fork(base, moved, {"all.yaml": stream(deployment(), service(8443))})
    mine = repo.write("service.yaml", service(80) + "# mine\n")
    done = repo.kmerge("merge", "side", check=False)
    assert done.code == 1
    assert "service.yaml has uncommitted changes: commit or stash them first" in done.err
    assert mine.read_text() == service(80) + "# mine\n"
    assert repo.unmerged() == ["all.yaml"]
    repo.git("merge", "--abort")
    assert mine.read_text() == service(80) + "# mine\n"


def dirty(repo: Repo) -> None:
    repo.write("app.yaml", OURS + "# mine\n")


def staged(repo: Repo) -> None:
    dirty(repo)
    repo.git("add", "app.yaml")


def staged_elsewhere(repo: Repo) -> None:
    repo.write("other.txt", "mine\n")
    repo.git("add", "other.txt")


def untracked(repo: Repo) -> None:
    repo.write("new.yaml", "mine\n")


def ignored(repo: Repo) -> None:
    repo.write(".git/info/exclude", "new.yaml\n")
    untracked(repo)


def dirty_elsewhere(repo: Repo) -> None:
    repo.write("notes.txt", "mine\n")


def merging(repo: Repo) -> None:
    repo.git("merge", "--no-commit", "side", check=False)


def unmerged(repo: Repo) -> None:
    repo.git("merge", "--no-commit", "side", check=False)
    repo.git("merge", "--quit")


@pytest.mark.world
@pytest.mark.parametrize(
    "way",
    [dirty, staged, staged_elsewhere, untracked, ignored, dirty_elsewhere, merging, unmerged],
    ids=lambda way: way.__name__,
)
@pytest.mark.parametrize(
    "option",
    [(), ("--no-overwrite-ignore",), ("--autostash",), ("--autostash", "--no-commit")],
    ids=" ".join,
)
def test_what_is_in_the_way_is_as_git_has_it(world: World, way, option: tuple[str, ...]) -> None:
    """All files git lets alone, its words and its exit code; what it merges is merged by us."""
    ends = []
    for name in WAYS:
        repo = world.init(name)
        base = {"app.yaml": BASE, "notes.txt": "1\n"}
        repo.fork(base, {"app.yaml": OURS}, {"app.yaml": THEIRS, "new.yaml": "a: 1\n"})
        way(repo)
        if name == "git":
            registered(repo)
        merge = repo.git if name == "git" else repo.kmerge
        done = merge("merge", *option, "side", check=False)
        ends.append((repo, done))
    (git, by_git), (ours, by_us) = ends
    refused = by_git.code not in (0, 1)
    if refused:
        assert (by_us.code, by_us.out, by_us.err) == (by_git.code, by_git.out, by_git.err)
        assert snapshot(ours) == snapshot(git)
        return
    assert (by_us.code, by_us.out) == (by_git.code, by_git.out)
    assert snapshot(ours) == snapshot(git)


@pytest.mark.world
@pytest.mark.parametrize(
    "words",
    [
        ["gone"],
        ["main"],
        ["ahead"],
        ["--ff-only", "side"],
        ["--no-ff", "ahead"],
        ["--ff-only", "ahead"],
        ["--continue"],
        ["--abort"],
        ["--squash", "--commit", "side"],
        ["--squash", "--no-ff", "side"],
        ["orphan"],
        [],
    ],
    ids=" ".join,
)
def test_what_git_answers_without_a_merge(world: World, words: list[str]) -> None:
    ends = []
    for name in WAYS:
        repo = world.init(name)
        forked(repo)
        repo.branch("ahead")
        repo.commit("ahead", {"app.yaml": BOTH})
        repo.git("checkout", "-q", "--orphan", "orphan")
        repo.commit("orphan", {"other.yaml": BASE})
        repo.switch("main")
        merge = repo.git if name == "git" else repo.kmerge
        done = merge("merge", *words, check=False)
        ends.append((done.code, done.out, done.err, snapshot(repo), repo.head("HEAD^{tree}")))
    assert ends[1] == ends[0]


def test_unrelated_histories(repo: Repo) -> None:
    repo.commit("ours", {"app.yaml": OURS})
    repo.git("checkout", "-q", "--orphan", "side")
    repo.commit("theirs", {"app.yaml": OURS + "# x\n", "b.yaml": BASE})
    repo.switch("main")
    repo.kmerge("merge", "--allow-unrelated-histories", "side", check=False)
    repo.git("fsck", "--strict")
    assert repo.text("b.yaml") == BASE


def test_an_unborn_branch(world: World) -> None:
    new = forked(world.init("new"))
    new.git("checkout", "-q", "--orphan", "unborn")
    new.git("rm", "-rfq", ".")
    assert new.kmerge("merge", "side").code == 0
    assert new.text("app.yaml") == THEIRS


def test_conflicts_are_left_as_git_leaves_them(repo: Repo) -> None:
    clashing(repo)
    done = repo.kmerge("merge", "side", check=False)
    assert done.code == 1
    assert repo.unmerged() == ["app.yaml"]
    assert repo.text("b.yaml") == BOTH
    assert done.out == (
        "Auto-merging app.yaml\nCONFLICT (content): Merge conflict in app.yaml\n"
        "Auto-merging b.yaml\n"
        "Automatic merge failed; fix conflicts and then commit the result.\n"
    )
    assert "git alone would leave 2 files in conflict, kmerge leaves 1" in done.err
    assert "conflict: app.yaml: Deployment/web spec.replicas" in done.err
    assert (repo.path / ".git/MERGE_MSG").read_text() == (
        "Merge branch 'side'\n\n# Conflicts:\n#\tapp.yaml\n"
    )
    repo.kmerge("merge", "--abort")
    assert repo.text("app.yaml") == deployment(2)
    assert is_sound(repo)


def test_continue_commits_what_a_person_resolved(repo: Repo) -> None:
    clashing(repo)
    repo.kmerge("merge", "side", check=False)
    repo.write("app.yaml", deployment(5))
    repo.git("add", "app.yaml")
    repo.world.kmerge("merge", "--continue", cwd=repo.path, env={"GIT_EDITOR": "true"})
    assert repo.git("log", "-1", "--format=%P").out.count(" ") == 1
    assert is_sound(repo)


@pytest.mark.parametrize("words", [("-X", "theirs"), ("--favor", "theirs")])
def test_favor(repo: Repo, words: tuple[str, str]) -> None:
    files = ({"app.yaml": deployment(n), "notes": f"{n}\n"} for n in (1, 2, 3))
    repo.fork(*files)
    done = repo.kmerge("merge", *words, "side")
    assert repo.text("app.yaml") == deployment(3)
    assert repo.text("notes") == "3\n"
    assert f"app.yaml: Deployment/web spec.replicas: {Why.BOTH_CHANGED}, theirs taken" in done.err


def test_a_deletion_is_nobodys_to_favour(repo: Repo) -> None:
    repo.fork({"app.yaml": BASE, "x": ""}, {"app.yaml": OURS}, {"x": "1"})
    repo.switch("side")
    repo.git("rm", "-q", "app.yaml")
    repo.commit("deleted")
    repo.switch("main")
    done = repo.kmerge("merge", "-X", "theirs", "side", check=False)
    assert (done.code, repo.unmerged(), repo.text("app.yaml")) == (1, ["app.yaml"], OURS)


def test_hooks_run_once_and_signing_too(repo: Repo) -> None:
    forked(repo)
    log = repo.world.root / "log"
    for hook in (
        "pre-commit",
        "prepare-commit-msg",
        "commit-msg",
        "post-commit",
        "pre-merge-commit",
    ):
        file = repo.write(f".git/hooks/{hook}", f'#!/bin/sh\necho {hook} $2 >>"{log}"\n')
        file.chmod(0o755)
    gpg = repo.write(
        "../gpg",
        f'#!/bin/sh\ncat >/dev/null\necho gpg >>"{log}"\nprintf "\\n[GNUPG:] SIG_CREATED \\n" >&2\necho -----BEGIN PGP SIGNATURE-----\n',
    )
    gpg.chmod(0o755)
    repo.git("config", "gpg.program", str(gpg))
    repo.kmerge("merge", "-S", "side")
    assert log.read_text().splitlines() == [
        "pre-commit", "prepare-commit-msg merge", "commit-msg", "gpg", "post-commit",
    ]  # fmt: skip
    assert re.search("^gpgsig(-sha256)? -----BEGIN PGP SIGNATURE-----", repo.show("HEAD"), re.M)


def test_a_hook_that_refuses_leaves_the_merge_to_a_person(repo: Repo) -> None:
    forked(repo)
    repo.write(".git/hooks/commit-msg", "#!/bin/sh\nexit 1\n").chmod(0o755)
    before = repo.head()
    done = repo.kmerge("merge", "side", check=False)
    assert done.code == 1
    assert "finish with `git commit`" in done.err
    assert (repo.head(), repo.head("MERGE_HEAD")) == (before, repo.head("side"))
    assert (repo.unmerged(), repo.text("app.yaml")) == ([], BOTH)
    repo.kmerge("merge", "--abort")
    assert is_sound(repo)


def test_no_verify(repo: Repo) -> None:
    forked(repo)
    repo.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n").chmod(0o755)
    repo.kmerge("merge", "--no-verify", "side")
    assert is_sound(repo)


def test_an_editor_is_asked_for(repo: Repo) -> None:
    forked(repo)
    editor = repo.write("../editor", '#!/bin/sh\ncp "$1" "$1.seen"\necho edited >"$1"\n')
    editor.chmod(0o755)
    repo.kmerge("merge", "-e", "side", env={"GIT_EDITOR": str(editor)})
    assert repo.git("log", "-1", "--format=%B").out == "edited\n\n"
    assert "# Conflicts" not in (repo.path / ".git/COMMIT_EDITMSG.seen").read_text()


def test_in_a_subdirectory_of_a_linked_worktree(repo: Repo) -> None:
    forked(repo, "deep/er/app.yaml")
    linked = repo.world.root / "linked"
    repo.git("worktree", "add", "-q", "-b", "other", linked, "main")
    repo.world.kmerge("merge", "side", cwd=linked / "deep")
    assert (linked / "deep/er/app.yaml").read_text() == BOTH
    assert is_sound(Repo(repo.world, linked))
    assert repo.text("deep/er/app.yaml") == OURS
    assert not list((repo.path / ".git").rglob("kmerge-*"))


def test_in_a_submodule(world: World) -> None:
    inner, outer = forked(world.init("inner")), world.init("outer")
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.path, "sub")
    module = Repo(world, outer.path / "sub")
    module.git("branch", "side", "origin/side")
    module.kmerge("merge", "side")
    assert module.text("app.yaml") == BOTH
    assert is_sound(module)


def test_in_a_sparse_checkout(repo: Repo) -> None:
    files = ({"in/app.yaml": t, "out/app.yaml": t} for t in (BASE, OURS, THEIRS))
    repo.fork(*files)
    repo.git("sparse-checkout", "set", "in")
    repo.kmerge("merge", "side")
    assert repo.show("HEAD:in/app.yaml") == repo.show("HEAD:out/app.yaml") == BOTH
    repo.git("fsck", "--strict")
    assert repo.git("status", "--porcelain").out == ""


def test_a_resource_that_moved_out_of_a_sparse_checkout(repo: Repo) -> None:
    base = {"in/all.yaml": stream(deployment(), service(80)), "out/x": "1"}
    moved = {"in/all.yaml": deployment(), "out/service.yaml": service(80)}
    repo.fork(base, moved, {"in/all.yaml": stream(deployment(), service(8443))})
    repo.git("sparse-checkout", "set", "in")
    assert not (repo.path / "out").exists()
    repo.kmerge("merge", "side")
    assert repo.show("HEAD:out/service.yaml") == service(8443)
    assert repo.git("status", "--porcelain").out == ""
    assert is_sound(repo)


def test_a_target_that_was_deleted_by_hand_is_in_the_way(repo: Repo) -> None:
    base = {"all.yaml": stream(deployment(), service(80))}
    moved = {"all.yaml": deployment(), "service.yaml": service(80)}
    repo.fork(base, moved, {"all.yaml": stream(deployment(), service(8443))})
    (repo.path / "service.yaml").unlink()
    done = repo.kmerge("merge", "side", check=False)
    assert "service.yaml has uncommitted changes" in done.err
    assert repo.unmerged() == ["all.yaml"]
    assert not (repo.path / "service.yaml").exists()


def test_other_drivers_and_files_that_are_nobodys(repo: Repo) -> None:
    repo.write(".gitattributes", "u.yaml merge=union\nb.yaml -merge\nt.yaml merge=text\n")
    names = ("u.yaml", "b.yaml", "t.yaml", "ours.yaml")
    repo.fork(*(dict.fromkeys(names, text) for text in (BASE, OURS, THEIRS)))
    done = repo.kmerge("merge", "side", check=False)
    assert done.code == 1
    assert repo.unmerged() == ["b.yaml", "t.yaml"]
    assert repo.text("b.yaml") == OURS
    assert "<<<<<<< HEAD\n" in repo.text("t.yaml")
    assert repo.text("ours.yaml") == BOTH
    assert "name: OURS" in repo.text("u.yaml")
    assert "name: THEIRS" in repo.text("u.yaml")
    assert "CONFLICT (content): Merge conflict in u.yaml" not in done.out


def test_attributes_that_come_with_the_merge_have_no_say_in_it(repo: Repo) -> None:
    repo.fork(
        {"app.yaml": BASE},
        {"app.yaml": OURS},
        {"app.yaml": THEIRS, ".gitattributes": "*.yaml merge=union\n"},
    )
    repo.kmerge("merge", "side")
    assert repo.text("app.yaml") == BOTH


@pytest.mark.parametrize(
    "name", ["a b.yaml", "-d 'q\".yaml", "new\nline.yaml", "%P$x`y`.yaml", "ü/\udce9.yaml"]
)
def test_names(repo: Repo, name: str) -> None:
    forked(repo, name)
    done = repo.kmerge("merge", "side")
    assert repo.text(name) == BOTH
    assert "CONFLICT" not in done.out
    assert repo.git("status", "--porcelain").out == ""


def test_a_file_with_a_filter(repo: Repo) -> None:
    """Git's text is clean, and stays; what only structure can merge is left to a person."""
    repo.git("config", "filter.up.clean", "sed s/UP/up/")
    repo.git("config", "filter.up.smudge", "sed s/up/UP/")
    repo.write(".gitattributes", "*.yaml filter=up\n")
    lines = "".join(f"l{n}: up\n" for n in range(20))
    repo.fork(
        {"a.yaml": lines, "b.yaml": BASE},
        {"a.yaml": lines.replace("l2: up", "l2: o"), "b.yaml": OURS},
        {"a.yaml": lines.replace("l17: up", "l17: t"), "b.yaml": THEIRS},
    )
    repo.kmerge("merge", "side")
    assert repo.show("HEAD:a.yaml") == lines.replace("l2: up", "l2: o").replace("l17: up", "l17: t")
    assert repo.show("HEAD:b.yaml") == BOTH
    assert "l3: UP\n" in repo.text("a.yaml")
    assert is_sound(repo)


def test_sealed_files_have_markers(repo: Repo) -> None:
    def sealed(text: str) -> str:
        return f"a: ENC[{text}]\nsops:\n  mac: ENC[{text}]\n  version: 3\n"

    repo.fork(*({"db.yaml": sealed(text)} for text in ("1", "2", "3")))
    done = repo.kmerge("merge", "side", check=False)
    assert (done.code, repo.unmerged()) == (1, ["db.yaml"])
    text = repo.text("db.yaml")
    assert [resolve(text, side) for side in ("ours", "theirs")] == [sealed("2"), sealed("3")]


def criss_cross(repo: Repo) -> None:
    repo.fork({"app.yaml": BASE}, {"x": "1"}, {"y": "1"})
    ours, theirs = repo.head("main"), repo.head("side")
    repo.git("merge", "-q", "--no-edit", theirs)
    repo.git("checkout", "-q", "side")
    repo.git("merge", "-q", "--no-edit", ours)
    repo.commit("theirs", {"app.yaml": THEIRS})
    repo.switch("main")
    repo.commit("ours", {"app.yaml": OURS})


def test_a_criss_cross_is_merged_by_git_with_the_driver(repo: Repo) -> None:
    criss_cross(repo)
    done = repo.kmerge("merge", "side")
    assert (
        "using plain `git merge` with the merge driver: kmerge needs one merge base, but there are several"
        in done.err
    )
    assert repo.text("app.yaml") == BOTH
    assert is_sound(repo)


def test_what_git_left_is_named_for_programs(repo: Repo) -> None:
    """Whoever asks for `left` alone must not take a merge that stopped for one that is done."""
    criss_cross(repo)
    repo.commit("more", {"app.yaml": deployment(3), "b.yaml": "a: 1\n"})
    repo.git("checkout", "-q", "side")
    repo.commit("more", {"app.yaml": deployment(4)})
    repo.switch("main")
    found = report(repo.kmerge("merge", "--json", "side", check=False))
    assert (found["exit"], found["made_by"], found["left"]) == (1, "git", ["app.yaml"])


def test_a_repository_that_libgit2_refuses(world: World) -> None:
    world.git("init", "-q", "-b", "main", "--object-format=sha256", world.root / "r")
    repo = forked(Repo(world, world.root / "r"))
    done = repo.kmerge("merge", "side")
    assert "plain `git merge`" not in done.err
    assert repo.text("app.yaml") == BOTH
    assert is_sound(repo)


def test_an_index_that_libgit2_refuses(repo: Repo) -> None:
    forked(repo)
    repo.git("update-index", "--split-index")
    done = repo.kmerge("merge", "side")
    assert "plain `git merge`" not in done.err
    assert repo.text("app.yaml") == BOTH
    assert is_sound(repo)


def test_several_branches(repo: Repo) -> None:
    forked(repo)
    repo.git("branch", "two", "side~1")
    done = repo.kmerge("merge", "side", "two")
    assert "kmerge: using plain `git merge`: kmerge merges only one branch at a time\n" in done.err
    assert repo.text("app.yaml") == BOTH


BROKEN = """
import sys
from kmerge_git.cli import main
from kmerge_git.whole import fresh_merge
def fail(*args, **kwargs):
    raise ZeroDivisionError("on purpose")
fresh_merge.settle = fail
raise SystemExit(main.main(sys.argv[1:]))
"""


@pytest.mark.parametrize("option", [(), ("--autostash",), ("--no-commit",)], ids=str)
def test_an_error_of_ours_is_no_worse_than_git(repo: Repo, option: tuple[str, ...]) -> None:
    forked(repo, "app.yaml")
    mine = repo.write("mine.txt", "mine")
    done = repo.world.python(
        "-c", BROKEN, "merge", *option, "side", cwd=repo.path, check=False, internal_error=True,
    )  # fmt: skip
    assert "internal error: ZeroDivisionError: on purpose" in done.err
    assert "plain `git merge` with the merge driver" in done.err
    assert (done.code, repo.text("app.yaml"), mine.read_text()) == (0, BOTH, "mine")


@pytest.mark.costly
def test_a_file_that_takes_too_long_is_merged_by_lines(repo: Repo) -> None:
    lines = "".join(f"l{n}: {n}\n" for n in range(4000))
    ours, theirs = lines.replace("l2: 2", "l2: o"), lines.replace("l170: 170", "l170: t")
    repo.fork({"a.yaml": lines}, {"a.yaml": ours}, {"a.yaml": theirs})
    done = repo.kmerge("merge", "side", env={"KMERGE_TIMEOUT": "0.001"})
    late = r"a\.yaml: no result within 0\.00(1 s of CPU time|3 s), so git's line merge was used"
    assert re.search(late, done.err)
    assert repo.text("a.yaml") == ours.replace("l170: 170", "l170: t")


def report(done: Done) -> dict[str, object]:
    found = json.loads(done.out)
    assert found["schema"] == 1
    return found


def test_json(repo: Repo) -> None:
    clashing(repo)
    done = repo.kmerge("merge", "--json", "side", check=False)
    found = report(done)
    assert (done.code, found["exit"], found["made_by"], found["left"]) == (
        1,
        1,
        "kmerge",
        ["app.yaml"],
    )
    assert found["git_alone"] == ["app.yaml", "b.yaml"]
    assert [(f["path"], f["result"], f["git"]) for f in found["files"]] == [
        ("app.yaml", "conflict", "conflict"),
        ("b.yaml", "resolved", "conflict"),
    ]
    assert found["files"][0]["conflicts"][0]["field"] == "spec.replicas"
    assert "Automatic merge failed" in done.err
    repo.git("merge", "--abort")
    assert report(repo.kmerge("merge", "--json", "main"))["made_by"] == "git"


def test_quiet(repo: Repo) -> None:
    forked(repo)
    done = repo.kmerge("merge", "-q", "side")
    assert (done.out.replace("Auto-merging app.yaml\n", ""), done.err) == ("", "")


@pytest.mark.costly
def test_many_files_on_all_cores(repo: Repo) -> None:
    files = [{f"d/{n}.yaml": text for n in range(60)} for text in (BASE, OURS, THEIRS)]
    files[1]["d/7.yaml"], files[2]["d/7.yaml"] = deployment(2), deployment(3)
    repo.fork(*files)
    done = repo.kmerge("merge", "side", check=False)
    assert repo.unmerged() == ["d/7.yaml"]
    assert "60 files in conflict, kmerge leaves 1" in done.err
    assert {repo.text(f"d/{n}.yaml") for n in range(60) if n != 7} == {BOTH}


def test_three_files_are_merged_as_ever(repo: Repo) -> None:
    for name, text in (("base", BASE), ("ours", OURS), ("theirs", THEIRS)):
        repo.write(f"{name}.yaml", text)
    names = ["base.yaml", "ours.yaml", "theirs.yaml"]
    assert repo.kmerge("merge", *names).out == BOTH
    assert repo.kmerge("merge-file", *names).out == BOTH
    repo.kmerge("merge", *names, "-o", "ours.yaml")
    assert repo.text("ours.yaml") == BOTH
    done = repo.kmerge("merge", "base.yaml", "-o", "x", check=False)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "three files are needed" in done.err


def test_an_option_that_nobody_knows(repo: Repo) -> None:
    done = repo.kmerge("merge", "--frobnicate", "side", check=False)
    assert (done.code, done.err) == (
        2,
        "kmerge: unknown argument: --frobnicate; see `kmerge merge --help`\n",
    )


STOPPED = """
import sys
from kmerge_git.cli import main, merge_branch
def fail(*args, **kwargs):
    raise KIND("on purpose")
merge_branch.carry_out = fail
raise SystemExit(main.main(sys.argv[1:]))
"""


@pytest.mark.parametrize("kind, code", [("KeyboardInterrupt", 130), ("ZeroDivisionError", 2)])
def test_who_stops_in_the_middle_is_told_the_way(repo: Repo, kind: str, code: int) -> None:
    forked(repo)
    script = STOPPED.replace("KIND", kind)
    words = ("-c", script, "merge", "side")
    is_error = kind == "ZeroDivisionError"
    done = repo.world.python(*words, cwd=repo.path, check=False, internal_error=is_error)
    assert done.code == code
    assert "run `git merge --abort` to undo the merge, or `kmerge resolve` to continue" in done.err
    assert "Traceback" not in done.err
    repo.kmerge("solve")
    repo.git("commit", "-q", "--no-edit")
    assert repo.text("app.yaml") == BOTH
    assert is_sound(repo)

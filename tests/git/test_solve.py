"""`kmerge solve` in real repositories: every situation is finished with a commit and checked."""

from __future__ import annotations

import json
import os
import re

import pytest
from manifests import deployment, service, stream
from world import Repo, World

from kmerge_git.merge.plan import Why

BASE = deployment()
OURS = deployment(env=("A=1", "OURS=1"))
THEIRS = deployment(env=("A=1", "THEIRS=1"))
BOTH = deployment(env=("A=1", "OURS=1", "THEIRS=1"))


def is_sound(repo: Repo) -> bool:
    """Whether nothing is left to do: no conflict, a clean tree, every object in place."""
    repo.git("fsck", "--strict")
    return repo.git("status", "--porcelain").out == ""


def stopped(repo: Repo, base: str, ours: str, theirs: str, name: str = "app.yaml") -> None:
    """A merge that stopped with a conflict in one file."""
    repo.fork({name: base}, {name: ours}, {name: theirs})
    assert repo.merge().code == 1


def test_both_modified_is_solved_staged_and_committed(repo: Repo) -> None:
    stopped(repo, BASE, OURS, THEIRS)
    done = repo.kmerge("solve")
    assert done.lines == ["solved   app.yaml (both modified)"]
    assert "finish with `git commit`" in done.err
    assert repo.text("app.yaml") == BOTH
    assert repo.unmerged() == []
    repo.git("commit", "-q", "--no-edit")
    assert is_sound(repo)


def test_resolve_undo_brings_the_conflict_back(repo: Repo) -> None:
    stopped(repo, BASE, OURS, THEIRS)
    before = repo.git("ls-files", "-u").out
    repo.kmerge("solve")
    repo.git("checkout", "-m", "--", "app.yaml")
    assert repo.git("ls-files", "-u").out == before
    assert "<<<<<<<" in repo.text("app.yaml")


@pytest.mark.parametrize(
    "message, name",
    [
        ((), "side"),
        (("-m", "Merge branch 'side' of example.org:x"), "side"),
        (("-m", "Merge what isn't 'main' yet"), ""),
        (("-m", "Merge branch 'main'"), ""),
        (("-m", "Merge branch 'gone'"), ""),
    ],
)
def test_the_labels_name_what_is_merged(repo: Repo, message: tuple[str, ...], name: str) -> None:
    ours, theirs = deployment(replicas=2), deployment(replicas=3)
    repo.fork({"app.yaml": BASE}, {"app.yaml": ours}, {"app.yaml": theirs})
    repo.merge(*message, "side")
    repo.kmerge("solve", check=False)
    assert f">>>>>>> {name or repo.head('side')[:7]}\n" in repo.text("app.yaml")


def test_a_real_conflict_keeps_its_stages_and_the_abort(repo: Repo) -> None:
    ours, theirs = deployment(replicas=2), deployment(replicas=3)
    stopped(repo, BASE, ours, theirs)
    before = repo.git("ls-files", "-u").out
    done = repo.kmerge("solve", check=False)
    assert done.code == 1
    assert "Deployment/web spec.replicas" in done.out
    assert repo.git("ls-files", "-u").out == before
    assert "<<<<<<< HEAD" in repo.text("app.yaml")
    repo.git("merge", "--abort")
    assert repo.text("app.yaml") == ours
    assert is_sound(repo)


def test_colours_where_they_are_asked_for(repo: Repo) -> None:
    stopped(repo, BASE, deployment(replicas=2), deployment(replicas=3))
    plain = repo.kmerge("solve", "-n", check=False).out
    assert "\x1b" not in plain
    coloured = repo.kmerge("solve", "-n", "--color", "always", check=False).out
    assert coloured.startswith("\x1b[31mCONFLICT \x1b[0mapp.yaml")
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain


@pytest.mark.parametrize("side, replicas", [("ours", 2), ("theirs", 3)])
def test_favor_decides(repo: Repo, side: str, replicas: int) -> None:
    stopped(repo, BASE, deployment(replicas=2), deployment(replicas=3))
    repo.kmerge("solve", "--favor", side)
    assert repo.text("app.yaml") == deployment(replicas=replicas)
    assert repo.unmerged() == []


def test_a_second_run_finds_its_own_markers(repo: Repo) -> None:
    stopped(repo, BASE, deployment(replicas=2), deployment(replicas=3))
    repo.kmerge("solve", check=False)
    repo.kmerge("solve", "--favor", "ours")
    assert repo.text("app.yaml") == deployment(replicas=2)


def test_a_conflict_that_the_driver_made_smaller_is_nobodys_work(repo: Repo) -> None:
    """Git's merge has another conflict there; the file is what our own merge left."""
    base = deployment(env=("A=1",))
    ours, theirs = (deployment(n, env=("A=1", f"N{n}=1")) for n in (2, 3))
    stopped(repo, base, ours, theirs)
    repo.kmerge("solve", check=False)
    assert repo.text("app.yaml").count("<<<<<<<") == 1
    repo.kmerge("solve", "--favor", "ours")
    assert repo.text("app.yaml") == deployment(2, env=("A=1", "N2=1", "N3=1"))


@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
def test_every_marker_style_counts_as_untouched(repo: Repo, style: str) -> None:
    repo.git("config", "merge.conflictStyle", style)
    stopped(repo, BASE, OURS, THEIRS)
    assert repo.kmerge("solve").lines == ["solved   app.yaml (both modified)"]


def test_dry_run_changes_nothing(repo: Repo) -> None:
    stopped(repo, BASE, OURS, THEIRS)
    before = (repo.text("app.yaml"), repo.git("ls-files", "-s").out, count_objects(repo))
    done = repo.kmerge("solve", "--dry-run")
    assert done.lines == ["solved   app.yaml (both modified)"]
    assert "would be solved" in done.err
    assert (repo.text("app.yaml"), repo.git("ls-files", "-s").out, count_objects(repo)) == before


def count_objects(repo: Repo) -> str:
    return repo.git("count-objects").out


def test_json_names_everything(repo: Repo) -> None:
    stopped(repo, BASE, deployment(replicas=2), deployment(replicas=3))
    done = repo.kmerge("solve", "--json", check=False)
    report = json.loads(done.out)
    assert (done.code, report["schema"], report["operation"], report["solved"]) == (
        1,
        1,
        "merge",
        False,
    )
    (file,) = report["files"]
    assert (file["path"], file["situation"], file["result"]) == (
        "app.yaml",
        "both modified",
        "conflict",
    )
    (conflict,) = file["conflicts"]
    assert (conflict["resource"], conflict["field"]) == ("Deployment/web", "spec.replicas")
    assert [conflict[side] for side in ("base", "ours", "theirs")] == [
        f"replicas: {number}" for number in (1, 2, 3)
    ]


def test_work_done_by_hand_is_left_alone(repo: Repo) -> None:
    stopped(repo, BASE, OURS, THEIRS)
    mine = BOTH.replace("app:1", "app:by-hand")
    repo.write("app.yaml", mine)
    done = repo.kmerge("solve", check=False)
    assert done.code == 1
    assert "edited after the merge" in done.out
    assert repo.text("app.yaml") == mine
    repo.kmerge("solve", "--force")
    assert repo.text("app.yaml") == BOTH


def test_half_solved_by_hand_is_left_alone(repo: Repo) -> None:
    stopped(repo, BASE, OURS, THEIRS)
    mine = repo.text("app.yaml").replace("app:1", "app:by-hand")
    repo.write("app.yaml", mine)
    assert repo.kmerge("solve", check=False).code == 1
    assert repo.text("app.yaml") == mine


def test_both_added(repo: Repo) -> None:
    repo.fork({"README": "x"}, {"app.yaml": OURS}, {"app.yaml": THEIRS})
    assert repo.merge().code == 1
    repo.kmerge("solve")
    assert repo.text("app.yaml") == BOTH
    repo.git("commit", "-q", "--no-edit")
    assert is_sound(repo)


def test_renamed_by_one_modified_by_both(repo: Repo) -> None:
    repo.commit("base", {"old.yaml": stream(BASE, service())})
    repo.branch("side")
    repo.commit("theirs", {"old.yaml": stream(THEIRS, service())})
    repo.switch("main")
    repo.git("mv", "old.yaml", "new.yaml")
    repo.commit("ours", {"new.yaml": stream(OURS, service())})
    assert repo.merge().code == 1
    assert repo.kmerge("solve").lines == ["solved   new.yaml (both modified)"]
    assert repo.text("new.yaml") == stream(BOTH, service())
    assert not (repo.path / "old.yaml").exists()
    repo.git("commit", "-q", "--no-edit")
    assert is_sound(repo)


@pytest.mark.parametrize("deleted_by", ["us", "them"])
def test_deleted_against_modified_stays_a_conflict_unless_favored(
    repo: Repo, deleted_by: str
) -> None:
    repo.commit("base", {"app.yaml": BASE, "README": "x"})
    repo.branch("side")
    _delete_or_edit(repo, deleted_by == "them")
    repo.switch("main")
    _delete_or_edit(repo, deleted_by == "us")
    assert repo.merge().code == 1
    done = repo.kmerge("solve", check=False)
    assert done.code == 1
    other = "them" if deleted_by == "us" else "us"
    assert f"deleted by {deleted_by}, changed by {other}" in done.out
    assert repo.text("app.yaml") == OURS
    assert "ours taken (rule 13 favor)" in repo.kmerge("solve", "--favor", "ours").out
    assert (repo.path / "app.yaml").exists() == (deleted_by == "them")
    repo.git("commit", "-q", "--no-edit")
    assert is_sound(repo)


def _delete_or_edit(repo: Repo, delete: bool) -> None:
    if delete:
        repo.git("rm", "-q", "app.yaml")
        repo.commit("delete")
    else:
        repo.commit("edit", {"app.yaml": OURS})


def test_only_the_chosen_paths(repo: Repo) -> None:
    names = ("a/app.yaml", "b/app.yaml", "c.yaml")
    repo.fork(dict.fromkeys(names, BASE), dict.fromkeys(names, OURS), dict.fromkeys(names, THEIRS))
    assert repo.merge().code == 1
    repo.world.kmerge("solve", ".", cwd=repo.path / "a")
    assert repo.unmerged() == ["b/app.yaml", "c.yaml"]
    repo.kmerge("solve", "c.yaml")
    assert repo.unmerged() == ["b/app.yaml"]
    done = repo.kmerge("solve", "../elsewhere.yaml", check=False)
    assert (done.code, done.err) == (
        2,
        "kmerge: ../elsewhere.yaml: the path is outside of the working tree; "
        f"use a path below {repo.path}\n",
    )


@pytest.mark.costly
def test_a_path_without_a_conflict_is_refused(repo: Repo) -> None:
    names = ("app.yaml", "notes.txt", "x.json")
    repo.fork(
        {"a.yaml": BASE, **dict.fromkeys(names, "a: 1\n")},
        dict.fromkeys(names, "a: 2\n"),
        dict.fromkeys(names, "a: 3\n"),
    )
    assert repo.merge().code == 1
    before = repo.git("ls-files", "-s").out
    for path in ("nosuch.yaml", "a.yaml", "nosuch/"):
        for options in ((), ("--json",)):
            done = repo.kmerge("solve", "app.yaml", path, *options, check=False)
            assert (done.code, done.out) == (2, "")
            assert done.err == (
                f"kmerge: {path}: this path has no conflicts; run `git status` to list the files in conflict\n"
            )
    for path, why in (("notes.txt", "not a manifest"), ("x.json", "JSON files need --with-json")):
        done = repo.kmerge("solve", path, check=False)
        assert (done.code, done.out) == (2, "")
        assert done.err == f"kmerge: {path}: kmerge cannot resolve this conflict; {why}\n"
    assert repo.git("ls-files", "-s").out == before
    assert repo.kmerge("solve", ".", "--with-json", check=False).code == 1


def test_what_is_still_unmerged_is_said(repo: Repo) -> None:
    """No operation is finished as long as anything at all is in conflict."""
    names = ("a.yaml", "b.yaml", "notes.txt")
    repo.fork(*(dict.fromkeys(names, text) for text in (BASE, OURS, THEIRS)))
    assert repo.merge().code == 1
    dry, done = repo.kmerge("solve", "-n", "a.yaml"), repo.kmerge("solve", "a.yaml")
    told = [
        "kmerge: not selected: b.yaml",
        "kmerge: still in conflict (not a manifest): notes.txt",
        "kmerge: 1 file {}solved and staged, 2 files still in conflict",
    ]
    assert dry.err.splitlines() == [line.format("would be ") for line in told]
    assert done.err.splitlines() == [line.format("") for line in told]
    report = json.loads(repo.kmerge("solve", "--json").out)
    assert (report["unmerged"], report["finish"]) == (["notes.txt"], "")
    repo.git("add", "notes.txt")
    done = repo.kmerge("solve")
    assert done.err == "kmerge: no manifest is in conflict; finish with `git commit`\n"
    assert json.loads(repo.kmerge("solve", "--json").out)["finish"] == "git commit"


def test_many_names_are_cut_with_their_count(repo: Repo) -> None:
    names = [f"{number}.txt" for number in range(7)]
    repo.fork(*(dict.fromkeys(names, text) for text in "abc"))
    assert repo.merge().code == 1
    done = repo.kmerge("solve")
    assert done.err.splitlines() == [
        "kmerge: still in conflict (not a manifest): 0.txt, 1.txt, 2.txt, 3.txt, 4.txt and 2 more",
        "kmerge: no manifest is in conflict, 7 files still in conflict",
    ]


def test_what_a_side_or_a_policy_decided_is_told(repo: Repo) -> None:
    texts = [stream(deployment(n), deployment(n, f"b:{n}", name="b")) for n in (1, 2, 3)]
    template = "a: {{{{ .Values.a }}}}\n{{{{- if .Values.b }}}}\nb: {}\n{{{{- end }}}}\n"
    sides = [{"app.yaml": text, "x.yaml": template.format(n)} for n, text in enumerate(texts)]
    repo.write(".gitattributes", "*.yaml kmerge-policy=**.image:higher\n")
    repo.fork(*sides)
    assert repo.merge().code == 1
    dry = json.loads(repo.kmerge("solve", "--json", "-n", "--favor", "ours").out)
    image = "spec.template.spec.containers[name=app].image"
    assert repo.kmerge("solve", "--favor", "ours").lines == [
        "solved   app.yaml (both modified)",
        f"    Deployment/web spec.replicas: {Why.BOTH_CHANGED}, ours taken (rule 13 favor)",
        f"    Deployment/b spec.replicas: {Why.BOTH_CHANGED}, ours taken (rule 13 favor)",
        f"    Deployment/b {image}: {Why.BOTH_CHANGED}, theirs taken (rule 12 policy higher)",
        "solved   x.yaml (both modified)",
        "    merged with git's line merge; ours taken in every conflict",
    ]
    why = Why.BOTH_CHANGED
    assert [file["decided"] for file in dry["files"]] == [
        [
            {"resource": name, "field": field, "why": why, "side": side, "by": by}
            for name, field, side, by in (
                ("Deployment/web", "spec.replicas", "ours", "favor"),
                ("Deployment/b", "spec.replicas", "ours", "favor"),
                ("Deployment/b", image, "theirs", "policy higher"),
            )
        ],
        [],
    ]


def test_other_files_are_left_to_the_user(repo: Repo) -> None:
    repo.fork(
        {"app.yaml": BASE, "notes.txt": "a\n"},
        {"app.yaml": OURS, "notes.txt": "b\n"},
        {"app.yaml": THEIRS, "notes.txt": "c\n"},
    )
    assert repo.merge().code == 1
    done = repo.kmerge("solve")
    assert "kmerge: still in conflict (not a manifest): notes.txt" in done.err
    assert repo.unmerged() == ["notes.txt"]


def test_why_a_file_is_left_to_the_user(repo: Repo) -> None:
    names = ("app.yaml", "notes.txt", "one.yaml", "two.yaml", "x.json")
    repo.write(".gitattributes", "one.yaml merge=other\ntwo.yaml -merge\n")
    repo.fork(*(dict.fromkeys(names, text) for text in (BASE, OURS, THEIRS)))
    assert repo.merge().code == 1
    assert repo.kmerge("solve").err.splitlines() == [
        "kmerge: still in conflict (JSON files need --with-json): x.json",
        "kmerge: still in conflict (not a manifest): notes.txt",
        "kmerge: still in conflict (the attributes set merge=other): one.yaml",
        "kmerge: still in conflict (the attributes turn merging off; run `git checkout --ours FILE` (or `--theirs`), then `git add FILE`): two.yaml",
        "kmerge: 1 file solved and staged, 4 files still in conflict",
    ]


def test_whatever_git_wrote_is_nobodys_work(repo: Repo) -> None:
    """Git compares lines in ways that no line merge of ours knows, and notes what it wrote."""
    texts = ("a: 1\nx: 1\nb: 1\n", "a:  1\nx: 1\nb: 2\n", "a: 3\nx: 1\nb: 3\n")
    repo.fork(*({"app.yaml": text} for text in texts))
    assert repo.git("merge", "-X", "ignore-space-change", "side", check=False).code == 1
    assert repo.text("app.yaml").startswith("a: 3\n")
    done = repo.kmerge("solve", check=False)
    assert "by hand" not in done.out
    note = repo.path / ".git/AUTO_MERGE"
    empty_tree = repo.git("hash-object", "-w", "-t", "tree", os.devnull).out.strip()
    for text in ("", "0" * 40, "no tree", empty_tree):
        note.write_text(text)
        assert repo.kmerge("solve", check=False).code == 1


def test_what_rerere_resolved_is_left_alone(repo: Repo) -> None:
    repo.git("config", "rerere.enabled", "true")
    stopped(repo, BASE, OURS, THEIRS)
    mine = BOTH.replace("app:1", "app:by-hand")
    repo.write("app.yaml", mine)
    repo.commit("by hand")
    repo.git("reset", "-q", "--hard", "HEAD~1")
    assert repo.merge().code == 1
    assert repo.text("app.yaml") == mine
    done = repo.kmerge("solve", check=False)
    assert "resolved by rerere: check the file, then run `git add`" in done.out
    assert repo.text("app.yaml") == mine


def test_no_conflict_is_said(repo: Repo) -> None:
    repo.commit("base", {"app.yaml": BASE})
    done = repo.kmerge("solve")
    assert (done.out, done.err) == ("", "kmerge: no manifest is in conflict\n")


def test_rebase_and_cherry_pick(repo: Repo) -> None:
    repo.fork({"app.yaml": BASE}, {"app.yaml": OURS}, {"app.yaml": THEIRS})
    assert repo.git("cherry-pick", "side", check=False).code == 1
    assert "git cherry-pick --continue" in repo.kmerge("solve").err
    assert repo.text("app.yaml") == BOTH
    repo.git("cherry-pick", "--abort")
    repo.switch("side")
    assert repo.git("rebase", "main", check=False).code == 1
    done = repo.kmerge("solve")
    assert "git rebase --continue" in done.err
    repo.git("rebase", "--continue", env={"GIT_EDITOR": "true"})
    assert repo.text("app.yaml") == BOTH
    assert is_sound(repo)


def test_line_ends_are_those_of_a_checkout(repo: Repo) -> None:
    repo.write(".gitattributes", "*.yaml text eol=crlf\n")
    stopped(repo, BASE, OURS, THEIRS)
    repo.kmerge("solve")
    assert repo.bytes("app.yaml") == BOTH.replace("\n", "\r\n").encode()
    assert repo.show(":app.yaml") == BOTH
    repo.git("commit", "-q", "--no-edit")
    assert is_sound(repo)


def test_the_mode_of_the_file_stays(repo: Repo) -> None:
    repo.write("app.yaml", BASE).chmod(0o755)
    stopped(repo, BASE, OURS, THEIRS)
    repo.kmerge("solve")
    assert (repo.path / "app.yaml").stat().st_mode & 0o111
    repo.git("commit", "-q", "--no-edit")
    assert is_sound(repo)


@pytest.mark.costly
def test_a_linked_worktree_and_a_submodule(world: World, repo: Repo) -> None:
    repo.fork({"app.yaml": BASE}, {"app.yaml": OURS}, {"app.yaml": THEIRS})
    repo.git("worktree", "add", "-q", "../linked", "-b", "linked")
    outer = world.init("outer")
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", repo.path, "sub")
    submodule = Repo(world, outer.path / "sub")
    submodule.git("fetch", "-q", "origin", "side:side")
    for place in (Repo(world, world.root / "linked"), submodule):
        assert place.merge("side").code == 1
        place.kmerge("solve")
        assert place.text("app.yaml") == BOTH
        place.git("commit", "-q", "--no-edit")
        assert is_sound(place)


def test_attributes_and_settings_count(repo: Repo) -> None:
    names = ("a.yaml", "b.yaml", "c.yaml", "d.manifest")
    repo.write(".gitattributes", "a.yaml kmerge-favor=theirs\nb.yaml -merge\nd.* merge=kmerge\n")
    repo.fork(
        dict.fromkeys(names, BASE),
        dict.fromkeys(names, deployment(replicas=2)),
        dict.fromkeys(names, deployment(replicas=3)),
    )
    repo.git("config", "kmerge.favor", "ours")
    repo.git("config", "kmerge.rules", "nonsense")
    assert repo.merge().code == 1
    done = repo.kmerge("solve")
    assert "kmerge.rules: `nonsense` is not one of" in done.err
    assert [repo.text(name) for name in ("a.yaml", "c.yaml", "d.manifest")] == [
        deployment(replicas=number) for number in (3, 2, 2)
    ]
    assert repo.unmerged() == ["b.yaml"]


def test_a_filtered_file_is_left_alone(repo: Repo) -> None:
    repo.write(".gitattributes", "*.yaml filter=crypt\n")
    stopped(repo, BASE, OURS, THEIRS)
    done = repo.kmerge("solve", check=False)
    assert done.code == 1
    assert "git converts this file with the filter 'crypt'" in done.out


def test_a_path_that_is_no_utf8(repo: Repo) -> None:
    name = b"a\xff b.yaml".decode("utf-8", "surrogateescape")
    stopped(repo, BASE, OURS, THEIRS, name)
    repo.kmerge("solve")
    assert repo.unmerged() == []
    assert repo.text(name) == BOTH


def test_a_symbolic_link_is_no_text(repo: Repo) -> None:
    repo.commit("base", {"app.yaml": BASE})
    repo.branch("side")
    (repo.path / "app.yaml").unlink()
    (repo.path / "app.yaml").symlink_to("elsewhere")
    repo.commit("theirs")
    repo.switch("main")
    repo.commit("ours", {"app.yaml": OURS})
    assert repo.merge().code == 1
    repo.kmerge("solve", check=False)
    assert "<<<<" not in repo.text("app.yaml") if (repo.path / "app.yaml").is_file() else True
    repo.git("merge", "--abort")
    assert is_sound(repo)


def test_revert_and_stash(repo: Repo) -> None:
    first = repo.commit("first", {"app.yaml": deployment(env=("A=1", "OLD=1"))})
    repo.commit("base", {"app.yaml": BASE})
    repo.commit("ours", {"app.yaml": OURS})
    assert repo.git("revert", "HEAD~1", check=False).code == 1
    assert "git revert --continue" in repo.kmerge("solve").err
    assert repo.text("app.yaml") == deployment(env=("A=1", "OURS=1", "OLD=1"))
    repo.git("revert", "--abort")
    repo.write("app.yaml", deployment(env=("A=1", "OURS=1", "STASHED=1")))
    repo.git("stash", "-q")
    repo.commit("more", {"app.yaml": deployment(env=("A=1", "OURS=1", "MORE=1"))})
    assert repo.git("stash", "pop", check=False).code == 1
    assert "; git keeps the stash entry (see `git stash list`)" in repo.kmerge("solve").err
    assert repo.text("app.yaml") == deployment(env=("A=1", "OURS=1", "MORE=1", "STASHED=1"))
    assert repo.unmerged() == []
    assert first in repo.git("log", "--format=%H").out


def test_a_deletion_is_said_once(repo: Repo) -> None:
    repo.fork({"a.yaml": BASE, "x": "1"}, {"x": "1"}, {"a.yaml": OURS})
    repo.git("rm", "-q", "a.yaml")
    repo.commit("gone")
    assert repo.merge().code == 1
    done = repo.kmerge("solve", check=False)
    assert done.out == "CONFLICT a.yaml (deleted by us, changed by them)\n"


def test_a_conflict_outside_of_a_sparse_checkout(repo: Repo) -> None:
    names = ("in/a.yaml", "out/b.yaml")
    repo.fork(dict.fromkeys(names, BASE), dict.fromkeys(names, OURS), dict.fromkeys(names, THEIRS))
    repo.git("sparse-checkout", "set", "--cone", "--no-sparse-index", "in")
    assert not (repo.path / "out").exists()
    assert repo.merge().code == 1
    repo.kmerge("solve")
    assert repo.unmerged() == []
    assert repo.show(":out/b.yaml") == BOTH
    repo.git("commit", "-q", "--no-edit")
    assert is_sound(repo)


def test_a_policy_decides(repo: Repo) -> None:
    stopped(repo, BASE, deployment(image="app:2"), deployment(image="app:10"))
    assert repo.kmerge("preview", "side", check=False).code == 1
    repo.git("config", "kmerge.policy", "*.yaml **.image higher")
    assert repo.kmerge("preview", "side").code == 0
    repo.kmerge("solve")
    assert repo.text("app.yaml") == deployment(image="app:10")


def test_a_pipe_in_the_place_of_a_file_is_none(repo: Repo) -> None:
    stopped(repo, BASE, OURS, THEIRS)
    (repo.path / "app.yaml").unlink()
    os.mkfifo(repo.path / "app.yaml")
    for command in ("solve", "resolve"):
        done = repo.kmerge(command, "--take=ours" if command == "resolve" else ".", check=False)
        assert (done.code, done.err) == (2, "kmerge: app.yaml: not a regular file\n")

"""A resource that one side moved to another file while the other side edited it in the old one."""

from __future__ import annotations

import pytest
from manifests import deployment, service, stream
from test_solve import is_sound
from world import Driven, Repo

BEFORE = stream(deployment(), service(80))
MOVER = {"all.yaml": deployment(), "service.yaml": service(80)}
EDITOR = {"all.yaml": stream(deployment(), service(8443))}
AFTER = {"all.yaml": deployment(), "service.yaml": service(8443)}


@pytest.mark.parametrize("mover", ["ours", "theirs"])
def test_the_edit_follows_the_resource(repo: Repo, mover: str) -> None:
    ours, theirs = (MOVER, EDITOR) if mover == "ours" else (EDITOR, MOVER)
    repo.fork({"all.yaml": BEFORE}, ours, theirs)
    assert repo.merge().code == 1
    done = repo.kmerge("solve")
    assert done.lines == [
        "solved   all.yaml (both modified; Service/web was moved to service.yaml)",
        "solved   service.yaml (moved resource; Service/web was moved from all.yaml)",
    ]
    assert {name: repo.text(name) for name in AFTER} == AFTER
    repo.git("commit", "-q", "--no-edit")
    assert is_sound(repo)


@pytest.mark.parametrize("mover", ["ours", "theirs"])
def test_an_abort_after_solving_leaves_no_trace(repo: Repo, mover: str) -> None:
    ours, theirs = (MOVER, EDITOR) if mover == "ours" else (EDITOR, MOVER)
    repo.fork({"all.yaml": BEFORE}, ours, theirs)
    assert repo.merge().code == 1
    repo.kmerge("solve")
    repo.git("merge", "--abort")
    assert is_sound(repo)
    assert {name: repo.text(name) for name in ours} == ours
    assert (repo.path / "service.yaml").exists() == (mover == "ours")


def test_the_new_file_remembers_its_conflict(repo: Repo) -> None:
    repo.fork({"all.yaml": BEFORE}, MOVER, EDITOR)
    assert repo.merge().code == 1
    repo.kmerge("solve")
    repo.git("checkout", "-m", "--", "service.yaml")
    assert repo.show(":1:service.yaml") == service(80)
    assert repo.show(":2:service.yaml") == service(80)
    assert repo.show(":3:service.yaml") == service(8443)


def test_the_whole_file_was_taken_apart(repo: Repo) -> None:
    parts = {"apps/deployment.yaml": deployment(), "net/services.yaml": service(80)}
    repo.commit("base", {"all.yaml": BEFORE, "net/services.yaml": service(1, "other")})
    repo.branch("side")
    repo.commit("theirs", {"all.yaml": stream(deployment(image="app:2"), service(8443))})
    repo.switch("main")
    repo.git("rm", "-q", "all.yaml")
    both = stream(service(1, "other"), service(80))
    repo.commit("ours", parts | {"net/services.yaml": both, "apps/deployment.yaml": _apart()})
    assert repo.merge().code == 1
    done = repo.kmerge("solve")
    assert done.lines[0].startswith("solved   all.yaml (deleted by us; deleted: ")
    assert not (repo.path / "all.yaml").exists()
    assert "image: app:2" in repo.text("apps/deployment.yaml")
    assert repo.text("net/services.yaml") == stream(service(1, "other"), service(8443))
    repo.git("commit", "-q", "--no-edit")
    assert is_sound(repo)


def _apart() -> str:
    """A Deployment in a file that git does not take for a renamed one."""
    return "".join(f"# {number}: a long story about this file\n" for number in range(60)) + (
        deployment()
    )


def test_both_changed_the_moved_resource_the_same_field(repo: Repo) -> None:
    mover = {"all.yaml": deployment(), "service.yaml": service(81)}
    repo.fork({"all.yaml": BEFORE}, mover, EDITOR)
    assert repo.merge().code == 1
    done = repo.kmerge("solve", check=False)
    assert done.code == 1
    assert repo.unmerged() == ["service.yaml"]
    assert "<<<<<<< HEAD" in repo.text("service.yaml")
    assert repo.show(":3:service.yaml") == service(8443)
    repo.git("merge", "--abort")
    assert repo.text("service.yaml") == service(81)
    assert is_sound(repo)


def test_a_resource_that_two_files_have_now_is_left_to_people(repo: Repo) -> None:
    mover = MOVER | {"copy.yaml": service(80)}
    repo.fork({"all.yaml": BEFORE}, mover, EDITOR)
    assert repo.merge().code == 1
    assert repo.kmerge("solve", check=False).code == 1
    assert repo.text("service.yaml") == service(80)
    assert repo.unmerged() == ["all.yaml"]


def test_a_list_that_is_in_conflict_itself_takes_no_edit(repo: Repo) -> None:
    """Both conflicts stay, and both sides of each are still there."""

    def as_list(*numbers: int) -> str:
        items = "".join(
            f"- kind: Service\n  metadata: {{name: s{at}}}\n  spec: {{port: {number}}}\n"
            for at, number in enumerate(numbers)
            if number
        )
        return f"apiVersion: v1\nkind: List\nitems:\n{items}"

    base = {"old.yaml": as_list(1, 1, 1), "new.yaml": as_list(0, 0, 0, 1)}
    ours = {"old.yaml": as_list(1, 0, 1), "new.yaml": as_list(0, 1, 0, 2)}
    repo.fork(base, ours, {"old.yaml": as_list(1, 8, 1), "new.yaml": as_list(0, 0, 0, 3)})
    assert repo.merge().code == 1
    assert repo.kmerge("solve", check=False).code == 1
    assert repo.unmerged() == ["new.yaml", "old.yaml"]
    assert "port: 8" in repo.text("old.yaml")
    assert all(f"port: {number}" in repo.text("new.yaml") for number in (2, 3))


def test_a_file_that_has_the_resource_twice_takes_no_edit(repo: Repo) -> None:
    """Both sides put it there, far enough apart for git."""
    between = deployment(env=tuple(f"V{number}=1" for number in range(9)), name="between")
    base = {"all.yaml": BEFORE, "new.yaml": between}
    ours = {"all.yaml": deployment(), "new.yaml": stream(between, service(80))}
    theirs = EDITOR | {"new.yaml": stream(service(80), between)}
    repo.fork(base, ours, theirs)
    assert repo.merge().code == 1
    assert repo.text("new.yaml").count("kind: Service") == 2
    done = repo.kmerge("solve", check=False)
    assert (done.code, repo.unmerged()) == (1, ["all.yaml"])
    assert (
        "Service/web was moved to new.yaml, but new.yaml has no unique position for the resource"
        in done.out
    )
    assert "port: 8443" in repo.text("all.yaml")


def test_an_overlay_that_was_always_there_is_no_new_home(repo: Repo) -> None:
    overlay = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  type: NodePort\n"
    base = {"all.yaml": BEFORE, "overlay/patch.yaml": overlay}
    ours = {"all.yaml": deployment(), "overlay/patch.yaml": overlay + "  clusterIP: None\n"}
    repo.fork(base, ours, EDITOR)
    assert repo.merge().code == 1
    assert repo.kmerge("solve", check=False).code == 1
    assert repo.text("overlay/patch.yaml") == ours["overlay/patch.yaml"]


def test_unstaged_work_in_the_new_file_stops_the_move(repo: Repo) -> None:
    repo.fork({"all.yaml": BEFORE}, MOVER, EDITOR)
    assert repo.merge().code == 1
    repo.write("service.yaml", service(80) + "# mine\n")
    conflicted = repo.text("all.yaml")
    done = repo.kmerge("solve", check=False)
    assert done.code == 1
    assert "service.yaml has uncommitted changes" in done.out
    assert repo.text("all.yaml") == conflicted
    assert repo.text("service.yaml") == service(80) + "# mine\n"


@pytest.mark.parametrize("args", [(), ("--squash",)])
def test_a_name_left_over_from_a_rebase_hides_no_move(repo: Repo, args: tuple[str, ...]) -> None:
    repo.fork({"all.yaml": BEFORE}, MOVER, EDITOR)
    repo.git("update-ref", "REBASE_HEAD", "main")
    assert repo.merge(*args).code == 1
    repo.kmerge("solve")
    assert {name: repo.text(name) for name in AFTER} == AFTER


def test_where_git_keeps_no_trees_nothing_is_followed_and_said(repo: Repo) -> None:
    repo.fork({"all.yaml": BEFORE}, MOVER, EDITOR)
    assert repo.git("cherry-pick", "--no-commit", "side", check=False).code == 1
    done = repo.kmerge("solve", check=False)
    assert (done.code, repo.unmerged()) == (1, ["all.yaml"])
    assert "cannot follow moved resources, because the merged commits are unknown" in done.err


def test_the_driver_points_to_resolve(driven: Driven) -> None:
    """The driver sees one file at a time, and there the resource is deleted."""
    driven.fork({"all.yaml": BEFORE}, MOVER, EDITOR)
    done = driven.merge()
    assert done.code == 1
    assert "all.yaml: 1 conflict, everything else is merged; run `kmerge resolve`" in done.err
    driven.kmerge("resolve", "--auto")
    assert {name: driven.text(name) for name in AFTER} == AFTER


def test_of_two_moves_that_must_wait_for_one_none_is_made(repo: Repo) -> None:
    repo.fork(
        {"all.yaml": stream(deployment(), service(80), service(80, "other"))},
        {"all.yaml": deployment(), "a.yaml": service(80), "b.yaml": service(80, "other")},
        {"all.yaml": stream(deployment(), service(81), service(81, "other"))},
    )
    assert repo.merge().code == 1
    repo.write("b.yaml", service(80, "other") + "# mine\n")
    done = repo.kmerge("solve", check=False)
    assert done.code == 1
    assert "b.yaml has uncommitted changes" in done.lines[0]
    assert len(done.lines) == 1
    assert repo.text("a.yaml") == service(80)  # the edit is still in the conflict of the old file

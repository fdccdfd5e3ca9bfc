"""`kmerge merge` where something around the files is special: what git would keep is kept."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable

import pytest
from manifests import deployment, service, stream
from test_merge_equal import CLASH, THREE, registered, state
from test_solve import is_sound
from world import Repo, World

NAMES = ("driver", "whole")


def both_ways(
    world: World, make: Callable[[Repo], object], *words: str, folder: str = "."
) -> tuple[dict[str, object], dict[str, object]]:
    """What `git merge` with the driver leaves, and what `kmerge merge` leaves."""
    states = []
    for name in NAMES:
        repo = world.init(name)
        make(repo)
        if name == "driver":
            registered(repo)
        run = world.git if name == "driver" else world.kmerge
        done = run("merge", *words, "side", cwd=repo.path / folder, check=False)
        states.append(state(repo, done.code))
    return states[0], states[1]


@pytest.mark.parametrize("option", [(), ("--squash",)])
def test_an_untracked_file_at_a_name_that_both_gave_up(repo: Repo, option: tuple[str, ...]) -> None:
    """Git removes it with `merge --abort`; whoever merges has asked for no abort."""
    repo.commit("base", {"old.yaml": THREE[0]})
    repo.branch("side")
    repo.git("mv", "old.yaml", "theirs.yaml")
    repo.commit("theirs", {"theirs.yaml": THREE[2]})
    repo.switch("main")
    repo.git("mv", "old.yaml", "ours.yaml")
    repo.commit("ours", {"ours.yaml": THREE[1]})
    mine = repo.write("old.yaml", "mine\n")
    done = repo.kmerge("merge", *option, "side", check=False)
    assert "renamed to two names" in done.err
    assert mine.read_text() == "mine\n"


@pytest.mark.parametrize("style", ["merge", "diff3"])
def test_a_conflict_at_the_end_of_a_renamed_file_without_a_last_line_end(
    world: World, style: str
) -> None:
    """Git's text has a line end there and plain labels: it is nobody's work."""

    def make(repo: Repo) -> None:
        texts = [text + f"---\nx: {n}".encode() for n, text in enumerate(THREE)]
        repo.git("config", "merge.conflictStyle", style)
        repo.commit("base", {"old.yaml": texts[0]})
        repo.branch("side")
        repo.commit("theirs", {"old.yaml": texts[2]})
        repo.switch("main")
        repo.git("mv", "old.yaml", "new.yaml")
        repo.commit("ours", {"new.yaml": texts[1]})

    driver, whole = both_ways(world, make)
    assert whole == driver


@pytest.mark.parametrize("autocrlf", ["true", "input", "false"])
def test_a_binary_file_stays_as_it_is(world: World, autocrlf: str) -> None:
    def make(repo: Repo) -> None:
        repo.git("config", "core.autocrlf", autocrlf)
        repo.fork(*({"app.yaml": b"a: 1\n\0" + text} for text in (b"base", b"ours", b"theirs")))

    driver, whole = both_ways(world, make)
    assert whole == driver
    assert b"a: 1\n\0ours" in str(whole["files"]).encode().replace(b"\\n", b"\n").replace(
        b"\\x00", b"\0"
    )


def test_names_of_renamed_files_from_a_folder_below(world: World) -> None:
    def make(repo: Repo) -> None:
        repo.commit("base", {"deep/old.yaml": CLASH[0], "deep/x": "1"})
        repo.branch("side")
        repo.git("mv", "deep/old.yaml", "deep/new.yaml")
        repo.commit("theirs", {"deep/new.yaml": CLASH[2]})
        repo.switch("main")
        repo.commit("ours", {"deep/old.yaml": CLASH[1]})

    driver, whole = both_ways(world, make, folder="deep")
    assert whole == driver
    assert ">>>>>>> side:deep/new.yaml" in str(whole["files"])


def test_marker_sizes_from_a_folder_below(repo: Repo) -> None:
    """A size that an attribute names is none of a merge in a merge, wherever one stands."""
    repo.write(".gitattributes", "/deep/app.yaml conflict-marker-size=12\n")
    repo.fork(*({"deep/app.yaml": text, "deep/x": "1"} for text in CLASH))
    done = repo.world.kmerge("merge", "side", cwd=repo.path / "deep", check=False)
    assert "plain `git merge`" not in done.err
    assert "<" * 12 + " HEAD" in repo.text("deep/app.yaml")


@pytest.mark.parametrize("words", [["-X", "renormalize"], []])
def test_files_that_are_renormalized(world: World, words: list[str]) -> None:
    """What git merges then is no version of the file."""

    def make(repo: Repo) -> None:
        windows = [text.replace(b"\n", b"\r\n") for text in THREE]
        repo.fork(*({"app.yaml": text} for text in windows))
        repo.git("config", "merge.renormalize", "false" if words else "true")
        repo.git("config", "core.autocrlf", "true")
        repo.git("reset", "-q", "--hard")

    driver, whole = both_ways(world, make, *words)
    assert whole == driver
    assert whole["code"] == 0


def test_leftovers_of_killed_merges(repo: Repo) -> None:
    """Those of a process that is no more; whoever runs keeps his."""
    repo.fork(*({"app.yaml": text} for text in THREE))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    folder = repo.path / ".git"
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        for number in (gone.pid, other.pid):
            for name in (
                "attributes-{}-abc_1",
                "given-{}",
                "index-{}",
                "index-{}.lock",
                "draft-{}",
            ):
                (folder / f"kmerge-{name.format(number)}").touch()
        (folder / "kmerge-notes").touch()
        repo.kmerge("merge", "side")
        left = {path.name for path in folder.glob("kmerge-*")}
        other.communicate(b"\n")
    assert left == {
        "kmerge-notes",
        *(
            f"kmerge-{name}"
            for name in (
                f"attributes-{other.pid}-abc_1",
                *(f"{what}-{other.pid}" for what in ("given", "index", "draft")),
                f"index-{other.pid}.lock",
            )
        ),
    }
    assert is_sound(repo)


@pytest.mark.parametrize("command", ["merge", "solve"])
@pytest.mark.parametrize("mover", ["ours", "theirs"])
def test_another_resource_of_this_name_is_not_the_edited_one(
    repo: Repo, mover: str, command: str
) -> None:
    """The target held it before, with the very text of the edit; the mover changed it since."""
    padding = stream(*(service(n, f"s{n}") for n in range(9)))
    other = stream(padding, service(8443))
    repo.commit("base", {"all.yaml": stream(deployment(), service(80)), "x.yaml": other})
    repo.branch("side")

    def move() -> None:
        repo.git("mv", "x.yaml", "t.yaml")
        there = stream(padding, service(9999))
        repo.commit("mover", {"all.yaml": deployment(), "t.yaml": there})

    def edit() -> None:
        longer = stream(padding.replace("port: 0", "port: 7"), service(8443))
        edited = stream(deployment(), service(8443))
        repo.commit("editor", {"all.yaml": edited, "x.yaml": longer})

    (edit if mover == "ours" else move)()
    repo.switch("main")
    (move if mover == "ours" else edit)()
    if command == "merge":
        repo.kmerge("merge", "side", check=False)
    else:
        repo.write(".git/info/attributes", "*.yaml merge=kmerge\n")
        repo.git("-c", "merge.kmerge.driver=false", "merge", "side", check=False)
        repo.kmerge("solve", check=False)
    assert "all.yaml" in repo.unmerged()
    assert "8443" in repo.text("all.yaml")


def test_a_side_is_favoured_where_git_merges_alone(repo: Repo) -> None:
    repo.write(".git/info/attributes", "* -text\n")
    repo.commit("base", {"old.yaml": CLASH[0]})
    repo.branch("side")
    repo.git("mv", "old.yaml", "theirs.yaml")
    repo.commit("theirs", {"theirs.yaml": CLASH[2]})
    repo.switch("main")
    repo.git("mv", "old.yaml", "ours.yaml")
    repo.commit("ours", {"ours.yaml": CLASH[1]})
    done = repo.kmerge("merge", "-X", "theirs", "side", check=False)
    assert "plain `git merge`" in done.err
    assert repo.bytes("ours.yaml") == CLASH[2]


@pytest.mark.parametrize("option", ["--commit", "--no-commit"])
def test_the_words_about_an_autostash(world: World, option: str) -> None:
    said = []
    for name in NAMES:
        repo = world.init(name)
        repo.fork(*({"app.yaml": text, "x.txt": "1\n"} for text in THREE))
        repo.write("x.txt", "mine\n")
        if name == "driver":
            registered(repo)
        run = repo.git if name == "driver" else repo.kmerge
        said.append(run("merge", "--autostash", option, "side").out)
    assert said[1] == said[0]
    assert ("When finished" in said[1]) == (option == "--no-commit")


@pytest.mark.parametrize("mover", ["ours", "theirs"])
def test_a_new_resource_under_the_name_of_a_renamed_one(world: World, mover: str) -> None:
    """The edit stays with what was edited, as with the driver; never in what is new."""

    def make(repo: Repo) -> None:
        base = deployment(1, env=("A=1",))
        renamed = deployment(1, name="web-old", env=("A=1",))
        move = {"all.yaml": renamed, "new.yaml": service(80).replace("Service", "Deployment")}
        move["new.yaml"] = "apiVersion: apps/v1\n" + move["new.yaml"].partition("\n")[2]
        edit = {"all.yaml": deployment(5, env=("A=1", "EDIT=1"))}
        repo.write(".git/info/attributes", "* -text\n")
        repo.fork({"all.yaml": base}, *((move, edit) if mover == "ours" else (edit, move)))

    driver, whole = both_ways(world, make)
    assert whole == driver
    assert "EDIT" in str(whole["files"])


FOLDER = {f"old/{n}.yaml": service(n, f"s{n}") for n in range(1, 5)}
MOVED = {name.replace("old/", "moved/"): text for name, text in FOLDER.items()}
PAD = "".join(service(n, "pad") for n in range(3))
ABOUT_NAMES = {
    "suggested by a renamed folder": (
        {**FOLDER, "x.yaml": THREE[0]},
        {**MOVED, "x.yaml": THREE[1]},
        {**FOLDER, "old/x.yaml": THREE[2]},
    ),
    "suggested for an added file": (
        {**FOLDER, "x.yaml": THREE[0]},
        {**MOVED, "moved/x.yaml": THREE[1], "x.yaml": THREE[0]},
        {**FOLDER, "old/x.yaml": THREE[2]},
    ),
    "two files get one name": (
        {"a.yaml": THREE[0], "b.yaml": THREE[1]},
        {"c.yaml": THREE[1], "b.yaml": THREE[1]},
        {"a.yaml": THREE[2], "c.yaml": THREE[1]},
    ),
    "a folder is in the way": (
        {"x.yaml": THREE[0]},
        {"a": THREE[1]},
        {"x.yaml": THREE[2], "a/b.txt": "1"},
    ),
}


def renaming(repo: Repo, name: str, *, is_swapped: bool = False) -> None:
    base, ours, theirs = ABOUT_NAMES[name]
    for at, files in enumerate((base, theirs, ours) if not is_swapped else (base, ours, theirs)):
        if at == 1:
            repo.branch("side")
        if at == 2:
            repo.switch("main")
        repo.git("rm", "-rq", "--ignore-unmatch", ".")
        repo.commit("x", dict(files))


@pytest.mark.world
@pytest.mark.parametrize("is_swapped", [False, True])
@pytest.mark.parametrize("name", ABOUT_NAMES)
def test_what_is_about_names_is_asked(world: World, name: str, is_swapped: bool) -> None:
    """Its stages are merged clean, and a person is asked all the same, as with the driver."""
    driver, whole = both_ways(world, lambda repo: renaming(repo, name, is_swapped=is_swapped))
    assert whole == driver
    assert whole["code"] == (0 if name == "two files get one name" else 1)


@pytest.mark.parametrize("is_swapped", [False, True])
@pytest.mark.parametrize("name", list(ABOUT_NAMES)[:2])
def test_solve_chooses_no_names(repo: Repo, name: str, is_swapped: bool) -> None:
    renaming(repo, name, is_swapped=is_swapped)
    repo.merge()
    assert repo.unmerged() == ["moved/x.yaml"]
    done = repo.kmerge("solve", check=False)
    assert "choose the path of the file and run `git add`): moved/x.yaml" in done.err
    assert repo.unmerged() == ["moved/x.yaml"]


def test_solve_takes_a_name_that_was_not_to_be_asked(repo: Repo) -> None:
    repo.git("config", "merge.directoryRenames", "true")
    renaming(repo, "suggested by a renamed folder")
    repo.merge()
    repo.kmerge("solve")
    assert repo.unmerged() == []


def test_local_changes_of_a_file_that_git_did_not_write(repo: Repo) -> None:
    """Where its result is ours, git merges over local changes; they outlive what is taken back."""
    binary = [b"\0" + word for word in (b"base", b"ours", b"theirs")]
    names = ("old.yaml", "ours.yaml", "theirs.yaml")
    files = [
        {"x.bin": data, name: text} for data, name, text in zip(binary, names, THREE, strict=True)
    ]
    repo.commit("base", dict(files[0]))
    repo.branch("side")
    repo.git("mv", names[0], names[2])
    repo.commit("theirs", dict(files[2]))
    repo.switch("main")
    repo.git("mv", names[0], names[1])
    repo.commit("ours", dict(files[1]))
    mine = repo.write("x.bin", binary[1] + b" mine")
    done = repo.kmerge("merge", "side", check=False)
    assert "renamed to two names" in done.err
    assert mine.read_bytes() == binary[1] + b" mine"


@pytest.mark.world
@pytest.mark.parametrize("streams", [">/dev/full", ">&-", "2>/dev/full", "2>&-", "| true"])
def test_a_merge_that_nobody_can_read_of_is_committed(repo: Repo, streams: str) -> None:
    """As in git: what is said is not what is done."""
    repo.fork(*({"app.yaml": text} for text in THREE))
    command = f'"{sys.executable}" -m kmerge_git merge side {streams}'
    done = repo.world.run("sh", "-c", command, cwd=repo.path, check=False)
    assert "Traceback" not in done.said
    assert repo.git("log", "-1", "--format=%s").out == "Merge branch 'side'\n"
    assert repo.git("status", "--porcelain").out == ""
    assert is_sound(repo)


def test_json_of_what_git_refuses(repo: Repo) -> None:
    repo.fork(*({"app.yaml": text} for text in THREE))
    repo.git("config", "user.useConfigOnly", "true")
    for name in [name for name in repo.world.env if name.startswith(("GIT_AUTHOR", "GIT_COMM"))]:
        del repo.world.env[name]
    done = repo.kmerge("merge", "--json", "side", check=False)
    assert done.code == 128
    told = json.loads(done.out)
    assert (told["exit"], told["made_by"]) == (128, "git")
    assert "who you are" in done.err


def test_an_index_that_somebody_held_for_a_moment(repo: Repo) -> None:
    """Git begins a merge then of which nothing is staged: its commit would be ours alone."""
    repo.fork(*({"app.yaml": text} for text in THREE))
    ours, lock = repo.head(), repo.path / ".git/index.lock"
    script = '#!/bin/sh\nhold=\nfor word; do [ "$word" = --no-commit ] && hold=1; done\n'
    script += f'[ "$hold" ] && : >"{lock}"\n"{shutil.which("git")}" "$@"\ncode=$?\n'
    script += f'[ "$hold" ] && rm -f "{lock}"\nexit $code\n'
    repo.write(".git/bin/git", script).chmod(0o755)
    env = {"PATH": f"{repo.path}/.git/bin:{repo.world.env['PATH']}"}
    done = repo.kmerge("merge", "--json", "side", check=False, env=env)
    if done.code != 128:  # a newer git does not even begin
        assert "git did not stage any file of the merge; the merge was undone" in done.err
        assert done.code == 2
    assert json.loads(done.out)["exit"] == done.code
    assert repo.head() == ours
    assert not (repo.path / ".git/MERGE_HEAD").exists()
    repo.kmerge("merge", "side")


def test_an_index_that_somebody_holds_when_all_is_merged(repo: Repo) -> None:
    repo.fork(*({"app.yaml": text} for text in THREE))
    hook = "#!/bin/sh\ngit ls-files -u | grep -q . && : >.git/index.lock\ntrue\n"
    repo.write(".git/hooks/post-index-change", hook).chmod(0o755)
    done = repo.kmerge("merge", "--json", "side", check=False)
    assert done.err.count("\n") == 1
    assert (
        ".git/index.lock, so git wrote nothing; wait until that process ends, or remove" in done.err
    )
    assert "run `git merge --abort` to undo the merge" in done.err
    assert json.loads(done.out)["left"] == ["app.yaml"]
    (repo.path / ".git/hooks/post-index-change").unlink()
    (repo.path / ".git/index.lock").unlink()
    repo.kmerge("solve")
    repo.git("commit", "-q", "--no-edit")


def test_a_folder_where_a_resource_is_now(repo: Repo) -> None:
    both = stream(deployment(), service(80))
    edited = stream(deployment(), service(8443))
    ours = {"all.yaml": deployment(), "service.yaml": service(80)}
    repo.fork({"all.yaml": both}, ours, {"all.yaml": edited})
    (repo.path / "service.yaml").unlink()
    mine = repo.write("service.yaml/mine", "mine\n")
    done = repo.kmerge("merge", "side", check=False)
    assert (done.code, repo.unmerged()) == (1, ["all.yaml"])
    assert "service.yaml has uncommitted changes" in done.err
    assert mine.read_text() == "mine\n"


@pytest.mark.costly
def test_a_full_disk_is_named(repo: Repo) -> None:
    repo.fork(*({"app.yaml": text} for text in THREE))
    command = f'ulimit -f 0; "{sys.executable}" -m kmerge_git merge side'
    done = repo.world.run("sh", "-c", command, cwd=repo.path, check=False)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert f"{repo.path}/.git/kmerge-attributes-" in done.err
    assert repo.git("status", "--porcelain").out == ""
    assert not list((repo.path / ".git").glob("kmerge-*"))

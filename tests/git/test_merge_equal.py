"""`kmerge merge` beside `git merge` with the registered driver: the same to the last byte."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from depth import part
from manifests import deployment, service
from test_left_files import assert_one_word
from world import Done, Repo, World

from kmerge_git.git.driver_lines import driver_line

CASES = Path(__file__).parents[1] / "cases"
NAMES = ("base", "ours", "theirs")
THREE = [deployment(env=e).encode() for e in (("A=1",), ("A=1", "O=1"), ("A=1", "T=1"))]
CLASH = [deployment(n).encode() for n in (1, 2, 3)]
CLEAN = [b"a\nb\nc\nd\ne\n", b"A\nb\nc\nd\ne\n", b"a\nb\nc\nd\nE\n"]


def all_cases() -> dict[str, list[bytes]]:
    """The three versions of every case, under a name that says nothing of its own."""
    found = {}
    for case in sorted(CASES.rglob("case.toml")):
        texts = [case.parent / f"{name}.yaml" for name in NAMES]
        if all(text.is_file() for text in texts):
            name = case.parent.relative_to(CASES).as_posix()
            found[f"{name}.yaml"] = [text.read_bytes() for text in texts]
    return found


def forked(world: World, name: str, files: dict[str, list[bytes]]) -> Repo:
    repo = world.init(name)
    repo.write(".git/info/attributes", "* -text\n")
    repo.fork(*({path: three[at] for path, three in files.items()} for at in range(3)))
    return repo


def state(repo: Repo, code: int) -> dict[str, object]:
    """All that a merge leaves behind."""
    message = repo.path / ".git" / "MERGE_MSG"
    return {
        "code": code,
        "index": repo.git("ls-files", "-s", "-z").out.split("\0"),
        "files": {
            # git's strategy `resolve` has names of its own for the sides
            path.relative_to(repo.path): re.sub(rb"merge_file_\w+", b"", path.read_bytes())
            for path in sorted(repo.path.rglob("*"))
            if path.is_file() and ".git" not in path.parts
        },
        "message": message.read_text() if message.exists() else repo.show("HEAD"),
        "status": repo.git("status", "--porcelain", "-z").out,
    }


def registered(repo: Repo) -> None:
    """The driver, as `kmerge install` registers it."""
    repo.git("config", "merge.kmerge.name", "x")
    repo.git("config", "merge.kmerge.driver", driver_line())
    info = repo.path / ".git" / "info" / "attributes"
    old = info.read_text() if info.exists() else ""
    repo.write(".git/info/attributes", old + "*.yaml merge=kmerge\n")


def both_ways(
    world: World, files: dict[str, list[bytes]], style: str, *options: str
) -> list[tuple[dict[str, object], Done]]:
    """What `git merge` with the driver leaves, and what `kmerge merge` leaves."""
    states = []
    for name in ("driver", "whole"):
        repo = forked(world, name, files)
        repo.git("config", "merge.conflictStyle", style)
        if name == "driver":
            registered(repo)
            done = repo.git("merge", *options, "side", check=False)
        else:
            done = repo.kmerge("merge", *options, "side", check=False)
        states.append((state(repo, done.code), done))
    return states


@pytest.mark.parametrize("style", ["merge", "diff3"])
@pytest.mark.costly
def test_every_case_in_one_merge(world: World, style: str) -> None:
    files = all_cases()
    assert len(files) > 100
    files = {path: files[path] for path in part(files)}
    (driver, _), (whole, done) = both_ways(world, files, style)
    assert_one_word(Repo(world, world.root / "whole"), done)
    for path in driver["files"]:
        assert whole["files"][path] == driver["files"][path], path
    assert whole == driver
    assert driver["code"] == 1


@pytest.mark.costly
def test_a_clean_merge_and_its_commit(world: World) -> None:
    files = {"app.yaml": THREE, "b c/ü '\".yaml": THREE, "notes.txt": CLEAN}
    (driver, asked), (whole, done) = both_ways(world, files, "merge")
    assert whole == driver
    assert driver["code"] == 0
    assert done.out == asked.out  # "Auto-merging ...", the strategy, what was changed


@pytest.mark.parametrize(
    "options",
    [
        ("--no-commit",),
        ("--squash",),
        ("-m", "one", "-m", "# two\n\n# Conflicts:\n#\tthree"),
        ("--no-ff", "--log", "--signoff"),
        ("--into-name", "other", "-q"),
        ("--cleanup=scissors",),
        ("--stat", "-X", "ours"),
        ("-n", "-v"),
        ("-s", "recursive"),
        ("-s", "resolve"),
        ("-s", "ours"),
    ],
    ids=" ".join,
)
@pytest.mark.world
@pytest.mark.parametrize("is_clean", [True, False])
def test_options(world: World, options: tuple[str, ...], is_clean: bool) -> None:
    files = {"app.yaml": THREE, "notes.txt": CLEAN}
    if not is_clean:
        files |= {"clash.yaml": CLASH, "notes.md": CLASH}
    env = ("KMERGE_FAVOR", "ours")  # the driver's own word for what -X tells us
    with pytest.MonkeyPatch.context() as patch:
        if "ours" in options and "-X" in options:
            patch.setitem(world.env, *env)
        (driver, asked), (whole, done) = both_ways(world, files, "merge", *options)
    assert whole == driver
    assert done.out == asked.out


@pytest.mark.costly
def test_what_git_renames_deletes_and_adds(world: World) -> None:
    """Its conflicts of names and its labels with them; a deletion is no driver's business."""
    both_changed = [deployment(n, name="clash").encode() for n in (1, 2, 3)]
    env = [deployment(env=e).encode() for e in (("A=1",), ("A=1", "O=1"), ("A=1", "T=1"))]

    def change(repo: Repo) -> None:
        for at, side in enumerate(NAMES):
            if side == "theirs":
                repo.git("checkout", "-q", "-b", "side", "HEAD~1")
            name = "new" if side == "ours" else "old"
            if side == "ours":
                repo.git("mv", "clash/old.yaml", "clash/new.yaml")
                repo.git("mv", "fine/old.yaml", "fine/new.yaml")
            files = {f"clash/{name}.yaml": both_changed[at], f"fine/{name}.yaml": env[at]}
            if side != "base":
                files["added.yaml"] = service(80 + at).encode()
            if side != "theirs":
                files["deleted.yaml"] = deployment(at, name="gone").encode()
            else:
                (repo.path / "deleted.yaml").unlink()
            repo.commit(side, files)
        repo.switch("main")

    states = []
    for name in ("driver", "whole"):
        repo = world.init(name)
        repo.git("config", "merge.conflictStyle", "diff3")
        change(repo)
        if name == "driver":
            registered(repo)
            done = repo.git("merge", "side", check=False)
        else:
            done = repo.kmerge("merge", "side", check=False)
        states.append((state(repo, done.code), done.out))
    assert states[1] == states[0]
    assert set(repo.unmerged()) == {"deleted.yaml", "added.yaml", "clash/new.yaml"}
    assert "<<<<<<< HEAD:clash/new.yaml" in repo.text("clash/new.yaml")
    assert "deleted.yaml deleted in side" in done.out


@pytest.mark.world
@pytest.mark.parametrize("attributes", ["*.yaml text eol=crlf", "*.yaml text=auto", "* -text"])
@pytest.mark.parametrize("autocrlf", ["true", "input", "false"])
def test_line_ends(world: World, attributes: str, autocrlf: str) -> None:
    windows = [text.replace(b"\n", b"\r\n") for text in THREE]
    states = []
    for name in ("driver", "whole"):
        repo = world.init(name)
        repo.git("config", "core.autocrlf", autocrlf)
        repo.write(".gitattributes", attributes + "\n")
        files = {"unix.yaml": THREE, "windows.yaml": windows, "clash.yaml": CLASH}
        repo.fork(*({path: three[at] for path, three in files.items()} for at in range(3)))
        if name == "driver":
            registered(repo)
            done = repo.git("merge", "side", check=False)
        else:
            done = repo.kmerge("merge", "side", check=False)
        states.append(state(repo, done.code))
    assert states[1] == states[0]
    assert repo.unmerged() == ["clash.yaml"]


@pytest.mark.world
@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("update", [(), ("--rerere-autoupdate",)])
def test_rerere_sees_our_spelling(world: World, enabled: bool, update: tuple[str, ...]) -> None:
    states = []
    for name in ("driver", "whole"):
        repo = forked(world, name, {"clash.yaml": CLASH, "app.yaml": THREE})
        repo.git("config", "rerere.enabled", str(enabled).lower())
        if name == "driver":
            registered(repo)
        merge = repo.git if name == "driver" else repo.kmerge
        assert merge("merge", "side", check=False).code == 1
        repo.write("clash.yaml", deployment(7))
        repo.git("commit", "-qam", "resolved")
        repo.git("reset", "-q", "--hard", "HEAD~1")
        done = merge("merge", *update, "side", check=False)
        said = [line for line in done.err.splitlines() if not line.startswith("kmerge: ")]
        states.append((state(repo, done.code), done.out, said))
    assert states[1] == states[0]
    assert (repo.text("clash.yaml") == deployment(7)) == enabled
    assert bool(repo.unmerged()) == (not (enabled and update))


def test_the_options_of_the_branch(world: World) -> None:
    states = []
    for name in ("driver", "whole"):
        repo = forked(world, name, {"app.yaml": THREE})
        repo.git("config", "branch.main.mergeOptions", "--no-commit -m 'from the branch'")
        if name == "driver":
            registered(repo)
        merge = repo.git if name == "driver" else repo.kmerge
        states.append(state(repo, merge("merge", "side").code))
    assert states[1] == states[0]
    assert states[1]["message"] == "from the branch\n"
    assert repo.git("rev-parse", "-q", "--verify", "MERGE_HEAD").code == 0


def renamed_to_two_names(repo: Repo) -> None:
    repo.commit("base", {"a.yaml": THREE[0]})
    repo.branch("side")
    repo.git("mv", "a.yaml", "theirs.yaml")
    repo.commit("theirs", {"theirs.yaml": THREE[2]})
    repo.switch("main")
    repo.git("mv", "a.yaml", "ours.yaml")
    repo.commit("ours", {"ours.yaml": THREE[1]})


def renamed_onto_another_file(repo: Repo) -> None:
    repo.commit("base", {"a.yaml": THREE[0]})
    repo.branch("side")
    repo.commit("theirs", {"a.yaml": THREE[2], "b.yaml": service()})
    repo.switch("main")
    repo.git("mv", "a.yaml", "b.yaml")
    repo.commit("ours", {"b.yaml": THREE[1]})


@pytest.mark.world
@pytest.mark.parametrize("size", ["", "conflict-marker-size=12"])
@pytest.mark.parametrize("change", [renamed_to_two_names, renamed_onto_another_file])
def test_a_merge_in_a_merge_is_gits(
    world: World, change: Callable[[Repo], None], size: str
) -> None:
    """What git merged before goes into its second merge: with its own lines, it would be lines."""
    states = []
    for name in ("driver", "whole"):
        repo = world.init(name)
        repo.write(".gitattributes", f"*.yaml {size}\n")
        change(repo)
        if name == "driver":
            registered(repo)
        done = (repo.git if name == "driver" else repo.kmerge)("merge", "side", check=False)
        states.append((state(repo, done.code), done.out))
    assert states[1] == states[0]
    assert "plain `git merge` with the merge driver: a file is renamed to two names" in done.err


@pytest.mark.parametrize("size", ["5", "12"])
@pytest.mark.costly
def test_markers_of_another_size(world: World, size: str) -> None:
    states = []
    for name in ("driver", "whole"):
        repo = world.init(name)
        repo.write(".gitattributes", f"*.yaml conflict-marker-size={size}\n")
        repo.fork(
            *(
                {"clash.yaml": text, "app.yaml": three}
                for text, three in zip(CLASH, THREE, strict=True)
            )
        )
        if name == "driver":
            registered(repo)
        done = (repo.git if name == "driver" else repo.kmerge)("merge", "side", check=False)
        states.append((state(repo, done.code), done.out))
    assert states[1] == states[0]
    assert "in conflict, kmerge leaves 1" in done.err
    assert "<" * int(size) + " HEAD" in repo.text("clash.yaml")


@pytest.mark.world
@pytest.mark.parametrize("mode", ["true", "false"])
@pytest.mark.parametrize("who", ["ours", "theirs"])
def test_modes(world: World, mode: str, who: str) -> None:
    """Also where the file system keeps none: the mode of a side is in the merge."""
    states = []
    for name in ("driver", "whole"):
        repo = forked(world, name, {"app.yaml": THREE})
        if who == "theirs":
            repo.switch("side")
        repo.git("update-index", "--chmod=+x", "app.yaml")
        repo.git("commit", "-q", "-m", "mode")
        repo.git("reset", "-q", "--hard")
        repo.switch("main")
        repo.git("config", "core.fileMode", mode)
        repo.git("config", "core.safecrlf", "true")
        if name == "driver":
            registered(repo)
        done = (repo.git if name == "driver" else repo.kmerge)("merge", "side", check=False)
        states.append((state(repo, done.code), done.out))
    assert states[1] == states[0]
    assert repo.git("ls-files", "-s").out.startswith("100755")


@pytest.mark.parametrize("option", ["--no-commit", "--squash", "-q"])
@pytest.mark.costly
def test_a_merge_can_be_looked_at_again(world: World, option: str) -> None:
    """Git's notes about solved conflicts are there, and files are known to be as staged."""
    states = []
    for name in ("driver", "whole"):
        repo = forked(world, name, {"app.yaml": THREE, "clash.yaml": CLASH})
        if name == "driver":
            repo.git("merge", option, "side", check=False)
            repo.kmerge("solve", check=False)
        else:
            repo.kmerge("merge", option, "side", check=False)
        states.append(
            (repo.git("ls-files", "--resolve-undo").out, repo.git("diff-files", "--name-only").out)
        )
        repo.git("checkout", "-m", "app.yaml")
        assert repo.unmerged() == ["app.yaml", "clash.yaml"]
    assert states[1] == states[0]


@pytest.mark.world
@pytest.mark.parametrize(
    "words",
    [[], ["-"], ["@{-1}"], ["origin/side"], ["v1"], ["FETCH_HEAD"], ["main^{/theirs}"], ["side^0"]],
)
def test_names_of_what_is_merged(world: World, words: list[str]) -> None:
    """Also two files that nothing but their labels tells apart."""
    ends = []
    for name in ("driver", "whole"):
        origin = forked(world, f"{name}-origin", {"clash.yaml": CLASH, "app.yaml": THREE})
        origin.git("tag", "-m", "x", "v1", "side")
        world.git("clone", "-q", origin.path, world.root / name)
        repo = Repo(world, world.root / name)
        repo.git("checkout", "-q", "side")
        repo.git("checkout", "-q", "main")
        repo.git("branch", "-q", "--set-upstream-to=origin/side")
        repo.git("fetch", "-q", "origin", "side")
        repo.git("config", "merge.conflictStyle", "diff3")
        if name == "driver":
            registered(repo)
        done = (repo.git if name == "driver" else repo.kmerge)("merge", *words, check=False)
        found = state(repo, done.code)
        found["message"] = str(found["message"]).replace(f"{name}-origin", "origin")
        ends.append((found, done.out))
    assert ends[1] == ends[0]


@pytest.mark.costly
def test_pulls_of_several_branches(world: World) -> None:
    """One name that stands for several commits: git merges them all."""
    origin = forked(world, "origin", {"app.yaml": THREE})
    origin.git("branch", "more", "side~1")
    origin.git("branch", "other", "side")
    repo = world.init("repo")
    repo.git("fetch", "-q", origin.path, "main")
    repo.git("reset", "-q", "--hard", "FETCH_HEAD")
    repo.git("checkout", "-q", "-b", "two", "HEAD~1")
    repo.commit("two", {"two.txt": "2"})
    repo.git("fetch", "-q", origin.path, "side", "main")
    done = repo.kmerge("merge", "FETCH_HEAD", check=False)
    assert "Traceback" not in done.err
    repo.git("fsck", "--strict")
    assert repo.git("log", "-1", "--format=%P").out.count(" ") <= 2

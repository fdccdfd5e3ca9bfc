"""`kmerge status`: a driver that does not work must not look like one that does."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path

import pytest
from world import ROOT, Done, Repo, World

from kmerge_git.bounds import MERGING_SECONDS
from kmerge_git.git import driver_lines
from kmerge_git.git.probes import IN_PRE_COMMIT


def probes(repo: Repo, *options: str, env: dict[str, str] | None = None):
    done = repo.kmerge("status", "--json", *options, check=False, env=env)
    told = json.loads(done.out)
    assert told["schema"] == 1
    assert told["ok"] is (done.code == 0)
    return {row["name"]: row for row in told["probes"]}


def states(repo: Repo, *options: str, **kwargs) -> dict[str, str]:
    return {name: row["state"] for name, row in probes(repo, *options, **kwargs).items()}


def lines_of(done: Done, state: str) -> list[str]:
    return [line for line in done.lines if line.startswith(state)]


def test_a_fresh_installation_works(repo: Repo) -> None:
    repo.commit("base", {"a.yaml": "a: 1\n"})
    repo.kmerge("install")
    done = repo.kmerge("status")
    assert done.code == 0
    assert lines_of(done, "FAIL") == []
    assert "ok    driver: registered in the local configuration" in done.lines
    assert "ok    attributes: kmerge merges 1 of 1 YAML files" in done.lines


def test_nothing_is_registered(repo: Repo) -> None:
    done = repo.kmerge("status", check=False)
    assert done.code == 1
    assert [line.split(":")[0] for line in lines_of(done, "FAIL")] == [
        "FAIL  driver",
        "FAIL  attributes",
    ]
    assert "      -> run `kmerge install`" in done.out


def test_bound_but_never_selected(repo: Repo) -> None:
    repo.kmerge("install")
    (repo.path / ".git" / "info" / "attributes").unlink()
    found = states(repo)
    assert (found["driver"], found["line"], found["attributes"]) == ("ok", "ok", "FAIL")


def test_selected_but_never_bound(repo: Repo) -> None:
    repo.write(".gitattributes", "*.yaml merge=kmerge\n")
    found = states(repo)
    assert (found["driver"], found["attributes"]) == ("FAIL", "ok")
    assert "line" not in found


def test_a_name_without_a_driver_stops_every_merge(repo: Repo) -> None:
    repo.git("config", "merge.kmerge.name", "x")
    row = probes(repo)["driver"]
    assert row["state"] == "FAIL"
    assert "git stops every merge" in row["text"]


def test_another_driver_has_the_files(repo: Repo) -> None:
    repo.kmerge("install")
    path = repo.path / ".git" / "info" / "attributes"
    path.write_text(path.read_text() + "* merge=mergiraf\n")
    repo.commit("base", {"a.yaml": "a: 1\n", "b.yml": "b: 1\n"})
    row = probes(repo)["attributes"]
    assert row["state"] == "FAIL"
    assert row["text"] == "kmerge merges 0 of 2 YAML files; mergiraf merges 2 (a.yaml)"


def test_every_tracked_file_is_asked(repo: Repo) -> None:
    names = ["a.yaml", "b/c d.yml", "b/ü.yaml", "kustomization", "db.enc.yaml", "x.md"]
    repo.commit("base", dict.fromkeys(names, "a: 1\n"))
    repo.kmerge("install")
    text = probes(repo)["attributes"]["text"]
    assert text == "kmerge merges 4 of 5 YAML files; git merges 1 (db.enc.yaml)"


def test_a_file_in_conflict_is_one_file(repo: Repo) -> None:
    repo.kmerge("install")
    repo.fork({"a.yaml": "a: 1\n", "b.yml": "b: 1\n"}, {"a.yaml": "a: 2\n"}, {"a.yaml": "a: 3\n"})
    assert repo.merge().code == 1
    assert probes(repo)["attributes"]["text"] == "kmerge merges 2 of 2 YAML files"


def registered_with(repo: Repo, python: str) -> None:
    repo.kmerge("install")
    repo.git("config", "merge.kmerge.driver", driver_lines.driver_line(python))


def test_the_interpreter_is_gone(repo: Repo) -> None:
    registered_with(repo, "/no/such/python")
    row = probes(repo)["line"]
    assert row["state"] == "FAIL"
    assert row["text"].endswith("does not run: no program /no/such/python")
    assert row["hint"] == "run `kmerge install`"


def test_the_package_is_gone(repo: Repo, world: World) -> None:
    repo.kmerge("install")
    line = repo.config("merge.kmerge.driver")[0]
    driver = world.root / "gone" / "driver.py"
    repo.git(
        "config",
        "merge.kmerge.driver",
        line.replace(str(Path(driver_lines.__file__).parents[1]), str(driver)),
    )
    row = probes(repo)["line"]
    assert row["state"] == "FAIL"
    assert row["text"].endswith(f"does not run: no file {driver}/cli/driver.py")


def test_pyyaml_is_gone(repo: Repo, world: World) -> None:
    repo.kmerge("install")
    line = driver_lines.driver_line(lib=str(world.root))
    repo.git("config", "merge.kmerge.driver", line)
    row = probes(repo)["line"]
    assert row["state"] == "FAIL"
    assert "ModuleNotFoundError" in row["text"]


def test_a_handwritten_line_is_not_judged(repo: Repo) -> None:
    repo.kmerge("install")
    repo.git("config", "merge.kmerge.driver", "kmerge driver %O %A %B")
    assert states(repo)["line"] == "warn"


@pytest.mark.costly
def test_an_old_git_is_told_what_is_missing(repo: Repo, world: World) -> None:
    repo.kmerge("install")
    bin_dir = world.root / "bin"
    bin_dir.mkdir()
    real = next(
        Path(d, "git") for d in world.env["PATH"].split(os.pathsep) if Path(d, "git").exists()
    )
    fake = bin_dir / "git"
    fake.write_text(
        f'#!/bin/sh\n[ "$1" = version ] && {{ echo "git version $FAKE"; exit; }}\nexec {real} "$@"\n'
    )
    fake.chmod(0o755)
    path = f"{bin_dir}{os.pathsep}{world.env['PATH']}"
    seen = {}
    for version in ("2.4.9", "2.39.5", "2.44.0.windows.1", "3.0.0"):
        env = {"PATH": path, "FAKE": version}
        assert "labels" not in states(repo, env=env)
        row = probes(repo, "--deep", env=env)
        seen[version] = row["git"]["state"], row.get("labels", {}).get("state")
    assert seen == {
        "2.4.9": ("FAIL", None),
        "2.39.5": ("ok", "ok"),
        "2.44.0.windows.1": ("ok", None),
        "3.0.0": ("ok", None),
    }


def test_switches_and_typos_are_told(repo: Repo) -> None:
    repo.kmerge("install")
    repo.git("config", "kmerge.favor", "mine")
    done = repo.kmerge("status", env={"KMERGE": "0"})
    told = "\n".join(lines_of(done, "warn"))
    assert "KMERGE=0 turns the driver off" in told
    assert "kmerge.favor: `mine` is not one of ours, theirs" in told


def test_outside_of_a_repository(world: World) -> None:
    world.kmerge("install", "--global")
    done = world.kmerge("status")
    assert done.code == 0
    assert any(line.startswith("warn  repository") for line in done.lines)


def test_in_a_bare_repository(world: World) -> None:
    bare = world.init("bare.git", bare=True)
    assert "bare repository" in probes(bare)["attributes"]["hint"]
    bare.kmerge("install")
    assert bare.kmerge("status").code == 0


def test_hooks_that_cannot_find_kmerge(repo: Repo, world: World) -> None:
    repo.kmerge("install", "--hooks")
    tools = world.root / "bin"
    tools.mkdir()
    for tool in ("git", "sh"):
        found = next(Path(d, tool) for d in world.env["PATH"].split(":") if Path(d, tool).exists())
        (tools / tool).symlink_to(found)
    assert states(repo, env={"PATH": str(tools)})["hooks"] == "warn"


PRE_COMMIT_HOOK = "#!/bin/sh\n# File generated by pre-commit: https://pre-commit.com\n"


@pytest.mark.parametrize(
    "config, hook, state, text",
    [
        ("- id: kmerge-check\n", PRE_COMMIT_HOOK, "ok", "pre-commit calls kmerge"),
        ("- {id: 'kmerge-merge-damage'}\n", PRE_COMMIT_HOOK, "ok", "pre-commit calls kmerge"),
        ("- id: own\n  entry: kmerge check\n", PRE_COMMIT_HOOK, "ok", "pre-commit calls kmerge"),
        ("- id: kmerge-check\n", "", "warn", "but git does not call pre-commit"),
        (
            "- id: kmerge-check\n",
            "#!/bin/sh\nexec kmerge check --staged\n",
            "",
            "pre-commit call k",
        ),
        ("# - id: kmerge-check\n", PRE_COMMIT_HOOK, "ok", "no hook calls kmerge"),
        ("- id: kmerge-checks\n", "", "ok", "no hook calls kmerge"),
        ("- id: yamllint\n", "", "ok", "no hook calls kmerge"),
    ],
)
def test_hooks_of_pre_commit(repo: Repo, config: str, hook: str, state: str, text: str) -> None:
    repo.write(".pre-commit-config.yaml", f"repos:\n- repo: x\n  hooks:\n  {config}")
    if hook:
        repo.write(".git/hooks/pre-commit", hook).chmod(0o755)
    row = probes(repo)["hooks"]
    assert text in row["text"]
    assert row["state"] == state or not state


def test_every_hook_that_is_offered_is_known() -> None:
    ids = re.findall(r"^- id: .*", (ROOT / ".pre-commit-hooks.yaml").read_text(), re.M)
    assert len(ids) == 6
    assert all(map(IN_PRE_COMMIT.search, ids))


@pytest.mark.parametrize(
    "options, env, coloured",
    [
        ((), {}, False),
        (("--color", "always"), {}, True),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colour(repo: Repo, options: tuple[str, ...], env: dict[str, str], coloured: bool) -> None:
    done = repo.kmerge("status", *options, env=env, check=False)
    assert ("\x1b[" in done.out) is coloured


# -- --deep and --fix -----------------------------------------------------------------------------


def test_deep_really_merges(repo: Repo) -> None:
    repo.kmerge("install")
    before = repo.git("status", "--porcelain", "--branch").out
    assert states(repo, "--deep")["merge"] == "ok"
    assert repo.git("status", "--porcelain", "--branch").out == before


def test_deep_is_not_disturbed_by_the_users_git(repo: Repo, world: World) -> None:
    repo.kmerge("install")
    for key, value in (
        ("core.autocrlf", "true"),
        ("commit.gpgSign", "true"),
        ("core.hooksPath", str(world.root)),
        ("init.defaultBranch", "side"),
    ):
        world.git("config", "--global", key, value)
    env = {"GIT_DIR": str(repo.path / ".git"), "GIT_WORK_TREE": str(repo.path), "KMERGE": "0"}
    assert states(repo, "--deep", env=env)["merge"] == "ok"


def test_deep_sees_a_driver_that_only_says_its_version(repo: Repo, world: World) -> None:
    repo.kmerge("install")
    fake = world.root / "driver.py"
    fake.write_text(
        "import sys\nprint('kmerge 0.1.0') if '--version' in sys.argv else sys.exit(1)\n"
    )
    repo.git("config", "merge.kmerge.driver", driver_lines.driver_line(driver=fake))
    found = states(repo, "--deep")
    assert (found["line"], found["merge"]) == ("ok", "FAIL")


def test_deep_sees_a_driver_that_merges_wrong(repo: Repo, world: World) -> None:
    repo.kmerge("install")
    fake = world.root / "driver.py"
    fake.write_text(
        "import sys\nprint('kmerge 0.1.0') if '--version' in sys.argv else sys.exit(90)\n"
    )
    repo.git("config", "merge.kmerge.driver", driver_lines.driver_line(driver=fake))
    row = probes(repo, "--deep")["merge"]
    assert row["state"] == "FAIL"
    assert "gave a wrong result" in row["text"]


@pytest.mark.costly
def test_fix_repairs_a_stale_interpreter(repo: Repo) -> None:
    registered_with(repo, "/no/such/python")
    assert states(repo, "--deep")["line"] == "FAIL"
    done = repo.kmerge("status", "--fix")
    assert "repaired: local configuration: renewed merge.kmerge.driver" in done.err
    assert repo.kmerge("status").code == 0
    assert repo.config("merge.kmerge.driver") == [driver_lines.driver_line()]


@pytest.mark.parametrize("scope", ["--local", "--global"])
@pytest.mark.costly
def test_fix_repairs_a_name_without_a_driver(repo: Repo, scope: str) -> None:
    repo.git("config", scope, "merge.kmerge.name", "x")
    assert states(repo, "--deep")["driver"] == "FAIL"
    done = repo.kmerge("status", "--fix")
    assert f"repaired: {scope[2:]} configuration: set merge.kmerge.driver" in done.err
    assert repo.config("merge.kmerge.driver", scope) == [driver_lines.driver_line()]
    assert repo.kmerge("status").code == 0


def test_fix_leaves_what_was_never_registered(repo: Repo) -> None:
    assert repo.kmerge("status", "--fix", check=False).code == 1
    assert repo.config("merge.kmerge.driver") == []


@pytest.mark.costly
def test_deep_finds_what_killed_merges_left(repo: Repo) -> None:
    repo.kmerge("install")
    old, fresh = (repo.write(f".merge_file_{n}", "a: 1\n") for n in ("OlD123", "NeW456"))
    tracked = repo.write(".merge_file_kept", "a: 1\n")
    repo.git("add", ".merge_file_kept")
    for path in (old, tracked):
        then = time.time() - MERGING_SECONDS - 60
        os.utime(path, (then, then))
    row = probes(repo, "--deep")["leftovers"]
    assert row["state"] == "warn"
    assert ".merge_file_OlD123" in row["text"]
    assert "NeW456" not in row["text"]
    repo.kmerge("status", "--fix")
    assert [path.exists() for path in (old, fresh, tracked)] == [False, True, True]


# -- the merge tool -------------------------------------------------------------------------------

BASE, OURS, THEIRS = "a: 1\nb: 1\n", "a: 2\nb: 1\n", "a: 1\nb: 2\n"


@pytest.mark.costly
def test_git_mergetool_settles_what_lines_cannot(repo: Repo) -> None:
    repo.kmerge("install", "--mergetool")
    (repo.path / ".git" / "info" / "attributes").unlink()
    repo.fork({"x.yaml": BASE}, {"x.yaml": OURS}, {"x.yaml": THEIRS})
    assert repo.merge().code == 1
    repo.git("mergetool", "--tool=kmerge", "--no-prompt")
    assert repo.text("x.yaml") == "a: 2\nb: 2\n"
    assert repo.unmerged() == []


@pytest.mark.costly
def test_git_mergetool_leaves_a_real_conflict(repo: Repo) -> None:
    repo.kmerge("install", "--mergetool")
    repo.fork({"x.yaml": BASE}, {"x.yaml": "a: 2\nb: 1\n"}, {"x.yaml": "a: 3\nb: 1\n"})
    assert repo.merge().code == 1
    assert repo.git("mergetool", "--tool=kmerge", "--no-prompt", check=False).code == 1
    assert repo.unmerged() == ["x.yaml"]


@pytest.mark.costly
def test_mergetool_of_a_file_that_both_sides_added(repo: Repo) -> None:
    repo.kmerge("install", "--mergetool")
    (repo.path / ".git" / "info" / "attributes").unlink()
    pod = "kind: Pod\nmetadata:\n  name: a\n"
    repo.fork({"y": ""}, {"x.yaml": pod + "a: 1\n"}, {"x.yaml": pod + "b: 1\n"})
    assert repo.merge().code == 1
    repo.git("mergetool", "--tool=kmerge", "--no-prompt")
    assert set(repo.text("x.yaml").splitlines()) == {*pod.splitlines(), "a: 1", "b: 1"}


@pytest.mark.parametrize("base", ["", "missing.yaml", "base.yaml"])
def test_mergetool_by_hand(repo: Repo, base: str) -> None:
    repo.write("base.yaml", BASE)
    repo.write("ours.yaml", OURS)
    repo.write("theirs.yaml", THEIRS)
    done = repo.kmerge("mergetool", base, "ours.yaml", "theirs.yaml", "out.yaml", check=False)
    assert done.out == ""
    assert done.code == (0 if base == "base.yaml" else 1)
    if done.code == 0:
        assert repo.text("out.yaml") == "a: 2\nb: 2\n"
    else:
        assert "<<<<<<< LOCAL" in repo.text("out.yaml")


# -- texts of charts ------------------------------------------------------------------------------

CHART = {
    "web/templates/web.yaml": "a: {{ .b }}\n",
    "web/templates/_helpers.tpl": '{{ define "a" }}\n{{ end }}\n',
    "web/templates/NOTES.txt": "Hello\n",
}


def test_texts_of_charts_are_counted(repo: Repo) -> None:
    repo.commit("base", CHART)
    repo.kmerge("install")
    found = probes(repo)
    assert found["attributes"]["text"] == "kmerge merges 1 of 1 YAML files"
    assert found["templates"]["text"] == "kmerge merges 2 of 2 Helm helpers and NOTES.txt files"


def test_without_charts_there_is_nothing_to_say_of_them(repo: Repo) -> None:
    repo.commit("base", {"a.yaml": "a: 1\n", "x.tpl": "x\n", "NOTES.txt": "x\n"})
    repo.kmerge("install")
    assert "templates" not in probes(repo)


def test_who_took_them_out_is_not_told_again(repo: Repo) -> None:
    repo.commit("base", CHART | {".gitattributes": "**/templates/*.tpl !merge\nNOTES.txt -merge\n"})
    repo.kmerge("install")
    assert (
        probes(repo)["templates"]["text"] == "kmerge merges 0 of 2 Helm helpers and NOTES.txt files"
    )

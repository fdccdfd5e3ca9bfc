"""Registering the driver: every scope, every place, and not a byte of anybody else's changed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from world import ROOT, Repo, World

from kmerge_git.errors import KmergeError
from kmerge_git.git import config_places, driver_lines, installation
from kmerge_git.git.installation import SHIMS
from kmerge_git.git.run_git import git_version

BASE = "a: 1\nb: 1\n"
OURS = "a: 2\nb: 1\n"
THEIRS = "a: 1\nb: 2\n"
MERGED = "a: 2\nb: 2\n"


def merges(repo: Repo, name: str = "x.yaml") -> bool:
    """Whether a merge that lines cannot do (neighbouring lines) comes out clean."""
    repo.fork({name: BASE}, {name: OURS}, {name: THEIRS})
    return repo.merge().code == 0 and repo.text(name) == MERGED


def everything(root: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(root)): p.read_bytes()
        for p in sorted(root.rglob("*"))
        if p.is_file() and "hooks" not in p.parts
    }


# -- scopes ---------------------------------------------------------------------------------------


def test_local_is_the_default_and_private(repo: Repo) -> None:
    repo.kmerge("install")
    assert repo.config("merge.kmerge.driver", "--local") == [driver_lines.driver_line()]
    assert repo.attribute("deploy/x.yaml") == "kmerge"
    assert not (repo.path / ".gitattributes").exists()
    assert repo.git("status", "--porcelain").out == ""
    assert merges(repo)


def test_without_it_git_conflicts(repo: Repo) -> None:
    assert not merges(repo)


def test_global_works_in_a_repository_that_was_never_touched(world: World) -> None:
    world.kmerge("install", "--global")
    assert (world.home / ".gitconfig").is_file()
    assert (world.home / ".config" / "git" / "attributes").is_file()
    repo = world.init()
    before = everything(repo.path)
    assert repo.attribute("x.yaml") == "kmerge"
    assert everything(repo.path) == before
    assert merges(repo)


def test_global_writes_where_the_user_has_attributes(world: World) -> None:
    world.git("config", "--global", "core.attributesFile", "~/dot files/attributes")
    world.kmerge("install", "--global")
    assert (world.home / "dot files" / "attributes").is_file()
    assert not (world.home / ".config").exists()
    assert world.init().attribute("x.yaml") == "kmerge"


def test_global_without_xdg_config_home(world: World) -> None:
    world.kmerge("install", "--global", env={"XDG_CONFIG_HOME": ""})
    assert (world.home / ".config" / "git" / "attributes").is_file()


def test_global_writes_through_a_link(world: World) -> None:
    real = world.root / "dotfiles" / "attributes"
    real.parent.mkdir()
    real.write_text("*.png binary\n")
    real.chmod(0o640)
    link = world.home / ".config" / "git" / "attributes"
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    world.kmerge("install", "--global")
    assert link.is_symlink()
    assert "merge=kmerge" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640
    world.kmerge("uninstall", "--global")
    assert real.read_text() == "*.png binary\n"


def test_system_writes_the_configuration_git_calls_system(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    attributes = world.root / "etc" / "gitattributes"
    monkeypatch.delenv("GIT_CONFIG_NOSYSTEM")
    # only this place is not taken from git: it would be the machine's own
    monkeypatch.setattr(config_places, "system_attribute_file", lambda cwd: attributes)
    plan = installation.plan_install(installation.Wish(scope="system"), world.root)
    for change in plan.changes:
        change.make(world.root)
    assert "kmerge" in (world.root / "etc" / "gitconfig").read_text()
    assert "*.yaml merge=kmerge" in attributes.read_text()
    assert installation.plan_install(installation.Wish(scope="system"), world.root).changes == ()


def test_a_git_that_does_not_tell_its_system_files(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def untold(cwd: object) -> None:
        raise KmergeError("git does not report its system attribute file")

    monkeypatch.setattr(config_places, "system_attribute_file", untold)
    monkeypatch.delenv("GIT_ATTR_NOSYSTEM", raising=False)
    assert config_places.lower_attribute_files("global", world.root) == []


def test_the_system_attributes_are_beside_the_system_configuration(world: World) -> None:
    found = config_places.system_attribute_file(world.root)
    assert found.is_absolute()
    assert found.name == "gitattributes"
    assert world.root not in found.parents  # GIT_CONFIG_SYSTEM moves the configuration only


def test_worktree_scope_stays_in_its_worktree(repo: Repo, world: World) -> None:
    repo.commit("base", {"x.yaml": BASE})
    repo.git("config", "extensions.worktreeConfig", "true")
    repo.git("worktree", "add", "-q", "../linked")
    linked = Repo(world, world.root / "linked")
    linked.kmerge("install", "--worktree")
    assert linked.config("merge.kmerge.driver")
    assert repo.config("merge.kmerge.driver") == []


def test_worktree_scope_without_the_extension_says_what_to_do(repo: Repo, world: World) -> None:
    repo.commit("base", {"x.yaml": BASE})
    repo.git("worktree", "add", "-q", "../linked")
    done = world.kmerge("install", "--worktree", cwd=world.root / "linked", check=False)
    assert done.code == 2
    assert "extensions.worktreeConfig" in done.err
    assert repo.config("merge.kmerge.driver") == []


def test_worktree_scope_is_never_the_whole_clone(repo: Repo) -> None:
    before = everything(repo.path)
    done = repo.kmerge("install", "--worktree", check=False)
    assert done.code == 2
    assert "run `git config extensions.worktreeConfig true` first" in done.err
    assert everything(repo.path) == before
    repo.kmerge("install")
    assert repo.kmerge("uninstall", "--worktree", check=False).code == 2
    assert repo.config("merge.kmerge.driver")


# -- places ---------------------------------------------------------------------------------------


def test_a_linked_worktree_installs_for_the_whole_clone(repo: Repo, world: World) -> None:
    repo.commit("base", {"x.yaml": BASE})
    repo.git("worktree", "add", "-q", "../linked", "-b", "linked")
    linked = Repo(world, world.root / "linked")
    linked.kmerge("install")
    assert (repo.path / ".git" / "info" / "attributes").is_file()
    assert not list((repo.path / ".git" / "worktrees").rglob("attributes"))
    for tree in (repo, linked):
        assert tree.attribute("x.yaml") == "kmerge"
    assert merges(linked, "y.yaml")
    assert linked.kmerge("install").out.startswith("kmerge is already registered")


def test_a_subdirectory_installs_for_the_whole_repository(repo: Repo) -> None:
    repo.commit("base", {"deploy/x.yaml": BASE})
    repo.world.kmerge("install", cwd=repo.path / "deploy")
    assert repo.attribute("x.yaml") == "kmerge"
    assert (repo.path / ".git" / "info" / "attributes").is_file()
    repo.world.kmerge("install", "--shared", cwd=repo.path / "deploy")
    assert (repo.path / ".gitattributes").is_file()


def test_a_submodule_has_a_registration_of_its_own(repo: Repo, world: World) -> None:
    inner = world.init("inner")
    inner.commit("base", {"x.yaml": BASE})
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.path, "sub")
    repo.commit("with a submodule")
    sub = Repo(world, repo.path / "sub")
    sub.kmerge("install")
    assert (repo.path / ".git" / "modules" / "sub" / "info" / "attributes").is_file()
    assert sub.attribute("x.yaml") == "kmerge"
    assert repo.attribute("x.yaml") == "unspecified"
    assert merges(sub, "y.yaml")


def test_a_bare_repository_merges_with_merge_tree(repo: Repo, world: World) -> None:
    repo.fork({"x.yaml": BASE}, {"x.yaml": OURS}, {"x.yaml": THEIRS})
    world.git("clone", "-q", "--bare", repo.path, "bare.git")
    bare = Repo(world, world.root / "bare.git")
    assert bare.git("merge-tree", "--write-tree", "main", "side", check=False).code == 1
    bare.kmerge("install")
    assert (bare.path / "info" / "attributes").is_file()
    tree = bare.git("merge-tree", "--write-tree", "main", "side").out.strip()
    assert bare.show(f"{tree}:x.yaml") == MERGED


def test_a_bare_repository_has_no_shared_attributes(world: World) -> None:
    bare = world.init("bare.git", bare=True)
    done = bare.kmerge("install", "--shared", check=False)
    assert done.code == 2
    assert "omit --shared" in done.err


@pytest.mark.world
@pytest.mark.parametrize(
    "name", ["a b", "it's", 'say "hi"', "100%L", "$HOME", "`id`", "back\\slash", "ünï", "-d", "a;b"]
)
def test_odd_paths_of_the_interpreter(world: World, name: str) -> None:
    odd = world.root / name
    odd.mkdir()
    python = odd / "python"
    python.symlink_to(os.path.realpath(sys.executable))
    package = odd / "package"
    package.symlink_to(ROOT)
    driver = package / "kmerge_git" / "cli" / "driver.py"
    lib = odd / "lib"
    lib.symlink_to(Path(driver_lines.yaml_directory(driver)))
    repo = world.init(str(odd / "repo"))
    repo.git(
        "config", "merge.kmerge.driver", driver_lines.driver_line(str(python), driver, str(lib))
    )
    repo.write(".gitattributes", "* merge=kmerge\n")
    assert merges(repo, f"{name}.yaml")


def test_a_word_for_the_shell_is_quoted() -> None:
    assert driver_lines.quoted('/a\\b$c`d"e%f') == '"/a\\\\b\\$c\\`d\\"e%%f"'


def test_a_registered_line_is_taken_apart_again() -> None:
    line = driver_lines.driver_line("/a%b/python", lib="/c d")
    command = driver_lines.command_of(line)
    assert command.startswith('p="/a%b/python";f="/')
    assert '/kmerge_git/cli/driver.py";[' in command
    assert command.endswith('&&"$p" -I -S "$f" --lib="/c d"')
    assert driver_lines.command_of("other %O %A %B") == ""


# -- what is registered ---------------------------------------------------------------------------


@pytest.mark.world
@pytest.mark.parametrize(
    "path, driver",
    [
        ("x.yaml", "kmerge"),
        ("a/b/x.yml", "kmerge"),
        ("base/kustomization", "kmerge"),
        ("base/Kustomization", "kmerge"),
        ("base/kustomization.yaml", "kmerge"),
        ("chart/templates/_helpers.tpl", "kmerge"),
        ("templates/NOTES.txt", "kmerge"),
        ("x.json", "unspecified"),
        ("x.md", "unspecified"),
        ("x.tpl", "unspecified"),
        ("x.yaml.tmpl", "unspecified"),
        ("db.enc.yaml", "unspecified"),
        ("a/db.sops.yml", "unspecified"),
        ("secrets.prod.yaml", "unspecified"),
        (".sops.yaml", "unspecified"),
        ("secret.yaml", "kmerge"),
    ],
)
def test_the_default_files(repo: Repo, path: str, driver: str) -> None:
    repo.kmerge("install")
    assert repo.attribute(path) == driver


def test_json_is_asked_for(repo: Repo) -> None:
    repo.kmerge("install", "--with-json")
    names = ("x.json", "x.yaml", "x.enc.json", "secrets.a.json")
    assert [repo.attribute(n) for n in names] == ["kmerge", "kmerge", "unspecified", "unspecified"]


def test_json_is_asked_for_by_its_old_name(repo: Repo) -> None:
    told = repo.kmerge("install", "--json").err
    assert told == (
        "kmerge: --json is now called `--with-json`; the next release accepts only `--with-json`\n"
    )
    assert repo.attribute("x.json") == "kmerge"


def test_patterns_take_the_place_of_the_defaults(repo: Repo) -> None:
    repo.kmerge("install", "--pattern", "deploy/**/*.yaml", "--pattern", "a b/*")
    paths = ("deploy/x/y.yaml", "a b/c", "x.yaml", "deploy/x.enc.yaml")
    found = [repo.attribute(path) for path in paths]
    assert found == ["kmerge", "kmerge", "unspecified", "unspecified"]


def test_a_second_install_keeps_the_patterns_of_the_first(repo: Repo) -> None:
    repo.kmerge("install", "--pattern", "deploy/*.yaml")
    before = everything(repo.path)
    assert repo.kmerge("install").out == "kmerge is already registered; nothing to do\n"
    assert everything(repo.path) == before
    repo.kmerge("install", "--pattern", "other/*.yaml")
    assert repo.attribute("deploy/x.yaml") == "unspecified"
    assert repo.attribute("other/x.yaml") == "kmerge"


OF_CHARTS = ("a/templates/_x.tpl", "a/templates/NOTES.txt")


def of_charts(repo: Repo) -> list[str]:
    return [repo.attribute(path) for path in OF_CHARTS]


@pytest.mark.parametrize("patterns", [("*.yaml",), ("*.yaml", "deploy/*"), ("*.yaml", "*.json")])
def test_who_chose_patterns_keeps_them(repo: Repo, patterns: tuple[str, ...]) -> None:
    repo.kmerge("install", *(f"--pattern={pattern}" for pattern in patterns))
    assert repo.kmerge("install").out == "kmerge is already registered; nothing to do\n"
    assert of_charts(repo) == ["unspecified", "unspecified"]


@pytest.mark.world
@pytest.mark.parametrize("line", ["*.txt merge=union", "NOTES.txt -merge", "* merge=x"])
def test_texts_of_charts_are_no_reason_to_stop(repo: Repo, line: str) -> None:
    repo.write(".gitattributes", f"{line}\n**/templates/**/*.tpl !merge\n")
    done = repo.kmerge("install", check=False)
    if line.startswith("* "):
        assert "this line uses the merge driver x for *.yaml" in done.err
        return
    theirs = {"*.txt": "union", "NOTES.txt": "unset"}[line.split(maxsplit=1)[0]]
    assert (done.code, of_charts(repo)) == (0, ["unspecified", theirs])
    assert "skipped: " in done.err
    assert repo.attribute("x.yaml") == "kmerge"
    assert repo.kmerge("install").out == "kmerge is already registered; nothing to do\n"
    repo.kmerge("install", "--on-conflict", "overwrite")
    assert of_charts(repo) == ["kmerge", "kmerge"]


def test_texts_of_charts_that_somebody_asks_for_are_a_question(repo: Repo) -> None:
    repo.write(".gitattributes", "*.tpl merge=union\n")
    done = repo.kmerge("install", "--pattern", "**/templates/**/*.tpl", check=False)
    assert done.code == 2
    assert "this line uses git's union merge for " in done.err


def test_git_diff_shows_texts_of_charts_itself(repo: Repo) -> None:
    repo.kmerge("install", "--diff")
    told = repo.git("check-attr", "diff", "x.yaml", *OF_CHARTS).lines
    assert [line.rpartition(" ")[2] for line in told] == ["kmerge", "unspecified", "unspecified"]


@pytest.mark.world
@pytest.mark.parametrize(
    "options", [(), ("--global",), ("--shared",), ("--hooks", "--mergetool"), ("--json",)]
)
def test_twice_is_once_and_uninstall_leaves_nothing(
    world: World, repo: Repo, options: tuple[str, ...]
) -> None:
    repo.write(".gitattributes", "*.png binary\r\n# no line end here")
    empty = everything(world.root)
    repo.kmerge("install", *options)
    once = everything(world.root)
    assert once != empty
    assert repo.kmerge("install", *options).out == "kmerge is already registered; nothing to do\n"
    assert everything(world.root) == once
    places_only = [o for o in options if o in ("--global", "--shared")]
    repo.kmerge("uninstall", *places_only)
    left = everything(world.root)
    left.pop("home/.gitconfig", None)  # an empty file is what git leaves
    assert left == empty
    again = repo.kmerge("uninstall", *places_only)
    assert again.out == "kmerge is not registered; nothing to do\n"


@pytest.mark.parametrize("command", ["install", "uninstall"])
@pytest.mark.parametrize("scope", ["--local", "--global", "--worktree"])
def test_dry_run_writes_nothing(world: World, repo: Repo, command: str, scope: str) -> None:
    repo.git("config", "extensions.worktreeConfig", "true")
    if command == "uninstall":
        repo.kmerge("install", scope)
    before = everything(world.root)
    done = repo.kmerge(command, scope, "--dry-run")
    assert done.out.startswith("these changes would be made (nothing is written):\n")
    assert "merge.kmerge.driver" in done.out
    assert "*.yaml merge=kmerge" in done.out
    assert everything(world.root) == before


def test_the_committed_registration_is_enough_for_a_colleague(repo: Repo) -> None:
    repo.kmerge("install", "--shared", "--pattern", "deploy/*.yaml")
    repo.kmerge("uninstall")
    repo.commit("team")
    done = repo.kmerge("install")
    assert done.err == ""
    assert not (repo.path / ".git" / "info" / "attributes").exists()
    assert repo.config("merge.kmerge.driver")


def test_quiet_says_nothing_when_all_is_well(repo: Repo) -> None:
    for _ in range(2):
        assert repo.kmerge("install", "-q").said == ""
    assert repo.config("merge.kmerge.driver") == [driver_lines.driver_line()]


@pytest.mark.parametrize("cache", ["home/.cache", "elsewhere"])
def test_uninstall_of_a_user_removes_the_cache(world: World, repo: Repo, cache: str) -> None:
    env = {"XDG_CACHE_HOME": str(world.root / cache) if cache == "elsewhere" else ""}
    own = world.root / cache / "kmerge"
    repo.commit("up", {"a.yaml": "a: 1\n"})
    repo.kmerge("vendor", "add", str(repo.path), "up", env=env)
    assert any((own / "vendor").iterdir())
    repo.kmerge("uninstall", env=env)
    done = repo.kmerge("uninstall", "--global", "--dry-run", env=env)
    assert f"{own / 'vendor'}: remove\n" in done.out
    assert any((own / "vendor").iterdir())
    (own / "else").touch()
    done = repo.kmerge("uninstall", "--global", env=env)
    assert f"removed {own / 'vendor'}\n" in done.out
    assert [path.name for path in own.iterdir()] == ["else"]
    (own / "else").unlink()
    (own / "vendor").mkdir()
    repo.kmerge("uninstall", "--global", env=env)
    assert not own.exists()


def test_what_is_shared_must_be_committed(repo: Repo) -> None:
    done = repo.kmerge("install", "--shared")
    assert f"note: commit {repo.path / '.gitattributes'} to share the registration" in done.err
    assert "commit" not in repo.kmerge("install", "--shared").err
    assert "commit" not in repo.kmerge("install").err


def test_uninstall_tells_what_is_left(repo: Repo) -> None:
    repo.kmerge("install", "--global")
    repo.kmerge("install", "--shared")
    done = repo.kmerge("uninstall")
    assert "kmerge uninstall --global" in done.err
    assert "kmerge uninstall --shared" in done.err


def test_uninstall_leaves_the_settings_of_the_user(repo: Repo) -> None:
    repo.kmerge("install")
    repo.git("config", "kmerge.favor", "ours")
    repo.git("config", "merge.kmerge.recursive", "binary")
    repo.kmerge("uninstall")
    assert repo.config("kmerge.favor") == ["ours"]
    assert repo.config("merge.kmerge.recursive") == ["binary"]
    assert repo.config("merge.kmerge.driver") == []


def test_uninstall_leaves_a_mergetool_of_the_same_name(repo: Repo) -> None:
    repo.git("config", "mergetool.kmerge.cmd", "mine")
    repo.kmerge("install")
    repo.kmerge("uninstall")
    assert repo.config("mergetool.kmerge.cmd") == ["mine"]


# -- lines of somebody else -----------------------------------------------------------------------


def test_another_driver_stops_the_installation(repo: Repo) -> None:
    repo.write(".gitattributes", "# team\n*.yaml merge=mergiraf\n")
    before = everything(repo.path)
    done = repo.kmerge("install", check=False)
    assert done.code == 2
    assert ".gitattributes:2: this line uses the merge driver mergiraf for *.yaml" in done.err
    assert "--on-conflict" in done.err
    assert everything(repo.path) == before


@pytest.mark.parametrize(
    "line", ["*.yaml merge=text", "* -merge", "**/*.yaml !merge", "*.y?ml merge=union", "* binary"]
)
def test_every_line_about_merging_counts(repo: Repo, line: str) -> None:
    repo.write(".gitattributes", line + "\n")
    assert repo.kmerge("install", check=False).code == 2


@pytest.mark.parametrize("shared", [(), ("--shared",)])
def test_skip_leaves_the_pattern_to_its_driver(repo: Repo, shared: tuple[str, ...]) -> None:
    repo.write(".gitattributes", "*.yaml merge=mergiraf\n")
    done = repo.kmerge("install", "--on-conflict", "skip", *shared)
    assert "uses the merge driver mergiraf for *.yaml" in done.err
    assert [repo.attribute(n) for n in ("x.yaml", "x.yml")] == ["mergiraf", "kmerge"]
    assert repo.kmerge("install", *shared).out.startswith("kmerge is already registered")


@pytest.mark.parametrize("shared", [(), ("--shared",)])
@pytest.mark.parametrize("last", ["*.yaml merge=mergiraf", "* merge=mergiraf\r\n*.md text"])
def test_overwrite_wins_and_uninstall_gives_it_back(
    repo: Repo, shared: tuple[str, ...], last: str
) -> None:
    text = f"*.md text\n{last}".encode()  # no line end: the hardest place for a block
    repo.write(".gitattributes", text)
    repo.kmerge("install", "--on-conflict", "overwrite", *shared)
    assert [repo.attribute(n) for n in ("x.yaml", "x.yml")] == ["kmerge", "kmerge"]
    assert repo.kmerge("install", *shared).out.startswith("kmerge is already registered")
    repo.kmerge("uninstall", *shared)
    assert repo.bytes(".gitattributes") == text
    assert repo.attribute("x.yaml") == "mergiraf"


@pytest.mark.parametrize("shared", [(), ("--shared",)])
def test_overwrite_after_skip(repo: Repo, shared: tuple[str, ...]) -> None:
    repo.write(".gitattributes", "*.yaml merge=mergiraf\n")
    repo.kmerge("install", "--on-conflict", "skip", *shared)
    done = repo.kmerge("install", "--on-conflict", "overwrite", *shared)
    assert "overridden: " in done.err
    assert [repo.attribute(n) for n in ("x.yaml", "x.yml")] == ["kmerge", "kmerge"]
    again = repo.kmerge("install", "--on-conflict", "overwrite", *shared)
    assert again.out.startswith("kmerge is already registered")


def test_overwrite_takes_what_a_later_line_took(repo: Repo) -> None:
    repo.kmerge("install", "--shared")
    repo.write(".gitattributes", repo.text(".gitattributes") + "*.yaml merge=mergiraf\n")
    assert repo.kmerge("install", "--shared").out.startswith("kmerge is already registered")
    repo.kmerge("install", "--shared", "--on-conflict", "overwrite")
    assert repo.attribute("x.yaml") == "kmerge"


def test_overwrite_keeps_the_patterns_that_were_chosen(repo: Repo) -> None:
    repo.kmerge("install", "--pattern", "deploy/*.yaml")
    repo.write(".gitattributes", "*.yml merge=mergiraf\n")
    repo.kmerge("install", "--on-conflict", "overwrite")
    assert repo.attribute("x.yml") == "mergiraf"


@pytest.mark.parametrize("mode", ["abort", "skip", "overwrite"])
def test_a_line_for_some_of_the_files_stays_in_force(repo: Repo, mode: str) -> None:
    repo.write(".gitattributes", "pnpm-lock.yaml merge=ours-driver\n/vendor/** -merge\n")
    repo.write("charts/.gitattributes", "values.yaml merge=helm\n/x.yaml merge=text\n")
    repo.git("add", "-A")
    repo.kmerge("install", "--on-conflict", mode)
    asked = {
        "pnpm-lock.yaml": "ours-driver",
        "a/pnpm-lock.yaml": "ours-driver",
        "vendor/a/x.yaml": "unset",
        "charts/values.yaml": "helm",
        "charts/a/values.yaml": "helm",
        "charts/x.yaml": "text",
        "charts/a/x.yaml": "kmerge",
        "values.yaml": "kmerge",
    }
    assert {path: repo.attribute(path) for path in asked} == asked


def test_a_later_line_of_the_user_has_the_last_word(repo: Repo) -> None:
    repo.kmerge("install")
    path = repo.path / ".git" / "info" / "attributes"
    path.write_text(path.read_text() + "legacy/*.yaml !merge\n")
    repo.kmerge("install")
    assert repo.attribute("legacy/x.yaml") == "unspecified"


def test_the_users_own_attributes_are_asked_too(repo: Repo) -> None:
    repo.world.git("config", "--global", "core.attributesFile", "~/attributes")
    (repo.world.home / "attributes").write_text("* merge=mergiraf\n")
    done = repo.kmerge("install", check=False)
    assert done.code == 2
    assert "home/attributes:1: this line uses the merge driver mergiraf for *.yaml" in done.err


def test_a_private_line_above_the_committed_file_is_told(repo: Repo) -> None:
    (repo.path / ".git" / "info").mkdir(exist_ok=True)
    (repo.path / ".git" / "info" / "attributes").write_text("*.yaml merge=mergiraf\n")
    done = repo.kmerge("install", "--shared")
    assert f"overrides {repo.path / '.gitattributes'}" in done.err


def test_a_broken_block_is_reported_with_its_line(repo: Repo) -> None:
    repo.write(".gitattributes", "a text\n# >>> kmerge >>>\n*.yaml merge=kmerge\n")
    for command in ("install", "uninstall"):
        done = repo.kmerge(command, "--shared", check=False)
        assert done.code == 2
        assert ".gitattributes:2: the kmerge block that starts here" in done.err


def test_an_unwritable_place_is_one_line(world: World) -> None:
    (world.home / ".config").write_text("a file where a directory has to be")
    done = world.kmerge("install", "--global", check=False)
    assert done.code == 2
    assert done.err.startswith("kmerge: ")
    assert "kmerge cannot write this file" in done.err
    assert "Traceback" not in done.err


# -- for a team -----------------------------------------------------------------------------------

SOURCE = ("--hooks-from", "https://git.example.com/kmerge-git@v9")


def test_what_a_team_commits(repo: Repo) -> None:
    config = repo.path / ".pre-commit-config.yaml"
    (repo.path / "deploy").mkdir()
    done = repo.world.kmerge("install", "--team", *SOURCE, cwd=repo.path / "deploy")
    assert (
        done.lines[-2]
        == "add this command to the setup of a clone, such as `make setup`: kmerge install --quiet"
    )
    assert f"note: commit {config}, then run `pre-commit install" in done.err
    assert "    rev: v9\n    hooks:\n      - id: kmerge-check\n" in config.read_text()
    assert "merge=kmerge" in repo.text(".gitattributes")
    assert repo.config("merge.kmerge.driver", "--local") == [driver_lines.driver_line()]
    before = everything(repo.path)
    for options in (("--team", *SOURCE), ("--team",), ("--team", "--dry-run")):
        assert (
            repo.kmerge("install", *options).lines[0]
            == "kmerge is already registered; nothing to do"
        )
    assert repo.kmerge("install", "--quiet").said == ""
    assert everything(repo.path) == before
    left = "still has hooks of kmerge; remove them: kmerge-check, kmerge-merge, kmerge-installed, kmerge-register"
    assert left in repo.kmerge("uninstall", "--shared").err


def test_a_dry_run_for_a_team_writes_nothing(repo: Repo) -> None:
    before = everything(repo.path)
    done = repo.kmerge("install", "--team", *SOURCE, "--dry-run")
    assert "  +       - id: kmerge-register" in done.lines
    assert everything(repo.path) == before


def test_without_a_source_a_team_gets_no_hooks(repo: Repo) -> None:
    done = repo.kmerge("install", "--team")
    assert "this kmerge is not a release" in done.err
    assert (repo.path / ".gitattributes").exists()
    assert not (repo.path / ".pre-commit-config.yaml").exists()


def test_what_cannot_be_edited_is_printed(repo: Repo) -> None:
    repo.write(".pre-commit-config.yaml", "repos: []\n")
    done = repo.kmerge("install", "--team", *SOURCE)
    assert "`repos` is not a plain block list" in done.err
    assert "      - id: kmerge-register" in done.lines
    assert repo.text(".pre-commit-config.yaml") == "repos: []\n"


@pytest.mark.parametrize(
    "options, why",
    [
        (("--team", "--global"), "--team is for one repository and cannot be used with --global"),
        (("--team", "--system"), "--team is for one repository and cannot be used with --system"),
        (("--team", "--hooks"), "--team and --hooks would run all checks twice"),
        (SOURCE, "--hooks-from needs --team"),
        (("--team", "--hooks-from", "x"), "--hooks-from must be URL@REV"),
    ],
)
def test_a_team_is_one_repository(repo: Repo, options: tuple[str, ...], why: str) -> None:
    before = everything(repo.path)
    done = repo.kmerge("install", *options, check=False)
    assert (done.code, done.err.startswith(f"kmerge: {why}")) == (2, True)
    assert everything(repo.path) == before


# -- hooks and the merge tool ---------------------------------------------------------------------


def test_the_hooks_of_the_package_are_those_in_the_repository() -> None:
    assert sorted(SHIMS) == sorted(path.name for path in (ROOT / "hooks").iterdir())
    for name, text in SHIMS.items():
        path = ROOT / "hooks" / name
        assert path.read_text() == text
        assert os.access(path, os.X_OK)


def test_hooks_are_written_and_run(repo: Repo, world: World) -> None:
    repo.kmerge("install", "--hooks")
    seen = world.root / "bin" / "kmerge"
    seen.parent.mkdir()
    seen.write_text('#!/bin/sh\necho "called: $*" >&2\nexit 1\n')
    seen.chmod(0o755)
    path = f"{seen.parent}{os.pathsep}{world.env['PATH']}"
    repo.write("x.yaml", BASE)
    repo.git("add", "-A")
    done = repo.git("commit", "-m", "x", env={"PATH": path}, check=False)
    assert (done.code, done.err) == (1, "called: check --staged --new --quiet\n")


def test_hooks_without_kmerge_are_in_nobodys_way(repo: Repo, world: World) -> None:
    repo.kmerge("install", "--hooks")
    tools = world.root / "bin"
    tools.mkdir()
    for tool in ("git", "sh"):
        found = next(Path(d, tool) for d in world.env["PATH"].split(":") if Path(d, tool).exists())
        (tools / tool).symlink_to(found)
    repo.write("x.yaml", BASE)
    repo.git("add", "-A")
    assert "nothing was checked" in repo.git("commit", "-m", "x", env={"PATH": str(tools)}).err


# since then hooks are settings, which are in nobody's way: test_configured_hooks.py
older = pytest.mark.skipif(
    git_version() >= installation.CONFIGURED_SINCE, reason="this git needs no files of hooks"
)


@older
def test_hooks_of_others_are_left_alone(repo: Repo) -> None:
    hook = repo.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n")
    done = repo.kmerge("install", "--hooks")
    assert hook.read_text() == "#!/bin/sh\nexit 0\n"
    assert "pre-commit; add `kmerge check --staged --new --quiet || exit 1`" in done.err
    assert "kmerge is not the author of the hook" in repo.kmerge("install", "-q", "--hooks").said
    repo.kmerge("uninstall")
    assert hook.exists()
    assert not (repo.path / ".git" / "hooks" / "pre-merge-commit").exists()


@older
def test_a_push_hook_of_others_is_left_alone(repo: Repo) -> None:
    hook = repo.write(".git/hooks/pre-push", "#!/bin/sh\nexit 0\n")
    done = repo.kmerge("install", "--hooks")
    assert hook.read_text() == "#!/bin/sh\nexit 0\n"
    assert "to check pushed merges, add the commands" in done.err
    repo.kmerge("uninstall")
    assert [one.name for one in hook.parent.iterdir()] == ["pre-push"]


@older
def test_a_hooks_path_is_told_not_written(repo: Repo) -> None:
    repo.git("config", "core.hooksPath", "team-hooks")
    done = repo.kmerge("install", "--hooks")
    assert "because core.hooksPath is set" in done.err
    assert not (repo.path / "team-hooks").exists()


def test_hooks_need_one_repository(repo: Repo) -> None:
    done = repo.kmerge("install", "--global", "--hooks", check=False)
    assert done.code == 2
    assert not (repo.world.home / ".gitconfig").exists()


# -- the page -------------------------------------------------------------------------------------


def test_the_page_names_every_scope_pattern_and_setting() -> None:
    from kmerge_git.git import attribute_files, settings

    page = (ROOT / "docs" / "install.md").read_text()
    wanted = {f"`--{scope}`" for scope in ("global", "system", "worktree", "shared")}
    wanted |= {f"`{name}`" for name in (*attribute_files.DEFAULTS, *settings.ATTRIBUTES)}
    wanted |= {f"`{policy}`" for policy in settings.POLICIES}
    assert {word for word in wanted if word not in page} == set()

"""What a release is made of: versions that agree, one address, workflows that give few rights."""

from __future__ import annotations

import importlib.util
import io
import re
import subprocess
import tarfile
from collections.abc import Callable
from email.message import Message
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from kmerge_git import __version__

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = ROOT / ".github" / "workflows"


def tool(name: str) -> ModuleType:
    """A script of tools/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ADDRESS, BUILDING = tool("set_address"), tool("build_release")

# -- the address


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree that names its address as ours does."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nversion = "1.2.3"\n[project.urls]\nSource = "https://github.com/OWNER/kmerge-git"\n'
    )
    (tmp_path / "docs" / "use.md").write_text(
        "- repo: https://github.com/from/this-repository\n- uses: from/this-repository@v1\n"
        "pip install git+https://github.com/from/this-repository.git\r\n~/.local/share/kmerge-git/venv\n"
    )
    return tmp_path


def test_the_tree_names_one_address(capsys: pytest.CaptureFixture[str]) -> None:
    assert ADDRESS.main(["--check"]) == 0, capsys.readouterr().out


def test_the_address_is_written_everywhere_and_back(tree: Path) -> None:
    before = (tree / "docs" / "use.md").read_bytes()
    for _ in range(2):
        assert ADDRESS.main(["acme/merge.it"], tree) == 0
        text = (tree / "docs" / "use.md").read_bytes()
        assert text == before.replace(b"from/this-repository", b"acme/merge.it")
    assert ADDRESS.main(["--check", "acme/merge.it"], tree) == 0
    assert ADDRESS.main(["--check", "OWNER/kmerge-git"], tree) == 1
    assert ADDRESS.main(["OWNER/kmerge-git"], tree) == 0
    assert (tree / "docs" / "use.md").read_bytes() == before


@pytest.mark.parametrize(
    "line",
    [
        "see https://github.com/acme/kmerge-git",
        "  - uses: OWNER/kmerge-git@v1",
        "git clone git@github.com:acme/kmerge-git.git",
        "https://raw.githubusercontent.com/acme/kmerge-git/main/install.sh",
        "  - uses: <owner>/kmerge-git@v1",
        "  - repo: https://github.com/YOUR-ORG/kmerge-git",
        "- repo: REPOSITORY   # where you got it from",
    ],
)
def test_another_address_is_found(
    tree: Path, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "more.md").write_text(f"a\n{line}\n")
    assert ADDRESS.main(["--check"], tree) == 1
    assert capsys.readouterr().out.startswith("more.md:2: ")


def test_a_longer_name_is_another_one(tree: Path) -> None:
    other = "not-from/this-repository from/this-repository-docs\n"
    (tree / "more.md").write_text(other)
    ADDRESS.main(["acme/it"], tree)
    assert (tree / "more.md").read_text() == other


@pytest.mark.parametrize("address", ["acme", "acme/a/b", "a b/c", "https://github.com/a/b"])
def test_what_is_no_address_is_refused(tree: Path, address: str) -> None:
    with pytest.raises(SystemExit):
        ADDRESS.main([address], tree)


# -- what may be released


def git(*args: str, cwd: Path) -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    subprocess.run(["git", *who, *args], cwd=cwd, check=True, capture_output=True)


@pytest.fixture
def released(tree: Path) -> Path:
    """A commit that may be released."""
    (tree / "kmerge_git").mkdir()
    (tree / "kmerge_git" / "__init__.py").write_text('"""It."""\n__version__ = "1.2.3"\n')
    (tree / "CHANGELOG.md").write_text(
        "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-31\n\n### Added\n\n- It.\n\n"
        "## [1.2.2] - 2026-01-01\n\n- Old.\n"
    )
    git("init", "-q", cwd=tree)
    git("add", ".", cwd=tree)
    git("commit", "-q", "-m", "all", cwd=tree)
    git("tag", "-a", "-m", "it", "v1.2.3", cwd=tree)
    return tree


def test_a_release_and_its_notes(released: Path) -> None:
    BUILDING.check(released, "v1.2.3")
    assert BUILDING.notes(released) == "### Added\n\n- It."


def rewritten(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        text = (root / name).read_text()
        assert old in text
        (root / name).write_text(text.replace(old, new))

    return change


def moved_on(root: Path) -> None:
    git("commit", "-q", "--allow-empty", "-m", "more", cwd=root)


@pytest.mark.parametrize(
    "change, tag, why",
    [
        (lambda root: None, "v1.2.4", "the tag is v1.2.4, the version 1.2.3"),
        (lambda root: None, "1.2.3", "the tag is 1.2.3"),
        (rewritten("kmerge_git/__init__.py", "1.2.3", "1.2.2"), "v1.2.3", "another version"),
        (rewritten("CHANGELOG.md", "[1.2.3] -", "[1.2.3]"), "v1.2.3", "has no heading"),
        (rewritten("CHANGELOG.md", "### Added\n\n- It.\n", ""), "v1.2.3", "says nothing of 1.2.3"),
        (rewritten("CHANGELOG.md", "- It.", "- That."), "v1.2.3", "not committed"),
        (moved_on, "v1.2.3", "another commit"),
    ],
)
def test_what_is_no_release(
    released: Path, change: Callable[[Path], None], tag: str, why: str
) -> None:
    change(released)
    with pytest.raises(BUILDING.Refused, match=re.escape(why)):
        BUILDING.check(released, tag)


def test_this_tree_has_one_version_and_says_what_is_new() -> None:
    assert BUILDING.version(ROOT) == __version__
    heading = rf"^## \[(Unreleased|{re.escape(__version__)})\]"
    assert re.search(heading, (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)


# -- what was built


def test_builds_that_differ_are_named() -> None:
    assert BUILDING.different({"a": b"1", "b": b"1"}, {"a": b"1", "b": b"2", "c": b""}) == [
        "b",
        "c",
    ]


def archive(name: str, kind: bytes = tarfile.REGTYPE, uid: int = 0) -> bytes:
    member = tarfile.TarInfo(name)
    member.type, member.uid, member.linkname = kind, uid, "/etc/passwd"
    with io.BytesIO() as data:
        with tarfile.open(fileobj=data, mode="w:gz") as file:
            file.addfile(member, io.BytesIO())
        return data.getvalue()


def test_an_sdist_holds_plain_files_of_nobody_in_one_folder() -> None:
    assert BUILDING.sdist(archive("it-1/a"), "it-1") == {"a": b""}
    for wrong in (archive("it-1/a", tarfile.SYMTYPE), archive("a"), archive("it-1/a", uid=1000)):
        with pytest.raises(BUILDING.Refused):
            BUILDING.sdist(wrong, "it-1")


def metadata(readme: str, **changed: str) -> Message:
    told = Message()
    told["Name"], told["Version"] = "kmerge-git", changed.get("version", __version__)
    told["License-Expression"], told["License-File"] = "Apache-2.0", "LICENSE"
    told["Description-Content-Type"] = "text/markdown"
    told.set_payload(readme)
    return told


def test_links_on_pypi_lead_somewhere() -> None:
    BUILDING.described("it", metadata("[a](https://example.org) [b](#c)"))
    for wrong in (metadata("[a](docs/a.md)"), metadata("", version="0")):
        with pytest.raises(BUILDING.Refused):
            BUILDING.described("it", wrong)


# -- the workflows


def jobs(name: str) -> dict[str, dict]:
    return yaml.safe_load((WORKFLOWS / name).read_text("utf-8"))["jobs"]


def steps(name: str) -> list[dict]:
    return [step for job in jobs(name).values() for step in job["steps"]]


def test_a_release_runs_nothing_but_what_is_pinned() -> None:
    assert [step["uses"] for step in steps("release.yml") if "uses" in step] == []
    installs = [
        line
        for step in steps("release.yml")
        for line in step["run"].splitlines()
        if "pip install" in line
    ]
    assert installs
    assert all("--require-hashes" in line for line in installs)
    for kind in ("build", "publish"):
        folder = ROOT / "tools" / "release"
        locked = (folder / f"{kind}.txt").read_text("utf-8")
        wanted = [n for n in (folder / f"{kind}.in").read_text("utf-8").split("\n") if n]
        entries = re.split(r"^(?=[a-z])", locked, flags=re.M)[1:]
        assert all(re.match(r"[\w.-]+==\S+ .*--hash=sha256:", e, re.S) for e in entries)
        assert {n for n in wanted if n[0] != "#"} <= {e.partition("==")[0] for e in entries}


def test_only_one_job_may_sign_and_it_runs_no_code_of_the_tree() -> None:
    text = yaml.safe_load((WORKFLOWS / "release.yml").read_text("utf-8"))
    assert text["permissions"] == {}
    rights = {name: job["permissions"] for name, job in text["jobs"].items()}
    assert rights == {
        "build": {"contents": "read"},
        "github": {"contents": "write"},
        "pypi": {"contents": "read", "id-token": "write"},
    }
    assert text["jobs"]["pypi"]["environment"] == "pypi"
    told = "\n".join(step["run"] for step in text["jobs"]["pypi"]["steps"])
    assert not re.search(
        r"python\S* (?!-m (venv|pip|pypi_attestations)\b)|\.ci/|tests/|\.sh\b", told
    )
    assert "sha256sum --check --strict" in told


@pytest.mark.parametrize("name", [path.name for path in sorted(WORKFLOWS.glob("*.yml"))])
def test_workflows_give_little_away(name: str) -> None:
    text = yaml.safe_load((WORKFLOWS / name).read_text("utf-8"))
    assert text["permissions"] in ({}, {"contents": "read"})
    assert "pull_request_target" not in text[True]  # YAML 1.1 reads `on` so
    for step in steps(name):
        given = re.search(r"\$\{\{ (?!matrix\.)", step.get("run", ""))
        assert not given, "values come in by the environment"
        used = step.get("uses", "actions/")
        assert used.startswith("actions/") or re.search(r"@[0-9a-f]{40}$", used), used
        if used.startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False

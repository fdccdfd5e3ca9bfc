"""What is outside of the repository: it is neither read nor told, whoever names it."""

from __future__ import annotations

import io
import json
import os
import socket
from pathlib import Path

import pytest
from world import Repo

from kmerge_git.cli.main import main

WEB = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n"
TWICE = WEB + "  name: web\n"
OUTSIDE = [
    "/dev/zero",
    "/dev/stdin",
    "/proc/self/environ",
    "/etc/passwd",
    "/no/such/file.yaml",
    "../../../../../../../../../../etc/passwd",
    "../nobody.yaml",
    "../beside/web.yaml",
    "../beside",
    "link.yaml",
    "folder/web.yaml",
    "folder",
]
WAYS = [(), ("--staged",), ("kustomization.yaml",)]

Seen = tuple[int, list[str], dict[str, str], str]


@pytest.fixture
def beside(repo: Repo) -> Path:
    """A folder beside the repository, and links to it."""
    folder = repo.path.parent / "beside"
    folder.mkdir()
    (folder / "web.yaml").write_text(WEB)
    (folder / "kustomization.yaml").write_text("resources: [web.yaml]\n")
    os.symlink(folder / "web.yaml", repo.path / "link.yaml")
    os.symlink("../beside", repo.path / "folder")
    return folder


def seen(capsys: pytest.CaptureFixture[str], *args: str) -> Seen:
    code = main(["check", "--format", "json", *args])
    out, err = capsys.readouterr()
    report = json.loads(out)
    return code, [f["id"] for f in report["findings"]], report["why_skipped"], err


@pytest.mark.parametrize("way", WAYS, ids=["all", "staged", "named"])
@pytest.mark.parametrize("entry", OUTSIDE)
def test_what_a_kustomization_names(
    repo: Repo, beside: Path, entry: str, way: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Each of them holds the Service a second time, is none, or never ends."""
    text = f"resources: [web.yaml, '{entry}']\npatches:\n- path: '{entry}'\n"
    text += f"configMapGenerator:\n- {{name: c, files: ['{entry}']}}\n"
    repo.write("kustomization.yaml", text)
    repo.write("web.yaml", WEB)
    repo.git("add", "-A")
    monkeypatch.chdir(repo.path)
    code, found, _, err = seen(capsys, *way)
    assert (code, found, err) == (0, [], "")


def test_a_pipe_in_a_folder_is_no_file(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(repo.path / "pipe.yaml")
    repo.write("kustomization.yaml", "resources: [pipe.yaml]\n")
    monkeypatch.chdir(repo.path)
    assert seen(capsys)[1] == ["M14"]


@pytest.mark.parametrize("way", ["in a folder", "by name", "elsewhere"])
def test_what_is_not_a_file_is_not_checked(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], way: str
) -> None:
    """It was counted as checked; a pipe elsewhere was opened, which waits for a writer."""
    folder = repo.path.parent / "beside" if way == "elsewhere" else repo.path
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    os.mkfifo("pipe.yaml")
    os.symlink("pipe.yaml", "link.yaml")
    os.symlink("/dev/zero", "zero.yaml")
    with socket.socket(socket.AF_UNIX) as end:
        end.bind("socket.yaml")
    monkeypatch.chdir(repo.path)
    names = [f"{kind}.yaml" for kind in ("pipe", "link", "zero", "socket")]
    names = [os.path.relpath(folder / name) for name in names]
    args = [] if way == "in a folder" else names
    assert seen(capsys, *args) == (0, [], dict.fromkeys(names, "a pipe, a socket or a device"), "")
    assert main(["check", *args]) == 0
    assert "\n0 files checked, nothing found, 4 skipped\n" in capsys.readouterr().out


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="open files have no names here")
@pytest.mark.parametrize("folder", [".", "/"], ids=["in a repository", "outside"])
def test_a_pipe_that_the_shell_opened_is_read(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: str
) -> None:
    """Such as `<(kustomize build .)`."""
    monkeypatch.chdir(repo.path)
    monkeypatch.chdir(folder)
    end, into = os.pipe()
    os.write(into, TWICE.encode())
    os.close(into)
    assert seen(capsys, f"/dev/fd/{end}")[:3] == (1, ["M02"], {})
    os.close(end)


def test_links_in_a_folder(
    repo: Repo, beside: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (beside / "web.yaml").write_text(TWICE)
    repo.write("web.yaml", TWICE)
    os.symlink("web.yaml", repo.path / "inside.yaml")
    monkeypatch.chdir(repo.path)
    why = {"link.yaml": "a link that leads out of the repository"}
    code, found, skipped, _ = seen(capsys)
    assert (code, found, skipped) == (1, ["M02", "M02"], why)
    code, found, skipped, _ = seen(capsys, "link.yaml")  # a list of changed files names it, too
    assert (code, found, skipped) == (0, [], why)


def test_whoever_names_a_file_elsewhere_means_it(
    repo: Repo, beside: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (beside / "kustomization.yaml").write_text("resources: [web.yaml, more]\n")
    (beside / "more").mkdir()
    (beside / "more/kustomization.yaml").write_text("resources: [../web.yaml]\n")
    monkeypatch.chdir(repo.path)
    assert seen(capsys, "../beside")[1] == ["M04"]
    assert seen(capsys, str(beside))[1] == ["M04"]
    repo.write("patch.yaml", WEB.replace("Service", "Secret"))
    (beside / "target.yaml").write_text(WEB.replace("Service", "Secret"))
    target = str(beside / "target.yaml")
    assert seen(capsys, "--as", "patch", "--target", target, "patch.yaml")[:2] == (0, [])


def test_ways_to_name_a_file(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A whole path, also of what is staged; `-` is stdin, and was once checked as nothing."""
    repo.write("web.yaml", TWICE)
    repo.git("add", "-A")
    monkeypatch.chdir(repo.path)
    whole = str(repo.path / "web.yaml")
    assert seen(capsys, whole)[1] == seen(capsys, "--staged", whole)[1] == ["M02"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TWICE.encode())))
    assert seen(capsys, "-")[1] == ["M02"]

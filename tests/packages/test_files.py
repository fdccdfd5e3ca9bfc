"""The files of a package: what is read, and which paths and links it may hold."""

import os

import pytest

from kmerge_git.errors import UsageError
from kmerge_git.packages.package_files import (
    SAVED,
    UNDERWAY,
    File,
    check_links,
    check_path,
    is_manifest,
    read,
)


@pytest.mark.parametrize("path", ["a.yaml", "x/b.yml", "c.json", "Kptfile", "x/Kustomization"])
def test_manifests(path):
    assert is_manifest(path)
    assert not is_manifest(path, File(b"target", link=True))
    assert not is_manifest(f"{path}.txt")


def test_a_directory_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="cannot read: "):
        read(str(tmp_path / "none"))


def test_what_is_read(tmp_path):
    root, outside = tmp_path / "root", tmp_path / "outside"
    (outside / "d").mkdir(parents=True)
    (outside / "d" / "secret").write_text("secret")
    for name in (".git", UNDERWAY, SAVED, "b/c", "empty"):
        (root / name).mkdir(parents=True)
        if "/" not in name and name != "empty":
            (root / name / "x.yaml").write_text("x")
    (root / "b" / "c" / "run").write_text("1")
    (root / "b" / "c" / "run").chmod(0o755)
    (root / "a.yaml").write_bytes(b"\r\n\x00")
    (root / "a.yaml").chmod(0o640)
    (root / "file").symlink_to(outside / "d" / "secret")
    (root / "folder").symlink_to("../outside/d")
    (root / "nowhere").symlink_to("none")
    (root / "Github").write_text("")
    (root / ".gitignore").write_text("")
    given = tmp_path / "given"
    given.symlink_to("root")
    expected = {
        ".gitignore": File(b""),
        "Github": File(b""),
        "a.yaml": File(b"\r\n\x00", 0o640),
        "b/c/run": File(b"1", 0o755),
        "file": File(os.fsencode(outside / "d" / "secret"), link=True),
        "folder": File(b"../outside/d", link=True),
        "nowhere": File(b"none", link=True),
    }
    assert read(str(root)) == expected
    assert list(read(str(given))) == list(expected)  # in the order of paths


def test_gits_file_of_a_linked_worktree_is_not_read(tmp_path):
    (tmp_path / ".git").write_text("gitdir: elsewhere\n")
    assert read(str(tmp_path)) == {}


def test_a_deep_tree(tmp_path, monkeypatch):
    """Deeper than the interpreter's stack."""
    monkeypatch.chdir(tmp_path)
    depth = 1200
    try:
        for _ in range(depth):
            os.mkdir("d")
            os.chdir("d")
        with open("x", "w") as out:
            out.write("1")
        assert read(str(tmp_path)) == {"d/" * depth + "x": File(b"1")}
    finally:  # whoever clears the place has the stack to fear as well
        os.unlink("x")
        for _ in range(depth):
            os.chdir("..")
            os.rmdir("d")


@pytest.mark.parametrize(
    "make", [os.mkfifo, lambda path: os.mkdir(path) or os.chmod(path, 0)], ids=["pipe", "closed"]
)
def test_what_cannot_be_read(tmp_path, make, monkeypatch):
    (tmp_path / "d").mkdir()
    make(tmp_path / "d" / "x")
    scandir = os.scandir

    def refused(path):
        if path.endswith("x"):  # whoever runs this may read everything
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(UsageError, match=r"d/x: (this is neither|cannot read: Permission)"):
        read(str(tmp_path))


GITS = [".git", ".GIT", ".Git", ".git.", ".git ", ".git . .", ".git::$INDEX_ALLOCATION", ".git:x"]
GITS += ["git~1", "GIT~1", "git~1.", ".g\u200cit", ".git\ufeff", "\u202e.giT", ".\u206fGit "]
OURS = [UNDERWAY, SAVED, UNDERWAY.upper(), f"{UNDERWAY}.", f"{SAVED} "]
INNOCENT = [".gitignore", ".github", ".gitattributes", "git", "git~2", "x.git", "..git", "...", "é"]
INNOCENT += [".kmerge-vendor", "a b", ".gıt", "-", "a\\b", "kmerge-update", "a\nb", ". git"]


@pytest.mark.parametrize("name", GITS)
def test_what_is_called_like_gits_folder(tmp_path, name):
    for path in (name, f"a/{name}", f"{name}/hooks/x", f"a/b/{name}/c", f"a\\{name}\\hooks"):
        with pytest.raises(UsageError, match="git reads as"):
            check_path(path, "there")
    place = tmp_path / "x" / name
    place.mkdir(parents=True)
    with pytest.raises(UsageError) as caught:
        read(str(tmp_path))
    assert caught.value.path == str(place)


@pytest.mark.parametrize("name", OURS)
def test_what_is_called_like_our_folders(name):
    for path in (name, f"a/{name}", f"{name}/journal"):
        with pytest.raises(UsageError, match="a name that kmerge uses"):
            check_path(path, "there")


@pytest.mark.parametrize("name", INNOCENT)
def test_other_names_are_fine(tmp_path, name):
    check_path(f"{name}/{name}", "there")
    (tmp_path / name).mkdir()
    (tmp_path / name / name).write_text("1")
    assert list(read(str(tmp_path))) == [f"{name}/{name}"]


@pytest.mark.parametrize(
    "path",
    ["", "/", "/a", "a/", "a//b", ".", "..", "./a", "a/./b", "a/..", "../a", "a/../b", "a\0"],
)
def test_paths_that_lead_out_or_nowhere(path):
    with pytest.raises(UsageError, match=r"there: `.*` is not a valid relative path"):
        check_path(path, "there")


INSIDE = [
    ("a", "b"),
    ("a", "none/at/all"),
    ("d/e/a", "../../b"),
    ("d/a", ".."),
    ("a", "."),
    ("d/a", "./e//f/"),
    ("a", "d/../b"),
    ("a", "to-file"),  # what that one leads to is judged where it stands
]
OUTSIDE = [
    ("a", "/etc/passwd", "not a relative path"),
    ("a", "", "not a relative path"),
    ("a", "b\0c", "not a relative path"),
    ("a", "..", "outside of the package"),
    ("d/a", "../..", "outside of the package"),
    ("d/a", "../../d/x", "outside of the package"),
    ("a", "d/../../x", "outside of the package"),
    ("a", "x/../../../y", "outside of the package"),
    ("a", ".git/hooks", "git reads as"),
    ("d/a", "../.GIT", "git reads as"),
    ("a", "git~1", "git reads as"),
    ("a", f"{UNDERWAY}/new/1", "kmerge uses"),
    ("a", "to-folder/x", "through another link, to-folder"),
    ("a", "to-folder/..", "through another link, to-folder"),
    ("a", "TO-folder/../x", "through another link"),
    ("d/a", "../to-folder/../x", "through another link, to-folder"),
]


@pytest.mark.parametrize("path, target", INSIDE)
def test_links_that_stay_inside(path, target):
    check_links(linked(path, target), "there")


@pytest.mark.parametrize("path, target, why", OUTSIDE)
def test_links_that_may_not(path, target, why):
    with pytest.raises(UsageError, match=f"there: link {path} -> .*{why}"):
        check_links(linked(path, target), "there")


def linked(path: str, target: str) -> dict[str, File]:
    return {
        "b": File(b"1"),
        "d/x": File(b"/etc/passwd"),
        "to-file": File(b"b", link=True),
        "to-folder": File(b"d", link=True),
        path: File(os.fsencode(target), link=True),
    }

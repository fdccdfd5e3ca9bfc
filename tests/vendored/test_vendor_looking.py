"""What is told of a package: status, diff, list; and a copy that was made by hand."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from git.world import Repo
from vendored.conftest import Vendoring, release
from vendored.texts import config, deployment, service, stream

from kmerge_git.packages.package_files import File
from kmerge_git.vendored.package_status import differences, patch


@pytest.fixture
def vendored(up: Repo, mine: Vendoring) -> Vendoring:
    first = {
        "all.yaml": stream(deployment(), service(), config(a="b")),
        "t.yaml": "a: {{ .x }}\nb: 1\nc: 2\n",
        "notes.txt": "".join(f"line {n}\n" for n in range(20)),
        "logo": b"\0one",
        "old name": "as it was\n",
        "run": "#!/bin/sh\n",
    }
    release(up, "v1.0.0", first)
    mine.vendor("add", "../up", "shop", "--ref", "v1.0.0")
    return mine


def change_all(mine: Vendoring) -> None:
    """A change of every kind."""
    changed = deployment(replicas=3).replace("value: info", "value: debug")
    mine.write("shop/all.yaml", stream(changed, config(a="b"), config("own", x="y")))
    mine.write("shop/t.yaml", "a: {{ .x }}\nb: 2\nc: 2\n")
    mine.write("shop/notes.txt", mine.text("shop/notes.txt").replace("line 3", "x").rstrip("\n"))
    mine.write("shop/logo", b"\0two")
    (mine.path / "shop/old name").rename(mine.path / "shop/new name")
    (mine.path / "shop/run").chmod(0o755)
    mine.write("shop/sub/ü.txt", "new\n")
    (mine.path / "shop/link").symlink_to("run")


def test_local_changes_by_file_resource_and_field(vendored):
    assert vendored.vendor("status").out.splitlines()[1:] == ["  no local changes"]
    change_all(vendored)
    assert vendored.vendor("status").out.splitlines()[1:] == [
        "  changed  all.yaml",
        "      Deployment/web spec.replicas",
        "      Deployment/web spec.template.spec.containers[name=app].env[name=LEVEL].value",
        "      Service/web: deleted",
        "      ConfigMap/own: added",
        "  added    link",
        "  changed  logo (binary)",
        "  renamed  old name -> new name",
        "  changed  notes.txt (2 lines)",
        "  changed  run (now executable)",
        "  added    sub/ü.txt",
        "  changed  t.yaml (1 line)",
        "  8 files changed locally",
    ]
    (package,) = json.loads(vendored.vendor("status", "--json").out)["packages"]
    assert package["dir"] == "shop"
    assert package["changes"][0]["fields"][0] == {
        "resource": "Deployment/web",
        "field": "spec.replicas",
        "how": "changed",
    }


def test_the_diff_is_a_patch_that_git_applies(vendored, up):
    change_all(vendored)
    vendored.write("shop/logo", b"\0one")  # a patch has no binary bytes
    done = vendored.world.kmerge("vendor", "diff", "shop", cwd=vendored.path, check=False)
    assert done.code == 1
    up.git("apply", "--check", "-", stdin=done.out)
    up.git("apply", "-", stdin=done.out)
    ours = {path: file for path, file in vendored.tree("shop").items() if path != ".kmerge-vendor"}
    theirs = Vendoring(up.world, up.path, None).tree(".")  # type: ignore[arg-type]
    assert ours == {path: file for path, file in theirs.items() if not path.startswith(".git/")}
    done = vendored.vendor("diff", "shop", "--json", code=1)
    assert "+  replicas: 3\n" in json.loads(done.out)["patch"]


def test_no_diff(vendored):
    assert vendored.vendor("diff", "shop").out == ""


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 20])
def test_hunks_of_all_sizes(up, count):
    """git applies the patch of any two texts, with changes near and far from each other."""
    old = [f"{n}\n" for n in range(count)]
    for step in (1, 2, 5, 7, 8):
        for end in ("", "last"):
            new = [f"x{line}" if n % step == 0 else line for n, line in enumerate(old)]
            before, after = "".join(old), "".join(new[1:]) + end
            base, local = {"a b": File(before.encode())}, {"a b": File(after.encode())}
            text = b"".join(patch(base, local)).decode()
            up.write("a b", before)
            up.git("apply", "-", stdin=text)
            assert up.text("a b") == after


def test_odd_names_in_a_patch(up):
    name = 'a\t"b\\ü\n.txt'
    text = b"".join(patch({}, {name: File(b"x\n")})).decode()
    up.git("apply", "-", stdin=text)
    assert up.text(name) == "x\n"


def test_documents_are_compared_in_time_that_grows_with_them():
    """Of many equal documents only those that differ are looked at."""
    many = [config(f"c{n}", a="b") for n in range(3000)]
    old = stream(*many).encode()
    new = stream(*many[:-1], config("c2999", a="c")).encode()
    (change,) = differences({"a.yaml": File(old)}, {"a.yaml": File(new)})
    assert [(f.resource, f.field) for f in change.fields] == [("ConfigMap/c2999", "data.a")]


def test_without_the_cache_nothing_is_fetched_but_where_it_is_local(vendored, up):
    shutil.rmtree(vendored.world.home / ".cache")
    assert "no local changes" in vendored.vendor("status").out
    record = vendored.text("shop/.kmerge-vendor").replace("../../up", "https://example.invalid/up")
    vendored.write("shop/.kmerge-vendor", record)
    shutil.rmtree(vendored.world.home / ".cache")
    done = vendored.vendor("status", code=2)
    assert "not in the cache" in done.err
    assert "--fetch" in done.err
    assert not (vendored.world.home / ".cache").exists()


def test_newer_versions_only_where_they_are_asked_for(vendored, up):
    release(up, "v1.1.0", {"x": "1"})
    release(up, "v1.2.0-rc.1", {"x": "2"})
    assert "newer" not in vendored.vendor("status").out
    assert "newer upstream: v1.1.0\n" in vendored.vendor("status", "--fetch", code=1).out


def test_a_tag_that_moved_is_told(vendored, up):
    up.commit("x", {"x": "1"})
    up.git("tag", "-f", "-a", "-m", "x", "v1.0.0")
    assert (
        f"upstream's v1.0.0 is now {up.head()[:7]}"
        in vendored.vendor("status", "--fetch", code=1).out
    )
    vendored.vendor("update")
    assert vendored.text("shop/x") == "1"


def test_all_packages(vendored, monkeypatch):
    vendored.vendor("add", "../up", "deep/two", "--ref", "v1.0.0")
    vendored.write("deep/.git/x/.kmerge-vendor", "not looked at")
    (vendored.path / "link").symlink_to("deep")
    monkeypatch.chdir(vendored.path / "deep")
    rows = [line.split() for line in vendored.vendor("list").out.splitlines()]
    assert [(row[0], row[1], row[3], row[4]) for row in rows] == [
        ("two", "v1.0.0", ".", "../../../up"),
        ("../shop", "v1.0.0", ".", "../../up"),
    ]
    found = json.loads(vendored.vendor("list", "--json").out)["packages"]
    assert [p["dir"] for p in found] == ["two", "../shop"]
    assert vendored.vendor("status").out.count("no local changes") == 2


def test_no_package_at_all(mine):
    assert mine.vendor("list").out == ""
    assert "no package" in mine.vendor("list").err
    assert "no package" in mine.vendor("status").err
    for words in (("update",), ("diff",), ("update", "--all"), ("status", "nowhere")):
        mine.vendor_fails(*words)
    Path("empty").mkdir()
    assert "--adopt" in mine.vendor_fails("update", "empty").err
    assert "use `empty --ref v1`" in mine.vendor_fails("update", "empty@v1").err  # as kpt has it
    assert "say" not in mine.vendor_fails("update", "nowhere@v1").err


@pytest.mark.parametrize("count", [2, 10, 11])
def test_ten_of_several_packages_are_named(mine, count):
    names = [f"p{n:02}" for n in range(count)]
    for name in names:
        mine.write(f"{name}/.kmerge-vendor", "not read here\n")
    told = mine.vendor_fails("update").err
    assert f"there are several packages: {', '.join(names[:10])};" in told


def test_add_needs_room(vendored):
    vendored.write("taken/x", "1")
    assert "--adopt" in vendored.vendor_fails("add", "../up", "taken").err
    vendored.vendor_fails("add", "../up", "taken/x")
    vendored.vendor_fails("add", "../nowhere", "new")
    vendored.vendor_fails("add", "../up", "new", "--ref", "nothing")
    vendored.vendor_fails("add", "../up", "new", "--path", "nothing")
    vendored.world.init("empty")
    assert (
        "check that the repository is not empty"
        in vendored.vendor_fails("add", "../empty", "new").err
    )
    for inside in (".git/new", ".GIT/hooks/new"):
        assert "inside a `.git`" in vendored.vendor_fails("add", "../up", inside).err
        assert not (vendored.path / inside).exists()
    assert not (vendored.path / "new").exists()


def test_a_copy_made_by_hand(vendored, up):
    """What differs from the version that it was made from is a local change from then on."""
    shutil.copytree(vendored.path / "shop", vendored.path / "copy")
    (vendored.path / "copy/.kmerge-vendor").unlink()
    vendored.write("copy/all.yaml", stream(deployment(replicas=3), service(), config(a="b")))
    before = vendored.tree("copy")
    assert "--ref" in vendored.vendor_fails("add", "../up", "copy", "--adopt").err
    done = vendored.vendor("add", "../up", "copy", "--adopt", "--ref", "v1.0.0")
    assert "1 file differs" in done.out
    after = vendored.tree("copy")
    assert after.pop(".kmerge-vendor")
    assert after == before
    assert "already" in vendored.vendor_fails("add", "../up", "copy", "--adopt", "--ref", "v1").err
    release(
        up, "v1.1.0", {"all.yaml": stream(deployment(image="shop:2"), service(), config(a="b"))}
    )
    vendored.vendor("update", "copy", "--ref", "v1.1.0")
    assert vendored.text("copy/all.yaml") == stream(
        deployment(replicas=3, image="shop:2"), service(), config(a="b")
    )


def test_a_commit_by_its_id(vendored, up):
    first = up.head("v1.0.0^{commit}")
    second = release(up, "v1.1.0", {"x": "1"})
    vendored.vendor("add", "../up", "by-id", "--ref", first)
    assert f"ref: {first}\ncommit: {first}\n" in vendored.text("by-id/.kmerge-vendor")
    assert "full id" in vendored.vendor_fails("update", "by-id", "--ref", second[:10]).err
    tag = up.head("v1.1.0")  # the id of an annotated tag
    assert "is not a commit" in vendored.vendor_fails("update", "by-id", "--ref", tag).err
    vendored.vendor("update", "by-id", "--ref", second)
    vendored.vendor("update", "by-id", "--ref", first[:10])  # it is in the cache
    assert f"commit: {first}\n" in vendored.text("by-id/.kmerge-vendor")


@pytest.mark.parametrize("words", [(), ("--ref", "v1.0.0"), ("--ref", "ID")])
def test_repositories_with_long_ids(mine, world, words):
    """Whose ids are sha256, beside one of the usual kind at the same place before."""
    up = world.init("up")
    release(up, "v1.0.0", {"a.yaml": "a: 1\n"})
    mine.vendor("add", "../up", "one")
    shutil.rmtree(up.path)
    world.git("init", "-q", "-b", "main", "--object-format=sha256", up.path)
    release(up, "v1.0.0", {"a.yaml": "a: 2\n"})
    ids = {"ID": up.head()}
    mine.vendor("add", "../up", "two", *(ids.get(word, word) for word in words))
    assert mine.text("two/a.yaml") == "a: 2\n"
    assert f"commit: {up.head()}\n" in mine.text("two/.kmerge-vendor")
    assert "no local changes" in mine.vendor("status", "two").out


@pytest.mark.parametrize("kind", ["bare", "shallow"])
def test_other_kinds_of_local_repositories(vendored, up, kind):
    how = ["--bare"] if kind == "bare" else ["--depth=1"]
    vendored.world.git("clone", "-q", *how, up.path.as_uri(), "other")
    vendored.vendor("add", "../other", "two")
    assert vendored.tree("two").keys() == vendored.tree("shop").keys()


def test_while_an_update_is_unfinished_its_diff_says_so(vendored, up):
    release(up, "v1.1.0", {"notes.txt": "other\n"})
    vendored.write("shop/notes.txt", "ours\n")
    vendored.vendor("update", "--ref", "v1.1.0", "--quiet", code=1)
    assert "unfinished" in vendored.vendor("diff", code=1).err

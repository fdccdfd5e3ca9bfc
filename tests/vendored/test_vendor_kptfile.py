"""A Kptfile as the record: read, and moved on, as kpt does it."""

from __future__ import annotations

import pytest
from git.world import Repo
from vendored.conftest import Vendoring, release
from vendored.texts import deployment

from kmerge_git.errors import UsageError
from kmerge_git.packages.package_files import File
from kmerge_git.vendored.origin_records import Record, Vendored, below, moved_on, parse

OWN = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\n"
COMMIT = "d2d1dd4a6e9c8e2c2e2f2a2b2c2d2e2f2a2b2c2d"


def kptfile(repo: str, commit: str, ref: str = "v1", directory: str = "/pkg/shop") -> str:
    """A Kptfile as `kpt pkg get` writes it."""
    return OWN + (
        "upstream:\n  type: git\n  git:\n"
        f"    repo: {repo}\n    directory: {directory}\n    ref: {ref}\n"
        "  updateStrategy: resource-merge\n"
        "upstreamLock:\n  type: git\n  git:\n"
        f"    repo: {repo}\n    directory: {directory}\n    ref: pkg/shop/{ref}\n"
        f"    commit: {commit}\n"
        "info:\n  description: a shop # ours\n"
    )


@pytest.mark.parametrize(
    "repo, source",
    [
        ("https://github.com/a/b", "https://github.com/a/b"),
        ("https://github.com/a/b.git", "https://github.com/a/b.git"),
        ("git@github.com:a/b.git", "git@github.com:a/b.git"),
        ("github.com/a/b", "https://github.com/a/b"),
        ("/srv/repo", "/srv/repo"),
        ("../repo", "../repo"),
    ],
)
def test_a_kptfile_is_a_record(repo, source):
    found = parse(kptfile(repo, COMMIT).encode(), "Kptfile")
    assert found == Record(source, "pkg/shop", "v1", COMMIT)


def test_a_package_that_is_a_whole_repository():
    found = parse(kptfile("../repo", COMMIT, directory="/").encode(), "Kptfile")
    assert found is not None
    assert found.path == "."


@pytest.mark.parametrize(
    "text", [OWN, kptfile("../repo", '""'), OWN + "upstream: {}\nupstreamLock: x\n"]
)
def test_a_kptfile_that_says_nothing_of_upstream(text):
    assert parse(text.encode(), "Kptfile") is None


@pytest.mark.parametrize(
    "text",
    [
        kptfile("ext::sh", COMMIT),
        kptfile("https://me:secret@example.org/a", COMMIT),
        kptfile("../repo", COMMIT, directory="/../.."),
        kptfile("../repo", COMMIT, directory="a/.git"),
        kptfile("../repo", COMMIT, ref="--upload-pack=x"),
        kptfile("../repo", "HEAD"),
    ],
)
def test_a_kptfile_that_is_not_believed(text):
    with pytest.raises(UsageError, match="invalid upstream: "):
        parse(text.encode(), "Kptfile")


def test_moving_on_changes_three_values():
    old = kptfile("../repo", COMMIT)
    record = Record("../repo", "pkg/shop", "v2", "a" * 40)
    new = moved_on(old.encode(), "Kptfile", record, "refs/tags/pkg/shop/v2").decode()
    assert new == (
        old.replace("ref: v1\n", "ref: v2\n")
        .replace("ref: pkg/shop/v1", "ref: pkg/shop/v2")
        .replace(COMMIT, "a" * 40)
    )


@pytest.mark.parametrize("path, shown", [(".charts/shop", "/.charts/shop"), (".", "/")])
def test_a_package_that_moved(path, shown):
    record = Record("../repo", path, "v2", "a" * 40)
    old = kptfile("../repo", COMMIT)
    new = moved_on(old.encode(), "Kptfile", record, "v2").decode()
    assert new.count(f"directory: {shown}\n") == 2


WITH_ORIGIN = File(kptfile("../up", COMMIT).encode())
WITHOUT = File((OWN + "info:\n  description: a shop # ours\n").encode())
LINK = File(b"../Kptfile", link=True)


@pytest.mark.parametrize(
    "is_kpt, file, own, expected",
    [
        (True, WITH_ORIGIN, WITH_ORIGIN, WITHOUT),
        (False, WITH_ORIGIN, WITH_ORIGIN, WITH_ORIGIN),  # upstream's own: it is merged as any file
        (True, None, WITH_ORIGIN, None),
        (True, WITH_ORIGIN, None, WITH_ORIGIN),
        (True, LINK, WITH_ORIGIN, LINK),
        (True, File(b"a: ["), WITH_ORIGIN, File(b"a: [")),
    ],
)
def test_the_origin_takes_no_part_in_the_merge(
    is_kpt: bool, file: File | None, own: File | None, expected: File | None
) -> None:
    of = Vendored("shop", Record("../up", "pkg/shop", "v1", COMMIT), is_kpt)
    version, copy = ({"Kptfile": one} if one is not None else {} for one in (file, own))
    assert of.origin_aside(version, copy).get("Kptfile") == expected


@pytest.fixture
def vendored(up: Repo, mine: Vendoring) -> Vendoring:
    """What `kpt pkg get` left, with a change of one's own."""
    first = release(up, "pkg/shop/v1", {"pkg/shop/web.yaml": deployment(), "pkg/shop/Kptfile": OWN})
    up.git("tag", "v1", "pkg/shop/v1~0")
    second = {
        "pkg/shop/web.yaml": deployment(image="shop:2"),
        "pkg/shop/Kptfile": OWN.replace("name: shop", "name: shop\n  labels:\n    a: b")
        + "upstream:\n  git:\n    repo: https://elsewhere.example/x\n    ref: main\n",
    }
    release(up, "pkg/shop/v2", second)
    release(up, "v2", {"pkg/shop/web.yaml": "not: this one\n"})
    mine.write("shop/web.yaml", deployment(replicas=3))
    mine.write("shop/Kptfile", kptfile("../../up", first).replace("name: shop", "name: our-shop"))
    return mine


def test_an_update_moves_the_lock_and_merges_the_rest(vendored, up):
    assert vendored.vendor("status").out.splitlines()[1:] == [
        "  changed  Kptfile",
        "      Kptfile/our-shop info",
        "  changed  web.yaml",
        "      Deployment/web spec.replicas",
        "  2 files changed locally",
    ]
    assert "newer upstream: v2" in vendored.vendor("status", "--fetch", code=1).out
    vendored.vendor("update", "--ref", "v2")
    assert vendored.text("shop/web.yaml") == deployment(replicas=3, image="shop:2")
    expected = kptfile("../../up", up.head("pkg/shop/v2^{commit}"), ref="v2")
    assert vendored.text("shop/Kptfile") == expected.replace(
        "name: shop\n", "name: our-shop\n  labels:\n    a: b\n"
    )
    assert not (vendored.path / "shop/.kmerge-vendor").exists()
    before = vendored.tree("shop")
    assert "up to date" in vendored.vendor("update").out
    assert vendored.tree("shop") == before


def test_a_conflict_in_the_package_leaves_the_lock(vendored, up):
    vendored.write("shop/web.yaml", deployment(image="ours:1"))
    before = vendored.tree("shop")
    vendored.vendor("update", "--ref", "v2", code=1)
    assert "ref: v1\n" in vendored.text("shop/Kptfile")
    vendored.vendor("update", "shop", "--abort")
    assert vendored.tree("shop") == before
    vendored.vendor("update", "--ref", "v2", code=1)
    vendored.write("shop/web.yaml", deployment(image="ours:2"))
    vendored.vendor("update", "shop", "--continue")
    text = vendored.text("shop/Kptfile")
    assert "ref: v2\n" in text
    assert f"ref: pkg/shop/v2\n    commit: {up.head('pkg/shop/v2^{commit}')}\n" in text


def test_a_kptfile_in_conflict_is_no_obstacle_to_an_abort(vendored, up):
    v3 = OWN + "info:\n  description: theirs\n"
    release(up, "pkg/shop/v3", {"pkg/shop/Kptfile": v3, "pkg/shop/web.yaml": deployment()})
    before = vendored.tree("shop")
    vendored.vendor("update", "--ref", "v3", code=1)
    assert "<<<<<<<" in vendored.text("shop/Kptfile")
    assert "Kptfile:" in vendored.vendor("update", "shop", "--continue", code=1).err
    vendored.vendor("update", "shop", "--abort")
    assert vendored.tree("shop") == before
    vendored.vendor("update", "--ref", "v3", code=1)
    text = vendored.text("shop/Kptfile")
    lines = [
        line for line in text.splitlines() if line[:7] not in ("<<<<<<<", "=======", ">>>>>>>")
    ]
    vendored.write("shop/Kptfile", "\n".join(line for line in lines if "theirs" not in line) + "\n")
    vendored.vendor("update", "shop", "--continue")
    assert "ref: pkg/shop/v3\n" in vendored.text("shop/Kptfile")
    assert "a shop # ours\n" in vendored.text("shop/Kptfile")


def test_a_kptfile_without_a_lock_is_no_record(mine):
    mine.write("shop/Kptfile", OWN + "upstream:\n  type: git\n  git:\n    repo: ../../up\n")
    told = mine.vendor_fails("update", "shop").err
    assert "a Kptfile without the commit" in told
    assert "--adopt" in told
    mine.write("other/a.yaml", "a: 1\n")
    assert "Kptfile" not in mine.vendor_fails("update", "other").err


def test_a_kptfile_inside_of_a_package_is_upstream_s_business(vendored):
    vendored.write("shop/sub/Kptfile", kptfile("../../../evil", COMMIT))
    vendored.write("shop/sub/deep/Kptfile", kptfile("../../../evil", COMMIT))
    assert [line.split()[0] for line in vendored.vendor("list").out.splitlines()] == ["shop"]


@pytest.mark.parametrize(
    "file, text, expected",
    [
        ("Kptfile", kptfile("../up", COMMIT), ["shop"]),
        ("Kptfile", OWN, []),  # of a package that was made here
        ("Kptfile", OWN + "upstream:\n  git: [\n", ["shop"]),  # whoever opens it says what is wrong
        (".kmerge-vendor", "not read here\n", ["shop"]),
        ("other", kptfile("../up", COMMIT), []),
    ],
)
def test_which_directories_are_packages(tmp_path, file, text, expected):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / file).write_text(text)
    assert below(str(tmp_path)) == [str(tmp_path / name) for name in expected]


def test_a_record_of_its_own_comes_first(vendored, up):
    release(
        up, "pkg/shop/v3", {"pkg/shop/Kptfile": OWN, "pkg/shop/web.yaml": deployment(image="3")}
    )
    vendored.vendor("add", "../up", "shop", "--path", "pkg/shop", "--ref", "pkg/shop/v1", "--adopt")
    vendored.vendor("update", "--ref", "pkg/shop/v3")
    assert "ref: pkg/shop/v3" in vendored.text("shop/.kmerge-vendor")
    assert "ref: v1\n" in vendored.text("shop/Kptfile")

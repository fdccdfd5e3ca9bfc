"""The whole workflow on real repositories: three releases upstream, local changes in between."""

from __future__ import annotations

import json

import pytest
from git.world import Repo
from vendored.conftest import Vendoring, release
from vendored.texts import config, deployment, service, stream

from kmerge_git.vendored import origin_records
from kmerge_git.vendored.package_updating import UpdateWishes, plan

CHART = "chart/templates/web.yaml"
TEMPLATE = (
    "kind: Deployment\nspec:\n  replicas: {{ .Values.replicas }}\n"
    "  template:\n    image: {{ .Values.image }}\n  paused: false\n"
)
SCRIPT = "#!/bin/sh\nset -e\necho start\necho shop\necho end\n"
V1 = {
    "web.yaml": stream(deployment(), service()),
    "settings.yaml": config(a="one", b="two", c="three"),
    "many.yaml": stream(config("first", x="one"), config("second", x="one")),
    "db.yaml": service("db", 5432),
    "run.sh": SCRIPT,
    "logo.png": b"\x89PNG\0one",
    "README.md": "# Shop\n\nText.\n\nMore.\n",
    CHART: TEMPLATE,
}


WHOSE = {
    "web.yaml": "merged",
    "run.sh": "upstream",
    "db.yaml": "same",
    "README.md": "local",
    "own.yaml": "local",
    "logo.png": "conflict",
}


def at_deploy(files: dict[str, str | bytes | None]) -> dict[str, str | bytes | None]:
    return {f"deploy/{name}": text for name, text in files.items()}


@pytest.fixture
def shop(up: Repo) -> Repo:
    """Three releases: fields; a file renamed and one split; a resource moved to another file."""
    up.write("other/secret.txt", "not of the package")
    up.write("deploy/run.sh", SCRIPT).chmod(0o755)
    release(up, "v1.0.0", at_deploy(V1))
    second = {
        "web.yaml": stream(deployment(image="shop:2"), service()),
        "config.yaml": config(a="one", b="two", c="three", d="four"),
        "settings.yaml": None,
        "first.yaml": config("first", x="one"),
        "second.yaml": config("second", x="two"),
        "many.yaml": None,
        "run.sh": SCRIPT.replace("echo shop", "echo shop 2"),
        "logo.png": b"\x89PNG\0two",
        CHART: TEMPLATE.replace("paused: false", "paused: true"),
    }
    release(up, "v1.1.0", at_deploy(second))
    third = {
        "web.yaml": deployment(image="shop:3"),
        "db.yaml": stream(service("db", 5432), service()),
        "README.md": "# Shop\n\nText.\n\nMore, and better.\n",
        "extra.yaml": config("extra", e="five"),
    }
    release(up, "v2.0.0", at_deploy(third))
    return up


@pytest.fixture
def vendored(shop: Repo, mine: Vendoring) -> Vendoring:
    """The first release, committed."""
    mine.vendor("add", "../up", "vendor/shop", "--path", "deploy", "--ref", "v1.0.0")
    mine.commit("add shop")
    return mine


def edit(mine: Vendoring, name: str, old: str, new: str) -> None:
    """Change a file of the package."""
    path = f"vendor/shop/{name}"
    assert mine.text(path).count(old) == 1
    mine.write(path, mine.text(path).replace(old, new))


def of_upstream(up: Repo, tag: str) -> dict[str, tuple[bytes, bool]]:
    """The package as a release has it."""
    up.git("checkout", "-q", tag)
    return Vendoring(up.world, up.path, None).tree("deploy")  # type: ignore[arg-type]


def without_record(tree: dict[str, tuple[bytes, bool]]) -> dict[str, tuple[bytes, bool]]:
    return {path: file for path, file in tree.items() if path != ".kmerge-vendor"}


def test_without_local_changes_it_is_upstream_s(shop, vendored):
    for tag in ("v1.0.0", "v1.1.0", "v2.0.0"):
        vendored.vendor("update", "--ref", tag)
        assert without_record(vendored.tree("vendor/shop")) == of_upstream(shop, tag)
        assert vendored.vendor("status").out.endswith("no local changes\n")
        before = vendored.tree("vendor/shop")
        assert "up to date" in vendored.vendor("update").out
        assert vendored.tree("vendor/shop") == before


def test_local_changes_come_along_through_three_releases(shop, vendored):
    edit(vendored, "web.yaml", "replicas: 1", "replicas: 5")
    edit(vendored, "settings.yaml", "a: one", "a: mine")
    edit(vendored, "many.yaml", "name: first\ndata:\n", "name: first\ndata:\n  mine: here\n")
    edit(vendored, CHART, "kind: Deployment\n", "# ours\nkind: Deployment\n")
    edit(vendored, "run.sh", "set -e", "set -eu")
    edit(vendored, "README.md", "# Shop", "# Our shop")
    vendored.write("vendor/shop/own.yaml", config("own", o="six"))
    vendored.commit("changes of our own")

    vendored.vendor("update", "vendor/shop", "--ref", "v1.1.0")
    found = {
        path: data.decode("latin-1") for path, (data, _) in vendored.tree("vendor/shop").items()
    }
    assert found.pop(".kmerge-vendor").startswith(
        "source: ../../../up\npath: deploy\nref: v1.1.0\n"
    )
    assert found == {
        "web.yaml": stream(deployment(replicas=5, image="shop:2"), service()),
        "config.yaml": config(a="mine", b="two", c="three", d="four"),
        "first.yaml": config("first", mine="here", x="one"),
        "second.yaml": config("second", x="two"),
        "db.yaml": service("db", 5432),
        "run.sh": SCRIPT.replace("echo shop", "echo shop 2").replace("set -e", "set -eu"),
        "logo.png": "\x89PNG\0two",
        "README.md": "# Our shop\n\nText.\n\nMore.\n",
        CHART: "# ours\n" + TEMPLATE.replace("paused: false", "paused: true"),
        "own.yaml": config("own", o="six"),
    }
    assert vendored.tree("vendor/shop")["run.sh"][1]
    again(vendored)

    edit(vendored, "web.yaml", "port: 80", "port: 8080")
    vendored.commit("v1.1.0, and another change")
    vendored.vendor("update", "vendor/shop", "--ref", "v2.0.0")
    assert vendored.text("vendor/shop/web.yaml") == deployment(replicas=5, image="shop:3")
    assert vendored.text("vendor/shop/db.yaml") == stream(service("db", 5432), service(port=8080))
    assert vendored.text("vendor/shop/README.md") == "# Our shop\n\nText.\n\nMore, and better.\n"
    assert vendored.text("vendor/shop/extra.yaml") == config("extra", e="five")
    changed = vendored.git("diff", "--name-only", "HEAD").lines
    assert [name.rpartition("/")[2] for name in changed] == [
        *(".kmerge-vendor", "README.md", "db.yaml", "web.yaml"),
    ]
    again(vendored)
    told = json.loads(vendored.vendor("status", "--json").out)["packages"][0]["changes"]
    assert {c["path"] for c in told} == {
        *("web.yaml", "db.yaml", "config.yaml", "first.yaml", "run.sh", "README.md", CHART),
        "own.yaml",
    }


def again(mine: Vendoring) -> None:
    """The same update once more, by its name and by that of its commit, changes nothing."""
    before = mine.tree("vendor/shop")
    assert "up to date" in mine.vendor("update").out
    assert mine.tree("vendor/shop") == before


def test_git_diff_shows_only_what_upstream_did(shop, vendored):
    edit(vendored, "web.yaml", "replicas: 1", "replicas: 5")
    vendored.commit("ours")
    vendored.vendor("update", "--ref", "v1.1.0")
    lines = vendored.git("diff", "-U0", "--", "vendor/shop/web.yaml").lines
    assert [
        line.strip() for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")
    ] == [
        "-          image: shop:1",
        "+          image: shop:2",
    ]


def test_a_conflict_keeps_the_record_where_it_is(shop, vendored):
    edit(vendored, "web.yaml", "shop:1", "shop:1-ours")
    vendored.write("vendor/shop/logo.png", b"\x89PNG\0ours")
    vendored.commit("ours")
    record = vendored.text("vendor/shop/.kmerge-vendor")
    done = vendored.vendor("update", "vendor/shop", "--ref", "v1.1.0", code=1)
    assert "conflict  changed   web.yaml" in done.out
    assert "not merged: vendor/shop/logo.png" in done.err
    marked = vendored.text("vendor/shop/web.yaml")
    assert "<<<<<<< local" in marked
    assert ">>>>>>> v1.1.0 (" in marked
    assert vendored.bytes("vendor/shop/logo.png") == b"\x89PNG\0ours"
    assert vendored.text("vendor/shop/.kmerge-vendor") == record

    done = vendored.vendor("status", code=1)
    assert "unfinished: update to v1.1.0" in done.out
    for words in (["update"], ["update", "vendor/shop", "--ref", "v2.0.0"], ["update", "--all"]):
        done = vendored.vendor_fails(*words)
        assert "--continue" in done.err
        assert "--abort" in done.err
    done = vendored.vendor("update", "--continue", code=1)  # there is one package only
    line = marked[: marked.index("<<<<<<<")].count("\n") + 1
    assert f"vendor/shop/web.yaml:{line}: unresolved conflict" in done.err

    vendored.write("vendor/shop/web.yaml", stream(deployment(image="shop:2-ours"), service()))
    vendored.vendor("update", "vendor/shop", "--continue")
    assert "ref: v1.1.0\n" in vendored.text("vendor/shop/.kmerge-vendor")
    assert not (vendored.path / "vendor/shop/.kmerge-update").exists()
    again(vendored)
    for words in (["--abort"], ["vendor/shop", "--continue"]):
        assert "there is no unfinished update" in vendored.vendor_fails("update", *words).err


def test_a_conflict_without_any_marker(shop, vendored):
    """A path that moved as well: the commit alone does not tell whether the record moved on."""
    vendored.write("vendor/shop/logo.png", b"\x89PNG\0ours")
    shop.git("checkout", "-q", "main")
    release(
        shop, "both", {"charts/logo.png": b"\x89PNG\0other", "deploy/logo.png": b"\x89PNG\0one"}
    )
    vendored.vendor("update", "--ref", "both", "--rules", "kyaml")
    vendored.write("vendor/shop/web.yaml", deployment())
    before = vendored.tree("vendor/shop")
    vendored.vendor("update", "--ref", "both", "--path", "charts", code=1)
    vendored.vendor("update", "vendor/shop", "--abort")
    assert vendored.tree("vendor/shop") == before
    vendored.vendor("update", "--ref", "both", "--path", "charts", code=1)
    vendored.vendor("update", "vendor/shop", "--continue")
    assert "path: charts\nref: both\n" in vendored.text("vendor/shop/.kmerge-vendor")
    assert vendored.bytes("vendor/shop/logo.png") == b"\x89PNG\0ours"


def test_abort_puts_all_back_edited_conflicts_too(shop, vendored):
    edit(vendored, "web.yaml", "shop:1", "shop:1-ours")
    before = vendored.tree("vendor/shop")
    vendored.vendor("update", "--ref", "v2.0.0", code=1)
    assert vendored.tree("vendor/shop") != before
    vendored.write("vendor/shop/web.yaml", "half: resolved\n")
    vendored.vendor("update", "vendor/shop", "--abort")
    assert vendored.tree("vendor/shop") == before


def test_kyaml_takes_upstream_s_and_tells_what_is_lost(shop, vendored):
    edit(vendored, "web.yaml", "shop:1", "shop:1-ours")
    done = vendored.vendor("update", "--ref", "v1.1.0", "--rules", "kyaml")
    assert vendored.text("vendor/shop/web.yaml") == stream(deployment(image="shop:2"), service())
    assert "lost: vendor/shop/web.yaml: Deployment/web" in done.err
    assert "local shop:1-ours, upstream shop:2" in done.err


def test_what_is_lost_is_hidden_and_listed_where_that_is_wished(shop, vendored):
    edit(vendored, "web.yaml", "shop:1", "shop:1-ours")
    before = vendored.tree("vendor/shop")
    words = ("update", "--ref", "v1.1.0", "--rules", "kyaml", "--dry-run")
    assert "lost" not in vendored.vendor(*words, "--quiet").err
    (package,) = json.loads(vendored.vendor(*words, "--json").out)["packages"]
    (loss,) = package["losses"]
    assert (loss["path"], loss["local"], loss["upstream"]) == ("web.yaml", "shop:1-ours", "shop:2")
    assert vendored.tree("vendor/shop") == before


def test_who_made_each_file_what_it_is(shop, vendored):
    edit(vendored, "README.md", "Text.", "Our text.")
    vendored.write("vendor/shop/logo.png", b"\x89PNG\0ours")
    edit(vendored, "web.yaml", "replicas: 1", "replicas: 5")
    vendored.write("vendor/shop/own.yaml", config("own", x="y"))
    words = ("update", "--ref", "v1.1.0", "--dry-run", "--json")
    (package,) = json.loads(vendored.vendor(*words, code=1).out)["packages"]
    whose = {file["path"]: file["whose"] for file in package["files"]}
    assert {name: whose[name] for name in WHOSE} == WHOSE


def test_as_many_files_are_counted_as_were_announced(shop, vendored):
    """Those that only the copy has, too."""
    vendored.write("vendor/shop/own.yaml", config("own", x="y"))
    vendored.write("vendor/shop/notes", "own\n")
    totals, counts = [], []

    def watch(total):
        totals.append(total)
        return counts.append

    plan(origin_records.vendored("vendor/shop"), UpdateWishes(ref="v2.0.0"), watch=watch)
    assert totals == [max(counts)]


def test_a_dry_run_writes_nothing(shop, vendored):
    before = vendored.tree(".")
    assert "web.yaml" in vendored.vendor("update", "--ref", "v1.1.0", "--dry-run").out
    edit(vendored, "web.yaml", "shop:1", "shop:1-ours")
    before = vendored.tree(".")
    vendored.vendor("update", "--ref", "v1.1.0", "--dry-run", code=1)
    assert vendored.tree(".") == before


def test_a_file_that_was_renamed_counts_once(shop, vendored):
    done = vendored.vendor("update", "--ref", "v1.1.0")
    names = [name for name in vendored.tree("vendor/shop") if name != ".kmerge-vendor"]
    # many.yaml, which upstream split, is in the table, too
    assert f"  {len(names) + 1} files: 8 from upstream, 0 merged" in done.out
    assert done.out.endswith(", 0 local only, 1 renamed\n")
    assert "moved: vendor/shop: ConfigMap/first: many.yaml -> first.yaml\n" in done.err


def test_up_to_date_with_a_tag_is_no_answer_to_what_is_newer(shop, vendored):
    assert vendored.vendor("update").out.splitlines()[1].endswith("list newer versions for --ref")
    assert vendored.vendor("update", "--ref", "v1.0.0").out.count("\n") == 1
    assert "nothing newer" not in vendored.vendor("status", "--fetch", code=1).out
    vendored.vendor("update", "--ref", "v2.0.0")
    assert "  no newer version upstream\n" in vendored.vendor("status", "--fetch").out
    assert "nothing newer" not in vendored.vendor("status").out  # it did not ask


def test_a_branch_is_followed(shop, mine):
    shop.git("checkout", "-q", "main")
    mine.vendor("add", "../up", "shop", "--path", "deploy")
    assert "ref: HEAD\n" in mine.text("shop/.kmerge-vendor")
    shop.commit("more", {"deploy/new.yaml": config("new", n="seven")})
    assert "HEAD is" in mine.vendor("status", "--fetch", code=1).out
    mine.vendor("update")
    assert mine.text("shop/new.yaml") == config("new", n="seven")
    record = mine.text("shop/.kmerge-vendor")
    shop.commit("elsewhere", {"other/x": "1"})
    assert "HEAD is" not in mine.vendor("status", "--fetch").out
    assert "up to date" in mine.vendor("update").out
    assert mine.text("shop/.kmerge-vendor") == record


def test_upstream_moved_the_package(shop, vendored):
    edit(vendored, "web.yaml", "replicas: 1", "replicas: 5")
    shop.git("checkout", "-q", "main")
    shop.git("mv", "deploy", "charts")
    release(shop, "v3.0.0", {"charts/new.yaml": config("new", n="seven")})
    assert "no directory deploy" in vendored.vendor_fails("update", "--ref", "v3.0.0").err
    vendored.vendor("update", "--ref", "v3.0.0", "--path", "charts")
    assert "path: charts\nref: v3.0.0\n" in vendored.text("vendor/shop/.kmerge-vendor")
    assert vendored.text("vendor/shop/web.yaml") == deployment(replicas=5, image="shop:3")
    assert "up to date" in vendored.vendor("update").out
    vendored.vendor_fails("update", "--path", "../x")


def test_outside_of_any_repository(shop, mine, world, monkeypatch):
    (world.root / "plain").mkdir()
    monkeypatch.chdir(world.root / "plain")
    mine.vendor("add", "../up", "shop", "--path", "deploy", "--ref", "v1.0.0")
    mine.vendor("update", "--ref", "v1.1.0")
    mine.vendor("update", "shop", "--ref", "v2.0.0")
    assert (world.root / "plain/shop/extra.yaml").exists()


def test_all_packages_at_once_one_error_does_not_stop_the_others(shop, mine):
    for name in ("a", "b", "c"):
        mine.vendor("add", "../up", name, "--path", "deploy", "--ref", "main")
    shop.git("checkout", "-q", "main")
    shop.commit("more", {"deploy/new.yaml": config("new", n="seven")})
    mine.write("b/.kmerge-vendor", "source: -x\n")
    done = mine.vendor("update", "--all", code=2)
    assert "b/.kmerge-vendor:1: " in done.err
    assert (mine.path / "a/new.yaml").exists()
    assert (mine.path / "c/new.yaml").exists()
    assert "several packages" in mine.vendor_fails("update").err


def test_a_package_inside_of_a_package_is_none_of_its_files(up, mine):
    """It has the same resources: they are no renames, and upstream's files never land in it."""
    release(up, "v1", {"web.yaml": deployment(), "a.txt": "one\n", "inner/b.txt": "one\n"})
    release(up, "v2", {"web.yaml": deployment(image="shop:2"), "inner/b.txt": "two\n"})
    mine.vendor("add", "../up", "shop", "--ref", "v1")
    for name in ("web.yaml", "inner/b.txt"):
        (mine.path / "shop" / name).unlink()
    mine.vendor("add", "../up", "shop/inner", "--ref", "v1")
    inner = mine.tree("shop/inner")
    assert "1 file changed" in mine.vendor("status", "shop").out
    done = mine.vendor("update", "shop", "--ref", "v2", code=1)
    assert "web.yaml: deleted in local, changed in upstream" in done.err
    assert "not copied: inner/b.txt: part of another package" in done.err
    mine.vendor("update", "shop", "--continue")
    assert mine.tree("shop/inner") == inner
    mine.vendor("update", "shop/inner", "--ref", "v2")
    assert "shop:2" in mine.text("shop/inner/web.yaml")

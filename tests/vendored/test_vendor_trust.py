"""What others write stays data: records, URLs, attributes, hooks, filters, links."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from git.world import Repo
from vendored.conftest import Vendoring, release
from vendored.texts import deployment

from kmerge_git.git import upstream

URL = "https://example.org/shop.git"


@pytest.fixture
def vendored(up: Repo, mine: Vendoring) -> Vendoring:
    release(up, "v1.0.0", {"web.yaml": deployment()})
    release(up, "v1.1.0", {"web.yaml": deployment(image="shop:2")})
    mine.vendor("add", "../up", "shop", "--ref", "v1.0.0")
    return mine


def set_line(mine: Vendoring, key: str, value: str) -> None:
    """Another value in the record, as a pull request might bring it."""
    path = "shop/.kmerge-vendor"
    lines = [line for line in mine.text(path).splitlines() if not line.startswith(f"{key}: ")]
    at = ["source", "path", "ref", "commit", "checksum"].index(key)
    lines.insert(at, f"{key}: {value}")
    mine.write(path, "\n".join([*lines, ""]))


@pytest.mark.world
@pytest.mark.parametrize("path", ["../..", "/etc", "a/../../../b", ".git", ".GIT/hooks"])
@pytest.mark.parametrize("words", [("update", "shop"), ("status", "shop"), ("diff", "shop")])
def test_a_record_that_names_a_path_outside(vendored, path, words):
    set_line(vendored, "path", path)
    before = vendored.tree(".")
    assert "shop/.kmerge-vendor:2: path: " in vendored.vendor_fails(*words).err
    assert vendored.tree(".") == before


@pytest.mark.parametrize(
    "source",
    ["ext::sh -c 'touch pwned'", "-uxx", "http://example.org/a", "https://t@example.org/a"],
)
def test_a_record_that_names_no_source(vendored, source):
    set_line(vendored, "source", source)
    assert "shop/.kmerge-vendor:1: " in vendored.vendor_fails("update").err
    assert not list(vendored.world.root.rglob("pwned"))


@pytest.mark.parametrize("source", ["ext::sh -c 'touch pwned'", "-uxx", "http://example.org/a"])
def test_sources_that_are_refused_before_anything_is_made(mine, source):
    mine.vendor_fails("add", "--", source, "new")
    assert not (mine.path / "new").exists()
    assert not list(mine.world.root.rglob("pwned"))


@pytest.mark.parametrize("ref", ["--upload-pack=touch pwned", "a b", "v1.0.0^{/x}", "v1..v2"])
def test_refs_that_are_refused(vendored, ref):
    vendored.vendor_fails("update", "shop", f"--ref={ref}")
    set_line(vendored, "ref", ref)
    assert "shop/.kmerge-vendor:3: " in vendored.vendor_fails("update").err
    assert not list(vendored.world.root.rglob("pwned"))


def test_the_user_s_own_helpers_are_not_called_for_another_protocol(vendored):
    vendored.git("config", "--global", "protocol.ext.allow", "always")
    vendored.git("config", "--global", "url.ext::touch .insteadOf", "https://")
    done = vendored.vendor_fails("add", URL, "new")
    assert "ext" in done.err
    assert not (vendored.path / "new").exists()


def test_no_network_for_a_local_source_whatever_is_rewritten(vendored):
    vendored.git(
        "config", "--global", "url.https://example.invalid/.insteadOf", f"{vendored.world.root}/"
    )
    shutil.rmtree(vendored.world.home / ".cache")
    done = vendored.vendor("status", code=2)
    assert "transport 'https' not allowed" in done.err


def test_another_source_needs_the_user_s_word(vendored, up):
    shutil.copytree(up.path, vendored.world.root / "fork")
    fork = Repo(vendored.world, vendored.world.root / "fork")
    release(fork, "v1.2.0", {"web.yaml": deployment(image="evil:1")})
    set_line(vendored, "source", "../../fork")
    before = vendored.tree("shop")
    for words in (("update", "shop", "--ref", "v1.2.0"), ("diff", "shop")):
        done = vendored.vendor_fails(*words)
        assert "--accept-source" in done.err
        assert f"{vendored.world.root}/up" in done.err
    told = vendored.vendor("status", "--fetch", code=2).err
    assert "--accept-source" in told
    assert told.count("shop: ") == 1
    assert vendored.tree("shop") == before
    vendored.vendor("update", "shop", "--ref", "v1.2.0", "--accept-source")
    assert "evil:1" in vendored.text("shop/web.yaml")
    vendored.vendor("update", "shop")  # once is enough


def test_a_commit_that_is_not_what_was_recorded(vendored, up):
    set_line(vendored, "commit", up.head("v1.1.0^{commit}"))
    before = vendored.tree("shop")
    for words in (("update", "shop", "--ref", "v1.1.0"), ("diff", "shop")):
        assert "checksum" in vendored.vendor_fails(*words).err
    assert vendored.tree("shop") == before


def test_attributes_of_a_package_are_files_and_nothing_else(vendored, up):
    attributes = "*.yaml kmerge-favor=theirs kmerge-policy=**:theirs merge=union\n* filter=evil\n"
    release(up, "v1.2.0", {"web.yaml": deployment(image="shop:3"), ".gitattributes": attributes})
    release(up, "v1.3.0", {"web.yaml": deployment(image="shop:4")})
    vendored.vendor("update", "shop", "--ref", "v1.2.0")
    assert vendored.text("shop/.gitattributes") == attributes
    vendored.write("shop/web.yaml", vendored.text("shop/web.yaml").replace("shop:3", "ours:3"))
    vendored.git("config", "kmerge.favor", "theirs")  # the user's, but of the driver
    vendored.vendor("update", "shop", "--ref", "v1.3.0", code=1)
    assert "<<<<<<< local" in vendored.text("shop/web.yaml")
    assert "ours:3" in vendored.text("shop/web.yaml")


def test_no_hook_filter_or_template_ever_runs(vendored, up):
    """Neither the user's own, which are for repositories of his, nor what a package brings."""
    world = vendored.world
    release(up, "v1.2.0", {".gitattributes": "*.yaml filter=evil ident\n", "web.yaml": "a: $Id$\n"})
    evil = world.root / "evil"
    for name in ("hooks/post-checkout", "hooks/reference-transaction", "template/hooks/update"):
        file = evil / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\ntouch {world.root}/pwned\n")
        file.chmod(0o755)
    for key, value in {
        "core.hooksPath": f"{evil}/hooks",
        "hook.e=vil.event": "reference-transaction",
        "hook.e=vil.command": f"touch {world.root}/pwned",
        "init.templateDir": f"{evil}/template",
        "filter.evil.smudge": f"touch {world.root}/pwned; cat",
        "filter.evil.process": f"touch {world.root}/pwned",
        "core.fsmonitor": f"touch {world.root}/pwned",
    }.items():
        vendored.git("config", "--global", key, value)
    vendored.vendor("update", "shop", "--ref", "v1.2.0")
    vendored.vendor("status", "--fetch")
    vendored.vendor("diff", "shop")
    off = {"COUNT": "1", "KEY_0": "hook.e=vil.enabled", "VALUE_0": "false"}  # for git 2.54
    assert {f"GIT_CONFIG_{name}": value for name, value in off.items()}.items() <= (
        upstream.alone(()).items()
    )
    assert vendored.text("shop/web.yaml") == "a: $Id$\n"
    assert not (world.root / "pwned").exists()


def test_bytes_come_as_git_has_them(up, mine):
    up.git("config", "core.autocrlf", "false")
    up.write(".gitattributes", "*.yaml eol=crlf\n*.txt ident\n")
    up.commit("x", {"a.txt": "$Id$\n", "b.yaml": "a: 1\n"})
    mine.git("config", "--global", "core.autocrlf", "true")
    mine.vendor("add", "../up", "shop")
    assert mine.bytes("shop/b.yaml") == b"a: 1\n"
    assert mine.bytes("shop/a.txt") == b"$Id$\n"


def test_records_and_submodules_of_upstream_are_not_copied_and_told(up, mine):
    up.write("sub/.KMerge-Vendor", "source: ../../evil\n")
    up.write(".kmerge-vendor", "source: ../../evil\n")
    commit = up.commit("x", {"a.yaml": "a: 1\n", ".gitmodules": '[submodule "m"]\n'})
    up.git("update-index", "--add", "--cacheinfo", f"160000,{commit},module")
    up.git("commit", "-q", "-m", "module")
    done = mine.vendor("add", "../up", "shop")
    assert done.err.splitlines() == [
        "not copied: .kmerge-vendor: kmerge does not copy upstream's own record",
        "not copied: module: a submodule",
        "not copied: sub/.KMerge-Vendor: kmerge does not copy upstream's own record",
    ]
    assert sorted(mine.tree("shop")) == [".gitmodules", ".kmerge-vendor", "a.yaml"]
    assert mine.text("shop/.kmerge-vendor").startswith("source: ../../up\npath: .\nref: HEAD\n")


def test_names_that_other_systems_refuse_are_warned_of(up, mine):
    release(up, "v1", {"a.yaml": "a: 1\n", "con.yaml": "a: 1\n", "x\x1b[1m": "a: 1\n"})
    done = mine.vendor("add", "../up", "shop", "--ref", "v1", "--json")
    assert done.err.splitlines() == [
        "shop/con.yaml: cannot be checked out on Windows: the name is reserved for a device",
        "shop/x\\x1b[1m: cannot be checked out on Windows: the name contains `\\x1b`",
    ]
    release(up, "v2", {"A.yaml": "a: 2\n"})
    done = mine.vendor("update", "shop", "--ref", "v2", "--dry-run")
    told = "shop/A.yaml: has the same name as a.yaml on macOS and Windows\n"
    assert done.err == told
    assert mine.vendor("update", "shop", "--ref", "v2", "--dry-run", "--quiet").err == ""
    assert mine.vendor("update", "shop", "--ref", "v2").err == told
    release(up, "v3", {f"{n}?.yaml": "a: 1\n" for n in range(12)})
    done = mine.vendor("update", "shop", "--ref", "v3")
    assert len(done.err.splitlines()) == 11
    assert done.err.endswith("\n... and 2 more names that Windows or macOS rejects\n")


@pytest.mark.parametrize(
    "target", ["/etc/passwd", "../outside", "a/../../outside", ".git/hooks", "dir/../../x"]
)
def test_links_that_lead_out_of_the_package(up, mine, target):
    up.commit("x", {"a.yaml": "a: 1\n"})
    os.symlink(target, up.path / "link")
    up.commit("link")
    before = mine.tree(".")
    mine.vendor_fails("add", "../up", "shop")
    assert mine.tree(".") == before
    assert not (mine.path / "shop").exists()


def test_names_that_no_package_may_hold(up, mine):
    blob = up.git("hash-object", "-w", "--stdin", stdin="#!/bin/sh\n").out.strip()
    tree = up.git("mktree", stdin=f"100755 blob {blob}\tpost-checkout\n").out.strip()
    hooks = up.git("mktree", stdin=f"040000 tree {tree}\thooks\n").out.strip()
    for name in (".GIT", "git~1", ".git ", ".kmerge-update"):
        top = up.git("mktree", stdin=f"040000 tree {hooks}\t{name}\n").out.strip()
        commit = up.git("commit-tree", "-m", "x", top).out.strip()
        up.git("update-ref", "refs/heads/evil", commit)
        mine.vendor_fails("add", "../up", "shop", "--ref", "evil")
        assert not (mine.path / "shop").exists()


def test_names_with_control_characters_are_escaped_where_they_are_told(up, mine):
    name = "a\n\x1b[2J\u202e.yaml"
    release(up, "v1.0.0", {name: "a: 1\nb: 1\n"})
    release(up, "v1.1.0", {name: "a: 2\nb: 1\n"})
    mine.vendor("add", "../up", "shop", "--ref", "v1.0.0")
    mine.write(f"shop/{name}", "a: 1\nb: 1\nc: 3\n")
    said = (
        mine.vendor("status").said
        + mine.vendor("update", "--ref", "v1.1.0", "--rules", "kyaml").said
    )
    assert "\\n\\x1b[2J\\u202e" in said
    assert "\x1b" not in said
    assert mine.text(f"shop/{name}") == "a: 2\nb: 1\nc: 3\n"


def test_a_hostile_leftover_of_an_update_is_no_way_in(vendored):
    folder = vendored.path / "shop/.kmerge-update"
    folder.mkdir()
    (folder / "journal").write_text(
        '{"version": 1, "about": {"what": "update", "record": "source: -x"}}'
    )
    for words in (
        ("update", "shop"),
        ("update", "shop", "--continue"),
        ("update", "shop", "--abort"),
    ):
        vendored.vendor_fails(*words)
    assert "problem" in vendored.vendor("status", "--json", code=2).out


@pytest.mark.world
@pytest.mark.parametrize("damage", ["objects", "HEAD", "all", "blob", "file"])
def test_a_broken_cache_is_made_anew(vendored, damage):
    (cached,) = [
        p for p in (vendored.world.home / ".cache/kmerge/vendor").iterdir() if len(p.name) == 64
    ]
    if damage == "file":
        shutil.rmtree(cached)
        cached.write_text("x")
    elif damage == "blob":
        for pack in [*cached.glob("objects/??/*"), *cached.glob("objects/pack/*.pack")]:
            pack.chmod(0o644)
            pack.write_bytes(pack.read_bytes()[:-30] + b"x" * 30)
    elif damage == "HEAD":
        (cached / "HEAD").write_text("x")
    else:
        shutil.rmtree(cached / "objects" if damage == "objects" else cached)
    vendored.vendor("update", "shop", "--ref", "v1.1.0")
    assert "shop:2" in vendored.text("shop/web.yaml")


def test_ssh_is_called_so_that_it_cannot_ask(vendored, up, monkeypatch):
    """A stand-in for ssh notes how it is called, and runs the command on this machine."""
    world = vendored.world
    ssh = world.root / "bin" / "ssh"
    ssh.parent.mkdir()
    ssh.write_text(
        f'#!/bin/sh\necho "$@" "$SSH_ASKPASS" >>{world.root}/calls\nfor last; do :; done\nsh -c "$last"\n'
    )
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{ssh.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("SSH_ASKPASS", "/bin/false")
    vendored.vendor("add", f"git@example.org:{up.path}", "new", "--ref", "v1.0.0")
    vendored.vendor("add", f"ssh://example.org{up.path}", "newer", "--ref", "v1.0.0")
    calls = (world.root / "calls").read_text()
    assert calls.count("-o BatchMode=yes") == len(calls.splitlines()) >= 4
    assert "/bin/false" not in calls
    assert vendored.text("new/.kmerge-vendor").startswith(f"source: git@example.org:{up.path}\n")
    vendored.git("config", "--global", "core.sshCommand", f"{ssh} -v")
    vendored.vendor("update", "new", "--ref", "v1.1.0")  # the user's own command stays as it is
    assert "-v" in (world.root / "calls").read_text().splitlines()[-1].split()


def test_many_at_once_have_one_cache(vendored):
    shutil.rmtree(vendored.world.home / ".cache")
    words = [sys.executable, "-m", "kmerge_git", "vendor", "add", "../up"]
    started = [
        subprocess.Popen([*words, f"p{n}", "--ref", tag], cwd=vendored.path, env=vendored.world.env)
        for n, tag in enumerate(("v1.0.0", "v1.1.0", "v1.0.0", "v1.1.0"))
    ]
    assert [process.wait() for process in started] == [0] * 4
    assert "shop:2" in vendored.text("p3/web.yaml")


def test_a_user_s_umask_is_no_change(vendored):
    for path in ("shop/web.yaml", "shop/.kmerge-vendor"):
        (vendored.path / path).chmod(0o600)
    assert "no local changes" in vendored.vendor("status").out
    assert "upstream  changed   web.yaml" in vendored.vendor("update", "--ref", "v1.1.0").out
    assert (vendored.path / "shop/web.yaml").stat().st_mode & 0o777 == 0o600


def test_bytes_that_are_no_text_in_names(up, mine):
    name = os.fsdecode(b"a\xff.yaml")
    release(up, "v1.0.0", {name: "a: 1\nb: 1\n"})
    release(up, "v1.1.0", {name: "a: 2\nb: 1\n"})
    mine.vendor("add", "../up", "shop", "--ref", "v1.0.0")
    mine.write(f"shop/{name}", "a: 3\nb: 1\n")
    assert "a\\xff.yaml" in mine.vendor("status").out
    mine.vendor("status", "--json")
    assert "a\\xff.yaml" in mine.vendor("update", "--ref", "v1.1.0", code=1).out
    assert "a\\xff.yaml:1" in mine.vendor("update", "shop", "--continue", code=1).err
    mine.vendor("update", "shop", "--abort")
    assert mine.text(f"shop/{name}") == "a: 3\nb: 1\n"

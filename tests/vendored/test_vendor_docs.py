"""The five minutes of docs/vendoring.md, as they stand there, with an upstream of the test's own."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from git.world import ROOT, Repo
from vendored.conftest import Vendoring, release
from vendored.texts import deployment

PAGE = (ROOT / "docs" / "vendoring.md").read_text()
URL = "https://github.com/example/shop"


def commands(heading: str) -> str:
    """The commands that a section of the page shows, one after the other."""
    (section,) = re.findall(rf"^## {heading}\n(.*?)(?=^## )", PAGE, re.M | re.S)
    return "\n".join(["set -ex", *re.findall(r"```sh\n(.*?)```", section, re.S)])


def shop(up: Repo, mine: Vendoring) -> None:
    """The page's upstream; its URL leads here."""
    release(up, "v1.0.0", {"deploy/web.yaml": deployment(), "README.md": "not of the package\n"})
    release(up, "v1.1.0", {"deploy/web.yaml": deployment(image="shop:2")})
    release(up, "v1.2.0", {"deploy/web.yaml": None, "deploy/shop.yaml": deployment(image="shop:3")})
    mine.git("config", "--global", f"url.{up.path.as_uri()}.insteadOf", URL)


def run(mine: Vendoring, script: str, tmp_path: Path) -> str:
    """Run commands in a shell that has this tree's kmerge."""
    kmerge = tmp_path / "bin" / "kmerge"
    kmerge.parent.mkdir(exist_ok=True)
    kmerge.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kmerge_git "$@"\n')
    kmerge.chmod(0o755)
    path = f"{kmerge.parent}:{mine.world.env['PATH']}"
    return mine.world.run("sh", "-c", script, cwd=mine.path, env={"PATH": path}).out


def test_five_minutes(up, mine, tmp_path):
    shop(up, mine)
    script = commands("Five minutes").replace("status --fetch", "status --fetch || test $? = 1")
    out = run(mine, script, tmp_path)
    (shown,) = re.findall(r"```\n(vendor/shop: v1.*?)```", PAGE, re.S)
    for line in shown.splitlines()[1:]:
        assert line in out.splitlines()
    assert mine.text("vendor/shop/shop.yaml") == deployment(replicas=3, image="shop:3")
    assert sorted(mine.tree("vendor/shop")) == [".kmerge-vendor", "shop.yaml"]
    assert f"source: {URL}\npath: deploy\nref: v1.2.0\n" in mine.text("vendor/shop/.kmerge-vendor")


def test_coming_from_copy_and_paste(up, mine, tmp_path):
    shop(up, mine)
    mine.write("vendor/shop/web.yaml", deployment(replicas=3))
    out = run(mine, commands("Coming from copy and paste"), tmp_path)
    assert "Deployment/web spec.replicas" in out


def keys(found: object) -> set[str]:
    """All names of fields, at any depth."""
    if isinstance(found, list):
        return set().union(*map(keys, found))
    return set(found).union(*map(keys, found.values())) if isinstance(found, dict) else set()


def test_every_field_of_the_json_is_on_the_page(up, mine):
    shop(up, mine)
    words = ("../up", "vendor/shop", "--path", "deploy", "--ref", "v1.0.0")
    told = [mine.vendor("add", *words, "--json")]
    mine.write("vendor/shop/web.yaml", deployment(replicas=3, image="mine:1"))
    told.append(mine.vendor("status", "--json"))
    told.append(mine.vendor("diff", "--json", code=1))
    told.append(mine.vendor("list", "--json"))
    update = ("update", "--ref", "v1.1.0", "--json")
    told.append(mine.vendor(*update, "--dry-run", "--rules", "kyaml"))
    told.append(mine.vendor(*update, code=1))
    told.append(mine.vendor("status", "--json", code=1))
    told.append(mine.vendor("update", "--continue", "--json", code=1))
    told.append(mine.vendor("update", "--abort", "--json"))
    (section,) = re.findall(r"^### As JSON\n(.*?)(?=^## )", PAGE, re.M | re.S)
    named = set(re.findall(r"`(\w+)`", section))
    assert named >= set().union(*(keys(json.loads(done.out)) for done in told))

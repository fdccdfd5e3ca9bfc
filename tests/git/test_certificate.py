"""`kmerge check --merge --json`: the certificate says what became of each change."""

from __future__ import annotations

import json
from typing import Any

import pytest
from test_judged_merges import BASE, BOTH, LIST, OURS, SECRET, THEIRS, WEB, meant, merged
from world import Repo


def certificate(repo: Repo, *words: str) -> dict[str, Any]:
    """What the command prints."""
    done = repo.kmerge("check", *(words or ("--merge",)), "--json", check=False)
    printed = json.loads(done.out)
    found: dict[str, Any] = printed["certificate"]
    return found


def rows(found: dict[str, Any], name: str) -> dict[str, tuple[str, str]]:
    """The verdict and the side of each place of a file."""
    [file] = [file for file in found["files"] if file["file"] == name]
    return {
        f"{row['resource']} {row['field']}": (row["verdict"], row["side"]) for row in file["rows"]
    }


def test_each_change_has_a_row(repo: Repo) -> None:
    text = WEB + "  c: one\n  d: one\n  e: one\n"
    ours = text.replace("a: one", "a: ours").replace("c: one", "c: 2").replace("e: one", "e: 2")
    theirs = text.replace("b: one", "b: theirs").replace("c: one", "c: 3").replace("d: one", "d: 3")
    repo.fork({"web.yaml": text}, {"web.yaml": ours}, {"web.yaml": theirs, "z": "1"})
    made = (
        text.replace("a: one", "a: ours").replace("c: one", "c: 4").replace("b: one", "b: theirs")
    )
    merged(repo, {"web.yaml": made.replace("e: one", "e: 2")})
    meant(repo, "web.yaml ConfigMap/web data.d")
    found = certificate(repo)
    assert rows(found, "web.yaml") == {
        "ConfigMap/web data.a": ("kept", "ours"),
        "ConfigMap/web data.b": ("kept", "theirs"),
        "ConfigMap/web data.c": ("decided", "both"),
        "ConfigMap/web data.d": ("lost", "theirs"),
        "ConfigMap/web data.e": ("kept", "ours"),
    }
    assert found["meant"] == ["web.yaml ConfigMap/web data.d"]
    names = {"base": "main^1^", "ours": "main^1", "theirs": "main^2", "result": "main"}
    assert {side: found[side] for side in names} == {
        side: repo.head(rev) for side, rev in names.items()
    }
    [file] = found["files"]
    assert file["blobs"] == {side: repo.head(f"{rev}:web.yaml") for side, rev in names.items()}
    assert (file["judged"], file["why"], file["kind"]) == ("by value", "", "changed by both")


def test_a_merge_in_progress(repo: Repo) -> None:
    repo.fork({"web.yaml": WEB}, {"web.yaml": OURS}, {"web.yaml": THEIRS})
    repo.merge("--no-commit")
    repo.write("web.yaml", BOTH)
    repo.git("add", "-A")
    found = certificate(repo, "--merge", "--staged")
    assert (found["result"], set(rows(found, "web.yaml").values())) == (
        None,
        {("kept", "ours"), ("kept", "theirs")},
    )
    assert found["files"][0]["blobs"]["result"] == repo.git("rev-parse", ":web.yaml").out.strip()


def test_four_revisions(repo: Repo) -> None:
    repo.fork({"web.yaml": WEB}, {"web.yaml": OURS}, {"web.yaml": THEIRS})
    found = certificate(repo, "--merged", "main^", "main", "side", "main")
    assert rows(found, "web.yaml")["ConfigMap/web data.b"] == ("lost", "theirs")


def test_files_that_are_not_judged_by_value(repo: Repo) -> None:
    sealed = WEB + "sops:\n  mac: ENC[{}]\n"
    files = {"sealed.yaml": sealed.format(1), "made.yaml": WEB, "odd.yaml": WEB, "gone.yaml": WEB}
    ours = {name: text.replace("a: one", "a: ours") for name, text in files.items()}
    theirs = {name: text.replace("b: one", "b: theirs") for name, text in files.items()}
    repo.write(".gitattributes", "made.yaml kmerge-generated\n")
    repo.fork(files, ours, theirs | {"sealed.yaml": sealed.format(3)})
    merged(repo, {**ours, "odd.yaml": "a: [\n", "gone.yaml": None})
    found = certificate(repo)
    judged = {
        file["file"]: (file["judged"], bool(file["why"]), file["rows"]) for file in found["files"]
    }
    assert judged["sealed.yaml"] == ("by bytes", False, [])
    assert judged["made.yaml"] == ("by bytes", False, [])
    assert judged["odd.yaml"] == ("not", True, [])
    assert judged["gone.yaml"] == ("not", True, [])


@pytest.mark.parametrize("text", [SECRET, LIST])
def test_no_value_of_a_secret(repo: Repo, text: str) -> None:
    theirs = text.replace("b25l", "dHdv").replace("a: one", "a: theirs")
    repo.fork({"s.yaml": text}, {"s.yaml": text.replace("name: s", "name: s\n    # ours")}, {"s.yaml": theirs, "z": "1"})  # fmt: skip
    merged(repo, {"s.yaml": theirs})
    done = repo.kmerge("check", "--merge", "--json", check=False)
    assert "(hidden)" in done.out and "theirs" in done.out
    assert "dHdv" not in done.out and "b25l" not in done.out


def test_there_is_none_without_a_merge(repo: Repo) -> None:
    repo.commit("one", {"web.yaml": BASE.format("web")})
    for words in ([], ["--merge"]):
        printed = json.loads(repo.kmerge("check", *words, "--json").out)
        assert "certificate" not in printed

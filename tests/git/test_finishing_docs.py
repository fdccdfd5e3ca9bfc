"""docs/finishing.md does what it says: its recipes are run as they stand there."""

from __future__ import annotations

import base64
import re
import sys
from pathlib import Path

import pytest
from manifests import deployment
from world import ROOT, Done, Repo

from kmerge_git.text.markers import resolve

# Encrypts each value by itself, and has a checksum over all of them.
SOPS = """\
import base64, hashlib, os, shlex, subprocess, sys, tempfile
def locked(text):
    lines = [line.split(": ", 1) for line in text.splitlines()]
    made = "".join(f"{k}: ENC[{base64.b64encode(v.encode()).decode()}]\\n" for k, v in lines)
    return f"{made}sops:\\n  mac: ENC[{hashlib.sha256(made.encode()).hexdigest()}]\\n  version: 3.9.0\\n"
def opened(text):
    made, _, rest = text.partition("sops:\\n")
    if hashlib.sha256(made.encode()).hexdigest() not in rest:
        sys.exit("MAC mismatch")
    lines = [line.split(": ", 1) for line in made.splitlines()]
    return "".join(f"{k}: {base64.b64decode(v[4:-1]).decode()}\\n" for k, v in lines)
command, *flags, name = sys.argv[1:]
text = open(name).read()
if command == "encrypt":
    open(name, "w").write(locked(text))
elif command == "decrypt" and flags == ["--in-place"]:
    open(name, "w").write(opened(text))
elif command == "edit":
    with tempfile.TemporaryDirectory() as folder:
        plain = os.path.join(folder, "plain.yaml")
        open(plain, "w").write(opened(text))
        subprocess.run([*shlex.split(os.environ["EDITOR"]), plain], check=True)
        open(name, "w").write(locked(open(plain).read()))
else:
    sys.exit(f"unknown: {sys.argv}")
"""


def section(title: str) -> str:
    page = Path(ROOT, "docs/finishing.md").read_text("utf-8")
    return page.partition(f"\n## {title}")[2].partition("\n## ")[0]


def recipe(title: str) -> str:
    """The blocks of shell below a heading, one after the other."""
    return "".join(re.findall(r"```sh\n(.*?)```", section(title), re.DOTALL))


@pytest.fixture
def tools(repo: Repo) -> dict[str, str]:
    """A PATH with our command and a `sops`."""
    folder = repo.world.root / "bin"
    folder.mkdir()
    (folder / "sops.py").write_text(SOPS)
    for name, words in (("kmerge", "-m kmerge_git"), ("sops", f'"{folder}/sops.py"')):
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        (folder / name).chmod(0o755)
    return {"PATH": f"{folder}:{repo.world.env['PATH']}"}


def run(repo: Repo, script: str, env: dict[str, str], check: bool = True) -> Done:
    return repo.world.run("sh", "-ec", script, cwd=repo.path, env=env, check=check)


def sealed(repo: Repo, env: dict[str, str], text: str) -> str:
    repo.write("secret.yaml", text)
    run(repo, "sops encrypt secret.yaml", env)
    return repo.text("secret.yaml")


@pytest.mark.costly
def test_a_file_of_sops_keeps_the_changes_of_both(repo: Repo, tools: dict[str, str]) -> None:
    repo.kmerge("install")
    texts = [sealed(repo, tools, f"a: {one}\nb: {two}\nc: 1\n") for one, two in ("11", "21", "12")]
    repo.fork(*({"secret.yaml": text} for text in texts))
    assert repo.merge().code == 1
    text = repo.text("secret.yaml")
    assert [resolve(text, side) for side in ("ours", "theirs")] == texts[1:]
    assert run(repo, "EDITOR=true sops edit secret.yaml", tools, check=False).code == 1
    run(repo, recipe("Files that are encrypted"), tools)
    assert repo.unmerged() == []
    repo.kmerge("check", "secret.yaml")
    values = dict(re.findall(r"^(\w): ENC\[(.*)\]$", repo.text("secret.yaml"), re.MULTILINE))
    assert {k: base64.b64decode(v).decode() for k, v in values.items()} == {
        "a": "2",
        "b": "2",
        "c": "1",
    }
    repo.git("commit", "-q", "--no-edit")


@pytest.mark.costly
def test_a_conflict_in_a_file_of_sops_stops_the_recipe(repo: Repo, tools: dict[str, str]) -> None:
    """Markers never get into the encrypted file unseen."""
    texts = [sealed(repo, tools, f"a: {value}\n") for value in "123"]
    repo.fork(*({"secret.yaml": text} for text in texts))
    repo.kmerge("merge", "side", check=False)
    assert run(repo, recipe("Files that are encrypted"), tools, check=False).code == 1
    assert repo.unmerged() == ["secret.yaml"]
    assert repo.text("secret.yaml") == texts[1]


def test_a_file_with_two_new_names(repo: Repo, tools: dict[str, str]) -> None:
    repo.commit("base", {"old.yaml": deployment()})
    for branch, name, replicas in (("side", "b.yaml", 3), ("main", "a.yaml", 1)):
        if branch == "side":
            repo.branch("side")
        else:
            repo.switch("main")
        repo.git("mv", "old.yaml", name)
        repo.commit("renamed", {name: deployment(replicas=replicas)})
    assert repo.merge().code == 1
    assert repo.kmerge("resolve", "--list", check=False).code in (0, 1)
    names = {"OTHER-NAME": "b.yaml", "OLD-NAME": "old.yaml", "NAME": "a.yaml"}
    row = next(
        x for x in section("What kmerge does not decide").splitlines() if "another name" in x
    )
    commands = re.findall(r"`(git [^`]+)`", row)
    assert len(commands) == 3
    for command in commands:
        run(repo, re.sub("[A-Z]+-NAME|NAME", lambda word: names[word[0]], command), tools)
    assert repo.unmerged() == []
    assert repo.git("ls-files").lines == ["a.yaml"]
    assert repo.text("a.yaml") == deployment(replicas=3)

"""An encrypted file that both sides changed: every command leaves it whole, with markers."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from world import Driven, Repo

from kmerge_git.text.markers import resolve

FILE = "secret.yaml"
PLAIN = "app.yaml"
TAKE = "run `git checkout --ours FILE` (or `--theirs`)"


def secret(password: str, mac: str, note: str = "1", recipient: str = "age1a") -> str:
    return (
        f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  note: '{note}'\nstringData:\n"
        f"  password: ENC[AES256_GCM,data:{password},type:str]\nsops:\n  age:\n"
        f"  - recipient: {recipient}\n    enc: x\n  lastmodified: '{mac}'\n"
        f"  mac: ENC[AES256_GCM,data:{mac},type:str]\n  version: 3.9.0\n"
    )


APP = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app\ndata:\n  a: '{}'\n  b: '{}'\n"
# by the name of the kind: base, ours, theirs, and whether git's line merge is clean
KINDS = {
    "both": (secret("a", "1"), secret("b", "2"), secret("c", "3"), False),
    "plain field": (secret("a", "1"), secret("a", "1", "2"), secret("c", "3"), True),
}
BASE, OURS, THEIRS, _ = KINDS["both"]


def fork(repo: Repo, base: str = BASE, ours: str = OURS, theirs: str = THEIRS) -> None:
    repo.fork(
        {FILE: base, PLAIN: APP.format(1, 1)},
        {FILE: ours, PLAIN: APP.format(2, 1)},
        {FILE: theirs, PLAIN: APP.format(1, 2)},
    )


def readings(text: str) -> list[str]:
    return [resolve(text, side) for side in ("ours", "theirs")]


def assert_marked(text: str, ours: str, theirs: str, *, is_clean: bool = False) -> None:
    """The text has at least one conflict; each side can be read in it."""
    assert "<<<<<<< " in text and "=======\n" in text and ">>>>>>> " in text
    if not is_clean:
        assert readings(text) == [ours, theirs]
    for reading, version in zip(readings(text), (ours, theirs), strict=True):
        assert reading.endswith(version[version.index("sops:") :])


def by_driver(repo: Repo) -> None:
    assert repo.merge().code == 1


def by_merge(repo: Repo) -> None:
    done = repo.kmerge("merge", "side", check=False)
    assert done.code == 1
    assert f"kmerge: conflict: {FILE}: a SOPS file: " in done.err


def by_solve(repo: Repo) -> None:
    repo.write(".git/info/attributes", "")
    assert repo.merge().code == 1
    repo.kmerge("solve", check=False)


def by_cherry_pick(repo: Repo) -> None:
    assert repo.git("cherry-pick", "side", check=False).code == 1


def by_rebase(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "mine", "side")
    assert repo.git("rebase", "main", check=False).code == 1


def by_stash(repo: Repo) -> None:
    theirs = {name: repo.show(f"side:{name}") for name in (FILE, PLAIN)}
    repo.git("checkout", "-q", "main~1")
    for name, text in theirs.items():
        repo.write(name, text)
    repo.git("stash", "-q")
    repo.git("checkout", "-q", "main")
    assert repo.git("stash", "pop", check=False).code == 1


ROADS = (by_driver, by_merge, by_solve, by_cherry_pick, by_rebase, by_stash)


# where git alone is clean, it leaves nothing to solve
CASES = [(road, kind) for road in ROADS for kind in KINDS if road != by_solve or not KINDS[kind][3]]


@pytest.mark.parametrize(("road", "kind"), CASES)
@pytest.mark.costly
def test_every_road_leaves_markers(driven: Driven, road: Callable[[Repo], None], kind: str) -> None:
    base, ours, theirs, is_clean = KINDS[kind]
    fork(driven, base, ours, theirs)
    road(driven)
    assert driven.unmerged() == [FILE]
    assert_marked(driven.text(FILE), ours, theirs, is_clean=is_clean)
    assert driven.text(PLAIN) == APP.format(2, 2)
    line = next(line for line in driven.kmerge("explain").lines if line.startswith(FILE))
    assert line.startswith(f"{FILE}: CONFLICT, a SOPS file: ")
    before = readings(driven.text(FILE))
    for words in (("solve",), ("resolve", "--take", "theirs"), ("solve", "--favor", "ours")):
        driven.kmerge(*words, check=False)
        assert driven.unmerged() == [FILE]
        assert readings(driven.text(FILE)) == before  # the labels may be others


def test_nobody_is_asked_about_it(driven: Driven) -> None:
    fork(driven)
    driven.merge()
    listed = json.loads(driven.kmerge("resolve", "--list", "--json", check=False).out)
    assert (listed["conflicts"], listed["left"]) == ([], 0)
    ((path, why),) = ((row["path"], row["why"]) for row in listed["left_alone"])
    assert path == FILE and why.startswith("a SOPS file: ") and TAKE in why
    done = driven.kmerge("resolve", FILE, "--take", "ours", check=False)
    assert done.code == 2 and "kmerge cannot resolve this conflict" in done.err
    done = driven.kmerge("solve", check=False)
    assert done.code == 1 and "kmerge resolve" not in done.said
    assert done.out.startswith(f"CONFLICT {FILE} (both modified; a SOPS file: ")
    assert done.out.count("\n") == 1 and TAKE in done.out
    assert "kmerge resolve" not in driven.kmerge("explain").said


def test_a_merge_tool_leaves_the_markers(driven: Driven) -> None:
    for name, text in zip(("base", "ours", "theirs"), KINDS["both"][:3], strict=True):
        driven.write(name, text)
    done = driven.kmerge("mergetool", "base", "ours", "theirs", "merged.yaml", check=False)
    assert done.code == 1
    assert_marked(driven.text("merged.yaml"), OURS, THEIRS)


@pytest.mark.parametrize("kind", KINDS)
def test_trees_have_the_markers(repo: Repo, kind: str) -> None:
    base, ours, theirs, is_clean = KINDS[kind]
    fork(repo, base, ours, theirs)
    done = repo.kmerge("preview", "side", check=False)
    assert done.code == 1 and f"CONFLICT  {FILE}  a SOPS file: " in done.out
    assert "kmerge resolve" not in done.err
    tree = repo.kmerge("preview", "--write-tree", "side", check=False).lines[0]
    assert_marked(repo.show(f"{tree}:{FILE}"), ours, theirs, is_clean=is_clean)
    assert repo.show(f"{tree}:{PLAIN}") == APP.format(2, 2)
    head = repo.head("side")
    done = repo.kmerge("refresh", "--with", "main", "side", "--json", check=False)
    (branch,) = json.loads(done.out)["branches"]
    assert (done.code, branch["result"], repo.head("side")) == (1, "conflict", head)


@pytest.mark.costly
def test_the_conflict_comes_back(driven: Driven) -> None:
    fork(driven)
    driven.merge()
    before = driven.text(FILE)
    driven.git("checkout", "--ours", "--", FILE)
    driven.git("add", FILE)
    driven.git("checkout", "-m", "--", FILE)
    assert driven.unmerged() == [FILE]
    assert_marked(driven.text(FILE), OURS, THEIRS)
    assert "edited after the merge" not in driven.kmerge("solve", check=False).said
    driven.git("checkout", "--theirs", "--", FILE)
    driven.git("add", FILE)
    driven.kmerge("resolve", "--undo", FILE)
    assert (driven.unmerged(), driven.text(FILE)) == ([FILE], before)


@pytest.mark.costly
def test_the_work_of_a_person_stays(driven: Driven) -> None:
    """One side, checked out, is the beginning of that work; so is the edited file."""
    fork(driven)
    driven.merge()
    for text in (OURS, THEIRS, secret("d", "4")):
        driven.write(FILE, text)
        done = driven.kmerge("solve", check=False)
        assert (driven.text(FILE), driven.unmerged()) == (text, [FILE])
        assert "a SOPS file: " in done.out and "edited after the merge" in done.out
        driven.kmerge("resolve", "--take", "theirs", check=False)
        assert (driven.text(FILE), driven.unmerged()) == (text, [FILE])
    done = driven.kmerge("solve", "--force", check=False)
    assert_marked(driven.text(FILE), OURS, THEIRS)


def test_no_side_and_no_policy_wins(driven: Driven) -> None:
    fork(driven)
    driven.git("config", "--add", "kmerge.policy", "* ** ours")
    for env in ({"KMERGE_FAVOR": "theirs"}, {"KMERGE_FAVOR": "ours"}):
        assert driven.git("merge", "side", check=False, env=env).code == 1
        assert_marked(driven.text(FILE), OURS, THEIRS)
        driven.git("merge", "--abort")


@pytest.mark.costly
def test_explain_says_first_that_it_is_encrypted(driven: Driven) -> None:
    fork(driven)
    driven.merge()
    why = f"{FILE}: CONFLICT, a SOPS file: both sides changed"
    done = driven.kmerge("explain", FILE)
    (line,) = (line for line in done.lines if line.startswith(FILE))
    assert line.startswith(why) and TAKE in line
    assert "  the working tree still has the conflict markers" in done.lines
    driven.git("checkout", "--theirs", "--", FILE)
    assert "  the conflict is not resolved yet" in driven.kmerge("explain").lines
    driven.git("add", FILE)
    done = driven.kmerge("explain")
    (line,) = (line for line in done.lines if line.startswith(FILE))
    assert line.startswith(why) and TAKE not in line
    assert "  the working tree has theirs" in done.lines
    driven.git("commit", "-q", "--no-edit")
    done = driven.kmerge("explain", "HEAD")
    assert any(line.startswith(why) for line in done.lines)
    assert "  the commit has theirs" in done.lines
    assert "ENC[" not in done.said


@pytest.mark.parametrize("mover", ["ours", "theirs"])
@pytest.mark.parametrize("door", ["driver", "merge", "solve", "preview"])
def test_a_renamed_file(driven: Driven, door: str, mover: str) -> None:
    values = "".join(f"  k{n}: ENC[AES256_GCM,data:{n},type:str]\n" for n in range(9))
    base, ours, theirs = (
        text.replace("sops:\n", values + "sops:\n") for text in (BASE, OURS, THEIRS)
    )
    driven.commit("base", {FILE: base})
    for branch, side, text in (("side", "theirs", theirs), ("main", "ours", ours)):
        (driven.branch if branch == "side" else driven.switch)(branch)
        if mover == side:
            driven.git("mv", FILE, "new.yaml")
        driven.commit(side, {"new.yaml" if mover == side else FILE: text})
    if door == "preview":
        done = driven.kmerge("preview", "side", check=False)
        assert "new.yaml  renamed from secret.yaml; a SOPS file: both sides " in done.out
        tree = driven.kmerge("preview", "--write-tree", "side", check=False).lines[0]
        assert_marked(driven.show(f"{tree}:new.yaml"), ours, theirs)
        return
    if door == "merge":
        assert driven.kmerge("merge", "side", check=False).code == 1
    else:
        assert driven.merge().code == 1
    if door == "solve":
        assert driven.kmerge("solve", check=False).code == 1
    assert driven.unmerged() == ["new.yaml"]
    assert_marked(driven.text("new.yaml"), ours, theirs)
    assert "(encrypted: see `kmerge explain new.yaml`)" in driven.text("new.yaml")
    line = next(x for x in driven.kmerge("explain", "new.yaml").lines if x.startswith("new.yaml"))
    assert line.startswith("new.yaml: CONFLICT, a SOPS file: ")


def two(first: str, second: str) -> str:
    return f"{first}---\n{second}"


def config(name: str, value: str = "ENC[AES256_GCM,data:x,type:str]") -> str:
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  a: {value}\n"


@pytest.mark.parametrize("door", ["merge", "solve", "preview"])
def test_no_edit_is_taken_out_of_it(repo: Repo, door: str) -> None:
    """A resource that moved out of an encrypted file is not followed with its cipher texts."""
    block = BASE[BASE.index("sops:") :]
    base = two(config("a") + block, config("b") + block)
    moved = {FILE: config("a") + block.replace("data:1", "data:2"), "new.yaml": config("b") + block}
    edited = {FILE: base.replace("data:x", "data:y").replace("data:1", "data:3")}
    repo.fork({FILE: base}, moved, edited)
    if door == "preview":
        done = repo.kmerge("preview", "side", check=False)
    elif door == "merge":
        done = repo.kmerge("merge", "side", check=False)
    else:
        repo.merge()
        done = repo.kmerge("solve", check=False)
    assert done.code == 1
    assert "a SOPS file: " in done.said and "follow" not in done.said
    if door != "preview":
        assert repo.unmerged() == [FILE]
        assert repo.text("new.yaml") == config("b") + block
        line = next(x for x in repo.kmerge("explain").lines if x.startswith(FILE))
        assert line.startswith(f"{FILE}: CONFLICT, a SOPS file: ")


@pytest.mark.costly
def test_a_criss_cross(driven: Driven) -> None:
    """Each branch has merged the other and taken a side; then both go on."""
    fork(driven)
    one, other = driven.head("main"), driven.head("side")
    for branch, into, text in (("main", other, OURS), ("side", one, THEIRS)):
        driven.switch(branch)
        driven.merge("-q", into)
        driven.commit(f"{branch} merged", {FILE: text})
    driven.switch("main")
    assert driven.merge().code == 1
    assert driven.unmerged() == [FILE]
    assert_marked(driven.text(FILE), OURS, THEIRS)
    driven.git("merge", "--abort")
    done = driven.kmerge("merge", "side", check=False)
    assert (done.code, driven.unmerged()) == (1, [FILE])
    assert_marked(driven.text(FILE), OURS, THEIRS)


VAULT = "$ANSIBLE_VAULT;1.1;AES256\n{0}6162\n3132\n3334\n3536\n{1}6364\n"


@pytest.mark.parametrize("door", ["driver", "merge", "solve"])
@pytest.mark.costly
def test_a_vault_is_one_value(driven: Driven, door: str) -> None:
    """Git mixes lines of two such texts without a conflict; nobody could open the result."""
    base, ours, theirs = (VAULT.format(*digits) for digits in ("00", "10", "01"))
    driven.fork({FILE: base}, {FILE: ours}, {FILE: theirs})
    if door == "merge":
        assert driven.kmerge("merge", "side", check=False).code == 1
    else:
        assert driven.merge().code == 1
    if door == "solve":
        assert driven.kmerge("solve", check=False).code == 1
    assert driven.unmerged() == [FILE]
    assert readings(driven.text(FILE)) == [ours, theirs]
    listed = driven.kmerge("resolve", "--list").err
    assert "an Ansible Vault file" in listed and TAKE in listed
    line = next(x for x in driven.kmerge("explain").lines if x.startswith(FILE))
    assert line.startswith(f"{FILE}: CONFLICT, an Ansible Vault file")
    driven.git("checkout", "--ours", "--", FILE)
    driven.kmerge("solve", check=False)
    assert driven.text(FILE) == ours
    driven.git("add", FILE)
    done = driven.kmerge("check", "--merge")
    assert (
        "this encrypted file, but the merge took ours unchanged; lost changes of theirs: the enc"
        in done.out
    )

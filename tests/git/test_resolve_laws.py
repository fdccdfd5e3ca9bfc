"""Laws of `kmerge resolve`, over every case there is and random conflicts, in one merge.

Whatever is answered: a file holds exactly that, and nothing else of it changes.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from random import Random

import pytest
from depth import is_whole, part
from random_conflicts import conflict_trio
from test_merge_equal import all_cases
from world import Repo, World

from kmerge_git.compare.file_changes import compare
from kmerge_git.errors import Refused
from kmerge_git.git.repository import Repository
from kmerge_git.text.markers import first_marker
from kmerge_git.whole.conflict_questions import Answer, Question
from kmerge_git.whole.resolving import Resolving

RANDOM = 120  # conflicts that nobody thought of


def files(count: int) -> dict[str, list[bytes]]:
    """Every case, and random ones."""
    found = all_cases()
    for seed in range(count):
        found[f"random/{seed}.yaml"] = list(conflict_trio(Random(seed)))
    return found


def stopped(world: World, count: int = RANDOM) -> Repo:
    """A merge of all of it, in which every file is in conflict that can be."""
    repo = world.init("stopped")
    repo.write(".git/info/attributes", "* -text\n")
    every = files(count)
    texts = {path: every[path] for path in part(every)}
    repo.fork(*({path: three[at] for path, three in texts.items()} for at in range(3)))
    assert repo.merge().code == 1
    return repo


ENCRYPTED = "driver/sops-file.yaml"  # it is asked about by nobody, and `solve` alone labels it


def texts(repo: Repo) -> dict[str, bytes]:
    found = (path for path in repo.path.rglob("*.yaml") if ".git" not in path.parts)
    every = {path.relative_to(repo.path).as_posix(): path.read_bytes() for path in found}
    if ENCRYPTED in every:
        label = rb"(?m)^(<<<<<<< \w+) \(encrypted: .*\)$"
        every[ENCRYPTED] = re.sub(label, rb"\1", every[ENCRYPTED])
    return every


@pytest.mark.costly
def test_one_side_of_all_is_what_a_favoured_side_makes(world: World) -> None:
    """And an undo between the sides makes all of it a conflict again."""
    repo = stopped(world, 60)
    before = repo.git("ls-files", "-s").out
    for side in ("ours", "theirs"):
        other = Repo(world, world.root / side)
        shutil.copytree(repo.path, other.path)
        other.kmerge("solve", "--favor", side, check=False)
        repo.kmerge("resolve", "--take", side)
        assert texts(repo) == texts(other)
        assert repo.git("ls-files", "-s").out == other.git("ls-files", "-s").out != before
        if side == "ours":
            repo.kmerge("resolve", "--undo", ".")
            assert repo.git("ls-files", "-s").out == before


@pytest.mark.costly
def test_any_mixture_holds_what_was_chosen(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file with a mixture beside those with all of one side: no field is the other's."""
    repo = stopped(world)
    monkeypatch.chdir(repo.path)
    resolving = Resolving.start(Repository.open())
    sides = {side: one_sided(repo, resolving, side) for side in ("ours", "theirs")}
    assert repo.unmerged() == [path for path, _ in sorted(resolving.unasked)]
    for seed in range(3):
        chosen = answered(resolving, Random(seed))
        resolving.put()
        for path in dict.fromkeys(question.path for question in resolving.questions):
            asked = [question for question in resolving.questions if question.path == path]
            made = (repo.path / path).read_bytes() if (repo.path / path).exists() else b""
            assert first_marker(made.decode("utf-8", "surrogateescape")) < 0
            for side, whole in sides.items():
                mine = [question for question in asked if chosen[question.id].how == side]
                certain = [question for question in mine if not may_shift(question, asked, mine)]
                assert not strangers(certain, whole.get(path, b""), made, path)
                if len(mine) == len(asked):
                    assert made == whole.get(path, b"")


def one_sided(repo: Repo, resolving: Resolving, side: str) -> dict[str, bytes]:
    """The texts of all files with one side's answers."""
    for question in resolving.questions:
        resolving.give(question, resolving.answer_of(question, side))
    resolving.put()
    return texts(repo)


def answered(resolving: Resolving, r: Random) -> dict[str, Answer]:
    """Give every question an answer at random, of those that can stand beside the others."""
    for question in resolving.questions:
        resolving.give(question, None)
    given = {}
    for question in resolving.questions:
        for how in r.sample(question.choices, len(question.choices)):
            try:
                answer = resolving.answer_of(question, how)
                resolving.give(question, answer)
                resolving.check([question.path])
            except Refused:
                resolving.give(question, None)
                continue
            given[question.id] = answer
            break
    assert len(given) == len(resolving.questions) > (60 if is_whole() else 0)
    return given


def may_shift(one: Question, asked: list[Question], mine: list[Question]) -> bool:
    """Whether another answer in the same list without keys may change the index of its element."""
    where = re.match(r".*?(?=\[\d+\])", one.conflict.field)
    others = [question for question in asked if question not in mine]
    return where is not None and any(q.conflict.field.startswith(where[0]) for q in others)


def strangers(mine: list[Question], whole: bytes, made: bytes, path: str) -> list[str]:
    """The fields that differ from the side that they were chosen from."""
    differing = {
        (change.resource, change.field)
        for change in compare(whole, made, path)
        if change.how not in ("layout", "lines")
    }
    return [q.id for q in mine if (q.conflict.resource, q.conflict.field) in differing]


@pytest.mark.costly
def test_a_list_that_is_answered_is_as_by_hand(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, other = stopped(world, 60), Repo(world, world.root / "by-hand")
    shutil.copytree(repo.path, other.path)
    monkeypatch.chdir(other.path)
    resolving = Resolving.start(Repository.open())
    chosen = answered(resolving, Random(7))
    resolving.put()
    found = json.loads(repo.kmerge("resolve", "--list", "--json", check=False).out)
    assert [c["id"] for c in found["conflicts"]] == [q.id for q in resolving.questions]
    for conflict in found["conflicts"]:
        if conflict["id"] in chosen:
            conflict["answer"] = chosen[conflict["id"]].how
    Path(repo.path, "answers").write_text(json.dumps(found))
    repo.kmerge("resolve", "--from", "answers", check=False)
    assert texts(repo) == texts(other)
    assert repo.git("ls-files", "-s").out == other.git("ls-files", "-s").out

"""Answers to the conflicts of a template: none is accepted that breaks a rendering.

Every conflict of the world gets every combination of answers. An answer must be accepted exactly
if no rendering of the answered file is broken that is sound on a side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product

from depth import part
from worlds.lines import git_lines
from worlds.template_answers import OWN, PATH, Case, cases

from kmerge_git import merge_files
from kmerge_git.errors import Refused
from kmerge_git.git.line_merges import LineMerges
from kmerge_git.merge.three import Three
from kmerge_git.outcome import Options
from kmerge_git.text.markers import resolve
from kmerge_git.whole.both_merges import merge_both
from kmerge_git.whole.conflict_questions import Answer, AskedFile, Question
from kmerge_git.whole.conflicted_files import FileMerge

EVERY = list(cases())


def asked(case: Case) -> AskedFile | None:
    """The questions of a merge, or None if it is clean."""
    three: Three[bytes | None] = Three(*case.texts)
    both = merge_both(three, Options(PATH), LineMerges())
    if both.outcome.clean:
        return None
    file = FileMerge(PATH, "", "conflict", data=both.outcome.text, both=both, three=three)
    return AskedFile(file, Options(PATH))


def answers(of: AskedFile) -> Iterator[dict[str, Answer]]:
    """Every combination of answers: the one-word answers, and some lines of a user."""
    choices = []
    for question in of.questions:
        pad = column(question)
        own = ("".join(f"{pad}{line}\n" for line in text.split("\n")) for text in OWN)
        sides = (of.chosen(question, choice) for choice in question.choices)
        choices.append([*sides, *map(of.with_lines, own)])
    for chosen in product(*choices):
        yield {q.id: answer for q, answer in zip(of.questions, chosen, strict=True)}


def column(question: Question) -> str:
    """The blanks before the first line of a conflict."""
    conflict = question.conflict
    text = conflict.ours or conflict.theirs or conflict.base
    return text[: len(text) - len(text.lstrip(" "))]


def answered(of: AskedFile, given: dict[str, Answer]) -> bytes | None:
    """The file with accepted answers, or None if they are refused."""
    try:
        of.check(given)
    except Refused:
        return None
    return of.data(given)


def test_an_answer_is_accepted_exactly_if_it_breaks_nothing() -> None:
    counts: Counter[bool] = Counter()
    for case in part(EVERY[::2]):
        of = asked(case)
        for given in answers(of) if of is not None else ():
            accepted = answered(of, given)
            counts[accepted is not None] += 1
            if accepted is not None:
                assert not case.faults(accepted), (case.name, given)
            else:
                assert refused(of, given, case), (case.name, given)
    assert min(counts.values()) > 10, counts


def refused(of: AskedFile, given: dict[str, Answer], case: Case) -> bool:
    """Whether a refusal is right: there is no text, or the text is broken."""
    try:
        return bool(case.faults(of.data(given) or b""))
    except Refused:
        return True


def test_a_favoured_side_breaks_nothing() -> None:
    counts: Counter[bool] = Counter()
    for case in part(EVERY[::3]):
        for side in ("ours", "theirs"):
            made = merge_files(*case.texts, path=PATH, favor=side)
            assert made.clean, case.name
            assert not case.faults(made.text), (case.name, side)
            git, _ = git_lines(*case.texts)
            counts[bool(case.faults(resolve(git.decode(), side).encode()))] += 1
    assert min(counts.values()) > 10, counts  # git's own result is broken in some merges


def test_a_file_is_taken_as_it_stands_unless_it_is_broken() -> None:
    """By the same law as answers, for templates and for other manifests."""
    for case in part(EVERY[::5]):
        of = asked(case)
        for given in answers(of) if of is not None else ():
            try:
                text = of.data(given) or b""
            except Refused:
                continue
            assert is_taken(of, text) is not bool(case.faults(text)), (case.name, text)


def is_taken(of: AskedFile, text: bytes) -> bool:
    try:
        of.check_content(text)
    except Refused:
        return False
    return True

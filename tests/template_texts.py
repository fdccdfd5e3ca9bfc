"""Merges of small templates, for the tests of the room: what comes out, and why nothing does."""

from __future__ import annotations

from textwrap import dedent

from kmerge_git import merge_files
from kmerge_git.outcome import BY_BLOCKS, Options
from kmerge_git.template.template_parser import Action, Template, action_at, refuse_own_words
from kmerge_git.text.linemerge import TemporaryFiles

PATH = "charts/web/templates/web.yaml"


def text(written: str) -> str:
    """A template as the tests write it down."""
    return dedent(written).removeprefix("\n")


def git(base: str, ours: str, theirs: str) -> tuple[str, int]:
    """Git's own line merge, with the labels of ours, and how many conflicts it has."""
    texts = [version.encode() for version in (base, ours, theirs)]
    data, count = TemporaryFiles((texts[0], texts[1], texts[2]), labels=Options().labels).result()
    return data.decode(), count


def merged(base: str, ours: str, theirs: str, path: str = PATH) -> str | None:
    """The merge by blocks where git's lines conflict; None: git's conflict, byte for byte.

    The sides swapped must come to the same: the same lines, or git's conflict as well.
    """
    by_lines, count = git(base, ours, theirs)
    assert count > 0, "git merges it by itself"
    made = merge_files(base.encode(), ours.encode(), theirs.encode(), path=path)
    other = merge_files(base.encode(), theirs.encode(), ours.encode(), path=path)
    assert made.clean == other.clean
    if not made.clean:
        assert made.text.decode() == by_lines
        assert other.text.decode() == git(base, theirs, ours)[0]
        return None
    assert made.reason == BY_BLOCKS
    assert sorted(made.text.splitlines()) == sorted(other.text.splitlines())
    return made.text.decode()


def merged_anyway(base: str, ours: str, theirs: str) -> str | None:
    """The merge by blocks of what git's lines merge clean, with two lines that they cannot."""
    near = ("left: {}\nright: {}\n".format(*values) for values in ((1, 1), (2, 1), (1, 2)))
    made = merged(*(one + more for one, more in zip((base, ours, theirs), near, strict=True)))
    if made is None:
        return None
    assert made.endswith("left: 2\nright: 2\n")
    return made.removesuffix("left: 2\nright: 2\n")


def refusal(base: str, ours: str, theirs: str) -> str:
    """Why the blocks were not merged, whatever git's lines come to; empty: they were."""
    texts = (version.encode() for version in (base, ours, theirs))
    made = merge_files(*texts, path=PATH, line_merge=lambda *_: (b"<<<<<<<", False))
    if made.reason == BY_BLOCKS:
        return ""
    assert made.reason.startswith("a template: ")
    return made.reason.removeprefix("a template: ")


def parse(text: str):  # type: ignore[no-untyped-def]
    """Return the lines and blocks of a text."""
    return Template(text).parts


def actions(text: str) -> list[Action]:
    """Return the actions of a text, whatever they open and close."""
    refuse_own_words(text)
    lexed: list[Action] = []
    at = text.find("{{")
    while at >= 0:
        lexed.append(action_at(text, at, {}))
        at = text.find("{{", lexed[-1].end)
    return lexed

"""Judge a merge: find damage that the merge did, and compare the result with people's file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Literal

from kmerge_git.errors import KmergeError, TextOnly
from kmerge_git.kube.lookup import found_at
from kmerge_git.merge.bulk import refuse_at_sight
from kmerge_git.merge.pairing import name_of
from kmerge_git.merge.three import Three
from kmerge_git.merge.verify.line_damage import new_damage
from kmerge_git.text.opaque_files import is_chart_text
from kmerge_git.tree.brief import brief
from kmerge_git.tree.documents import Stream, YamlText
from kmerge_git.tree.nodes import Node
from kmerge_git.tree.oddities import TEMPLATE
from kmerge_git.tree.plain_values import to_value

if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path


Agreement = Literal[
    "same bytes", "same meaning", "another order", "different", "unreadable", "gone"
]


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """Hold the value of a field as a text for comparison and as a text for display."""

    canon: str  # the same text for the same value, and '' without a value
    shown: str = ""


class Judge:
    """Judge the merges of one file; parse every text at most once."""

    def __init__(self, three: Three[bytes | None], path: str, sound: bytes | None = None) -> None:
        self._inputs = [side or b"" for side in three.each()]
        self._sound = sound  # a result that is known to have no damage
        self._path = path
        self._stream = cache(partial(_stream, path))
        self._damage: dict[bytes, tuple[str, ...]] = {}

    def agreement(self, result: bytes, people: bytes | None) -> Agreement:
        """Return whether a merge result agrees with the file that people committed.

        `another order` means that only the order of list items or documents differs, `unreadable`
        that people's file is not YAML, and `gone` that the file is not in people's commit.
        """
        if people is None:
            return "gone"
        if result == people:
            return "same bytes"
        try:
            theirs = self._values(people)
        except KmergeError:
            return "unreadable"
        try:
            ours = self._values(result)
        except KmergeError:
            return "different"
        if _canon(ours) == _canon(theirs):
            return "same meaning"
        return "another order" if _canon(_sorted(ours)) == _canon(_sorted(theirs)) else "different"

    def damage(self, result: bytes) -> tuple[str, ...]:
        """Return the damage that a merge did to valid files, such as repeated keys."""
        if result == self._sound or result in self._inputs:
            return ()
        if result not in self._damage:
            self._damage[result] = self._look(result)
        return self._damage[result]

    def _look(self, result: bytes) -> tuple[str, ...]:
        try:
            stream = self._stream(result)
        except TextOnly:
            return ()
        except KmergeError as error:
            # do not blame the merge if an input was broken already
            return (f"not YAML any more: {error.why}",) if self._are_inputs_whole() else ()
        try:
            inputs = Three(*(YamlText(data, self._path).stream for data in self._inputs))
            return tuple(sorted(new_damage(stream, inputs, self._path)))
        except KmergeError:
            return ()

    def _are_inputs_whole(self) -> bool:
        try:
            return all(self._stream(data) for data in self._inputs)
        except KmergeError:
            return False

    def value(self, data: bytes | None, resource: str, path: Path) -> ComparedValue | None:
        """Return the value at a place, or None if the text is unreadable or lacks the resource."""
        try:
            stream = self._stream(data) if data is not None else None
        except KmergeError:
            return None
        documents = stream.documents if stream is not None else ()
        roots = [d.root for d in documents if d.root and name_of(d) == resource]
        return value_of(found_at(roots[0], path), roots[0]) if len(roots) == 1 else None

    def _values(self, data: bytes) -> list[object]:
        return [to_value(root) for root in self._stream(data).roots]


def value_of(node: Node | None, root: Node | None = None) -> ComparedValue | None:
    """Return the value of a node, or None if unreadable; for no node, return an empty value."""
    if node is None:
        return ComparedValue("")
    try:
        return ComparedValue(_canon(to_value(node, root)), brief(node))
    except KmergeError:
        return None


def _stream(path: str, data: bytes) -> Stream:
    """Parse all documents of a text, and return the documents."""
    if is_chart_text(path):
        raise TextOnly(TEMPLATE, path=path)
    text = YamlText(data, path)
    refuse_at_sight(text.source)
    _ = text.roots
    return text.stream


def _canon(value: object) -> str:
    """Return the same text only for equal values; `1`, `1.0`, `"1"` and `true` all differ."""
    return json.dumps(value, sort_keys=True)


def _sorted(value: object) -> object:
    if isinstance(value, dict):
        return {key: _sorted(item) for key, item in value.items()}
    if isinstance(value, list):
        return sorted((_sorted(item) for item in value), key=_canon)
    return value

"""The laws of merge2 and merge3 over random manifests with random edits."""

from collections import Counter
from collections.abc import Callable
from random import Random

import laws
import pytest
import strategies
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kmerge_git.errors import KmergeError, Unsupported
from kmerge_git.kube.identity import identity
from kmerge_git.merge.kyaml.kyaml_merges import Result, merge3_bytes
from kmerge_git.merge.kyaml.two_way import merge2_bytes
from kmerge_git.merge.kyaml.value_parts import holds_null
from kmerge_git.merge.three import Three
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split


class LOADER(yaml.SafeLoader):
    """PyYAML's loader, in which an anchor may be repeated, as YAML has it."""

    def compose_node(self, parent, index):
        if not self.check_event(yaml.AliasEvent):
            self.anchors.pop(self.peek_event().anchor, None)
        return super().compose_node(parent, index)


TRIOS = strategies.trios()


def comparable(*versions: bytes) -> bool:
    """Whether the inputs are sound YAML, and none is a lone `...`."""
    return laws.comparable(versions) and all(split(Source(v)).documents for v in versions)


def nulls(data: bytes) -> bool:
    roots = (d.root for d in split(Source(data)).documents)
    return any(root is not None and holds_null(root) for root in roots)


def unless_ambiguous(merge: Callable[[], Result]) -> Result:
    """Its result; a resource that stands twice here and once there is rightly refused."""
    try:
        return merge()
    except Unsupported as error:
        assume("stands several times" not in str(error))
        raise


def merge3(original: bytes, updated: bytes, dest: bytes) -> bytes:
    return unless_ambiguous(lambda: merge3_bytes(Three(original, dest, updated))).data


def merge2(source: bytes, dest: bytes) -> bytes:
    return unless_ambiguous(lambda: merge2_bytes(source, dest)).data


def meaning(data: bytes) -> list[object]:
    return [plain(d) for d in yaml.compose_all(data.decode(), LOADER) if d is not None]


def plain(node: yaml.Node) -> object:
    if isinstance(node, yaml.MappingNode):
        return {str(plain(k)): plain(v) for k, v in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [plain(v) for v in node.value]
    return node.tag, node.value


@settings(max_examples=120)
@given(trio=TRIOS)
def test_without_a_change_of_updated_dest_stays_byte_for_byte(trio):
    original, dest, _ = trio
    assume(comparable(*trio) and not nulls(dest) and not nulls(original))
    assert merge3(original, original, dest) == dest


@settings(max_examples=120)
@given(trio=TRIOS)
def test_without_a_change_of_dest_updated_is_the_result(trio):
    original, _, updated = trio
    assume(comparable(*trio) and not nulls(updated) and not nulls(original))
    assert meaning(merge3(original, updated, original)) == meaning(updated)


@settings(max_examples=120)
@given(trio=TRIOS)
def test_a_result_is_yaml_and_common_lines_stay(trio):
    original, dest, updated = trio
    assume(comparable(*trio) and not any(map(nulls, trio)))
    merged = unless_ambiguous(lambda: merge3_bytes(Three(original, dest, updated)))
    result = merged.data
    meaning(result)
    assume(not merged.lost)
    lines = [single(version) for version in trio]
    there = Counter(line.strip() for line in result.split(b"\n"))
    assert not [line for line in set.intersection(*lines) if not there[line]]


def single(data: bytes) -> set[bytes]:
    """The lines with values that stand in a text once, without their indentation."""
    lines = Counter(line.strip() for line in data.split(b"\n"))
    return {line for line, count in lines.items() if count == 1 and not line.endswith(b":")}


@settings(max_examples=120)
@given(trio=TRIOS)
def test_what_loses_is_listed(trio):
    original, dest, updated = trio
    assume(comparable(*trio) and not any(map(nulls, trio)))
    result = unless_ambiguous(lambda: merge3_bytes(Three(original, dest, updated)))
    after, trees = leaves(result.data), [leaves(version) for version in trio]
    listed = {(d.resource, d.path) for d in result.lost}
    for place, mine in trees[1].items():
        old, theirs = trees[0].get(place), trees[2].get(place)
        if mine not in (old, theirs, after.get(place)) and theirs not in (old, None):
            assert is_listed(place, listed), (place, result.data)


def leaves(data: bytes) -> dict[tuple[str, str], object]:
    """The scalars below nothing but mappings, by resource and dotted path."""
    found: dict[tuple[str, str], object] = {}

    def walk(node: yaml.Node, resource: str, path: str) -> None:
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if isinstance(key, yaml.ScalarNode) and key.value.isalnum():
                    walk(value, resource, f"{path}.{key.value}".lstrip("."))
        elif isinstance(node, yaml.ScalarNode):
            found[resource, path] = (node.tag, node.value)

    for document in yaml.compose_all(data.decode(), LOADER):
        about = plain(document) if document is not None else None
        if isinstance(about, dict):
            kind, metadata = about.get(str(("tag:yaml.org,2002:str", "kind"))), None
            metadata = about.get(str(("tag:yaml.org,2002:str", "metadata")))
            if isinstance(kind, tuple) and isinstance(metadata, dict):
                name = metadata.get(str(("tag:yaml.org,2002:str", "name")))
                if isinstance(name, tuple):
                    walk(document, f"{kind[1]}/{name[1]}", "")
    return found


def is_listed(place: tuple[str, str], listed: set[tuple[str, str]]) -> bool:
    resource, path = place
    parts = path.split(".")
    prefixes = {".".join(parts[:n]) for n in range(len(parts) + 1)}
    return any((resource, prefix) in listed for prefix in prefixes)


@settings(max_examples=120)
@given(trio=TRIOS)
def test_merge2_twice_is_merge2_once(trio):
    _, dest, src = trio
    assume(comparable(*trio))
    # libyaml refuses two anchors of one name; blank lines belong to a `|+` above them
    assume(not (b"&" in src and b"&" in dest) and b"|+" not in src)
    # documents without a name pair by likeness, which a merge changes
    assume(all(identity(d.root) for d in split(Source(src)).documents))
    once = merge2(src, dest)
    assert merge2(src, once) == once


@settings(max_examples=60)
@given(trio=TRIOS)
def test_merge2_with_itself_changes_nothing(trio):
    assume(comparable(*trio) and not nulls(trio[0]))
    assert merge2(trio[0], trio[0]) == trio[0]


@settings(max_examples=60)
@given(trio=TRIOS)
def test_three_identical_inputs(trio):
    for version in trio:
        assert merge3(version, version, version) == version


@settings(max_examples=80)
@given(
    trio=TRIOS,
    cuts=st.lists(st.integers(0, 10_000), min_size=6, max_size=6),
)
def test_broken_text_is_a_result_or_one_error(trio: strategies.Trio, cuts: list[int]):
    broken = []
    for version, start, length in zip(trio, cuts[:3], cuts[3:], strict=True):
        at = start % (len(version) + 1)
        broken.append(version[:at] + version[at + length % 40 :])
    for merge in (
        lambda: merge3_bytes(Three(*broken)),
        lambda: merge2_bytes(broken[0], broken[1]),
    ):
        assert merge_or_error(merge)


def merge_or_error(merge: Callable[[], Result]) -> bool:
    try:
        return isinstance(merge(), Result)
    except KmergeError as error:
        return "\n" not in str(error)


@pytest.mark.parametrize("seed", range(5))
def test_the_same_every_time(seed):
    original, dest, updated = strategies.trio(Random(seed), 5)
    first = merge3(original, updated, dest)
    assert all(merge3(original, updated, dest) == first for _ in range(3))

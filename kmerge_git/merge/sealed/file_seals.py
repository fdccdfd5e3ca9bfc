"""Read what SOPS protects in a version of a file, and decide which side's seal the result has.

The *seal* of a version is its `sops` block, with the recipients and the checksum (`mac`), and all
its encrypted values with their places. SOPS computes the `mac` over the values of the file in their
order; with `mac_only_encrypted` over the encrypted values alone. So a seal of one side cannot
be combined with a seal of the other side, or with plain values that the other side changed.
"""

from __future__ import annotations

from kmerge_git.merge.three import whose
from kmerge_git.tree.nodes import Collection, Mapping, Scalar
from kmerge_git.tree.same import canon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from kmerge_git.merge.three import Three
    from kmerge_git.tree.documents import Stream, YamlText
    from kmerge_git.tree.nodes import Entry, Node

    Keys = tuple[str | int, ...]  # keys of maps, and indexes of elements
    Leaf = tuple[Keys, Hashable, str]  # place, value, and the text if the value is encrypted

BLOCK = "sops"
BOTH = "a SOPS file: both sides changed its encrypted values or its `sops` block"
PLAIN = "a SOPS file: a side changed plain fields that the mac of the result would not cover"
RESULT = "a SOPS file: the changes of both sides do not merge without a conflict"
# fields of the block that choose which values SOPS encrypts
_CHOOSING = ("_regex", "_suffix")


class Protected:
    """Hold what SOPS protects in a version of a file, and all its values in their order."""

    __slots__ = ("blocks", "is_partial", "leaves", "rules", "seal")

    def __init__(
        self,
        blocks: list[Hashable],
        leaves: list[Leaf],
        comments: list[tuple[Keys, str]],
        settings: list[tuple[str, str]],
    ) -> None:
        self.blocks = tuple(blocks)
        self.leaves = tuple(leaves)
        encrypted = [(_names(keys), text) for keys, _, text in leaves if text]
        self.seal = self.blocks, tuple(encrypted), tuple(comments)
        only = [value for name, value in settings if name == "mac_only_encrypted"]
        # whether the mac covers the encrypted values alone
        self.is_partial = len(only) == max(len(blocks), 1) and set(map(str.lower, only)) == {"true"}
        self.rules = {pair for pair in settings if pair[0].endswith(_CHOOSING)}

    @property
    def is_plain(self) -> bool:
        """Return whether nothing in the version is encrypted."""
        return not any(self.seal)


def wanted(at: Three[Protected]) -> str:
    """Return the side whose seal the result must have, or '' if no result could be decrypted.

    Versions with this seal must have equal values, unless its `mac` covers no plain fields.
    """
    side = whose(at.map(lambda version: version.seal))
    if not side or may_change_plain(at, side):
        return side
    chosen = at.side(side)
    others = [version for version in at.each() if version.seal == chosen.seal]
    return side if all(version.leaves == chosen.leaves for version in others) else ""


def objection(at: Three[Protected]) -> str:
    """Return why no clean result could be decrypted, in the words of a conflict."""
    return PLAIN if whose(at.map(lambda version: version.seal)) else BOTH


def may_change_plain(at: Three[Protected], side: str) -> bool:
    """Return whether a result with the seal of a side may have other plain fields than that side.

    It may if nothing in the result is encrypted, or if no `mac` covers plain fields. The fields
    that SOPS would encrypt must then be chosen by the same rules in all versions.
    """
    versions = at.each()
    if at.side(side).is_plain:
        return True
    return all(v.is_partial and v.rules == at.base.rules for v in versions)


def holds(result: Protected, at: Three[Protected], side: str) -> bool:
    """Return whether a result has the seal of a side, and values that the seal covers."""
    chosen = at.side(side)
    if result.seal != chosen.seal:
        return False
    return may_change_plain(at, side) or result.leaves == chosen.leaves


def read(text: YamlText, form: str) -> Protected:
    """Return a version of a file in the format `yaml`, `dotenv` or `ini`.

    Raise `KmergeError` if the text has another format.
    """
    return _of_yaml(text.stream) if form == "yaml" else _of_lines(text.source.text, form)


# -- YAML and JSON


def _of_yaml(stream: Stream) -> Protected:
    blocks: list[Hashable] = []
    leaves: list[Leaf] = []
    settings: list[tuple[str, str]] = []
    for number, document in enumerate(d for d in stream.documents if d.root is not None):
        root = document.root
        for entry in block_entries(root):
            blocks.append(canon(entry.value))
            fields = entry.value.entries if isinstance(entry.value, Mapping) else ()
            settings += [(f.name, f.value.value) for f in fields if isinstance(f.value, Scalar)]
        leaves += _leaves(root, (number,)) if root is not None else ()
    return Protected(blocks, leaves, list(_comments(stream)), settings)


def block_entries(root: Node | None) -> list[Entry]:
    """Return the entries of a document that hold a `sops` block; there is one at most."""
    entries = root.entries if isinstance(root, Mapping) else ()
    return [entry for entry in entries if entry.name == BLOCK and _has_mac(entry.value)]


def _has_mac(block: Node) -> bool:
    mac = block.get("mac") if isinstance(block, Mapping) else None
    return isinstance(mac, Scalar) and mac.value != ""


def _leaves(node: Node, keys: Keys) -> Iterator[Leaf]:
    """Yield the values of a document in their order; an empty collection is a value."""
    if not isinstance(node, Collection) or not node.entries:
        text = node.value.strip() if isinstance(node, Scalar) else ""
        yield keys, canon(node), text if _is_encrypted(text) else ""
        return
    if node.anchor or node.tag:
        yield keys, (node.anchor, node.tag), ""
    blocks = block_entries(node) if len(keys) == 1 else []
    for number, entry in enumerate(node.entries):
        if entry not in blocks:
            yield from _leaves(entry.value, (*keys, entry.name if entry.key else number))


def _is_encrypted(text: str) -> bool:
    return text.startswith("ENC[") and text.endswith("]")


def _names(keys: Keys) -> Keys:
    """Return the keys of maps among the keys of a value.

    SOPS binds an encrypted value to these keys, and not to the indexes of elements.
    """
    return tuple(key for key in keys if isinstance(key, str))


def _comments(stream: Stream) -> Iterator[tuple[Keys, str]]:
    """Yield the encrypted comments, each with the keys of the map or list that it is in."""
    text = stream.source.text
    at = text.find("#ENC[")
    while at >= 0:
        end = text.find("\n", at)
        roots = [d.root for d in stream.documents if d.start <= at < d.end]
        yield _keys_at(roots[0] if roots else None, at), text[at:end].rstrip()
        at = text.find("#ENC[", end)


def _keys_at(node: Node | None, at: int) -> Keys:
    """Return the keys of the innermost collection whose lines hold an offset."""
    keys: Keys = ()
    while isinstance(node, Collection):
        around = [entry for entry in node.entries if entry.lead <= at < entry.end]
        if not around or at < around[0].start:
            return keys
        keys += (around[0].name,) if around[0].key else ()
        node = around[0].value
    return keys


# -- dotenv and ini


def _of_lines(text: str, form: str) -> Protected:
    blocks: list[tuple[str, str]] = []
    leaves: list[Leaf] = []
    comments: list[tuple[Keys, str]] = []
    section = ""
    for line in filter(None, map(str.strip, text.split("\n"))):
        if line[0] in ("#;" if form == "ini" else "#"):
            comments += [((section,), line)] if _is_encrypted(line[1:].strip()) else []
        elif form == "ini" and line[0] == "[":
            section = line
        else:
            name, _, value = (part.strip() for part in line.partition("="))
            if is_block_line(form, section, name):
                blocks.append((name.removeprefix("sops_"), value))
            else:
                leaves.append(((section, name), value, value if _is_encrypted(value) else ""))
    block: list[Hashable] = [frozenset(blocks)] if blocks else []
    return Protected(block, leaves, comments, blocks)


def is_block_line(form: str, section: str, line: str) -> bool:
    """Return whether a line of a section belongs to the `sops` block."""
    return section == "[sops]" if form == "ini" else line.startswith("sops_")

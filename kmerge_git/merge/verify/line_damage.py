"""Find the damage of a line merge: errors in the result that neither side had.

Damage is a repeated key, a repeated element of a list, or a repeated resource. If a text cannot be
parsed, for example because an alias has no anchor, the functions raise an error.
"""

from __future__ import annotations

from kmerge_git.errors import KmergeError
from kmerge_git.kube.identity import identity
from kmerge_git.kube.listkeys import ListKeys, field_text, has_port_names, start
from kmerge_git.merge.three import Three, grouped
from kmerge_git.merge.verify.whole_file import fault
from kmerge_git.text.opaque_files import VAULT, is_chart_text, mixes_vaults
from kmerge_git.tree.documents import Document, Stream
from kmerge_git.tree.nodes import Collection, Mapping, Node, Sequence
from kmerge_git.tree.same import canon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from kmerge_git.kube.identity import Identity
    from kmerge_git.kube.listkeys import ListRule, Where
    from kmerge_git.tree.documents import YamlText
    from kmerge_git.tree.nodes import Entry
    from kmerge_git.tree.same import Known

    Identities = dict[str, Identity | None]  # the identities of documents, by document text
    Places = dict[str, list[Entry | Document]]


LARGE = 100_000  # a file with more bytes may have too many entries


def is_sound(result: YamlText, inputs: Three[Stream]) -> bool:
    """Return whether a line merge has no damage that neither ours nor theirs had."""
    sides = inputs.ours.source.text, inputs.theirs.source.text
    try:
        if mixes_vaults(result.source.text, *sides):
            return False
        sources = inputs.map(lambda stream: stream.source)
        return not (new_damage(result.stream, inputs, result.path) or fault(result.data, sources))
    except KmergeError:
        return False


def breaks(result: YamlText, texts: Three[YamlText]) -> bool:
    """Return whether a result of three valid YAML inputs is damaged."""
    if brought(result, texts):
        return True
    if b"*" not in result.data:
        return False
    from kmerge_git.merge.verify.alias_law import turned_aliases  # few files have aliases

    try:
        *inputs, made = (list(text.stream.documents) for text in (*texts.each(), result))
        known = {document.content for side in inputs[1:] for document in side}
        made = [document for document in made if document.content not in known]  # a side may win
        return bool(turned_aliases([*inputs, made], result.path))
    except KmergeError:
        return False


def brought(result: YamlText, texts: Three[YamlText], sound: Identities | None = None) -> set[str]:
    """Return the damage of a merge result that none of its three valid YAML inputs has.

    The inputs are parsed only if the result is damaged. A very large result is not checked.
    Documents in `sound` are known to be undamaged from earlier results of the same inputs, and are
    not parsed again.
    """
    path = result.path
    if mixes_encrypted(result.data, texts):
        return {"an encrypted text would be a mixture of both sides"}
    if is_chart_text(path):
        return set()
    if why := fault(result.data, texts):
        return {why}
    if len(result.data) > LARGE:
        from kmerge_git.merge.bulk import has_bulk  # few files are so large

        if has_bulk(result.data):
            return set()
    try:
        at = texts.map(lambda text: text.stream)
    except KmergeError:
        return set()
    known = {d.content for stream in (at.ours, at.theirs) for d in stream.documents}
    keys = dict(sound or {})
    try:
        damages = damage(result.stream.documents, path, known, keys)
    except KmergeError:
        damages = {"the file is not valid YAML"}
    if not damages:
        if sound is not None:
            sound.update(keys)
        return damages
    try:
        for stream in (at.ours, at.theirs):
            damages -= damage(stream.documents, path) if damages else damages
        return damages if at.base.roots is not None else set()
    except KmergeError:
        return set()


def mixes_encrypted(result: bytes, texts: Three[YamlText], size: int = 0) -> bool:
    """Return whether a result has lines of two texts of Ansible Vault as one text.

    If the result has conflicts with markers of this size, our side of them counts.
    """
    if VAULT.encode() not in result:
        return False
    from kmerge_git.text.markers import resolve  # few files are encrypted

    made, ours, theirs = (
        data.decode("utf-8", "replace") for data in (result, texts.ours.data, texts.theirs.data)
    )
    return mixes_vaults(resolve(made, "ours", size) if size else made, ours, theirs)


def new_damage(result: Stream, inputs: Three[Stream], path: str) -> set[str]:
    """Return the damage of a result that neither ours nor theirs has."""
    known = {d.content for s in (inputs.ours, inputs.theirs) for d in s.documents}
    damages = damage(result.documents, path, known)
    if not damages:
        return damages
    return damages - damage(inputs.ours.documents, path) - damage(inputs.theirs.documents, path)


def damage(
    documents: tuple[Document, ...],
    path: str = "",
    known: set[str] | None = None,
    keys: Identities | None = None,
) -> set[str]:
    """Return all damage of a text; each item describes the kind and the place of one error.

    Documents whose texts are in `known` or `keys` are not checked.
    """
    return set(places(documents, path, known, keys))


def places(
    documents: tuple[Document, ...],
    path: str = "",
    known: set[str] | None = None,
    keys: Identities | None = None,
) -> Places:
    """Return all damage of a text, each item with the entries or documents that are repeated."""
    damages: Places = {}
    seen: dict[object, Document] = {}
    keys = {} if keys is None else keys  # equal texts are parsed once
    made_of: Known = {}
    for document in documents:
        text = document.text
        if text not in keys:
            root = document.root
            key = keys[text] = identity(root)
            if root is not None and (known is None or document.content not in known):
                named = (f"{key} ",) if key is not None else ()
                _walk(root, start(root, path), named, damages, made_of)
        key = keys[text]
        if key is not None and key.name:
            if key in seen:
                damages[f"duplicate resource: {key}"] = [seen[key], document]
            seen[key] = document
    return damages


def _walk(node: Node, where: Where, path: tuple[str, ...], found: Places, known: Known) -> None:
    if isinstance(node, Mapping):
        where = where.at(node)
        names: list[Hashable] = [entry.name for entry in node.entries]
        if len(set(names)) < len(names):
            for name, twins in _twins(names, node.entries):
                found[f"duplicate key: {_shown(path)} {name}".replace(":  ", ": ")] = twins
        for entry in node.entries:
            if isinstance(entry.value, Collection):
                _walk(entry.value, where.child(entry.name), (*path, entry.name), found, known)
    elif isinstance(node, Sequence):
        keys, inner = repeat_keys(node, where.list_rule(), known), where.items()
        known_keys = [key for key in keys if key is not None]
        if len(set(known_keys)) < len(known_keys):
            for key, twins in _twins(keys, node.entries * 2):  # ports have two keys each
                name = ", ".join(map(str, key)) if isinstance(key, tuple) else key
                found[f"duplicate list element: {_shown(path) or 'document'} {name}"] = twins
        for entry in node.entries:
            if isinstance(entry.value, Collection):
                _walk(entry.value, inner, (*path, "[]"), found, known)


def _shown(path: tuple[str, ...]) -> str:
    """Return a path such as `Deployment/web spec.containers[].env`."""
    return ".".join(path).replace(".[]", "[]").replace(" .", " ")


def _twins(
    keys: list[Hashable], entries: tuple[Entry, ...]
) -> Iterator[tuple[Hashable, list[Entry | Document]]]:
    """Return the keys that occur more than once, each with the entries that have this key."""
    of: dict[Hashable, list[Entry | Document]] = grouped(zip(keys, entries, strict=False))
    return ((key, twins) for key, twins in of.items() if key is not None and len(twins) > 1)


def repeat_keys(made: Sequence, rule: ListRule, known: Known) -> list[Hashable]:
    """Return the keys of the elements of a list; no two elements may have the same key.

    The key of an element is None if the element may be repeated.
    """
    nodes = [entry.value for entry in made.entries]
    if rule.kind in ("resources", "keyed"):
        keys = list(map(ListKeys(rule).of, nodes))
        if has_port_names(rule):
            names = [field_text(node, "name") for node in nodes]
            keys += [name and ("name", name) for name in names]
        return keys
    names = [field_text(node, "name") for node in nodes]
    if rule.kind == "infer" and all(name is not None for name in names):
        return list(names)
    return [canon(node, known) for node in nodes]

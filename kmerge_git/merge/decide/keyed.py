"""Which elements of three lists are the same element."""

from __future__ import annotations

from kmerge_git.kube.listkeys import ListRule, infer_key
from kmerge_git.merge.three import Three
from kmerge_git.tree.nodes import Entry, Mapping, Node, Scalar, Sequence
from kmerge_git.tree.same import canon
from kmerge_git.tree.scalars import is_null

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from kmerge_git.kube.fieldpath import Element

    Table = dict[Hashable, Entry]

PORT_KEYS = ("containerPort", "port")  # lists whose elements must have different names, too


def keyed(
    lists: Three[Sequence | None], rule: ListRule, *, by_name: bool = False
) -> Three[Table] | None:
    """The elements of each version by key, or None where the list has no key this time."""
    versions = [seq for seq in (lists.base, lists.ours, lists.theirs) if seq is not None]
    if rule.kind == "resources":
        return _tables(lists, _resource_key)
    if rule.kind == "set":
        return _tables(lists, _scalar_key)
    if rule.kind == "keyed":
        tables = _tables(lists, lambda node: _fields_key(node, rule))
        if tables is None:
            return None
        if len(rule.fields) > 1:
            _see_changed_second_key(tables)
        if rule.fields[0] in PORT_KEYS and by_name:
            _see_changed_number(tables)
        return tables
    if rule.kind == "infer":
        field = infer_key(versions)
        if field:
            return _tables(lists, lambda node: _field_text(node, field))
    return None


def step(key: Hashable, rule: ListRule) -> Element:
    """An element as a step of a field path; one of a set has no name."""
    if isinstance(key, tuple) and rule.kind == "keyed":
        pairs = zip(rule.fields, key, strict=False)
        return tuple((field, text) for field, text in pairs if text is not None)
    if rule.kind == "resources":
        from kmerge_git.kube.identity import Identity, describe

        return (describe(key),) if isinstance(key, Identity) else ()
    return (key,) if isinstance(key, str) else ()


def _tables(
    lists: Three[Sequence | None], key_of: Callable[[Node], Hashable]
) -> Three[Table] | None:
    tables: list[Table] = []
    for seq in (lists.base, lists.ours, lists.theirs):
        table: Table = {}
        for entry in seq.entries if seq is not None else ():
            key = key_of(entry.value)
            if key is None or key in table:
                return None  # no key, or repeated: paired as a sequence this time
            table[key] = entry
        tables.append(table)
    return Three(*tables)


def _resource_key(node: Node) -> Hashable:
    from kmerge_git.kube.identity import identity  # few files hold a List

    return identity(node)


def _scalar_key(node: Node) -> Hashable:
    return canon(node) if isinstance(node, Scalar) and not node.anchor else None


def _field_text(node: Node, field: str) -> str | None:
    value = node.get(field) if isinstance(node, Mapping) else None
    if isinstance(value, Scalar) and not is_null(value):
        return value.value
    return None


def _fields_key(node: Node, rule: ListRule) -> Hashable:
    """The key fields' texts; the first must be there, others may have a default or be absent."""
    texts: list[str | None] = [_field_text(node, field) for field in rule.fields]
    if texts[0] is None:
        return None
    return tuple(
        rule.defaults.get(field) if text is None else text
        for field, text in zip(rule.fields, texts, strict=True)
    )


def _see_changed_second_key(tables: Three[Table]) -> None:
    """See one element where a side changed a key field other than the first (80/TCP to 80/UDP).

    Only if the old full key is gone there, exactly one new element has its first field, and the
    other side still has the old full key: then the element keeps its old key here.
    """
    base = tables.base
    for side, other in ((tables.ours, tables.theirs), (tables.theirs, tables.ours)):
        for old in [k for k in base if k not in side and k in other]:
            fresh = [
                k for k in side if _first(k) == _first(old) and k not in base and k not in other
            ]
            gone = [k for k in base if _first(k) == _first(old) and k not in side]
            if len(fresh) == 1 and len(gone) == 1:
                _rename(side, fresh[0], old)


def _see_changed_number(tables: Three[Table]) -> None:
    """See one port where a side changed its number and left its name: names are unique, too."""
    base = tables.base
    for side, other in ((tables.ours, tables.theirs), (tables.theirs, tables.ours)):
        for old in [k for k in base if k not in side]:
            name = _field_text(base[old].value, "name")
            fresh = [
                k
                for k in side
                if k not in base and k not in other and _field_text(side[k].value, "name") == name
            ]
            if name is not None and len(fresh) == 1:
                _rename(side, fresh[0], old)


def _first(key: Hashable) -> Hashable:
    return key[0] if isinstance(key, tuple) else key


def _rename(table: Table, old: Hashable, new: Hashable) -> None:
    renamed = [(new if key == old else key, entry) for key, entry in table.items()]
    table.clear()
    table.update(renamed)


def segment_keys(seq: Sequence, rule: ListRule) -> list[Hashable]:
    """The key of every element as a check for repetition sees it; None: not comparable."""
    if rule.kind == "resources":
        return [_resource_key(e.value) for e in seq.entries]
    if rule.kind == "keyed":
        keys = [_fields_key(e.value, rule) for e in seq.entries]
        if rule.fields[0] in PORT_KEYS:
            keys += [
                name and ("name", name)
                for e in seq.entries
                for name in (_field_text(e.value, "name"),)
            ]
        return keys
    names = [_field_text(e.value, "name") for e in seq.entries]
    if rule.kind == "infer" and all(name is not None for name in names):
        return list(names)
    return [canon(e.value) for e in seq.entries]

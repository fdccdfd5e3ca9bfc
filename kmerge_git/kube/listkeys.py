"""Decide how the list at a place of a file merges: by key, as a set, or element by element.

The first source that knows the list wins: kustomization files, then the table of Kubernetes' own
kinds and of learned CRDs, then lists of resources (`kind: List`, templates of OpenShift). For all
other lists, `infer_key` finds a key that all elements have. If the table holds a kind, a list of
this kind without an entry in the table is atomic.
"""

from __future__ import annotations

from kmerge_git.kube import keytable
from kmerge_git.kube.keytable import BAGS, CUSTOM, EXCLUSIVE, KUSTOMIZATION, OPEN, SCHEMA
from kmerge_git.tree.nodes import Mapping, Node, Scalar, Sequence
from kmerge_git.tree.same import canon, is_null

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable
    from collections.abc import Sequence as List

    from kmerge_git.kube.fieldpath import Element
    from kmerge_git.kube.keytable import Groups
    from kmerge_git.tree.nodes import Entry

    Entries = List[Entry]

# The possible keys of a list that no table holds; the first key that fits is used.
KEYS = ("mountPath", "devicePath", "ip", "type", "topologyKey", "name", "containerPort")
# Fields that show that two elements of plain lists are the same; the first that fits is used.
RECOGNIZED_BY = ("name", "containerPort", "mountPath", "key", "type", "port")
# The first key fields of lists of ports. The names in these lists are unique, too.
PORT_KEYS = ("containerPort", "port")
# Lists whose order has a meaning: init containers run one by one, and `$(VAR)` refers to an
# earlier variable.
ORDERED = ("initContainers", "env")

KUSTOMIZATION_GROUP = "kustomize.config.k8s.io"
_RBAC_GROUP = "rbac.authorization.k8s.io"
_KUSTOMIZATION_FILES = ("kustomization.yaml", "kustomization.yml", "Kustomization")


class ListRule:
    """Hold how a list merges.

    `kind` is 'keyed' (by `fields`; `defaults` has the values of missing fields), 'set', 'atomic'
    (elements are not paired by key), 'infer' (see `infer_key`) or 'resources' (by identity). If the
    list is `ordered`, the order of the elements has a meaning. If the list is a `bag`, the order
    has no meaning, so an atomic list may take the elements that both sides add.
    """

    __slots__ = ("bag", "defaults", "fields", "kind", "ordered")

    def __init__(
        self,
        kind: str,
        fields: tuple[str, ...] = (),
        defaults: dict[str, str] | None = None,
        ordered: bool = False,
        bag: bool = False,
    ) -> None:
        self.bag = bag
        self.kind = kind
        self.fields = fields
        self.defaults = defaults or {}
        self.ordered = ordered


ATOMIC = ListRule("atomic")
_BAG = ListRule("atomic", bag=True)
_RESOURCES = ListRule("resources")
_rules: dict[tuple[str, bool], ListRule] = {}
_customs: dict[tuple[str, str], dict[str, keytable.Facts]] = {}


class Where:
    """Hold a place in a resource, and what the tables say about lists at this place."""

    __slots__ = ("_below", "_fields", "_name", "_rule")

    def __init__(
        self,
        name: str,
        fields: dict[str, keytable.Facts] | None,
        rule: ListRule,
        below: str = "",
    ) -> None:
        self._name = name
        self._fields = fields  # None if no table knows the fields below
        self._rule = rule
        self._below = below  # the definition of each element (`[7`) or of each value (`{7`)

    def at(self, node: Node | None) -> Where:
        """Return the place of a node.

        The top node of a resource, and a schema, have definitions of their own.
        """
        if isinstance(node, Mapping):
            kind = _word(node, "kind")
            version = _word(node, "apiVersion") if kind else ""
            if version:
                return _root(node, version, kind)
            if isinstance(node.get("properties"), Mapping):
                fields = (OPEN if self._fields is None else self._fields) | SCHEMA
                return Where(self._name, fields, self._rule, self._below)
        return self

    def child(self, field: str) -> Where:
        """Return the place of the value of a key in a mapping."""
        if self._below[:1] == "{":
            return _defined(field, int(self._below[1:]))
        if self._fields is None:
            return Where(field, None, _inferred(field))
        # If a mapping may have any key, its definition has an entry without a name.
        _, structural, below = self._fields.get(field) or self._fields.get("", ("", "", ""))
        if structural == "?":  # a field of a custom resource whose definition says nothing
            return Where(field, {} if below else None, _inferred(field), below)
        if below and below[0] not in "[{":
            return _defined(field, int(below))
        if structural == "@":
            return Where(field, None, _RESOURCES, below)
        rule = _rule(field, structural)
        if rule is ATOMIC and field in BAGS.get(self._name, ()):
            rule = _BAG
        return Where(field, {}, rule, below)

    def items(self) -> Where:
        """Return the place of each element of a list."""
        name = f"{self._name}[]"
        if self._below[:1] == "[":
            return _defined(name, int(self._below[1:]))
        if self._fields is None:
            return Where(name, None, _inferred(name))
        return Where(name, {}, ATOMIC)

    def list_rule(self) -> ListRule:
        """Return how the list at this place merges."""
        return self._rule

    def exclusive(self) -> Groups:
        """Return groups of fields that exclude each other in the mapping at this place."""
        return EXCLUSIVE.get(self._name, ())


_UNKNOWN = Where("", None, ListRule("infer"))


def start(root: Node | None, path: str = "") -> Where:
    """Return the place of the top node of a file.

    A kustomization without a `kind` is recognized by its file name.
    """
    is_named_so = path.rpartition("/")[2] in _KUSTOMIZATION_FILES
    if is_named_so and isinstance(root, Mapping) and not _word(root, "apiVersion"):
        return _kustomization()
    return _UNKNOWN.at(root)


def key_names() -> frozenset[str]:
    """Return the names of all fields that may be a key of a list, or a part of a key."""
    return frozenset((*KEYS, *PORT_KEYS, *keytable.key_fields()))


class ListKeys:
    """Compute the keys of the elements of one list, in one or more versions of the list.

    If no table holds the list, the key is inferred: the elements of all versions must have the key.
    """

    __slots__ = ("fields", "rule")

    def __init__(self, rule: ListRule, versions: Iterable[Entries] = ()) -> None:
        self.rule = rule
        inferred = infer_key(versions) if rule.kind == "infer" else None
        self.fields = rule.fields if inferred is None else (inferred,)  # the key fields

    @property
    def exist(self) -> bool:
        """Return whether the elements have keys.

        The key of an element is made of some of its fields, of the whole scalar in a set, or of the
        identity of a resource.
        """
        return bool(self.fields) or self.rule.kind in ("set", "resources")

    @property
    def paths(self) -> tuple[tuple[str, ...], ...]:
        """Return the paths of the fields that make the key of an element."""
        if self.rule.kind != "resources":
            return tuple((field,) for field in self.fields)
        from kmerge_git.kube.likeness import IDENTITY  # few files hold a List

        return IDENTITY

    def of(self, node: Node) -> Hashable:
        """Return the key of an element, or None if the element has no key."""
        kind = self.rule.kind
        if kind == "keyed":
            defaults = self.rule.defaults
            texts = [field_text(node, field) for field in self.fields]
            # The first key field is required; other key fields may have a default or be absent.
            if texts[0] is None:
                return None
            filled = zip(self.fields, texts, strict=True)
            return tuple(defaults.get(field) if text is None else text for field, text in filled)
        if kind == "set":
            return canon(node) if isinstance(node, Scalar) and not node.anchor else None
        if kind == "resources":
            from kmerge_git.kube.identity import identity  # few files hold a List

            return identity(node)
        return field_text(node, self.fields[0]) if self.fields else None

    def table(self, entries: Entries) -> dict[Hashable, Entry] | None:
        """Return the elements of a version by key.

        Return None if an element has no key, or if two elements have the same key.
        """
        if not self.exist:
            return None
        table: dict[Hashable, Entry] = {}
        for entry in entries:
            key = self.of(entry.value)
            if key is None or key in table:
                return None
            table[key] = entry
        return table

    def step(self, key: Hashable) -> Element:
        """Return an element as a step of a field path; the step of an element of a set is empty."""
        if self.rule.kind == "resources":
            from kmerge_git.kube.identity import Identity, describe

            return (describe(key),) if isinstance(key, Identity) else ()
        pairs = zip(self.fields, key if isinstance(key, tuple) else (key,), strict=False)
        return tuple((field, text) for field, text in pairs if text is not None)


def infer_key(versions: Iterable[Entries]) -> str | None:
    """Return the key of a list that no table holds, found in the elements of each version, or None.

    A field is a key under two conditions: every element has a scalar in the field that is not null,
    and no version repeats a value of the field. Empty versions do not count.
    """
    lists = [[entry.value for entry in entries] for entries in versions if entries]
    for key in KEYS:
        if lists and all(_fits(key, elements) for elements in lists):
            return key
    return None


def _fits(key: str, elements: list[Node]) -> bool:
    seen: set[str] = set()
    for element in elements:
        text = field_text(element, key)
        if text is None or text in seen:
            return False
        seen.add(text)
    return True


def field_text(node: Node, field: str) -> str | None:
    """Return the text of a scalar field, or None if the field is missing, null or not a scalar."""
    value = node.get(field) if isinstance(node, Mapping) else None
    return value.value if isinstance(value, Scalar) and not is_null(value) else None


def has_port_names(rule: ListRule) -> bool:
    """Return whether a list holds ports, whose names must be unique, as must their keys."""
    return rule.kind == "keyed" and rule.fields[0] in PORT_KEYS


def _root(node: Mapping, version: str, kind: str) -> Where:
    group = version.rpartition("/")[0]
    if group == KUSTOMIZATION_GROUP and kind in ("Kustomization", "Component"):
        return _kustomization()
    number = keytable.root(version, kind)
    if number >= 0:
        return _defined("rbac" if group == _RBAC_GROUP else "", number)
    if (group, kind) in CUSTOM:
        return _custom(group, kind)
    if kind == "Template" and group == "template.openshift.io":
        return Where("", {"objects": ("", "@", "")}, ATOMIC)
    if kind.endswith("List") and isinstance(node.get("items"), Sequence):
        item = keytable.root(version, kind.removesuffix("List"))
        below = f"[{item}" if item >= 0 else ""
        return Where("", {"items": ("", "@", below), "metadata": ("", "", "")}, ATOMIC)
    return _UNKNOWN


def _custom(group: str, kind: str) -> Where:
    """Return the top place of a custom resource in `CUSTOM`, whose known lists are at one path."""
    if (group, kind) not in _customs:
        path, facts = CUSTOM[group, kind]
        for step in reversed(path):
            facts = OPEN | {step: ("", "", str(keytable.define(OPEN | facts)))}
        _customs[group, kind] = facts
    return Where("", _customs[group, kind], ATOMIC)


def _kustomization() -> Where:
    words = [word.partition("|") for word in KUSTOMIZATION.split(" ")]
    return Where("", {name: ("", rule, "") for name, _, rule in words}, ATOMIC)


def _defined(name: str, number: int) -> Where:
    return Where(name, keytable.fields(number), ATOMIC)


def _rule(field: str, structural: str) -> ListRule:
    """Return the rule for the list that a column of the table describes.

    A column is `*`, `name`, `containerPort,protocol=TCP` or empty.
    """
    if not structural:
        return ATOMIC
    ordered = field in ORDERED
    known = _rules.get((structural, ordered))
    if known is None:
        if structural == "*":
            known = ListRule("set", ordered=ordered)
        else:
            words = [word.partition("=") for word in structural.split(",")]
            defaults = {name: value for name, sign, value in words if sign}
            known = ListRule("keyed", tuple(word[0] for word in words), defaults, ordered)
        _rules[structural, ordered] = known
    return known


def _inferred(field: str) -> ListRule:
    return ListRule("infer", ordered=True) if field in ORDERED else _UNKNOWN.list_rule()


def _word(mapping: Mapping, field: str) -> str:
    value = mapping.get(field)
    return value.value if isinstance(value, Scalar) else ""

"""Decide how the list at a place of a file merges: by key, as a set, or element by element.

The first hit wins: kustomization files, the table of Kubernetes' own kinds with the definitions
that were learned, lists of resources (`kind: List`, templates of OpenShift), and for everything
else the keys that all elements turn out to have (`infer_key`). The table alone decides about a kind
that it knows: a list without an entry there is atomic.
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

# The keys of lists that no table knows; the first one that fits wins.
KEYS = ("mountPath", "devicePath", "ip", "type", "topologyKey", "name", "containerPort")
# Fields by which the elements of two plain lists are recognized as one, the first one that fits.
RECOGNIZED_BY = ("name", "containerPort", "mountPath", "key", "type", "port")
# The first keys of lists of ports, whose names are unique as well.
PORT_KEYS = ("containerPort", "port")
# Lists whose order means something: init containers run one by one, `$(VAR)` looks upwards.
ORDERED = ("initContainers", "env")

KUSTOMIZATION_GROUP = "kustomize.config.k8s.io"
_RBAC_GROUP = "rbac.authorization.k8s.io"
_KUSTOMIZATION_FILES = ("kustomization.yaml", "kustomization.yml", "Kustomization")


class ListRule:
    """This says how a list merges.

    `kind` is 'keyed' (by `fields`; a missing one has its value in `defaults`, if any), 'set',
    'atomic' (no pairing by key), 'infer' (see `infer_key`) or 'resources' (by identity). The order
    of the elements means something if the list is `ordered`. It means nothing in a `bag`, so that
    an atomic list may take in what both sides add.
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

    def __repr__(self) -> str:
        return f"ListRule({self.kind!r}, {self.fields!r})"


ATOMIC = ListRule("atomic")
_BAG = ListRule("atomic", bag=True)
_RESOURCES = ListRule("resources")
_rules: dict[tuple[str, bool], ListRule] = {}
_customs: dict[tuple[str, str], dict[str, keytable.Facts]] = {}


class Where:
    """This is a place in a resource, as far as the tables know it."""

    __slots__ = ("_below", "_fields", "_name", "_rule")

    def __init__(
        self,
        name: str,
        fields: dict[str, keytable.Facts] | None,
        rule: ListRule,
        below: str = "",
    ) -> None:
        self._name = name
        self._fields = fields  # None: nobody knows what is below
        self._rule = rule
        self._below = below  # `[7` or `{7`: the definition of each element, of each value

    def at(self, node: Node | None) -> Where:
        """Return the place of a node: the root of a resource and a schema say what they are."""
        if isinstance(node, Mapping):
            version, kind = _word(node, "apiVersion"), _word(node, "kind")
            if version and kind:
                return _root(node, version, kind)
            if isinstance(node.get("properties"), Mapping):
                fields = (OPEN if self._fields is None else self._fields) | SCHEMA
                return Where(self._name, fields, self._rule, self._below)
        return self

    def child(self, field: str) -> Where:
        """Return the place below a key of a mapping."""
        if self._below[:1] == "{":
            return _defined(field, int(self._below[1:]))
        if self._fields is None:
            return Where(field, None, _inferred(field))
        # a definition has an entry without a name where a mapping may have any key
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
        """Return groups of fields; the mapping at this place may have one field of each."""
        return EXCLUSIVE.get(self._name, ())


_UNKNOWN = Where("", None, ListRule("infer"))


def start(root: Node | None, path: str = "") -> Where:
    """Return the place of the top node; the `path` of the file matters where the kind is
    left out.
    """
    is_named_so = path.rpartition("/")[2] in _KUSTOMIZATION_FILES
    if is_named_so and isinstance(root, Mapping) and not _word(root, "apiVersion"):
        return _kustomization()
    return _UNKNOWN.at(root)


def key_names() -> frozenset[str]:
    """Return the names of all fields that may be a key of a list, or a part of one."""
    return frozenset((*KEYS, *PORT_KEYS, *keytable.key_fields()))


class ListKeys:
    """These keys tell the elements of one list apart, in any number of versions of it.

    The versions matter where no table knows the list: all their elements must have the key.
    """

    __slots__ = ("fields", "rule")

    def __init__(self, rule: ListRule, versions: Iterable[Entries] = ()) -> None:
        self.rule = rule
        inferred = infer_key(versions) if rule.kind == "infer" else None
        self.fields = rule.fields if inferred is None else (inferred,)  # that make the key

    @property
    def exist(self) -> bool:
        """Return whether the elements have keys: fields, or what they are, or their identity."""
        return bool(self.fields) or self.rule.kind in ("set", "resources")

    @property
    def paths(self) -> tuple[tuple[str, ...], ...]:
        """Return the fields of an element that make its key, as paths."""
        if self.rule.kind != "resources":
            return tuple((field,) for field in self.fields)
        from kmerge_git.kube.likeness import IDENTITY  # few files hold a List

        return IDENTITY

    def of(self, node: Node) -> Hashable:
        """Return the key of an element; None where it has none."""
        kind = self.rule.kind
        if kind == "keyed":
            texts = [field_text(node, field) for field in self.fields]
            # the first must be there, others may have a default or be absent
            return None if texts[0] is None else self._filled(texts)
        if kind == "set":
            return canon(node) if isinstance(node, Scalar) and not node.anchor else None
        if kind == "resources":
            from kmerge_git.kube.identity import identity  # few files hold a List

            return identity(node)
        return field_text(node, self.fields[0]) if self.fields else None

    def _filled(self, texts: list[str | None]) -> Hashable:
        defaults = self.rule.defaults
        return tuple(
            defaults.get(field) if text is None else text
            for field, text in zip(self.fields, texts, strict=True)
        )

    def table(self, entries: Entries) -> dict[Hashable, Entry] | None:
        """Return the elements of a version by their keys; None if one has no key, or two have the
        same.
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
        """Return an element as a step of a field path; an element of a set has no name."""
        if self.rule.kind == "resources":
            from kmerge_git.kube.identity import Identity, describe

            return (describe(key),) if isinstance(key, Identity) else ()
        pairs = zip(self.fields, key if isinstance(key, tuple) else (key,), strict=False)
        return tuple((field, text) for field, text in pairs if text is not None)


def infer_key(versions: Iterable[Entries]) -> str | None:
    """Return the key of a list that no table knows, from its elements in each version; or None.

    A key fits if every element of every version holds it, as a scalar that is not null, and no
    version repeats a value. Empty versions do not count.
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
    """Return the text of a scalar field; None where there is none, or null."""
    value = node.get(field) if isinstance(node, Mapping) else None
    return value.value if isinstance(value, Scalar) and not is_null(value) else None


def has_port_names(rule: ListRule) -> bool:
    """Return whether a list holds ports, whose names are unique besides their keys."""
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
    """Return the root of a resource of which some lists are known, all at one path."""
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
    """Return the rule of a structural column: `*`, `name`, `containerPort,protocol=TCP`,
    or none.
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

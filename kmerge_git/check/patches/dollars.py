"""D70: keys with a `$` that no tool knows, in patches, manifests and values of Helm charts."""

from __future__ import annotations

from collections.abc import Iterator

from kmerge_git.check.kustomize.kustomization import inside
from kmerge_git.check.objects import is_passed_on, is_values_file
from kmerge_git.check.page import Page
from kmerge_git.check.patches.spelling import OTHERS, meant
from kmerge_git.check.patches.verdict import BUILTIN, CUSTOM
from kmerge_git.check.plain import List, Map, Plain, Text, Value
from kmerge_git.check.registry import DOLLAR, ERROR, MANIFEST, Check, Found, also
from kmerge_git.patch.directives import PATCH, is_directive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.check.patches.shapes import FieldType
    from kmerge_git.check.patches.spots import KeySpot

# What people write for a directive: a word for what shall be done, or the word itself.
VALUES = {
    **dict.fromkeys(("delete", "remove", "deleted", "removed", "absent", "delet"), "delete"),
    **dict.fromkeys(("replace", "overwrite", "replaced", "set"), "replace"),
    **dict.fromkeys(("merge", "keep", "retain"), "merge"),
}
ACTIONS = frozenset(("action", "op", "operation", "do", "mode", "strategy", "state", "directive"))
TRUE = frozenset(("true", "yes", "on", "null", "~", ""))


@Check(
    "D70", ERROR, DOLLAR, "a key with a `$` that no tool knows",
    hides=("D68",), ends_walk=True,
    kubectl="It is stored as a field, or refused as an unknown one; nothing is executed.",
    kustomize="It ends up in the output, nothing is executed.",
    example="containers:\n- name: side\n  $delete: true",
    counter="containers:\n- name: side\n  $patch: delete",
    mend="The directives are `$patch`, `$retainKeys`, `$setElementOrder/..` and "
    "`$deleteFromPrimitiveList/..`, and only patches have them.",
)  # fmt: skip
def unknown_word(here: KeySpot) -> Iterator[Found]:
    """`$delete: true` or `$action: replace` in a patch; of other kinds only what reads so."""
    spot, key = here.spot, here.key
    if key in OTHERS or is_directive(key) or meant(key):
        return
    is_no_field = spot.kind == BUILTIN and spot.struct is not None and spot.field(key) is None
    is_order = spot.kind != CUSTOM and reads_as_order(key, here.value)
    if is_order or (is_no_field and not spot.user):
        yield Found(here.at, f"{key} is no directive: it is stored as a field{_hint(here)}")


def _hint(here: KeySpot) -> str:
    """What may have been meant, with the word that the value or the key is."""
    for word in (here.value.text if isinstance(here.value, Text) else "", here.key[1:]):
        if word.lower() in VALUES and VALUES[word.lower()] != "merge":
            return f"; did you mean $patch: {VALUES[word.lower()]}?"
    return "; drop it"


def reads_as_order(key: str, value: Value) -> bool:
    """Whether key and value together say what shall be done: `$delete: true`, `$path: delete`."""
    text = value.text.lower() if isinstance(value, Text) else None
    guess = meant(key)
    if guess == PATCH:
        return text in VALUES
    if guess:
        return isinstance(value, List)
    word = key[1:].lower()
    if word in VALUES:
        return text is not None and (text in TRUE or text in VALUES)
    return word in ACTIONS and text in VALUES


# -- files that are no patches ------------------------------------------------------------------


@also("D70", MANIFEST)
def in_manifest(page: Page, plain: Plain) -> Iterator[Found]:
    """Such a key in an object of a built-in kind, or one that reads as an order elsewhere."""
    root = plain.root
    if not plain.dollar or not isinstance(root, Map):
        return
    if not (root.text("apiVersion") and root.text("kind")) and not is_values_file(page.path, root):
        return  # JSON Schema, queries and much else have such keys
    from kmerge_git.check.patches.shapes import root_type  # late: most files have no such key

    type = root_type(root.text("apiVersion"), root.text("kind"))
    held = {id(entry.value) for entry in inside(page, root) if entry.value is not None}
    what = "no field of the kind" if type is not None else "no directive, and this is no patch"
    for key, at in _unknown(root, type, held):
        yield Found(at, f"{key} is {what}: it is refused, or stored as it is; drop it")


def _unknown(root: Map, type: FieldType | None, seen: set[int]) -> Iterator[tuple[str, int]]:
    """The keys that a kind does not have; where no kind is known, those that read as orders."""
    todo: list[tuple[Value, FieldType | None]] = [(root, type)]
    while todo:
        value, field = todo.pop()
        if id(value) in seen or (type is not None and (field is None or field.kind == "free")):
            continue
        seen.add(id(value))
        if isinstance(value, List):
            todo += [(item, field.of if field else None) for item in reversed(value.values)]
        elif isinstance(value, Map):
            for key, (at, item) in value.fields.items():
                if key[:1] == "$":
                    if _is_unknown(key, item, field):
                        yield key, at
                elif type is not None or not is_passed_on(key):
                    todo.append((item, _below(field, key)))


def _is_unknown(key: str, value: Value, field: FieldType | None) -> bool:
    if key in OTHERS or is_directive(key):
        return False
    struct = field.struct if field else None
    return (struct is not None and struct.field(key) is None) or reads_as_order(key, value)


def _below(field: FieldType | None, key: str) -> FieldType | None:
    if field is None:
        return None
    return field.struct.field(key) if field.struct else field.of

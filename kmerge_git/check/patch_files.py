"""D60-D62, D65-D67: what a whole file or document is, and who reads it."""

from __future__ import annotations

from kmerge_git.check.directives import directives_below
from kmerge_git.check.plain import List, Map, Text, Value
from kmerge_git.check.registry import (
    BOOK,
    DOLLAR,
    ERROR,
    MANIFEST,
    PATCH,
    REPEATED,
    WARNING,
    WORDS,
    Found,
    check,
)
from kmerge_git.check.walk import CUSTOM, KeySpot, Spot
from kmerge_git.check.words import YES_NO, is_date, is_plain, octal
from kmerge_git.patch.directives import DELETE, ORDER, RETAIN_KEYS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.check.world import Book


@check(
    "D60", ERROR, MANIFEST, "a directive in a file that is no patch",
    kubectl="`kubectl apply` executes it against the live object, or stores it as a field.",
    kustomize="It is passed on to the output.",
    example="apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  $patch: replace\n"
    "  a: b",
    mend="Remove the directive; or, if the file is a patch, list it under `patches:` of the "
    "kustomization, or check it with `--patch`.",
)  # fmt: skip
def directive_in_manifest(root: Value) -> Iterator[Found]:
    """A directive that was copied along."""
    for at, key in directives_below(root):
        yield Found(
            at,
            f"{key} in a file that is no patch: kubectl apply eats or stores it, kustomize passes "
            "it on; remove it",
        )


@check(
    "D61", ERROR, DOLLAR, "a directive that kustomize does not know",
    tools="Z",
    kubectl="It is executed.",
    kustomize="It is not executed and ends up in the output.",
    example="$setElementOrder/containers:\n- name: web\n- name: side",
    mend="Drop it. Kustomize deletes with `$patch: delete` and null, and has no order directive.",
)  # fmt: skip
def unknown_to_kustomize(here: KeySpot) -> Iterator[Found]:
    """`$setElementOrder`, `$deleteFromPrimitiveList`, `$retainKeys`."""
    if here.key == RETAIN_KEYS or here.key.startswith((ORDER, DELETE)):
        yield Found(
            here.at, f"kustomize does not know {here.key}; it ends up in the output; drop it"
        )


@check(
    "D62", ERROR, PATCH, "a strategic merge patch for a custom resource",
    needs="S",
    kubectl="The API server refuses it (415); kubectl says `strategic merge patch is not "
    "supported`.",
    kustomize="Lists are replaced, not merged, unless the kustomization has an `openapi:` field.",
    example="apiVersion: example.com/v1\nkind: Database\nmetadata:\n  name: db\nspec:\n"
    "  groups:\n  - name: a",
    mend="Use a JSON merge patch (`kubectl patch --type merge`); with kustomize write the whole "
    "list, or name the keys of the lists in `openapi:`.",
)  # fmt: skip
def custom_resource(spot: Spot) -> Iterator[Found]:
    """Lists or directives, which need a schema that the tools do not have."""
    if spot.kind != CUSTOM:
        return
    lists = list(_lists(spot.map, "", set()))
    directives = directives_below(spot.map)
    if "K" in spot.tools and (lists or directives):
        at = min([d[0] for d in directives] + [found[0] for found in lists])
        yield Found(at, "the API server refuses it; use a JSON merge patch")
    elif "K" not in spot.tools:
        for at, path in lists:
            yield Found(
                at,
                f"list {path} is replaced, not merged (no openapi: field)",
                path=path,
                severity=WARNING,
            )


def _lists(value: Map, path: str, seen: set[int]) -> Iterator[tuple[int, str]]:
    if id(value) in seen:
        return
    seen.add(id(value))
    for key, (at, item) in value.fields.items():
        where = f"{path}.{key}" if path else key
        if isinstance(item, List):
            yield at, where
        elif isinstance(item, Map):
            yield from _lists(item, where, seen)


@check(
    "D65", WARNING, BOOK, "several documents in a patch file for kubectl",
    tools="K",
    kubectl="Only the first document is used.",
    kustomize="Each document is a patch.",
    example="spec:\n  replicas: 2\n---\nspec:\n  replicas: 3",
    mend="Write one file for each patch.",
)  # fmt: skip
def several_documents(book: Book) -> Iterator[Found]:
    """What stands behind the second `---`."""
    filled = [p for p in book.plains if p.root is not None]
    if len(filled) > 1 and filled[1].root is not None:
        yield Found(filled[1].root.at, "kubectl patch uses only the first document")


@check(
    "D66", ERROR, REPEATED, "a repeated key in a patch",
    kubectl="The last value counts.",
    kustomize="The first value counts, or the file is refused.",
    example="spec:\n  replicas: 2\n  replicas: 3",
    mend="Keep one of them.",
)  # fmt: skip
def repeated_key(value: Map) -> Iterator[Found]:
    """The same key twice in one map."""
    for key, at, _ in value.repeated:
        yield Found(at, f"{key} is here twice: kubectl takes the last value, kustomize the first")


@check(
    "D67", WARNING, WORDS, "a plain word that the tools read differently",
    kubectl="It reads YAML 1.1: `y` and `on` are booleans, `0777` is 511, a date stays a string.",
    kustomize="It reads `y` and `on` as strings, and a date as a time.",
    example="data:\n  enabled: yes",
    mend="Quote a string; write true or false for a boolean, 511 for a mode.",
)  # fmt: skip
def ambiguous_word(value: Text) -> Iterator[Found]:
    """`y n yes no on off`, dates, `0777`."""
    if not is_plain(value):
        return
    text = value.text
    if text in YES_NO:
        yield Found(value.at, f'kubectl reads {YES_NO[text]}, kustomize "{text}"; quote it')
    elif is_date(text):
        yield Found(value.at, f'kubectl reads the string "{text}", kustomize a time; quote it')
    elif (number := octal(text)) is not None:
        yield Found(
            value.at,
            f"{text} is {number} to a YAML 1.1 reader as kubectl, {text.lstrip('0') or '0'} to a "
            f"YAML 1.2 reader; write {number}, or quote it",
        )

"""D60, D65-D67: what a whole file or document is, and who reads it."""

from __future__ import annotations

from kmerge_git.check.directives import directives_below
from kmerge_git.check.kustomization import inside
from kmerge_git.check.plain import Map, Plain, Value, scalars
from kmerge_git.check.registry import (
    ERROR,
    MANIFEST,
    PATCH_BOOK,
    PATCH_REPEATED,
    WARNING,
    WORDS,
    Check,
    Found,
)
from kmerge_git.check.words import YES_NO, is_date, is_plain, may_differ, octal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.check.page import Page
    from kmerge_git.check.world import Book


@Check(
    "D60", ERROR, MANIFEST, "a directive in a file that is no patch",
    kubectl="`kubectl apply` executes it against the live object, or stores it as a field.",
    kustomize="It is passed on to the output.",
    example="apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  $patch: replace\n"
    "  a: b",
    mend="Remove the directive; or, if the file is a patch, list it under `patches:` of the "
    "kustomization, or check it with `--patch`.",
)  # fmt: skip
def directive_in_manifest(page: Page, plain: Plain) -> Iterator[Found]:
    """A directive that was copied along; not those of the patches that an object holds."""
    root = plain.root
    if root is None or not plain.dollar:
        return
    held = _directives_held(page, root)
    for at, key in directives_below(root):
        if at not in held:
            yield Found(
                at,
                f"{key} in a file that is no patch: kubectl apply eats or stores it, kustomize "
                "passes it on; remove it",
            )


def _directives_held(page: Page, root: Value) -> set[int]:
    """Where the directives of patches stand that an object has as values."""
    if not isinstance(root, Map):
        return set()
    if root.text("kind") == "ControllerRevision":  # a stored revision is a patch by design
        return {at for at, _ in directives_below(root)}
    return {at for entry in inside(page, root) for at, _ in directives_below(entry.value)}


@Check(
    "D65", WARNING, PATCH_BOOK, "several documents in a patch file for kubectl",
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


@Check(
    "D66", ERROR, PATCH_REPEATED, "a repeated key in a patch",
    twin="M02",
    kubectl="The last value counts.",
    kustomize="The first value counts, or the file is refused.",
    example="spec:\n  replicas: 2\n  replicas: 3",
    mend="Keep one of them.",
)  # fmt: skip
def repeated_key(plain: Plain) -> Iterator[Found]:
    """The same key twice in one map."""
    for key, at in plain.repeated():
        yield Found(at, f"{key} is here twice: kubectl takes the last value, kustomize the first")


@Check(
    "D67", WARNING, WORDS, "a plain word that the tools read differently",
    kubectl="It reads YAML 1.1: `y` and `on` are booleans, `0777` is 511, a date stays a string.",
    kustomize="It reads `y` and `on` as strings, and a date as a time.",
    example="data:\n  enabled: yes",
    mend="Quote a string; write true or false for a boolean, 511 for a mode.",
)  # fmt: skip
def ambiguous_word(page: Page, plain: Plain) -> Iterator[Found]:
    """`y n yes no on off`, dates, `0777`."""
    if not may_differ(page.source.text):
        return
    for value in scalars(plain.root):
        meanings = _meanings(value.text) if is_plain(value) else ""
        if meanings:
            yield Found(value.at, meanings)


def _meanings(text: str) -> str:
    """What the tools make of a plain word; nothing where they agree."""
    if text in YES_NO:
        return f'kubectl reads {YES_NO[text]}, kustomize "{text}"; quote it'
    if is_date(text):
        return f'kubectl reads the string "{text}", kustomize a time; quote it'
    number = octal(text)
    if number is None:
        return ""
    return (
        f"{text} is {number} to a YAML 1.1 reader as kubectl, {text.lstrip('0') or '0'} to a "
        f"YAML 1.2 reader; write {number}, or quote it"
    )

"""M01-M03, M07, M10: what a careless merge leaves behind in files."""

from __future__ import annotations

from collections.abc import Iterator

from kmerge_git.check.objects import identity
from kmerge_git.check.page import Page
from kmerge_git.check.plain import Plain
from kmerge_git.check.registry import (
    BOOK,
    ERROR,
    REPEATED,
    TEXT,
    UNREAD,
    Check,
    Found,
)
from kmerge_git.check.world import Book
from kmerge_git.errors import CannotParse
from kmerge_git.kube.identity import Identity, describe


@Check(
    "M01", ERROR, TEXT, "leftover conflict markers",
    kubectl="The file is no YAML, or worse: the markers end up in a text.",
    kustomize="The build fails.",
    example="<<<<<<< HEAD\n  replicas: 2\n=======\n  replicas: 3\n>>>>>>> topic",
    mend="Decide between the sides, remove the markers, and `git add` the file.",
)  # fmt: skip
def leftover_markers(page: Page) -> Iterator[Found]:
    """The lines `<<<<<<<`, `|||||||`, `=======` and `>>>>>>>`, of any length that git writes."""
    if not any(mark in page.source.text for mark in ("<<<", ">>>", "|||", "===")):
        return
    marks = list(_markers(page.source.text))
    sure = {n for at, char, n in marks if n >= 7 and char in "<>|"}
    sure |= _complete(marks)
    for at, char, length in marks:
        if length in sure:
            where = " between two sides" if char == "=" else ""
            yield Found(at, f"leftover conflict marker {char * length}{where}")


def _markers(text: str) -> Iterator[tuple[int, str, int]]:
    """Offset, character and length of every line that looks like a marker."""
    position = 0
    for line in text.split("\n"):
        char = line[:1]
        if char and char in "<>|=" and line.startswith(char * 3):
            length = len(line) - len(line.lstrip(char))
            rest = line[length:].rstrip("\r")
            if not rest or rest[0] == " ":
                yield position, char, length
        position += len(line) + 1


def _complete(marks: list[tuple[int, str, int]]) -> set[int]:
    """The lengths for which an opening, a middle and a closing marker follow each other."""
    found = set()
    for length in {n for _, _, n in marks}:
        chars = "".join(char for _, char, n in marks if n == length).replace("|", "")
        if "<=>" in chars:
            found.add(length)
    return found


@Check(
    "M02", ERROR, REPEATED, "a key twice in one mapping",
    twin="D66",
    kubectl="The last value counts, the first one is lost; strict readers refuse the file.",
    kustomize="The file is refused, or the first value counts.",
    example="spec:\n  replicas: 2\n  replicas: 3",
    mend="Keep one of them: both sides of a merge may have added the key.",
)  # fmt: skip
def repeated_key(plain: Plain) -> Iterator[Found]:
    """A line merge leaves this where both sides added the key in different places."""
    for key, at in plain.repeated:
        yield Found(at, f"{key} is here twice; only one of the values counts, the other is lost")


@Check(
    "M03", ERROR, BOOK, "the same resource twice in a file",
    kubectl="Both are applied, one after the other; the last one wins.",
    kustomize="The build fails: `may not add resource with an already registered id`.",
    example="apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n---\napiVersion: v1\n"
    "kind: ConfigMap\nmetadata:\n  name: web",
    counter="apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n---\napiVersion: v1\n"
    "kind: ConfigMap\nmetadata:\n  name: web\n  namespace: test",
    mend="Keep one of them, or merge their content.",
)  # fmt: skip
def same_resource_twice(book: Book) -> Iterator[Found]:
    """Two documents with one group, kind, namespace and name: both sides of a merge added it."""
    seen: dict[Identity, int] = {}
    for root in book.objects():
        found = identity(root)
        if not found.name or not found.kind:
            continue
        if found in seen:
            line = book.page.position(seen[found])[0]
            message = f"{describe(found)} is in this file twice, first in line {line}"
            yield Found(root.at, message)
        else:
            seen[found] = root.at


@Check(
    "M07", ERROR, UNREAD, "an alias without an anchor",
    kubectl="The file cannot be read.",
    kustomize="The file cannot be read.",
    example="resources: *defaults",
    mend="Restore the `&anchor`: one side of a merge may have removed it while the other used it.",
)  # fmt: skip
def undefined_alias(error: CannotParse, offset: int) -> Iterator[Found]:
    """An alias whose `&anchor` stood in a block that one side of a merge removed."""
    if "undefined alias" in error.why:
        yield Found(offset, "the anchor of this alias is not in the document")


@Check(
    "M10", ERROR, UNREAD, "a manifest that cannot be parsed",
    kubectl="The file cannot be read.",
    kustomize="The file cannot be read.",
    example="spec:\n  replicas: 2\n   paused: true",
    mend="Correct the YAML; Helm templates are recognised and skipped.",
)  # fmt: skip
def unparseable(error: CannotParse, offset: int) -> Iterator[Found]:
    """What the YAML reader says about a file that was meant to be a manifest."""
    if "undefined alias" not in error.why:
        hint = f"; {error.hint}" if error.hint else ""
        yield Found(offset, f"{error.why}{hint}")

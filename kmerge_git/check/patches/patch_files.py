"""D60, D64-D67: find mistakes that concern a whole file or patch, and ambiguous words."""

from __future__ import annotations

from collections.abc import Iterator

from kmerge_git.check.checked_texts import Book, Page, shown
from kmerge_git.check.kustomize.kustomization import PatchEntry, inside
from kmerge_git.check.page_values import (
    YES_NO,
    List,
    Map,
    Plain,
    Text,
    Value,
    directives_below,
    is_date,
    is_object,
    is_values_file,
    may_differ,
    passed_on,
    places,
)
from kmerge_git.check.registry import (
    ENTRY,
    ERROR,
    INFO,
    INLINE,
    MANIFEST,
    MERGE_PATCH,
    PATCH_BOOK,
    PATCH_REPEATED,
    WARNING,
    WORDS,
    Check,
    Found,
    also,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kmerge_git.kube.fieldpath import Path


@Check(
    "D60", ERROR, MANIFEST, "a directive in a file that is not a patch",
    kubectl="`kubectl apply` acts on the directive, or stores it as a field.",
    kustomize="kustomize copies the directive to the output.",
    example="apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  $patch: replace\n"
    "  a: b",
    counter="# file: kustomization.yaml\nresources:\n- https://example.com/base\npatches:\n"
    "- path: config.yaml\n# file: config.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n"
    "  name: c\ndata:\n  $patch: replace\n  a: b",
    mend="Remove the directive. If the file is a patch, list it under `patches:` of the "
    "kustomization, or check it with `--as patch`.",
)  # fmt: skip
def directive_in_manifest(page: Page, plain: Plain) -> Iterator[Found]:
    """Find a directive in a resource, outside of patches that the resource holds."""
    root = plain.root
    if not isinstance(root, Map) or not plain.dollar:
        return
    what = "kubectl apply acts on it or stores it, and kustomize copies it to the output; remove it"
    if is_values_file(page.path, root):
        what = "Helm treats it as a value; remove it, or write null to remove a default"
    elif not is_object(root):
        return
    held = _directives_held(page, root)
    for at, key in directives_below(root):
        if at not in held:
            yield Found(at, f"{key} in a file that is not a patch: {what}")


@also("D60", MERGE_PATCH)
def directive_in_merge_patch(plain: Plain) -> Iterator[Found]:
    """Find a directive in a JSON merge patch."""
    for at, key in directives_below(plain.root) if plain.dollar else ():
        what = f"{key} in a merge patch is stored as a field"
        yield Found(at, f"{what}; remove it, or make this a strategic merge patch")


def _directives_held(page: Page, root: Map) -> set[int]:
    """Return the offsets of the directives in the patches that an object contains."""
    if root.string("kind") == "ControllerRevision":  # a stored revision is a patch by design
        return {at for at, _ in directives_below(root)}
    held = [entry.value for entry in inside(page, root)] + list(passed_on(root))
    return {at for value in held for at, _ in directives_below(value)}


@Check(
    "D64", ERROR, ENTRY, "a patch that kustomize refuses",
    tools="Z",
    kubectl="Not affected.",
    kustomize="The build fails.",
    example="# file: kustomization.yaml\npatches:\n- path: empty.yaml\n"
    "# file: empty.yaml\n# nothing yet",
    counter="# file: kustomization.yaml\nresources:\n- https://example.com/base\npatches:\n"
    "- path: web.yaml\n# file: web.yaml\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n"
    "  name: web\nspec:\n  replicas: 2",
    mend="Write one patch per entry. A JSON 6902 list needs a `target:`.",
)  # fmt: skip
def refused_patch(entry: PatchEntry, roots: list[Value], at: int) -> Iterator[Found]:
    """Find a patch that kustomize refuses, such as an empty patch or a list without `target:`."""
    if entry.path and entry.inline is not None:
        yield Found(at, f"{shown(entry.field)} has both path and patch; keep one of them")
    elif not roots:
        yield Found(at, "the patch is empty; kustomize refuses it")
    elif entry.target is not None and len(roots) > 1:
        yield Found(at, "several documents in one patch with a target; kustomize refuses it")
    elif isinstance(roots[0], List) and not roots[0].values:
        yield Found(at, "the list of operations is empty; kustomize refuses it")
    elif isinstance(roots[0], List) and entry.target is None:
        yield Found(at, "kustomize refuses a JSON 6902 patch without a target; add `target:`")


@also("D64", INLINE)
def unreadable_patch(entry: PatchEntry) -> Iterator[Found]:
    """Find an inline patch whose text is not YAML."""
    if entry.inline is not None:
        message = f"{shown(entry.field)} is not YAML; kustomize refuses this patch"
        yield Found(entry.inline.at, message)


@Check(
    "D65", ERROR, PATCH_BOOK, "several documents in a patch file for kubectl",
    tools="K",
    kubectl="kubectl uses only the first document and ignores the others without a message.",
    counter="---\nspec:\n  replicas: 2\n---\n# nothing more",
    kustomize="kustomize uses each document as a patch.",
    example="spec:\n  replicas: 2\n---\nspec:\n  replicas: 3",
    mend="Write one file per patch.",
)  # fmt: skip
def several_documents(book: Book) -> Iterator[Found]:
    """Find a second document, which `kubectl patch --patch-file` never reads."""
    more = [plain.root for plain in book.plains[1:] if plain.root is not None]
    if more:
        yield Found(more[0].at, "kubectl patch uses only the first document")


@Check(
    "D66", ERROR, PATCH_REPEATED, "duplicate key in a patch",
    twin="M02",
    kubectl="kubectl uses the last value.",
    kustomize="kustomize uses the first value, or refuses the file.",
    example="spec:\n  replicas: 2\n  replicas: 3",
    counter="replicas: 2\nstrategy:\n  rollingUpdate:\n    maxSurge: 2",
    mend="Keep one of the two keys.",
)  # fmt: skip
def repeated_key(plain: Plain) -> Iterator[Found]:
    """Find a key that a mapping of a patch has twice."""
    for key, at, is_alike, _ in plain.repeated:
        is_harmless = is_alike and plain.is_json
        effect = "kubectl uses the last value, kustomize the first"
        what = f"duplicate key {key}; " + ("both values are equal" if is_harmless else effect)
        yield Found(at, what, severity=INFO if is_harmless else "")


@Check(
    "D67", WARNING, WORDS, "an unquoted word that kubectl and kustomize read differently",
    kubectl="kubectl reads `yes` and `on` as booleans, which the API server refuses in a string "
    "field. A date stays a string.",
    kustomize="kustomize reads `yes` and `on` as strings, which the API server refuses in a "
    "boolean field. kustomize reads a date as a timestamp: `2020-01-31T00:00:00Z`. If kmerge "
    "knows which tool reads the patch, it reports only words that this tool misreads, and "
    "reports them as errors.",
    example="apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  labels:\n"
    "    canary: on\nspec:\n  paused: on",
    counter="apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  labels:\n"
    "    canary: 'on'\n  annotations:\n    since: 2020-01-31\nspec:\n  paused: true",
    mend="Quote strings, and write booleans as true or false.",
)  # fmt: skip
def ambiguous_word(page: Page, plain: Plain, tools: str = "") -> Iterator[Found]:
    """Find dates, and words such as `yes`, that kubectl or kustomize may misread."""
    root = plain.root if may_differ(page.source.text) else None
    for path, _, value in places(root):
        word = value.text if isinstance(value, Text) and value.is_plain else ""
        message, amiss = _meanings(word, path)
        if message:
            # late: few words differ
            from kmerge_git.check.patches.field_types import root_type, type_below

            api, kind = (root.string(field) if root else "" for field in ("apiVersion", "kind"))
            field = type_below(root_type(api, kind), *path)
            type = field.type if field is not None else ""
            is_sure = bool(tools) and type in amiss
            if not tools or set(tools) & set(amiss.get(type, "KZ")):
                yield Found(value.at, message, severity=ERROR if is_sure else "")


def _meanings(text: str, path: Path) -> tuple[str, dict[str, str]]:
    """Describe how the tools read an unquoted word, and which tool misreads it in which field.

    The second result has the type of a field as key and the tool that misreads the word as value.
    """
    if text in YES_NO:
        message = f'kubectl reads {YES_NO[text]}, kustomize "{text}"; quote it'
        return message, {"string": "K", "boolean": "Z"}
    # in annotations kustomize reads a date as a text
    if is_date(text) and "annotations" not in path:
        message = f'kubectl reads the string "{text}", kustomize a time; quote it'
        return message, {"string": "Z", "": "Z"}
    return "", {}

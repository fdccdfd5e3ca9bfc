"""M20-M28: compare a merged file with its sides, to find mistakes that the merge made."""

from __future__ import annotations

from kmerge_git.check.merges.merge_walk import CUT, FUSED, GONE, NEW, TWICE, UNTIED
from kmerge_git.check.registry import (
    ERROR,
    MERGED,
    MERGED_TEMPLATE,
    MERGED_TEXT,
    MERGED_UNREAD,
    WARNING,
    Check,
    Found,
    also,
)
from kmerge_git.errors import KmergeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.check.merges.merged_files import SidedFile
    from kmerge_git.errors import CannotParse


# texts that these checks have in common
_BOTH = "The file is valid, and says something that nobody wanted."
_DIFF = "`git diff HEAD -- FILE` (of a committed merge `git diff MERGE^ MERGE -- FILE`) shows"
_ON_PURPOSE = "If it is meant, a comment `# kmerge: ignore` with the id in that line says so."


@Check(
    "M20", ERROR, MERGED, "a field that no side of the merge has",
    kubectl=_BOTH, kustomize=_BOTH,
    example="# base:\nreplicas: 1\nimage:\n  name: web\n  tag: v1\n"
    "# ours:\nreplicas: 2\nimage:\n  name: web\n  tag: v1\n"
    "# theirs:\nreplicas: 1\nimage:\n  name: web\n  tag: v2\n"
    "# committed:\nreplicas: 2\nimage:\n  name: web\ntag: v2",
    counter="# base:\nreplicas: 1\nimage:\n  name: web\n  tag: v1\n"
    "# ours:\nreplicas: 2\nimage:\n  name: web\n  tag: v1\n"
    "# theirs:\nreplicas: 1\nimage:\n  name: web\n  tag: v2\n"
    "# committed:\nreplicas: 2\nimage:\n  name: web\n  tag: v2",
    mend="Look at its indentation: it stands where neither side has such a field. "
    + _ON_PURPOSE,
)  # fmt: skip
def field_of_no_side(merged: SidedFile) -> Iterator[Found]:
    """Find a field that no side has, because its line moved to a wrong column or block."""
    yield from _said(merged, NEW)


@Check(
    "M21", ERROR, MERGED, "what every side of the merge has, and is gone",
    kubectl="The file is valid; applying it takes away what nobody wanted to be gone.",
    kustomize="The file is valid; applying it takes away what nobody wanted to be gone.",
    example="# base:\nreplicas: 1\nimage:\n  name: web\n  tag: v1\n"
    "# ours:\nreplicas: 2\nimage:\n  name: web\n  tag: v1\n"
    "# theirs:\nreplicas: 1\nimage:\n  name: web\n  tag: v2\n"
    "# committed:\nreplicas: 2\nimage:\n  tag: v2",
    counter="# base:\nreplicas: 1\nimage:\n  name: web\n  tag: v1\n"
    "# ours:\nreplicas: 2\nimage:\n  name: web\n  tag: v1\n"
    "# theirs:\nreplicas: 1\nimage:\n  name: web\n  tag: v2\n"
    "# committed:\nreplicas: 2\nimage:\n  name: web\n  tag: v2",
    mend=f"Put it back: {_DIFF} what was taken away. "
    + _ON_PURPOSE,
)  # fmt: skip
def gone_from_all(merged: SidedFile) -> Iterator[Found]:
    """Find a field, element or resource that every side has and that the result lost."""
    yield from _said(merged, GONE)


@Check(
    "M22", ERROR, MERGED, "an element that stands twice, and on no side of the merge",
    kubectl="The object is refused, or has the element twice.",
    kustomize="The element stands twice in the output.",
    example="# base:\nargs: [--v]\nrules:\n- host: a\n  path: /\n"
    "# ours:\nargs: [--vv]\nrules:\n- host: a\n  path: /\n- host: b\n  path: /\n"
    "# theirs:\nargs: [--v]\nrules:\n- host: b\n  path: /\n- host: a\n  path: /\n"
    "# committed:\nargs: [--vv]\nrules:\n- host: b\n  path: /\n- host: a\n  path: /\n"
    "- host: b\n  path: /",
    counter="# base:\nargs: [--v]\nrules:\n- host: a\n  path: /\n"
    "# ours:\nargs: [--vv]\nrules:\n- host: a\n  path: /\n- host: b\n  path: /\n"
    "# theirs:\nargs: [--v]\nrules:\n- host: b\n  path: /\n- host: a\n  path: /\n"
    "# committed:\nargs: [--vv]\nrules:\n- host: b\n  path: /\n- host: a\n  path: /",
    mend="Keep one of them: both sides of the merge have added it. " + _ON_PURPOSE,
)  # fmt: skip
def element_twice(merged: SidedFile) -> Iterator[Found]:
    """Find an element that both sides added and that is in the result twice."""
    yield from _said(merged, TWICE)


@Check(
    "M23", ERROR, MERGED, "a merge key or an alias that every side of the merge has, and is gone, "
    "or that means another anchor than on each side",
    kubectl="The file is valid, but lacks what the anchor brought.",
    kustomize="The file is valid, but lacks what the anchor brought.",
    example="# base:\ncommon: &common\n  cpu: 1\nweb:\n  <<: *common\n  port: 80\n"
    "# ours:\ncommon: &common\n  cpu: 2\nweb:\n  <<: *common\n  port: 80\n"
    "# theirs:\ncommon: &common\n  cpu: 1\nweb:\n  <<: *common\n  port: 81\n"
    "# committed:\ncommon: &common\n  cpu: 2\nweb:\n  port: 81",
    counter="# base:\ncommon: &common\n  cpu: 1\nweb:\n  <<: *common\n  port: 80\n"
    "# ours:\ncommon: &common\n  cpu: 2\nweb:\n  <<: *common\n  port: 80\n"
    "# theirs:\ncommon: &common\n  cpu: 1\nweb:\n  <<: *common\n  port: 81\n"
    "# committed:\ncommon: &common\n  cpu: 2\nweb:\n  <<: *common\n  port: 81",
    mend=f"Put it back: {_DIFF} it. " + _ON_PURPOSE,
)  # fmt: skip
def tie_gone(merged: SidedFile) -> Iterator[Found]:
    """Find a lost `<<: *anchor`, a lost alias as a value, or an alias that means another anchor."""
    yield from _said(merged, UNTIED)


@Check(
    "M24", ERROR, MERGED, "two documents became one",
    kubectl="Of two objects one is left, or a mixture of both.",
    kustomize="The file is refused, or one object is left.",
    example="# base:\nname: a\nsize: 1\n---\nhost: b\nport: 80\n"
    "# ours:\nname: a\nsize: 2\n---\nhost: b\nport: 80\n"
    "# theirs:\nname: a\nsize: 1\n---\nhost: b\nport: 81\n"
    "# committed:\nname: a\nsize: 2\nhost: b\nport: 81",
    counter="# base:\nname: a\nsize: 1\n---\nhost: b\nport: 80\n"
    "# ours:\nname: a\nsize: 2\n---\nhost: b\nport: 80\n"
    "# theirs:\nname: a\nsize: 1\n---\nhost: b\nport: 81\n"
    "# committed:\nname: a\nsize: 2\n---\nhost: b\nport: 81",
    mend="Write `---` between the two documents.",
    hides=("M02",),
)  # fmt: skip
def fused_documents(merged: SidedFile) -> Iterator[Found]:
    """Find two documents that became one, because the `---` between them is missing."""
    yield from _said(merged, FUSED)


@Check(
    "M25", ERROR, MERGED, "a text of several lines that was cut, or lost its header",
    kubectl="The file is valid; the script or configuration in it is not what it was.",
    kustomize="The file is valid; the script or configuration in it is not what it was.",
    example="# base:\nsize: 1\nrun: |\n  make all\n  make install\n  echo done\n"
    "# ours:\nsize: 2\nrun: |\n  make all\n  make install\n  echo done\n"
    "# theirs:\nsize: 1\nrun: |\n  make -k all\n  make install\n  echo done\n"
    "# committed:\nsize: 2\nrun: |\n  make -k all\n  make install",
    counter="# base:\nsize: 1\nrun: |\n  make all\n  make install\n  echo done\n"
    "# ours:\nsize: 2\nrun: |\n  make all\n  make install\n  echo done\n"
    "# theirs:\nsize: 1\nrun: |\n  make -k all\n  make install\n  echo done\n"
    "# committed:\nsize: 2\nrun: |\n  make -k all\n  make install\n  echo done",
    mend=f"Put the lines and the `|` back: {_DIFF} them. "
    + _ON_PURPOSE,
)  # fmt: skip
def cut_text(merged: SidedFile) -> Iterator[Found]:
    """Find a block scalar that lost its `|`, or lost lines which every side has."""
    yield from _said(merged, CUT)


@Check(
    "M26", ERROR, MERGED_UNREAD, "a file that every side of the merge could parse, and that no "
    "longer parses",
    kubectl="The file cannot be read.",
    kustomize="The file cannot be read.",
    example="# base:\nreplicas: 1\nimage: {name: web, tag: v1}\n"
    "# ours:\nreplicas: 2\nimage: {name: web, tag: v1}\n"
    "# theirs:\nreplicas: 1\nimage: {name: web, tag: v2}\n"
    "# committed:\nreplicas: 2\nimage: {name: web, tag: v2",
    counter="# base:\nreplicas: 1\nimage: {name: web, tag: v1}\n"
    "# ours:\nreplicas: 2\nimage: {name: web, tag: v1}\n"
    "# theirs:\nreplicas: 1\nimage: {name: web, tag: v2}\n"
    "# committed:\nreplicas: 2\nimage: {name: web, tag: v2}",
    hides=("M10",),
    mend=f"Correct the YAML: {_DIFF} what was changed.",
)  # fmt: skip
def no_longer_parses(merged: SidedFile, error: CannotParse, offset: int) -> Iterator[Found]:
    """Find YAML or JSON that lost a bracket, a quotation mark or an indentation.

    The file may be of any kind.
    """
    if "undefined alias" not in error.why and merged.could_be_read():
        yield Found(offset, f"{error.why}; every side of the merge could be parsed")


def _documents(names: str) -> str:
    """Return the documents of an example."""
    start = "apiVersion: v1\nkind: ConfigMap\nmetadata: "
    return "---\n".join(f"{start}{{name: {name}}}\n" for name in names)


@Check(
    "M28", WARNING, MERGED, "documents in an order that one side of the merge had changed",
    tools="K",
    kubectl="`apply -f` goes through the documents from the top: a resource may come before its "
    "namespace or its definition.",
    kustomize="Nothing: kustomize sorts what it builds.",
    example="# base:\n" + _documents("abc") + "# ours:\n" + _documents("bac")
    + "# theirs:\n" + _documents("acbd") + "# committed:\n" + _documents("bacd"),
    counter="# base:\n" + _documents("abc") + "# ours:\n" + _documents("bac")
    + "# theirs:\n" + _documents("abcd") + "# committed:\n" + _documents("bacd"),
    mend="Put the documents in the order in which they are to be applied. " + _ON_PURPOSE,
)  # fmt: skip
def turned_documents(merged: SidedFile) -> Iterator[Found]:
    """Find two documents whose order one side changed, where the result lacks this change."""
    found = merged.turned()
    if found:
        document, name, other = found
        what = f"{name} stands behind {other}, and one side had it before"
        yield Found(document.start, what)


@also("M01", MERGED_TEXT)
def new_markers(merged: SidedFile) -> Iterator[Found]:
    """Find lines that look like conflict markers and that no side has.

    The lines may be indented, and a single line is enough.
    """
    yield from (Found(at, f"leftover conflict marker {word}") for at, word in merged.markers())


def _said(merged: SidedFile, what: str) -> Iterator[Found]:
    for one in merged.odd(what):
        yield Found(one.at, one.message, path=one.path)


@Check(
    "M27", ERROR, MERGED_TEMPLATE, "a template that no longer renders as its sides do",
    kubectl="It reads what Helm renders: there a key is lost, or nothing can be read.",
    kustomize="It reads what Helm renders: there a key is lost, or nothing can be read.",
    example="# base:\nspec:\n  image: {{ .Values.image }}\n  paused: false\n"
    "# ours:\nspec:\n  {{- with .Values.replicas }}\n  replicas: {{ . }}\n  {{- end }}\n"
    "  image: {{ .Values.image }}\n  paused: false\n"
    "# theirs:\nspec:\n  image: {{ .Values.image }}\n  paused: false\n  replicas: 2\n"
    "# committed:\nspec:\n  {{- with .Values.replicas }}\n  replicas: {{ . }}\n  {{- end }}\n"
    "  image: {{ .Values.image }}\n  paused: false\n  replicas: 2",
    counter="# base:\nspec:\n  image: {{ .Values.image }}\n  paused: false\n"
    "# ours:\nspec:\n  {{- with .Values.replicas }}\n  replicas: {{ . }}\n  {{- end }}\n"
    "  image: {{ .Values.image }}\n  paused: false\n"
    "# theirs:\nspec:\n  image: {{ .Values.image }}\n  paused: false\n  replicas: 2\n"
    "# committed:\nspec:\n  {{- with .Values.replicas }}\n  replicas: {{ . }}\n  {{- else }}\n"
    "  replicas: 2\n  {{- end }}\n  image: {{ .Values.image }}\n  paused: false",
    mend="Keep one of the two, or put the line back where a side has it: `git diff HEAD -- FILE` "
    "(of a committed merge `git diff MERGE^ MERGE -- FILE`) shows what was changed.",
)  # fmt: skip
def renders_no_longer(merged: SidedFile) -> Iterator[Found]:
    """Find a merged template that is broken, or whose rendering is damaged.

    A rendering is damaged if it is no YAML, or repeats a key. Also find the mistakes of M20 to M25
    in two renderings: one where all conditions are true, and one where none is.
    """
    text = merged.result.source.text
    if not merged.is_mixed or "{{" not in text:
        return
    from kmerge_git.check.merges.templates_by_side import new_damage, slips
    from kmerge_git.template.template_parser import Template

    path = merged.result.path
    try:
        at = merged.sides.map(lambda side: Template(side.source.text) if side else None)
        result = Template(text)
        there = at.map(lambda side: side or Template(""))
        damage = new_damage(result, there, path, thorough=True)
        unread = [one for one in damage if one.is_unread][1:]  # one such error is enough
        found = [(one.at, one.why) for one in damage if one not in unread]
        seen: set[tuple[int, str]] = set()
        for line, why in found or slips(result, at, path):
            if (line, why) not in seen:
                seen.add((line, why))
                yield Found(_start(text, line), why)
    except KmergeError:
        return


def _start(text: str, line: int) -> int:
    """Return the offset of the first character of a line that is not white space."""
    at = 0
    for _ in range(line):
        at = text.find("\n", at) + 1
    return at + len(text[at:]) - len(text[at:].lstrip(" "))

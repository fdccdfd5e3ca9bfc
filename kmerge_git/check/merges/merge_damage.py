"""M20-M27: compare a merged file with its sides, to find mistakes that the merge made."""

from __future__ import annotations

from kmerge_git.check.merges.merge_walk import CUT, FUSED, GONE, NEW, TWICE, UNTIED
from kmerge_git.check.merges.merged_files import SidedFile
from kmerge_git.check.registry import (
    ERROR,
    MERGED,
    MERGED_TEMPLATE,
    MERGED_TEXT,
    MERGED_UNREAD,
    Check,
    Found,
    also,
)
from kmerge_git.errors import KmergeError
from kmerge_git.merge.three import Three
from kmerge_git.tree.documents import YamlText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.check.registry import Function
    from kmerge_git.errors import CannotParse
    from kmerge_git.template.template_parser import Template


# texts that these checks have in common
_BOTH = (
    "The file is valid, but a field is in a map in which neither side of the merge has this field."
)
_DIFF = "`git diff HEAD -- FILE` (for a committed merge: `git diff MERGE^ MERGE -- FILE`) shows"
_ON_PURPOSE = "If this is intended, add `# kmerge: ignore {}` to the reported line."


def odd_parts(sort: str) -> Function:
    """Return the function of a check that reports one sort of odd parts (see `merge_walk`)."""

    def find(merged: SidedFile) -> Iterator[Found]:
        """Find the parts of a merged file that no side explains."""
        for one in merged.odd(sort):
            yield Found(one.at, one.message, path=one.path)

    return find


Check(
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
    mend="Check the indentation of the field, or remove it. "
    + _ON_PURPOSE.format("M20"),
)(odd_parts(NEW))  # fmt: skip


Check(
    "M21", ERROR, MERGED, "a missing field, element or document that every side of the merge has",
    kubectl="The file is valid, but applying it removes something that nobody wanted to remove.",
    kustomize="The file is valid, but applying it removes something that nobody wanted to remove.",
    example="# base:\nreplicas: 1\nimage:\n  name: web\n  tag: v1\n"
    "# ours:\nreplicas: 2\nimage:\n  name: web\n  tag: v1\n"
    "# theirs:\nreplicas: 1\nimage:\n  name: web\n  tag: v2\n"
    "# committed:\nreplicas: 2\nimage:\n  tag: v2",
    counter="# base:\nreplicas: 1\nimage:\n  name: web\n  tag: v1\n"
    "# ours:\nreplicas: 2\nimage:\n  name: web\n  tag: v1\n"
    "# theirs:\nreplicas: 1\nimage:\n  name: web\n  tag: v2\n"
    "# committed:\nreplicas: 2\nimage:\n  name: web\n  tag: v2",
    mend=f"Restore what is missing: {_DIFF} what was removed. "
    + _ON_PURPOSE.format("M21"),
)(odd_parts(GONE))  # fmt: skip


Check(
    "M22", ERROR, MERGED, "a list element that the merge result has twice, but no side of the "
    "merge",
    kubectl="The API server refuses the object, or the object has the element twice.",
    kustomize="The output has the element twice.",
    example="# base:\nargs: [--v]\nrules:\n- host: a\n  path: /\n"
    "# ours:\nargs: [--vv]\nrules:\n- host: a\n  path: /\n- host: b\n  path: /\n"
    "# theirs:\nargs: [--v]\nrules:\n- host: b\n  path: /\n- host: a\n  path: /\n"
    "# committed:\nargs: [--vv]\nrules:\n- host: b\n  path: /\n- host: a\n  path: /\n"
    "- host: b\n  path: /",
    counter="# base:\nargs: [--v]\nrules:\n- host: a\n  path: /\n"
    "# ours:\nargs: [--vv]\nrules:\n- host: a\n  path: /\n- host: b\n  path: /\n"
    "# theirs:\nargs: [--v]\nrules:\n- host: b\n  path: /\n- host: a\n  path: /\n"
    "# committed:\nargs: [--vv]\nrules:\n- host: b\n  path: /\n- host: a\n  path: /",
    mend="Keep one of the two elements: each side of the merge added one. "
    + _ON_PURPOSE.format("M22"),
)(odd_parts(TWICE))  # fmt: skip


Check(
    "M23", ERROR, MERGED, "a YAML merge key or alias that is missing, or that refers to another "
    "anchor than on the sides of the merge",
    kubectl="The file is valid, but lacks the values of the anchor.",
    kustomize="The file is valid, but lacks the values of the anchor.",
    example="# base:\ncommon: &common\n  cpu: 1\nweb:\n  <<: *common\n  port: 80\n"
    "# ours:\ncommon: &common\n  cpu: 2\nweb:\n  <<: *common\n  port: 80\n"
    "# theirs:\ncommon: &common\n  cpu: 1\nweb:\n  <<: *common\n  port: 81\n"
    "# committed:\ncommon: &common\n  cpu: 2\nweb:\n  port: 81",
    counter="# base:\ncommon: &common\n  cpu: 1\nweb:\n  <<: *common\n  port: 80\n"
    "# ours:\ncommon: &common\n  cpu: 2\nweb:\n  <<: *common\n  port: 80\n"
    "# theirs:\ncommon: &common\n  cpu: 1\nweb:\n  <<: *common\n  port: 81\n"
    "# committed:\ncommon: &common\n  cpu: 2\nweb:\n  <<: *common\n  port: 81",
    mend=f"Restore what is missing: {_DIFF} what was removed. " + _ON_PURPOSE.format("M23"),
)(odd_parts(UNTIED))  # fmt: skip


Check(
    "M24", ERROR, MERGED, "two YAML documents that became one",
    kubectl="kubectl gets only one of the two objects, or one object with fields of both.",
    kustomize="kustomize refuses the file, or loses one of the two objects.",
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
)(odd_parts(FUSED))  # fmt: skip


Check(
    "M25", ERROR, MERGED, "a multi-line text that lost lines, or its `|`",
    kubectl="The file is valid, but the script or configuration in the text is damaged.",
    kustomize="The file is valid, but the script or configuration in the text is damaged.",
    example="# base:\nsize: 1\nrun: |\n  make all\n  make install\n  echo done\n"
    "# ours:\nsize: 2\nrun: |\n  make all\n  make install\n  echo done\n"
    "# theirs:\nsize: 1\nrun: |\n  make -k all\n  make install\n  echo done\n"
    "# committed:\nsize: 2\nrun: |\n  make -k all\n  make install",
    counter="# base:\nsize: 1\nrun: |\n  make all\n  make install\n  echo done\n"
    "# ours:\nsize: 2\nrun: |\n  make all\n  make install\n  echo done\n"
    "# theirs:\nsize: 1\nrun: |\n  make -k all\n  make install\n  echo done\n"
    "# committed:\nsize: 2\nrun: |\n  make -k all\n  make install\n  echo done",
    mend=f"Restore the lines and the `|`: {_DIFF} what was removed. "
    + _ON_PURPOSE.format("M25"),
)(odd_parts(CUT))  # fmt: skip


@Check(
    "M26", ERROR, MERGED_UNREAD, "a merged file that cannot be parsed, although every side of the "
    "merge can be parsed",
    kubectl="The file cannot be parsed.",
    kustomize="The file cannot be parsed.",
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
        yield Found(offset, f"{error.why}; the file is valid on every side of the merge")


@also("M01", MERGED_TEXT)
def new_markers(merged: SidedFile) -> Iterator[Found]:
    """Find lines that look like conflict markers and that no side has.

    The lines may be indented, and a single line is enough.
    """
    yield from (Found(at, f"leftover conflict marker {word}") for at, word in merged.markers())


@Check(
    "M27", ERROR, MERGED_TEMPLATE, "a merged template whose output is damaged",
    kubectl="The output of Helm lacks a key, has a key twice, or cannot be parsed.",
    kustomize="The output of Helm lacks a key, has a key twice, or cannot be parsed.",
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
    mend="Keep one of the duplicate keys, or restore the missing line: `git diff HEAD -- FILE` "
    "(for a committed merge: `git diff MERGE^ MERGE -- FILE`) shows what was changed.",
)  # fmt: skip
def renders_no_longer(merged: SidedFile) -> Iterator[Found]:
    """Find a merged template that is broken, or whose rendering is damaged.

    A rendering is damaged if it is not YAML, or repeats a key. Also find the mistakes of M20 to M25
    in two renderings: one where all conditions are true, and one where none is.
    """
    text = merged.result.source.text
    if not merged.is_mixed or "{{" not in text:
        return
    from kmerge_git.template.template_damage import new_damage  # late: few are templates
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
        for line, why in found or _slips(result, at, path):
            if (line, why) not in seen:
                seen.add((line, why))
                yield Found(_start(text, line), why)
    except KmergeError:
        return


def _slips(result: Template, sides: Three[Template | None], path: str) -> Iterator[tuple[int, str]]:
    """Yield the oddities in two renderings of a merged template, with line numbers from 0.

    In one rendering all conditions are true, in the other rendering none is. A new field is odd
    only if a side has the same line at another column, because a person who finishes a merge may
    add fields.
    """
    from kmerge_git.template.template_damage import is_yaml, when
    from kmerge_git.template.template_readings import ActionWords, WantedReadings, rendered

    if not is_yaml(path):
        return
    there = [side for side in sides.each() if side is not None]
    trees = [version.parts for version in (result, *there)]
    wanted, words = WantedReadings(*trees), ActionWords()
    # no other readings: an `else` that somebody wrote replaces fields without losing any
    wanted.names = [name for name in wanted.names if name in ("all", "none")]
    made, *others = ({one.name: one for one in rendered(tree, words, wanted)} for tree in trees)
    if sides.base is None:
        others.insert(0, {})
    base, ours, theirs = others
    lines = {line.strip() for side in there for line in side.text.split("\n")}
    for name, reading in made.items():
        at = Three(base.get(name), ours.get(name), theirs.get(name))
        versions = at.map(lambda one: one.text.encode() if one is not None else None)
        merged = SidedFile(YamlText(reading.text.encode(), path), versions)
        for odd in merged.odd(NEW, GONE, TWICE, UNTIED, FUSED, CUT):
            line = reading.line_at(odd.at)
            if odd.what != NEW or result.text.split("\n", line + 1)[line].strip() in lines:
                yield line, f"{words.shown(odd.message)} ({when(name)})"


def _start(text: str, line: int) -> int:
    """Return the offset of the first character of a line that is not white space."""
    at = 0
    for _ in range(line):
        at = text.find("\n", at) + 1
    return at + len(text[at:]) - len(text[at:].lstrip(" "))

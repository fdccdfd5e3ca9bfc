"""M27: what a merge did to a template, told from its readings beside those of its sides."""

from __future__ import annotations

from kmerge_git.check.registry import ERROR, MERGED_TEMPLATE, Check, Found
from kmerge_git.errors import KmergeError
from kmerge_git.text.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.check.merges.sides import SidedFile


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
    """A key, an element or a resource twice with some conditions true, no YAML, no template.

    Or what M20 to M25 find, in what the template comes to with all conditions true, or none.
    """
    text = merged.page.source.text
    if not merged.is_mixed or "{{" not in text:
        return
    from kmerge_git.check.merges.readings import new_damage, slips  # late: few are templates

    path = merged.page.path
    try:
        at = merged.sides.map(lambda side: Source(side, path).text if side is not None else None)
        texts = at.map(lambda side: side or "")
        damage = new_damage(text, texts, path)
        unread = [one for one in damage if one.is_unread][1:]  # one error is enough
        found = [(one.at, one.why) for one in damage if one not in unread]
        seen: set[tuple[int, str]] = set()
        for line, why in found or slips(text, at, path):
            if (line, why) not in seen:
                seen.add((line, why))
                yield Found(_start(text, line), why)
    except KmergeError:
        return


def _start(text: str, line: int) -> int:
    """The offset at which a line begins, blanks aside."""
    at = 0
    for _ in range(line):
        at = text.find("\n", at) + 1
    while text[at : at + 1] == " ":
        at += 1
    return at

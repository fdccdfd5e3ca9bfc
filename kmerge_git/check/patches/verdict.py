"""What a text is: a patch, for which tool, and the rule that says so."""

from __future__ import annotations

from kmerge_git.check.kustomize.kustomization import Kustomization, PatchEntry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kmerge_git.check.patches.shapes import FieldType

# number of the rule -> what a finding says about it
RULES = {
    0: "as told by the command line",
    1: "listed as a resource of {}",
    2: "a patch of {}",
    3: "a patch of the transformer in {}",
    4: "a JSON 6902 patch",
    5: "an inline patch of {}",
    6: "its name is that of a kubeadm patch",
    7: "given to kubectl patch in {}",
    8: "its name or folder says so ({})",
    9: "it has patch directives and is no whole object",
    10: "it has no apiVersion and kind, but the fields of an object",
    11: "nothing says that it is a patch",
}

GUESSED = (0, 8, 9)  # the rules that tell a patch, but not which tool reads it

PATCH = "patch"  # a strategic merge patch
MANIFEST = "manifest"
JSON6902 = "JSON 6902"

BUILTIN, CUSTOM, UNKNOWN = "builtin", "custom", "unknown"  # kinds of the patched object


class Verdict:
    """The rule that decided; `tools` has K for kubectl and the API server, Z for kustomize."""

    __slots__ = (
        "entry", "is_a", "is_known", "is_patch", "kustomization", "others", "rule",
        "tools", "type", "where",
    )  # fmt: skip

    def __init__(
        self,
        is_a: str,
        rule: int,
        tools: str = "KZ",
        where: str = "",
        entry: PatchEntry | None = None,
        kustomization: Kustomization | None = None,
    ) -> None:
        self.is_a = is_a
        self.is_patch = is_a == PATCH
        self.rule = rule
        self.tools = tools
        self.is_known = rule not in GUESSED  # which of the tools reads it
        self.where = where
        self.entry = entry  # what names the file in a kustomization
        self.kustomization = kustomization  # where its target is looked for
        self.type: FieldType | None = None  # of the patched object
        # the words of other patches of the target; None where something unseen changes it
        self.others: Callable[[], frozenset[str] | None] = frozenset

    def about(
        self,
        type: FieldType | None,
        others: Callable[[], frozenset[str] | None],
    ) -> Verdict:
        """The same of one document, with what is known about its target."""
        made = Verdict(self.is_a, self.rule, self.tools, self.where, self.entry, self.kustomization)
        made.is_known = self.is_known
        made.type, made.others = type, others
        return made

    def read_by(self, tools: str) -> None:
        """Take the word of the command line for who reads a patch."""
        self.tools = tools
        self.is_known = True

    @property
    def known_tools(self) -> str:
        """The tools that read it for sure."""
        return self.tools if self.is_known else ""

    @property
    def why(self) -> str:
        """`rule 2: a patch of apps/kustomization.yaml`; nothing for a manifest."""
        if self.is_a == MANIFEST:
            return ""
        return f"rule {self.rule}: {RULES[self.rule].format(self.where)}"

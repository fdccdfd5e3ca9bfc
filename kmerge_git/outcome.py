"""Define the options of a merge and the outcome of a merge."""

from __future__ import annotations

from kmerge_git.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Policy = Callable[..., Any]  # `merge.decide.rules.Policy`
    Labels = tuple[str, str, str]

# The values that a caller may ask for.
RULES = ("git", "kyaml")
SIDES = ("ours", "theirs")
STYLES = ("merge", "diff3", "zdiff3")
LABELS = ("base", "ours", "theirs")
LONGEST_MARKERS = 200  # an attribute could ask for gigabytes
BY_BLOCKS = "a template, merged block by block"
# the methods of conflicts that a person decides for the whole file, not field by field
WHOLE = ("kept", "sealed")
# the rules by which a value is in the result although the other side changed it, too
SETTLED = ("12", "13", "16")
ORDER = "8 order"  # the rule of a decision about the order of documents, which is not in conflict
GENERATED = "a generated file; our version is kept: generate it again, then `git add` it"


class Options:
    """Hold the options of a merge, which come from the caller, git's attributes and settings."""

    __slots__ = (
        *("_labels", "define", "favor", "generated", "marker_size", "path", "policy", "rules"),
        *("style", "virtual"),
    )

    def __init__(
        self,
        path: str = "",
        rules: str = "git",
        favor: str | None = None,
        marker_size: int = 7,
        labels: Labels | Callable[[], Labels] = LABELS,
        style: str = "merge",
        policy: Policy | None = None,
        virtual: bool = False,
        generated: bool = False,
        define: Callable[[], None] | None = None,
    ) -> None:
        for name, value, known in (
            ("rules", rules, RULES),
            ("favor", favor or "", ("", *SIDES)),
            ("style", style, STYLES),
        ):
            if value not in known:
                raise UsageError(
                    f"{name}: invalid value `{value}`; use one of {', '.join(filter(None, known))}"
                )
        self.path = path
        self.rules = rules
        # no generator would write a mixture of two renderings
        self.favor = "" if generated else favor or ""
        self.marker_size = min(marker_size, LONGEST_MARKERS)
        self._labels = labels
        self.style = style
        self.policy = policy
        self.virtual = virtual  # an inner merge of a criss-cross: placeholders, no markers
        self.generated = generated  # on a clash ours is kept, without markers
        self.define = define  # loads the definitions of custom resources that count here

    @property
    def labels(self) -> Labels:
        """Return the labels of base, ours and theirs; look up the labels on first use."""
        if callable(self._labels):
            self._labels = self._labels()
        return self._labels

    @property
    def labels_so_far(self) -> Labels:
        """Return the labels if they were looked up already, otherwise the default labels."""
        return LABELS if callable(self._labels) else self._labels

    def but(
        self,
        *,
        rules: str = "",
        favor: str | None = None,
        marker_size: int = 0,
        labels: Labels | None = None,
        style: str = "",
        policy: bool = True,
        virtual: bool = True,
    ) -> Options:
        """Return the same options with other rules, favoured side, labels or style.

        An empty `favor` means that no side wins. If `policy` is false, the policies are dropped.
        If `virtual` is false, an inner merge writes conflict markers like any other merge.
        """
        return Options(
            self.path,
            rules or self.rules,
            self.favor if favor is None else favor,
            marker_size or self.marker_size,
            labels or self._labels,
            style or self.style,
            self.policy if policy else None,
            self.virtual and virtual,
            self.generated,
            self.define,
        )


class Conflict:
    """Describe one place of a file at which a person must decide."""

    __slots__ = ("base", "field", "ours", "resource", "run", "theirs", "told", "why")

    def __init__(
        self,
        resource: str,
        field: str,
        why: str,
        base: str = "",
        ours: str = "",
        theirs: str = "",
        *,
        run: str = "",
        told: str = "",
    ) -> None:
        self.resource = resource  # `Deployment/web`, or empty
        self.field = field  # `spec.replicas`, or empty for the whole document or file
        self.why = why
        self.base = base
        self.ours = ours
        self.theirs = theirs
        self.run = run or field  # `args[0-2]` where `field` is the first of several elements
        self.told = told or why  # the cause for people: the state in ours and in theirs

    @property
    def place(self) -> str:
        """Return the resource and the field, such as `Deployment/web spec.replicas`."""
        return " ".join(part for part in (self.resource, self.field) if part)

    @property
    def spot(self) -> str:
        """Return the place for people, such as `Pod/web spec.tolerations[0-2] (spot, gpu)`."""
        return " ".join(part for part in (self.resource, self.run) if part)

    def shown(self, whole: str = "") -> str:
        """Return the place and the cause for people, in the form of a conflict label.

        If the conflict has no place of its own, `whole` is the place.
        """
        place = self.spot or whole
        return f"{place}: {self.told}" if place else self.told

    def __repr__(self) -> str:
        return f"Conflict({self.place!r}: {self.why})"


class Decision:
    """Describe one decision of a merge, which is one line of `--explain`."""

    __slots__ = ("base", "ours", "path", "resource", "rule", "side", "theirs", "what")

    def __init__(
        self,
        resource: str,
        path: str,
        what: str,
        side: str,
        rule: str,
        ours: str = "",
        theirs: str = "",
        base: str = "",
    ) -> None:
        self.resource = resource
        self.path = path
        self.what = what
        self.side = side
        self.rule = rule  # the number in docs/merge-rules.md; `merge.rule_sentences` has the words
        self.ours = ours  # the values as text: all in `explained`, otherwise only if a value loses
        self.theirs = theirs
        self.base = base

    @property
    def place(self) -> str:
        """Return the resource and the field, such as `Deployment/web spec.replicas`."""
        return " ".join(part for part in (self.resource, self.path) if part) or "document"

    @property
    def is_told(self) -> bool:
        """Return whether kmerge reports the decision, although nothing is in conflict."""
        return self.is_settled or self.rule == ORDER

    @property
    def is_settled(self) -> bool:
        """Return whether a value of a side lost, by a policy, the favoured side or as a time."""
        return self.rule.startswith(SETTLED)

    def shown(self) -> str:
        """Return the decision as one line.

        An example is `Pod/web spec.hostname: changed on both sides, theirs taken (rule 13 favor)`.
        """
        taken = {"union": ", both kept", "neither": ""}.get(self.side, f", {self.side} taken")
        return f"{self.place}: {self.what}{taken} (rule {self.rule})"

    def __repr__(self) -> str:
        return f"{self.resource} {self.path}: {self.what} ({self.side}, rule {self.rule})"


class Outcome:
    """Hold the text of a merge, whether the merge is clean, and how the text was made.

    `method` is `same` (two of the three versions were equal), `lines` (git merged the lines),
    `structure` (kmerge merged resources and fields, or the blocks of a template), `sealed` (an
    encrypted file that a person must merge, with markers) or `kept` (our version is unchanged, and
    a person must merge).
    """

    __slots__ = (
        *("_decisions", "_explained", "_text", "clean", "conflicts", "explain", "inputs"),
        *("journal", "method", "open_merge", "reason"),
    )

    def __init__(
        self,
        text: bytes | Callable[[], bytes],
        clean: bool,
        method: str,
        *,
        conflicts: tuple[Conflict, ...] = (),
        decisions: tuple[Decision, ...] = (),
        reason: str = "",
    ) -> None:
        self._text = text
        self.clean = clean
        self.method = method
        self.conflicts = conflicts
        self.reason = reason  # why the method was not `structure`, or what kind of text it is
        self.open_merge: Any = None  # a `merged.OpenMerge` for `structure` with conflicts
        self.inputs: Any = None  # the bytes of the three versions, and the options of their merge
        self.journal: Any = None  # the `plan.Journal` of a merge by fields
        self.explain: Callable[[Outcome], tuple[Decision, ...]] | None = None  # see `explained`
        self._decisions: tuple[Decision, ...] | None = decisions
        self._explained: tuple[Decision, ...] | None = None

    @property
    def text(self) -> bytes:
        """Return the merged text; if it has conflicts, the text is built on first use."""
        if callable(self._text):
            self._text = self._text()
        return self._text

    def made_of(self, versions: Any, options: Options, journal: Any = None) -> Outcome:
        """Keep what the decisions are listed from, if somebody asks for them; return the outcome.

        `versions` are three `YamlText`s; only their bytes are kept, because few callers ask.
        """
        self.inputs = versions.map(lambda text: text.data), options
        if journal is not None:
            self.journal, self._decisions = journal, None
        return self

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Return the decisions of the merge rules, one for each place that needed a decision."""
        if self._decisions is None:
            self._decisions = tuple(self.journal.decisions())
        return self._decisions

    @property
    def loses(self) -> bool:
        """Return whether the merge lost a change, which can happen under the rules `kyaml`.

        These rules let one side win without a conflict.
        """
        return any(decision.rule.endswith(" lost") for decision in self.decisions)

    def chosen(self, favor: str) -> list[str]:
        """Return a text for each decision that kmerge reports."""
        words = [decision.shown() for decision in self.decisions if decision.is_told]
        if self.method == "lines" and favor:
            words.append(f"merged with git's line merge; {favor} taken in every conflict")
        return words

    @property
    def explained(self) -> tuple[Decision, ...]:
        """Return each place where the versions differ, with its three values and the side taken."""
        if self._explained is None:
            self._explained = self.explain(self) if self.explain is not None else ()
        return self._explained

    def __repr__(self) -> str:
        state = "clean" if self.clean else f"{len(self.conflicts)} conflicts"
        return f"Outcome({self.method}, {state})"

"""How the files of a package are merged: a rule set's answers for manifests and for other texts."""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.merge.kyaml.kyaml_merges import Result, merge2_bytes, merge3_bytes, merge3_text
from kmerge_git.merge.three import Three
from kmerge_git.time_limit import within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Words = tuple[str, str, str]
    Labels = Words | Callable[[str], Words]
    Merge = Callable[[Three[bytes], str], Result]


class Ways:
    """A rule set over (original, dest, updated); two-way the original is empty."""

    __slots__ = ("manifest", "rules", "text", "two_way", "words")

    def __init__(
        self, rules: str, manifest: Merge, text: Merge, words: Words, *, two_way: bool = False
    ) -> None:
        self.rules = rules  # `git` or `kyaml`
        self.manifest = manifest
        self.text = text
        self.words = Three(*words)  # what the three versions are called in messages
        self.two_way = two_way


def ways(
    rules: str,
    *,
    labels: Labels,
    style: str = "merge",
    infer: bool = True,
    words: Words = ("original", "dest", "updated"),
) -> Ways:
    """Three-way, by the rules `git` or `kyaml`.

    `labels` stand at conflict markers and in errors, in the order of `words`: three names, or
    what makes them from a file's path.
    """
    if rules == "git":
        git = _Git(labels, style)
        return Ways(rules, git.manifest, git.text, words)

    def manifest(texts: Three[bytes], path: str) -> Result:
        names = Three(*_labels(labels, path))
        return merge3_bytes(texts, infer=infer, path=path, names=names)

    def text(texts: Three[bytes], path: str) -> Result:
        return merge3_text(texts, path=path, names=Three(*_labels(labels, path)))

    return Ways(rules, manifest, text, words)


def two_ways(
    *,
    labels: Labels,
    infer: bool = True,
    prepend: bool = False,
    words: Words = ("", "dest", "src"),
) -> Ways:
    """Two-way: src over dest; other texts than manifests cannot be merged without an original."""

    def manifest(texts: Three[bytes], path: str) -> Result:
        _, dest, src = _labels(labels, path)
        names = src, dest
        return merge2_bytes(
            texts.theirs, texts.ours, infer=infer, prepend=prepend, path=path, names=names
        )

    return Ways("kyaml", manifest, lambda texts, path: Result(texts.ours), words, two_way=True)


def timed(rules: Ways) -> Ways:
    """The same rules, with a limit of time for each file."""
    manifest, text = rules.manifest, rules.text

    def merge_manifest(texts: Three[bytes], path: str) -> Result:
        with within(path):
            return manifest(texts, path)

    def merge_text(texts: Three[bytes], path: str) -> Result:
        with within(path):
            return text(texts, path)

    rules.manifest, rules.text = merge_manifest, merge_text
    return rules


class _Git:
    """The rules git, and git's own merge by lines."""

    __slots__ = ("_labels", "_style")

    def __init__(self, labels: Labels, style: str) -> None:
        self._labels = labels
        self._style = style

    def manifest(self, texts: Three[bytes], path: str) -> Result:
        from kmerge_git.pipeline import merge_files  # the rules kyaml need less

        labels = _labels(self._labels, path)
        outcome = merge_files(*texts.each(), path=path, labels=labels, style=self._style)
        conflicts = 0 if outcome.clean else max(len(outcome.conflicts), 1)
        reason = outcome.reason if outcome.method in ("lines", "kept") and conflicts else ""
        return Result(outcome.text, outcome.decisions, reason, conflicts)

    def text(self, texts: Three[bytes], path: str) -> Result:
        from kmerge_git.text.linemerge import TemporaryFiles
        from kmerge_git.text.markers import marker_size_for

        size = marker_size_for(data.decode("latin-1") for data in texts.each())
        labels = _labels(self._labels, path)
        lines = TemporaryFiles(texts.each(), marker_size=size, labels=labels, style=self._style)
        data, conflicts = lines.result()
        if conflicts < 0:
            raise Unsupported("git cannot merge its lines", path=path)
        return Result(data, (), "its lines conflict" if conflicts else "", conflicts)


def _labels(labels: Labels, path: str) -> Words:
    return labels(path) if callable(labels) else labels

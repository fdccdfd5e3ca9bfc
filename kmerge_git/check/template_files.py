"""Check a template without values: find keys and elements that one of its readings has twice."""

from __future__ import annotations

from kmerge_git.check import registry
from kmerge_git.check.checked_texts import Book, Page
from kmerge_git.check.manifest_damage import repeated_element, repeated_other_element
from kmerge_git.check.page_values import keyed_lists
from kmerge_git.errors import KmergeError
from kmerge_git.finding import Finding
from kmerge_git.template.template_parser import Template
from kmerge_git.template.template_readings import ActionWords, Rendering, WantedReadings, rendered
from kmerge_git.template.twin_lines import TwinLines
from kmerge_git.tree.documents import YamlText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.check.registry import ChosenChecks


def repeats(page: Page, checks: ChosenChecks) -> tuple[list[Finding], str]:
    """Return the findings of a template; if a needed reading cannot be parsed, return the reason.

    A pair of lines is a finding if it is one in all readings that have both lines. So few templates
    are rendered at all: those that have such a pair of lines.
    """
    try:
        template = Template(page.source.text)
        left = set(TwinLines().of(template.parts))
        return _in_readings(template, left, page, checks) if left else ([], "")
    except KmergeError as error:
        return [], error.why


def _in_readings(
    template: Template, left: set[tuple[int, int]], page: Page, checks: ChosenChecks
) -> tuple[list[Finding], str]:
    words, why = ActionWords(), ""
    known: dict[int, Finding] = {}  # by the number of the second line
    read: set[tuple[int, int]] = set()
    wanted = WantedReadings(template.parts, thorough=True)
    # the others take an `else` although its condition is true elsewhere
    wanted.names = [name for name in wanted.names if name.startswith(("all", "none", "mix"))]
    readings = {tuple(one.numbers): one for one in rendered(template.parts, words, wanted)}
    for reading in readings.values():
        lines = set(reading.numbers)
        pairs = {pair for pair in left if lines.issuperset(pair)}
        if not pairs:
            continue
        try:
            found = {finding.line - 1: finding for finding in _found(reading, page, checks, words)}
        except KmergeError as error:
            why = error.why
            continue
        read |= pairs
        left -= {pair for pair in pairs if pair[1] not in found}
        known = found | known
    findings = [known[line] for line in sorted({second for _, second in left & read})]
    return findings, why if left - read else ""


def _found(
    reading: Rendering, page: Page, checks: ChosenChecks, words: ActionWords
) -> Iterator[Finding]:
    """Yield the repeated keys and elements of a reading, at their places in the template."""
    rendering = Page(YamlText(reading.text.encode(), page.path))
    book = Book(rendering)
    findings: list[Finding] = []
    for plain in book.plains:
        findings += rendering.findings(checks, registry.REPEATED, plain, root=plain.root)
    for site in (site for root in book.objects() for site in keyed_lists(root)):
        findings += [
            rendering.finding(check, one, path=site.path)
            for check, function in checks.of(registry.KEYED)
            if function in (repeated_element, repeated_other_element)
            for one in function(site)
        ]
    lines = page.source.text.split("\n")
    for one in findings:
        line = reading.number(one.line - 1)
        yield Finding(
            one.id, one.severity, one.file, line + 1, one.column, words.shown(one.message),
            path=words.shown(one.path), mend=one.mend, excerpt=lines[line][:200],
        )  # fmt: skip

"""Find the elements of three lists that are the same element because they have the same key."""

from __future__ import annotations

from kmerge_git.kube.likeness import MOST_COMPARISONS
from kmerge_git.kube.listkeys import ListKeys
from kmerge_git.kube.renamed_keys import key_changes, labelled
from kmerge_git.merge.three import Three
from kmerge_git.tree.nodes import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence as List

    from kmerge_git.kube.listkeys import ListRule
    from kmerge_git.merge.decide.rules import Riddle, Table
    from kmerge_git.tree.nodes import Entry


def by_key(
    lists: Three[List[Entry]], rule: ListRule, *, by_name: bool = False, infer: bool = True
) -> Three[Table] | None:
    """Return the elements of each version by key, or None if the list has no usable key.

    With `by_name`, a port keeps its key if its number changes and its name stays. Without `infer`,
    only the tables of Kubernetes' kinds declare keys.
    """
    if len(lists.base) > MOST_COMPARISONS:
        from kmerge_git.merge.bulk import refuse_long  # few lists are so long

        refuse_long(lists)
    keys = ListKeys(rule, lists.each() if infer else ())
    versions = [table for entries in lists.each() if (table := keys.table(entries)) is not None]
    if len(versions) < 3:
        return None
    tables = Three(*versions)
    for changed in key_changes(rule, by_name=by_name):
        ours = labelled(tables.ours, changed(*tables.each()))
        theirs = labelled(tables.theirs, changed(tables.base, tables.theirs, ours))
        tables = Three(tables.base, ours, theirs)
    return tables


def keys_of(at: Three[Sequence | None], rule: ListRule) -> ListKeys:
    """Return the keys that identify the elements of three lists."""
    lists = at.map(lambda sequence: sequence.entries if sequence is not None else ())
    return ListKeys(rule, lists.each())


def are_runs(table: Table, riddles: List[Riddle]) -> bool:
    """Return whether the elements of each group in doubt are next to one another in a table.

    The elements of such a group cannot be paired with certainty.
    """
    places = {key: place for place, key in enumerate(table)} if riddles else {}
    runs = [[places[key] for key in riddle.keys if key in places] for riddle in riddles]
    return all(max(run) - min(run) < len(run) for run in runs if run)

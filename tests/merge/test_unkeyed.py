"""Lists without a key: a three-way merge of their elements, as tables of small lists."""

from __future__ import annotations

from itertools import permutations, product

import pytest

from kmerge_git.kube.listkeys import ListRule, Where
from kmerge_git.merge.decide.by_policy import Rulings
from kmerge_git.merge.decide.git_rules import GitRules
from kmerge_git.merge.decide.policies import policy_for
from kmerge_git.merge.decide.rules import Place
from kmerge_git.merge.decide.unkeyed import merge_elements
from kmerge_git.merge.decide.walk import Walk
from kmerge_git.merge.plan import Build, Clash, Item, Journal, Keep, Why
from kmerge_git.merge.three import Three
from kmerge_git.text.source import Source
from kmerge_git.tree.documents import split
from kmerge_git.tree.nodes import Mapping, Node

# -- the adapter: a list is a line of words; `k=a,v=1` is a mapping of two fields


def plan(
    base: str | None, ours: str, theirs: str, *, bag: bool = False, policy: str = ""
) -> tuple[list[str], list[str]]:
    """What becomes of every element, and where something was noted."""
    journal = Journal()
    where = Where("list", {}, ListRule("atomic", bag=bag))
    lists = Three(base, ours, theirs).map(written)
    walk, place = Walk(GitRules(), journal), Place(("list",), where)
    items = merge_elements(walk, lists, place)
    if policy:
        rulings = Rulings(policy_for([("list", policy)]), walk)
        items = rulings.plan(Build(lists.ours, lists.theirs, items), lists.base, place).items
        journal.rule("", rulings.notes)
    return [told(item) for item in items], [d.path for d in journal.decisions()]


def written(line: str | None) -> Node | None:
    if line is None:
        return None
    fields = (word.replace("=", ": ").replace(",", "\n  ") for word in line.split())
    text = "".join(f"- {word}\n" for word in fields) or "[]\n"
    return split(Source.of(text)).documents[0].root


def told(item: Item) -> str:
    """`keep a`, `take b`, `clash base|ours|theirs: why`, `(k keep a, v take 2)`."""
    made = item.plan
    if isinstance(made, Build):
        return "(" + ", ".join(f"{one.path[-1]} {told(one)}" for one in made.items) + ")"
    if isinstance(made, Clash):
        sides = (" ".join(word(e.value) for e in s) for s in made.at.each())
        return f"clash {'|'.join(sides)}: {made.why}"
    return ("keep " if isinstance(made, Keep) else "take ") + word(made.node)


def word(node: Node) -> str:
    if isinstance(node, Mapping) and not node.flow:
        return ",".join(f"{e.name}={e.value.raw}" for e in node.entries)
    return node.raw


# -- the tables

MOVED_APART = Why.ORDER
MOVED_AND_GONE = Why.MOVED_AND_GONE
WORDS = {
    "nobody changes anything": ("a b", "a b", "a b", "keep a, keep b"),
    "ours changes one": ("a b", "x b", "a b", "keep x, keep b"),
    "theirs changes one": ("a b", "a b", "x b", "take x, keep b"),
    "ours adds": ("a b", "a x b", "a b", "keep a, keep x, keep b"),
    "theirs adds": ("a b", "a b", "a x b", "keep a, take x, keep b"),
    "ours removes": ("a b", "b", "a b", "keep b"),
    "theirs removes": ("a b", "a b", "b", "keep b"),
    "both change one alike": ("a b", "x b", "x b", "keep x, keep b"),
    "both add the same": ("a b", "a x b", "a x b", "keep a, keep x, keep b"),
    "both remove all": ("a b", "", "", ""),
    "a copy of two is removed": ("a a b", "a b", "a a b", "keep a, keep b"),
    "neighbours: changed and changed": ("a b", "x b", "a y", "keep x, take y"),
    "neighbours: changed and removed": ("a b", "x b", "a", "keep x"),
    "neighbours: removed and followed by a new one": ("a b", "a", "a b y", "keep a, take y"),
    "both change one: a clash": ("a b c", "a x c", "a y c", f"keep a, clash b|x|y: {Why.BOTH_CHANGED}, keep c"),
    "both change two: a clash each": ("a b", "w x", "y z",
        f"clash a|w|y: {Why.BOTH_CHANGED}, clash b|x|z: {Why.BOTH_CHANGED}"),
    "changed and removed": ("a b", "x b", "b", f"clash a|x|: {Why.BOTH_CHANGED}, keep b"),
    "removed and rewritten": ("a b", "", "a x", f"clash a b||a x: {Why.BOTH_CHANGED}"),
    "more elements here than there": ("a b", "x y z b", "w b", f"clash a|x y z|w: {Why.BOTH_CHANGED}, keep b"),
    "both add in one gap": ("a b", "a x b", "a y b", f"keep a, clash |x|y: {Why.BOTH_ADD_HERE}, keep b"),
    "both add the same and more": ("a b", "a x y b", "a x z b", f"keep a, clash |x y|x z: {Why.BOTH_ADD_HERE}, keep b"),
    "theirs adds the same and more": ("a b", "a x z b", "a x y z b", "keep a, keep x, take y, keep z, keep b"),
    "ours adds the same and more": ("a b", "a y x b", "a x b", "keep a, keep y, keep x, keep b"),
    "the same in another order is not more": ("a b", "a x y b", "a z y x b", f"keep a, clash |x y|z y x: {Why.BOTH_ADD_HERE}, keep b"),
    "a repeated element is not told apart": ("a b", "a x b", "a x x b", "keep a, keep x, take x, keep b"),
    "moved here, its option changed there": ("x y -l:a", "-l:a x y", "x y -l:b", "take -l:b, keep x, keep y"),
    "its option changed here, moved there": ("x y -l:a", "x y -l:b", "-l:a x y", "keep -l:b, keep x, keep y"),
    "moved here, moved and changed there": ("x y z -l:a", "-l:a x y z", "x -l:b y z", "take -l:b, keep x, keep y, keep z"),
    "moved here, a word taken away and one added there": ("x y a", "a x y", "x y b", "keep x, keep y, take b"),
    "moved here, perhaps two options there": ("x y -l:a", "-l:a x y", "x y -l:b -l:c", f"clash x y -l:a|-l:a x y|x y -l:b -l:c: {Why.MOVED_AND_GONE}"),
    "taken away here, moved and changed there": ("x y -l:a", "x y", "-l:b x y", f"clash x y -l:a|x y|-l:b x y: {Why.MOVED_AND_GONE}"),
    "taken away here, moved and changed beside another there": ("x y -l:a z", "x y z", "-l:b z x y", f"clash x y -l:a z|x y z|-l:b z x y: {Why.MOVED_AND_GONE}"),
    "the same beside one that moved": ("a b c", "a b c n", "a c n b", "keep a, keep c, keep n, keep b"),
    "the same beside one that moved away": ("a b c", "a b c n", "c n a b", "keep c, keep n, keep a, keep b"),
    "the same beside none that is the same": ("a b c", "n a b c", "a b c n", "keep n, keep a, keep b, keep c, take n"),
    "the same between others": ("s x y", "s n x y", "n x y s", "keep n, keep x, keep y, keep s"),
    "one of two that are the same": ("a b c", "a n b n c", "a n c", "keep a, keep n, keep n, keep c"),
    "one option, two values": ("a b", "a -l:c b", "a b -l:d", f"keep a, clash b|-l:c b|b -l:d: {Why.TWO_VERSIONS}"),
    "one option, two values, one in place of another": ("-l:a", "-l:c", "-l:b -l:a", f"clash -l:a|-l:c|-l:b -l:a: {Why.TWO_VERSIONS}"),
    "an option that base repeats": ("-l:a -l:b x", "-l:c -l:a -l:b x", "-l:a -l:b x -l:d", "keep -l:c, keep -l:a, keep -l:b, keep x, take -l:d"),
    "both fill an empty list": ("", "x", "x y", "keep x, take y"),
    "both bring a list": (None, "x", "y", f"clash |x|y: {Why.BOTH_ADD_HERE}"),
    "both bring the same list": (None, "x y", "x y", "keep x, keep y"),
    "one brings an empty list": (None, "", "y", "take y"),
    "both move": ("a b c", "c a b", "b c a", "keep c, keep b, keep a"),
    "both move what the other does not": ("a b c d", "b a c d", "a b d c", "keep b, keep a, keep d, keep c"),
    "they contradict each other": ("a b c", "b a c", "a c b", f"clash a b c|b a c|a c b: {MOVED_APART}"),
    "moved here, taken away there": ("a b c", "c a b", "a b", "keep a, keep b"),
    "moved there, taken away here": ("a b c", "b c", "b c a", "keep b, keep c"),
    "moved by both, and one taken away": ("a b c", "c b a", "c a", "keep c, keep a"),
    "a copy moved here, taken away there": ("a a b", "a b a", "a b", f"keep a, clash a b|b a|b: {MOVED_AND_GONE}"),
    "moved here, added to there": ("a b c", "c a b", "a b c x", "keep c, take x, keep a, keep b"),
    "replaced here, moved with it there": ("a b o", "a b n", "a b n o", "keep a, keep b, keep n"),
    "the same in two gaps is two": ("a b", "n a b", "a b n", "keep n, keep a, keep b, take n"),
    "each takes away more": ("a b c", "a c", "c", "keep c"),
    "a mapping is no later version of a word": ("a b", "k=x y", "z w", f"clash a b|k=x y|z w: {Why.BOTH_CHANGED}"),
    "nor a list of a mapping": ("{} b", "[] y", "z w", f"clash {{}} b|[] y|z w: {Why.BOTH_CHANGED}"),
}  # fmt: skip
MAPS = {
    "moved here, a field changed there": ("a b k=a,v=1,w=1", "k=a,v=1,w=1 a b", "a b k=a,v=2,w=1", "take k=a,v=2,w=1, keep a, keep b"),
    "moved here, little is left there": ("a b k=a,v=1,w=1,x=1,z=1", "k=a,v=1,w=1,x=1,z=1 a b", "a b k=b,v=1,w=2,x=2,z=2", f"clash a b k=a,v=1,w=1,x=1,z=1|k=a,v=1,w=1,x=1,z=1 a b|a b k=b,v=1,w=2,x=2,z=2: {Why.MOVED_AND_GONE}"),
    "moved here, perhaps one of two there": ("a b k=a,v=1", "k=a,v=1 a b", "a b k=a,v=2 k=b,v=1", f"clash a b k=a,v=1|k=a,v=1 a b|a b k=a,v=2 k=b,v=1: {Why.MOVED_AND_GONE}"),
    "one name in a gap": ("a b c", "a b name=n,v=1 c", "a name=n,v=2 c", f"keep a, clash b|b name=n,v=1|name=n,v=2: {Why.TWO_VERSIONS}, keep c"),
    "names apart": ("a b c", "a name=n,v=1 b c", "a b c name=n,v=2", "keep a, keep name=n,v=1, keep b, keep c, take name=n,v=2"),
    "each changes another field": ("k=a,v=1,w=1", "k=a,v=2,w=1", "k=a,v=1,w=2", "(k keep a, v keep 2, w take 2)"),
    "both change one field": ("k=a,v=1,w=1", "k=a,v=2,w=1", "k=a,v=3,w=1",
        f"(k keep a, v clash 1|2|3: {Why.BOTH_CHANGED}, w keep 1)"),
    "half of the lines are alike": ("k=a,v=1", "k=b,v=1", "k=a,v=2", "(k keep b, v take 2)"),
    "fewer are: two elements": ("k=a,v=1,w=1", "k=a,v=2,w=3", "k=a,v=3,w=1",
        f"clash k=a,v=1,w=1|k=a,v=2,w=3|k=a,v=3,w=1: {Why.BOTH_CHANGED}"),
    "they align one to one: each is looked into": ("k=a,v=1 k=b,v=1,w=1", "k=z,v=9 k=b,v=2,w=1", "k=a,v=1 k=b,v=1,w=2",
        "keep k=z,v=9, (k keep b, v keep 2, w take 2)"),
    "in another order of fields": ("k=a,v=1,w=1", "v=2,k=a,w=1", "k=a,v=1,w=2", "(v keep 2, k keep a, w take 2)"),
    "much more than there was: two elements": ("k=a,v=1", "k=a,v=1,x=1,y=1,z=1", "k=a,v=2",
        f"clash k=a,v=1|k=a,v=1,x=1,y=1,z=1|k=a,v=2: {Why.BOTH_CHANGED}"),
    "another number of elements": ("k=a,v=1,w=1", "k=a,v=2,w=1 k=c", "k=a,v=1,w=2",
        f"clash k=a,v=1,w=1|k=a,v=2,w=1 k=c|k=a,v=1,w=2: {Why.BOTH_CHANGED}"),
    "an emptied one is alike": ("k=a,v=1", "{}", "k=a,v=2", f"(v clash 1||2: {Why.OURS_GONE})"),
    "twins: both add what begins alike": ("z", "z k=a,v=1", "z k=a,v=2", f"keep z, (k keep a, v clash |1|2: {Why.BOTH_ADDED})"),
    "two pairs of twins": ("", "k=a,v=1 k=b,v=1", "k=a,v=2 k=b,v=2",
        f"(k keep a, v clash |1|2: {Why.BOTH_ADDED}), (k keep b, v clash |1|2: {Why.BOTH_ADDED})"),
    "a twin and its copy": ("", "k=a,v=1 k=b", "k=a,v=2 k=b", f"(k keep a, v clash |1|2: {Why.BOTH_ADDED}), keep k=b"),
    "no clash inside: two all the same": ("", "k=a,v=1", "k=a,v=1,w=2", f"clash |k=a,v=1|k=a,v=1,w=2: {Why.BOTH_ADD_HERE}"),
    "they begin otherwise": ("", "k=a,v=1", "k=b,v=1", f"clash |k=a,v=1|k=b,v=1: {Why.BOTH_ADD_HERE}"),
    "they begin with another field": ("", "k=a,v=1,w=1,x=1", "n=a,v=2,w=1,x=1",
        f"clash |k=a,v=1,w=1,x=1|n=a,v=2,w=1,x=1: {Why.BOTH_ADD_HERE}"),
    "they replace something": ("z", "k=a,v=1", "k=a,v=2", f"clash z|k=a,v=1|k=a,v=2: {Why.BOTH_CHANGED}"),
    "they are not alike below it": ("", "k=a,v=1,w=1", "k=a,v=2,w=2", f"clash |k=a,v=1,w=1|k=a,v=2,w=2: {Why.BOTH_ADD_HERE}"),
    "one pair of two": ("", "k=a,v=1 k=b", "k=a,v=2 k=c", f"clash |k=a,v=1 k=b|k=a,v=2 k=c: {Why.BOTH_ADD_HERE}"),
    "one more than the other": ("", "k=a,v=1", "k=a,v=2 k=b", f"clash |k=a,v=1|k=a,v=2 k=b: {Why.BOTH_ADD_HERE}"),
}  # fmt: skip
BAGS = {
    "both add in one gap: ours first": ("a", "a x", "a y", "keep a, keep x, take y"),
    "twins are two": ("z", "z k=a,v=1", "z k=a,v=2", "keep z, keep k=a,v=1, take k=a,v=2"),
    "each replaces another one": ("a b", "x y b", "a w z", "keep x, keep y, take w, take z"),
    "both rewrite one": ("a b", "x b", "y b", f"clash a|x|y: {Why.BOTH_CHANGED}, keep b"),
    "both rewrite one and add": ("a b", "x y b", "w z b", f"clash a|x y|w z: {Why.BOTH_CHANGED}, keep b"),
    "both fill an empty list": ("", "x", "y", f"clash |x|y: {Why.BOTH_ADD_HERE}"),
    "a repeated element is not told apart": ("a", "a x", "a x x", "keep a, keep x, take x"),
    "moved here, taken away there": ("a b", "b a", "b", "keep b"),
}  # fmt: skip


@pytest.mark.parametrize(
    "base, ours, theirs, expected", [*WORDS.values(), *MAPS.values()], ids=[*WORDS, *MAPS]
)
def test_a_list(base, ours, theirs, expected):
    assert ", ".join(plan(base, ours, theirs)[0]) == expected


@pytest.mark.parametrize("base, ours, theirs, expected", BAGS.values(), ids=BAGS)
def test_a_list_whose_order_means_nothing(base, ours, theirs, expected):
    assert ", ".join(plan(base, ours, theirs, bag=True)[0]) == expected


@pytest.mark.parametrize(
    "policy, added, moved",
    [
        ("ours", "keep a, keep x, keep b", "keep a, keep b, keep a"),
        ("theirs", "keep a, take y, keep b", "keep a, take b"),
        ("union", "keep a, keep x, take y, keep b", f"keep a, clash a b|b a|b: {MOVED_AND_GONE}"),
    ],
)
def test_a_policy_settles_a_clash(policy, added, moved):
    assert ", ".join(plan("a b", "a x b", "a y b", policy=policy)[0]) == added
    assert ", ".join(plan("a a b", "a b a", "a b", policy=policy)[0]) == moved


@pytest.mark.parametrize(
    "base, ours, theirs, places",
    [
        ("a b c", "a b c", "a x c", ["list[1]"]),
        ("a b", "a b", "a x y b", ["list[1]", "list[2]"]),
        ("a b c", "a x c", "a y c", ["list[1]"]),
        ("a b c", "x b c", "a b", []),  # what ours has needs no note, nor what is gone
        ("a b c", "w a b c", "a b y", ["list[2]"]),  # as base counts: the same for either side
        ("a b c", "x a b", "y a b", ["list[0]"]),
        ("a b", "a x b", "a x y b", ["list[2]"]),
        ("k=a,v=1,w=1", "k=a,v=2,w=1", "k=a,v=1,w=2", ["list[0].w"]),
        ("", "k=a,v=1", "k=a,v=1,w=2", ["list[0]"]),  # nothing is left of the look inside
    ],
)
def test_places_count_the_elements_of_base(base, ours, theirs, places):
    assert plan(base, ours, theirs)[1] == places


def test_the_laws_hold_for_every_small_list():
    lists = [" ".join(word) for size in range(4) for word in permutations("abx", size)]
    for ours, theirs in product(lists, lists):
        found = plan("a b", ours, theirs)[0]
        mirrored = plan("a b", theirs, ours)[0]
        assert ("clash" in str(found)) == ("clash" in str(mirrored)), (ours, theirs)
        if ours in ("a b", theirs) or theirs == "a b":  # at most one side changed it
            changed = theirs if ours == "a b" else ours
            assert " ".join(told.split()[1] for told in found) == changed, (ours, theirs)

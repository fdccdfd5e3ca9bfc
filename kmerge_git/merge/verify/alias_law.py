"""Check that every alias of a result means the anchor that it should mean.

An alias means the last anchor of its name before it, so an anchor that comes, goes or moves can
turn an alias that nobody touched. Two aliases of one name mean the same if their anchors are at the
same place or have the same content. The meaning of an alias is merged like a value.
"""

from __future__ import annotations

from kmerge_git.errors import Unsupported
from kmerge_git.kube.likeness import RELATED, bag, likeness
from kmerge_git.kube.listkeys import start
from kmerge_git.kube.outline import outlined
from kmerge_git.merge.plan import Why
from kmerge_git.merge.three import Three, agreed
from kmerge_git.merge.verify.sites import RESULT, CollectionPaths, Violation, steps
from kmerge_git.outcome import SIDES
from kmerge_git.tree.documents import split_text
from kmerge_git.tree.nodes import Alias, Collection, Node
from kmerge_git.tree.parser import may_alias, name_end
from kmerge_git.tree.same import same_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kmerge_git.kube.fieldpath import Path
    from kmerge_git.kube.listkeys import Where
    from kmerge_git.tree.documents import Document, Stream

    Meanings = list["Meaning"]  # of the aliases at one path
    Table = dict[Path, Meanings]
    Documents = list[Document]

NO_KEY = "[]"  # the step to every element of a list without keys


def turned_aliases(
    four: list[Documents], path: str, sides: tuple[str, ...] = SIDES
) -> list[Violation]:
    """Return the aliases of a result that mean another anchor than they should.

    Where both sides changed what an alias means, the result must agree with each of the `sides`.
    The place of an alias is violated, and so are the places of both anchors: a conflict at the
    alias alone would not decide where the anchors are.
    """
    found: list[Violation] = []
    for made in four[RESULT]:
        if "*" not in made.content:
            continue
        versions = [_counterpart(made, documents, four) for documents in four[:RESULT]]
        texts = [version.content for version in versions if version is not None]
        if not may_turn(texts):
            continue
        there = [Marks(d.root if d is not None else None, path) for d in (*versions, made)]
        known = [CollectionPaths(d.root, path) for d in versions[1:] if d is not None]
        turned = ((n, _place(p, known)) for n, places in _turned(there, sides) for p in places)
        for name, place in dict.fromkeys(turned):
            what = f"{Why.ALIAS}{name}` would refer to another `&{name}`"
            found.append(Violation("alias", made.number, place, what, place, why=what))
    return found


def may_turn(texts: list[str]) -> bool:
    """Return whether an alias may mean something else after a merge of a document's versions.

    The answer False is certain: two versions are the same, there is no alias, or all versions have
    the same lines with anchors and aliases, and each anchor only once.
    """
    if len(texts) < 2 or len({*texts}) < len(texts):
        return False
    if not any(map(may_alias, texts[-2:])):
        return False
    lines = [
        [line.strip() for line in text.split("\n") if "&" in line or "*" in line] for text in texts
    ]
    names = [part[: name_end(part, 0)] for part in "\n".join(lines[0]).split("&")[1:]]
    names = [name for name in names if name]  # `&&` in a script names nothing
    return len(texts) < RESULT or lines[1:] != lines[:-1] or len(set(names)) < len(names)


def refuse_turned(text: str, path: str, at: Three[Stream]) -> None:
    """Refuse a result of the rules `kyaml` in which an alias means another anchor than it should.

    These rules have no conflicts: where both sides changed what an alias means, theirs wins.
    """
    streams = (*at.each(), split_text(text, path))
    if turned_aliases([list(stream.documents) for stream in streams], path, ("theirs",)):
        raise Unsupported(
            "an alias would refer to another anchor of the same name; rename one anchor"
        )


def _counterpart(made: Document, documents: Documents, four: list[Documents]) -> Document | None:
    """Return the document of a version that is most like `made`, of the same name if possible."""
    if all(len(found) == 1 for found in four):
        return documents[0]
    name, lines = outlined(made), made.kept(_bag)
    known = [d for d in documents if outlined(d) == name]
    alike = [(likeness(d.kept(_bag), lines), -d.number, d) for d in known or documents]
    share, _, document = max(alike, default=(0.0, 0, None))
    return document if known or share >= RELATED else None


def _bag(document: Document) -> dict[str, int]:
    return bag(document.content)


def _place(path: Path, sides: list[CollectionPaths]) -> Path:
    """Return the path up to the first part that a side lacks, or that has no key."""
    keyed = path[: path.index(NO_KEY)] if NO_KEY in path else path
    shared = min((len(side.nearest(keyed[:-1])) for side in sides), default=0)
    return keyed[: shared + 1]


def _turned(there: list[Marks], sides: tuple[str, ...]) -> Iterator[tuple[str, list[Path]]]:
    """Yield the aliases that are turned, by name, with their places and those of the anchors."""
    base, ours, theirs, result = (marks.meant for marks in there)
    for name in sorted({meaning.name for some in result.values() for meaning in some}):
        if _is_unclear(name, there):
            yield name, [()]
    anywhere = [meaning for some in (*ours.values(), *theirs.values()) for meaning in some]
    for path, made in result.items():
        at = Three(base.get(path), ours.get(path), theirs.get(path))
        for side in sides:
            lawful = _lawful(at, side) or anywhere  # an entry may have a new key
            anchors = [m.place for some in at.each() if some is not None for m in some]
            wrong = [meaning for meaning in made if not is_one(meaning, lawful)]
            yield from ((m.name, [path, m.place, *anchors]) for m in wrong)
    yield from _turned_under_old_keys(base, ours, theirs, result)
    yield from _turned_under_old_keys(base, theirs, ours, result)


def _turned_under_old_keys(
    base: Table, side: Table, other: Table, result: Table
) -> Iterator[tuple[str, list[Path]]]:
    """Yield the aliases that a side turned where the other side has a new key around them."""
    for path, meant in side.items():
        if path in other or path in result or path not in base or _is_same(base[path], meant):
            continue
        name = meant[0].name
        new = {p: some for p, some in result.items() if p in other and p not in base}
        there = [p for p, some in new.items() for m in some if m.name == name]
        if there and not any(is_one(m, meant) for p in there for m in new[p]):
            yield name, there


def _is_unclear(name: str, there: list[Marks]) -> bool:
    """Return whether a repeated anchor has no place, and both sides changed marks of its name."""
    marks = [version.of.get(name, []) for version in there]
    anchors = [[path for path, node in some if node.anchor] for some in marks]
    if not any(len(some) > 1 and any(NO_KEY in path for path in some) for some in anchors):
        return False
    *inputs, made = ([(path, node.raw) for path, node in some] for some in marks)
    return agreed(Three(*inputs)) != made


def _lawful(at: Three[Meanings | None], side: str) -> Meanings | None:
    """Return what an alias may mean in a result whose conflicts are decided for a side."""
    base, ours, theirs = at.each()
    if ours is None or theirs is None:
        return ours or theirs
    own = ours if side == "ours" else theirs
    if base is not None and _is_same(base, theirs):
        return ours + own
    return theirs + own if base is not None and _is_same(base, ours) else own


def _is_same(some: Meanings, others: Meanings) -> bool:
    return all(is_one(one, others) for one in some) and all(is_one(one, some) for one in others)


def is_one(meaning: Meaning, others: Meanings) -> bool:
    """Return whether one of the other aliases has the same name and means the same."""
    node = meaning.node
    return any(
        other.name == meaning.name
        and (
            other.place == meaning.place
            or (node is not None and other.node is not None and same_node(node, other.node))
        )
        for other in others
    )


class Meaning:
    """Hold what an alias means: the node with the anchor of its name, and the place of the node."""

    __slots__ = ("name", "node", "place")

    def __init__(self, name: str, place: Path = (), node: Node | None = None) -> None:
        self.name = name
        self.place = place
        self.node = node


class Marks:
    """Hold the anchors and aliases of a document, in their order, and what the aliases mean."""

    __slots__ = ("_last", "meant", "of")

    def __init__(self, root: Node | None, path: str) -> None:
        self.of: dict[str, list[tuple[Path, Node]]] = {}  # by name
        self.meant: dict[Path, Meanings] = {}  # by the path of the alias
        self._last: dict[str, Meaning] = {}
        if root is not None:
            self._read(root, (), start(root, path))

    def _read(self, node: Node, path: Path, where: Where) -> None:
        if isinstance(node, Alias):
            meaning = self._last.get(node.name, Meaning(node.name))
            self.meant.setdefault(path, []).append(meaning)
        elif node.anchor:
            self._last[node.anchor] = Meaning(node.anchor, path, node)
        if name := node.name if isinstance(node, Alias) else node.anchor:
            self.of.setdefault(name, []).append((path, node))
        text, first, end = node.text, node.start, node.end
        if not isinstance(node, Collection) or max(text.find(c, first, end) for c in "*&") < 0:
            return
        for step, entry, inner in steps(node, where):
            below = (*path, step or (NO_KEY if entry.key is None else entry.name))
            if entry.key is not None:
                self._read(entry.key, (*below, "key"), inner)
            self._read(entry.value, below, inner)

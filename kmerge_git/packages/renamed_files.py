"""Find the files that a side renamed, and put every version of a file under its merged path.

Files are paired by exact bytes, by the names of resources, by lines; always the one clearly best
choice of both. An index finds what two files have in common: the cost is linear in lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from posixpath import basename, dirname, join

from kmerge_git.kube.likeness import MOVED_FILE, RENAMED, bag, likeness
from kmerge_git.merge.three import Three
from kmerge_git.packages.moved_resources import holds_only_names, names
from kmerge_git.packages.package_files import File, Package, is_manifest


@dataclass(frozen=True, slots=True)
class Followed:
    """Packages in which the versions of one file have one path."""

    at: Three[Package]
    sources: dict[str, str]  # what dest had under another path, by the new one
    named_by_dest: set[str]  # paths of files that dest renamed
    notes: dict[str, str]  # what is to be told of a path
    refused: dict[str, str]  # why a path is left to a person


def follow(at: Three[Package], words: Three[str]) -> Followed:
    """Pair what each side renamed; where both did, dest's name stands."""
    theirs = find_renames(*_gone_and_fresh(at, "theirs"), arrivals(at.base, at.theirs))
    ours = _renames_of_dest(at, theirs)
    to: Three[dict[str, str]] = Three({}, {}, {})
    notes, refused = {}, {}
    for path, mine in sorted(ours.items()):
        yours = theirs.get(path, "" if path not in at.theirs else path)
        if mine != yours and mine in at.theirs:
            continue  # each has a file of this name: they are merged as what they are
        if yours and mine != yours:
            to.theirs[yours] = mine
            if yours != path:
                notes[mine] = f"renamed to {yours} in {words.theirs}; {words.ours}'s name stays"
        to.base[path] = mine
    named_by_dest = set(to.base.values())
    room = Room(at)
    for path, yours in sorted(theirs.items()):
        if path in to.base or yours in to.base.values():
            continue
        if path not in at.ours:
            to.base[path] = yours  # gone in dest, or merged there before
        elif room.is_free(yours, path):
            to.base[path] = to.ours[path] = yours
        elif not (yours in at.ours and _go_together(path, yours, at)):
            to.theirs[yours] = path
            taken = "has one of its own" if yours in at.ours else "has others in its way"
            refused[path] = f"renamed to {yours} in {words.theirs}, {words.ours} {taken}"
    packages = [_renamed(p, names) for p, names in zip(at.each(), to.each(), strict=True)]
    sources = {target: path for path, target in to.ours.items()}
    return Followed(Three(*packages), sources, named_by_dest, notes, refused)


def _renamed(package: Package, names: dict[str, str]) -> Package:
    staying = {path: file for path, file in package.items() if path not in names}
    return staying | {names[path]: file for path, file in package.items() if path in names}


def _renames_of_dest(at: Three[Package], theirs: dict[str, str]) -> dict[str, str]:
    """What dest renamed; it may have followed theirs before, and then nothing else is looked for.

    The next version of a file that dest renamed tells as much as the one that it came from.
    """
    gone, fresh = _gone_and_fresh(at, "ours")
    arrived = arrivals(at.base, at.ours)
    for path in gone:
        later = at.theirs.get(path) or at.theirs.get(theirs.get(path, ""))
        gone[path] += (later,) if later else ()
    found = {}
    for path, target in theirs.items():
        if path in gone and target in fresh:
            file = fresh[target]
            if find_renames({path: gone[path]}, {target: file}, arrived):
                found[path] = target
                del gone[path], fresh[target]
    return found | find_renames(gone, fresh, arrived)


def _gone_and_fresh(
    at: Three[Package], side: str
) -> tuple[dict[str, tuple[File, ...]], dict[str, File]]:
    """The files of the base that a side lacks, and those that it has beside the base's."""
    there = at.side(side)
    gone: dict[str, tuple[File, ...]] = {}
    gone |= {path: (file,) for path, file in sorted(at.base.items()) if path not in there}
    fresh = {path: file for path, file in sorted(there.items()) if path not in at.base}
    return gone, fresh


def _is_same(a: File | None, b: File | None) -> bool:
    return a is not None and b is not None and (a.data, a.link) == (b.data, b.link)


def _go_together(path: str, target: str, at: Three[Package]) -> bool:
    """Whether what was renamed and what dest has there need not be put side by side.

    They are the same; or all are resources with names, and these are followed one by one.
    """
    ours, theirs = at.ours[target], at.theirs[target]
    files = [(path, at.base[path]), (path, at.ours[path]), (target, ours), (target, theirs)]
    return _is_same(ours, theirs) or all(holds_only_names(*file) for file in files)


class Room:
    """Where in dest a file may come to stand that theirs renamed."""

    def __init__(self, at: Three[Package]) -> None:
        self._ours = at.ours
        self._staying = {
            path
            for path, file in at.ours.items()
            if path in at.theirs or not _is_same(file, at.base.get(path))
        }
        self._folders = Counter(folder for path in self._staying for folder in folders(path))

    def is_free(self, target: str, source: str) -> bool:
        """Whether neither a file nor a folder of dest is in the way, but for the file itself."""
        if target in self._ours:
            return False
        inside = source in self._staying and source.startswith(f"{target}/")
        if self._folders[target] > int(inside):
            return False
        return all(folder == source or folder not in self._staying for folder in folders(target))


def folders(path: str) -> Iterator[str]:
    """The folders that a path goes through."""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)


Versions = Mapping[str, tuple[File, ...]]  # of a file that is gone: how it looked
Places = Mapping[Hashable, set[str]]  # of resources: their files
Score = tuple[float, ...]
Table = dict[str, dict[str, Score]]

# Files that may share a line before it says nothing, and files that are compared with one.
_COMMON = 24


def find_renames(gone: Versions, fresh: Package, arrived: Places) -> dict[str, str]:
    """The fresh file that each gone one became, as far as that is clear.

    `arrived` tells the files in which a side has resources that the base has not in that file.
    """
    found: dict[str, str] = {}
    if not gone or not fresh:
        return found
    for table in (_by_bytes, _by_names, _by_lines):
        left = {path: files for path, files in gone.items() if path not in found}
        free = {path: file for path, file in fresh.items() if path not in found.values()}
        pairs = _Pairs(left, free, arrived)
        found |= _clear(table(pairs))
    return found | _in_moved_folders(_Pairs(gone, fresh, arrived), found)


def arrivals(base: Package, side: Package) -> Places:
    """The resources of a side that stand in files where the base has none of their name."""
    found: dict[Hashable, set[str]] = {}
    for path, file in side.items():
        before = base.get(path)
        if before is None or before.data != file.data:
            for name in names(path, file) - (names(path, before) if before else frozenset()):
                found.setdefault(name, set()).add(path)
    return found


def _clear(table: Table) -> dict[str, str]:
    """The pairs of which each is the one best choice of the other."""
    columns: Table = {}
    for old, row in table.items():
        for new, score in row.items():
            columns.setdefault(new, {})[old] = score
    found = {}
    for old, row in table.items():
        best = _best(row)
        if best is not None and _best(columns[best]) == old:
            found[old] = best
    return found


def _best(row: dict[str, Score]) -> str | None:
    top = max(row.values(), default=None)
    best = [path for path, score in row.items() if score == top]
    return best[0] if len(best) == 1 else None


def _by_bytes(pairs: _Pairs) -> Table:
    there: dict[tuple[bytes, bool], list[str]] = {}
    for path, file in pairs.fresh.items():
        if file.data:
            there.setdefault((file.data, file.link), []).append(path)
    table: Table = {}
    for old, files in pairs.gone.items():
        same = {new for file in files for new in there.get((file.data, file.link), ())}
        # of many that are the same only the file's own name can tell
        close = same if len(same) <= _COMMON else {n for n in same if _namesake(n, old)}
        table[old] = {new: (_namesake(new, old),) for new in close}
    return table


def _by_names(pairs: _Pairs) -> Table:
    there = _index({new: pairs.names_of_fresh(new) for new in pairs.fresh})
    namesakes = _namesakes(pairs.fresh)
    table: Table = {}
    for old in pairs.gone:
        mine = pairs.names_of_gone(old)
        table[old] = {}
        for new in _candidates(old, mine, there, namesakes):
            share = pairs.share(old, new)
            if share >= MOVED_FILE and pairs.is_whole(old, new):
                table[old][new] = share, pairs.likeness(old, new), _namesake(old, new)
    return table


def _by_lines(pairs: _Pairs) -> Table:
    there = _index({new: pairs.lines_of_fresh(new) for new in pairs.fresh})
    namesakes = _namesakes(pairs.fresh)
    table: Table = {}
    for old in pairs.gone:
        lines = {line for counts in pairs.lines_of_gone(old) for line in counts}
        mine = pairs.names_of_gone(old)
        table[old] = {}
        for new in _candidates(old, lines, there, namesakes):
            yours = pairs.names_of_fresh(new)
            if mine & yours or not pairs.is_whole(old, new):
                continue  # what they have in common moved on its own
            alike = pairs.likeness(old, new)
            if alike >= (RENAMED if mine and yours else MOVED_FILE):
                table[old][new] = alike, _namesake(old, new)
    return table


def _in_moved_folders(pairs: _Pairs, found: dict[str, str]) -> dict[str, str]:
    """Files that are much alike, of which only the folder tells which is which."""
    votes: dict[str, Counter[str]] = {}
    for old, new in found.items():
        votes.setdefault(dirname(old), Counter())[dirname(new)] += 1
    taken = set(found.values())
    more: dict[str, str] = {}
    for old in pairs.gone:
        if old in found or dirname(old) not in votes:
            continue
        (folder, most), *others = votes[dirname(old)].most_common(2)
        new = join(folder, basename(old))
        if new not in pairs.fresh or new in taken or (others and others[0][1] == most):
            continue
        if pairs.likeness(old, new) >= MOVED_FILE and pairs.is_whole(old, new):
            more[old] = new
            taken.add(new)
    return more


def _index(things: Mapping[str, Iterable[Hashable]]) -> dict[Hashable, list[str]]:
    """In which files each thing is."""
    there: dict[Hashable, list[str]] = {}
    for path, known in things.items():
        for thing in known:
            there.setdefault(thing, []).append(path)
    return there


def _namesake(old: str, new: str) -> float:
    return float(basename(old) == basename(new))


def _namesakes(fresh: Package) -> dict[Hashable, list[str]]:
    """The files by their own names, where few share one."""
    there = _index({path: (basename(path),) for path in fresh})
    return {name: paths for name, paths in there.items() if len(paths) <= _COMMON}


def _candidates(
    old: str,
    known: Iterable[Hashable],
    there: dict[Hashable, list[str]],
    namesakes: dict[Hashable, list[str]],
) -> list[str]:
    """The files that share most of what few files have, and those of the same own name."""
    count: Counter[str] = Counter()
    for thing in known:
        holders = there.get(thing, ())
        if len(holders) <= _COMMON:
            count.update(holders)
    best = sorted(count, key=lambda path: (-count[path], path))[:_COMMON]
    return [*best, *(path for path in namesakes.get(basename(old), ()) if path not in best)]


class _Pairs:
    """What gone and fresh files hold, and how much two of them have in common."""

    def __init__(self, gone: Versions, fresh: Package, arrived: Places) -> None:
        self.gone = gone
        self.fresh = fresh
        self._arrived = arrived
        self._there: dict[str, list[frozenset[Hashable]]] = {}  # names of what is gone
        self._here: dict[str, frozenset[Hashable]] = {}
        self._left: dict[str, list[dict[str, int]]] = {}
        self._right: dict[str, dict[str, int]] = {}

    def names_of_gone(self, old: str) -> frozenset[Hashable]:
        return self._versions_of(old)[0]

    def share(self, old: str, new: str) -> float:
        """How many resources a version of the gone file and the fresh one have in common."""
        yours = self.names_of_fresh(new)
        versions = self._versions_of(old)
        shares = [2 * len(v & yours) / (len(v) + len(yours)) for v in versions if v & yours]
        return max(shares, default=0.0)

    def names_of_fresh(self, new: str) -> frozenset[Hashable]:
        if new not in self._here:
            self._here[new] = names(new, self.fresh[new])
        return self._here[new]

    def _versions_of(self, old: str) -> list[frozenset[Hashable]]:
        if old not in self._there:
            self._there[old] = [names(old, file) for file in self.gone[old]]
        return self._there[old]

    def lines_of_gone(self, old: str) -> list[dict[str, int]]:
        if old not in self._left:
            self._left[old] = [_lines(old, file) for file in self.gone[old]]
        return self._left[old]

    def lines_of_fresh(self, new: str) -> dict[str, int]:
        if new not in self._right:
            self._right[new] = _lines(new, self.fresh[new])
        return self._right[new]

    def likeness(self, old: str, new: str) -> float:
        there = self.lines_of_fresh(new)
        found = [likeness(known, there) for known in self.lines_of_gone(old) if known and there]
        return max(found, default=0.0)

    def is_whole(self, old: str, new: str) -> bool:
        """Whether both are manifests or none is, and nothing of the old went to a third file."""
        if is_manifest(old) != is_manifest(new):
            return False
        left = self.names_of_gone(old) - self.names_of_fresh(new)
        return not any(self._arrived.get(name, set()) - {new} for name in left)


def _lines(path: str, file: File) -> dict[str, int]:
    """The lines of a text and how often each stands there; nothing of what is no text."""
    if file.link or file.is_binary:
        return {}
    text = file.data.decode("utf-8", "replace")
    if is_manifest(path, file):
        return bag(text)
    return Counter(bare for line in text.split("\n") if (bare := line.strip()))

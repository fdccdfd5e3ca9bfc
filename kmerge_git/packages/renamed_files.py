"""Find the files that a side renamed, and put every version of a file under its merged path.

Files are paired by equal bytes, then by the names of their resources, then by their lines. Two
files are paired only if each is clearly the best match of the other. An index finds the lines that
files share, so the cost is linear in the number of lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from posixpath import basename, dirname, join

from kmerge_git.kube.likeness import MOVED_FILE, RENAMED, bag, likeness, stripped_lines
from kmerge_git.kube.moved_resources import holders
from kmerge_git.merge.three import Three
from kmerge_git.packages.followed_resources import holds_only_names, names
from kmerge_git.packages.package_files import File, Package, is_manifest


@dataclass(frozen=True, slots=True)
class Followed:
    """Hold packages in which all versions of a file have the same path."""

    at: Three[Package]
    sources: dict[str, str]  # old paths of dest's files that the merge renames, by new path
    named_by_dest: set[str]  # new paths of files that dest renamed
    notes: dict[str, str]  # remarks about a path
    refused: dict[str, str]  # by path: the reason why a person must decide


def follow(at: Three[Package], words: Three[str]) -> Followed:
    """Follow the renames of both sides; where both sides renamed a file, dest's name stays."""
    theirs = find_renames(*gone_and_fresh(at.base, at.theirs), arrivals(at.base, at.theirs))
    ours = _renames_of_dest(at, theirs)
    to: Three[dict[str, str]] = Three({}, {}, {})
    notes, refused = {}, {}
    for path, mine in sorted(ours.items()):
        yours = theirs.get(path, "" if path not in at.theirs else path)
        if mine != yours and mine in at.theirs:
            continue  # both sides have a file of this name, and these two are merged
        if yours and mine != yours:
            to.theirs[yours] = mine
            if yours != path:
                notes[mine] = f"renamed to {yours} in {words.theirs}; {words.ours}'s name is kept"
        to.base[path] = mine
    named_by_dest = set(to.base.values())
    free_paths = FreePaths(at)
    for path, yours in sorted(theirs.items()):
        if path in to.base or yours in to.base.values():
            continue
        if path not in at.ours:
            to.base[path] = yours  # dest has deleted the file, or has merged the rename before
        elif free_paths.is_free(yours, path):
            to.base[path] = to.ours[path] = yours
        elif not (yours in at.ours and _go_together(path, yours, at)):
            to.theirs[yours] = path
            taken = "another file" if yours in at.ours else "a file or directory in the way"
            refused[path] = f"renamed to {yours} in {words.theirs}, but {words.ours} has {taken}"
    packages = [_renamed(p, renames) for p, renames in zip(at.each(), to.each(), strict=True)]
    sources = {target: path for path, target in to.ours.items()}
    return Followed(Three(*packages), sources, named_by_dest, notes, refused)


def _renamed(package: Package, renames: dict[str, str]) -> Package:
    staying = {path: file for path, file in package.items() if path not in renames}
    return staying | {renames[path]: file for path, file in package.items() if path in renames}


def _renames_of_dest(at: Three[Package], theirs: dict[str, str]) -> dict[str, str]:
    """Return the files that dest renamed; prefer the new names that theirs uses as well.

    To recognise a renamed file, compare it with the version in base and the version in theirs.
    """
    gone, fresh = gone_and_fresh(at.base, at.ours)
    arrived = arrivals(at.base, at.ours)
    for path in gone:
        later = at.theirs.get(path) or at.theirs.get(theirs.get(path, ""))
        gone[path] += (later,) if later else ()
    followed = {}
    for path, target in theirs.items():
        if path not in gone or target not in fresh:
            continue
        if find_renames({path: gone[path]}, {target: fresh[target]}, arrived):
            followed[path] = target
            del gone[path], fresh[target]
    return followed | find_renames(gone, fresh, arrived)


def gone_and_fresh(base: Package, side: Package) -> tuple[dict[str, tuple[File, ...]], Package]:
    """Return the files that only the base has, and the files that only the side has.

    Leave out a copy of a file that stays: no deleted file was renamed to it.
    """
    gone: dict[str, tuple[File, ...]] = {}
    gone |= {path: (file,) for path, file in sorted(base.items()) if path not in side}
    copied = {file.data for path, file in base.items() if path in side}
    copied -= {file.data for (file,) in gone.values()}
    fresh = {path: file for path, file in sorted(side.items()) if path not in base}
    return gone, {path: file for path, file in fresh.items() if file.data not in copied}


def _is_same(a: File | None, b: File | None) -> bool:
    return a is not None and b is not None and (a.data, a.link) == (b.data, b.link)


def _go_together(path: str, target: str, at: Three[Package]) -> bool:
    """Return whether a renamed file can share its new path with a file that dest has there.

    It can if the two files are the same. It also can if every version holds only named resources,
    because these are followed one by one.
    """
    ours, theirs = at.ours[target], at.theirs[target]
    files = [(path, at.base[path]), (path, at.ours[path]), (target, ours), (target, theirs)]
    return _is_same(ours, theirs) or all(holds_only_names(*file) for file in files)


class FreePaths:
    """Tell which paths of dest are free for a file that theirs renamed."""

    def __init__(self, at: Three[Package]) -> None:
        self._ours = at.ours
        self._staying = {
            path
            for path, file in at.ours.items()
            if path in at.theirs or not _is_same(file, at.base.get(path))
        }
        self._folders = Counter(folder for path in self._staying for folder in folders(path))

    def is_free(self, target: str, source: str) -> bool:
        """Return whether no other file or folder of dest blocks the new path of a renamed file."""
        if target in self._ours:
            return False
        inside = source in self._staying and source.startswith(f"{target}/")
        if self._folders[target] > int(inside):
            return False
        return all(folder == source or folder not in self._staying for folder in folders(target))


def folders(path: str) -> Iterator[str]:
    """Yield the parent folders of a path, the topmost first."""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)


# -- which file became which

Versions = Mapping[str, tuple[File, ...]]  # the versions of each deleted file
Places = Mapping[Hashable, list[str]]  # the files that hold each resource
Score = tuple[float, ...]  # how well two files match; empty if they do not match
Table = dict[str, dict[str, Score]]

# A line counts only if at most so many files share it; a file is compared with at most so many.
_COMMON = 24


@dataclass(frozen=True)
class _Known:
    """Hold a file that a side deleted or added, and the content of each of its versions."""

    path: str
    versions: tuple[File, ...]

    @cached_property
    def names(self) -> list[frozenset[Hashable]]:
        return [names(self.path, file) for file in self.versions]

    @cached_property
    def lines(self) -> list[dict[str, int]]:
        return [_lines(self.path, file) for file in self.versions]


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Hold the deleted files and the added files that may be paired."""

    gone: Mapping[str, _Known]
    fresh: Mapping[str, _Known]
    arrived: Places

    def without(self, renames: dict[str, str]) -> _Pairs:
        """Return the files that are not paired yet."""
        taken = set(renames.values())
        gone = {path: file for path, file in self.gone.items() if path not in renames}
        fresh = {path: file for path, file in self.fresh.items() if path not in taken}
        return _Pairs(gone, fresh, self.arrived)

    def is_whole(self, old: _Known, new: _Known) -> bool:
        """Return whether a new file can be the old file under another path.

        Either both files are manifests or neither is. No resource of the old file may have gone to
        a third file.
        """
        if is_manifest(old.path) != is_manifest(new.path):
            return False
        left = old.names[0] - new.names[0]
        return not any({*self.arrived.get(name, ())} - {new.path} for name in left)


def find_renames(gone: Versions, fresh: Package, arrived: Places) -> dict[str, str]:
    """Return the new path of each file that was clearly renamed, by its old path.

    `arrived` lists for each resource the files where the side has the resource and the base does
    not.
    """
    pairs = _Pairs(
        {path: _Known(path, files) for path, files in gone.items()},
        {path: _Known(path, (file,)) for path, file in fresh.items()},
        arrived,
    )
    equal = _by_bytes(pairs)
    renames = _clear(equal)
    # which of several equal files it became, neither names nor lines tell
    open_files = {old: file for old, file in pairs.gone.items() if not equal[old]}
    for table in (_by_names, _by_lines):
        rest = _Pairs(open_files, pairs.fresh, pairs.arrived).without(renames)
        renames |= _clear(table(rest))
    return renames | _in_moved_folders(pairs, renames)


def arrivals(base: Package, side: Package) -> Places:
    """Return for each resource the files where a side has the resource and the base does not."""
    return holders(
        (path, names(path, file) - (names(path, base[path]) if path in base else frozenset()))
        for path, file in side.items()
        if path not in base or base[path].data != file.data
    )


def _clear(table: Table) -> dict[str, str]:
    """Return the pairs of files in which each file is the single best match of the other."""
    columns: Table = {}
    for old, row in table.items():
        for new, score in row.items():
            columns.setdefault(new, {})[old] = score
    best = {old: _best(row) for old, row in table.items()}
    return {old: new for old, new in best.items() if new and _best(columns[new]) == old}


def _best(row: dict[str, Score]) -> str:
    top = max(row.values(), default=())
    best = [path for path, score in row.items() if score == top]
    return best[0] if len(best) == 1 else ""


def _by_bytes(pairs: _Pairs) -> Table:
    there = holders(
        (path, [(file.data, file.link) for file in known.versions if file.data])
        for path, known in pairs.fresh.items()
    )
    table: Table = {}
    for old, known in pairs.gone.items():
        same = {n for file in known.versions for n in there.get((file.data, file.link), ())}
        # among many equal files only the base name can decide
        close = same if len(same) <= _COMMON else {n for n in same if _namesake(n, old)}
        # a move within a folder comes first; between folders the base name tells nothing
        close = {new for new in close if dirname(new) == dirname(old)} or close
        is_told = len({dirname(new) for new in close}) == 1
        table[old] = {new: (is_told * _namesake(new, old),) for new in close}
    return table


def _by_names(pairs: _Pairs) -> Table:
    def score(old: _Known, new: _Known) -> Score:
        yours = new.names[0]
        shares = [2 * len(v & yours) / (len(v) + len(yours)) for v in old.names if v & yours]
        share = max(shares, default=0.0)  # the most similar version of the old file counts
        if share < MOVED_FILE or not pairs.is_whole(old, new):
            return ()
        return share, _likeness(old, new), _namesake(old.path, new.path)

    return _scored(pairs, lambda known: known.names[0], score)


def _by_lines(pairs: _Pairs) -> Table:
    def score(old: _Known, new: _Known) -> Score:
        mine, yours = old.names[0], new.names[0]
        if mine & yours or not pairs.is_whole(old, new):
            return ()  # resources that both files have are followed one by one
        alike = _likeness(old, new)
        is_alike = alike >= (RENAMED if mine and yours else MOVED_FILE)
        return (alike, _namesake(old.path, new.path)) if is_alike else ()

    return _scored(pairs, lambda known: {line for lines in known.lines for line in lines}, score)


def _scored(
    pairs: _Pairs,
    things_of: Callable[[_Known], Iterable[Hashable]],
    score: Callable[[_Known, _Known], Score],
) -> Table:
    """Score the pairs of files that share names or lines (see `things_of`) or a base name."""
    there = _few(holders((path, things_of(known)) for path, known in pairs.fresh.items()))
    namesakes = _few(holders((path, (basename(path),)) for path in pairs.fresh))
    table: Table = {}
    for old, known in pairs.gone.items():
        count = Counter(path for thing in things_of(known) for path in there.get(thing, ()))
        candidates = sorted(count, key=lambda path: (-count[path], path))[:_COMMON]
        candidates += [p for p in namesakes.get(basename(old), ()) if p not in candidates]
        scores = {new: score(known, pairs.fresh[new]) for new in candidates}
        table[old] = {new: known_score for new, known_score in scores.items() if known_score}
    return table


def _few(index: dict[Hashable, list[str]]) -> dict[Hashable, list[str]]:
    """Drop the things that many files share, because they do not identify a file."""
    return {thing: paths for thing, paths in index.items() if len(paths) <= _COMMON}


def _in_moved_folders(pairs: _Pairs, renames: dict[str, str]) -> dict[str, str]:
    """Pair similar files of one base name if other renames show that their folder moved."""
    votes: dict[str, Counter[str]] = {}
    for old, new in renames.items():
        votes.setdefault(dirname(old), Counter())[dirname(new)] += 1
    left = pairs.without(renames)
    free = dict(left.fresh)
    more: dict[str, str] = {}
    for old, known in left.gone.items():
        if dirname(old) not in votes:
            continue
        (folder, most), *others = votes[dirname(old)].most_common(2)
        new = join(folder, basename(old))
        if new not in free or (others and others[0][1] == most):
            continue
        if _likeness(known, free[new]) >= MOVED_FILE and pairs.is_whole(known, free[new]):
            more[old] = new
            del free[new]
    return more


def _namesake(old: str, new: str) -> float:
    return float(basename(old) == basename(new))


def _likeness(old: _Known, new: _Known) -> float:
    there = new.lines[0]
    scores = [likeness(known, there) for known in old.lines if known and there]
    return max(scores, default=0.0)


def _lines(path: str, file: File) -> dict[str, int]:
    """Return how often each line occurs in a text; return nothing for a link or a binary file."""
    if file.link or file.is_binary:
        return {}
    text = file.data.decode("utf-8", "replace")
    return bag(text) if is_manifest(path, file) else stripped_lines(text)

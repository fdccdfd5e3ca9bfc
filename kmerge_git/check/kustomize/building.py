"""What kustomize makes of a kustomization, as far as identities go: which resources it gathers.

The order is that of kustomize: resources and bases, generators, components, then the patches,
the namespace, prefix and suffix, labels. What stands on other machines, comes from charts or
cannot be read leaves a build `open`: then nobody can say that a resource is not there.
"""

from __future__ import annotations

from kmerge_git.check.kustomize.building_patches import transform
from kmerge_git.check.kustomize.builds import NO_MERGE, TWICE, EntryPlace, Gathering, Trouble
from kmerge_git.check.kustomize.folders import is_remote
from kmerge_git.check.kustomize.gathered import Gathered, texts_of
from kmerge_git.check.kustomize.kustomization import Kustomization, in_folder
from kmerge_git.check.plain import Map
from kmerge_git.kube.identity import Identity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kmerge_git.check.world import World

MAKERS = ("helmCharts", "helmChartInflationGenerator", "generators")
GENERATORS = (("configMapGenerator", "ConfigMap"), ("secretGenerator", "Secret"))
DEEPEST = 50  # bases of bases


class Gatherer:
    """Builds kustomizations, each once."""

    __slots__ = ("_built", "skips", "world")

    def __init__(self, world: World, skips: Callable[[str], bool] = lambda path: False) -> None:
        self.world = world
        self.skips = skips  # files that have nothing to do with what was changed
        self._built: dict[str, Gathering] = {}

    def of(self, one: Kustomization, above: frozenset[str] = frozenset()) -> Gathering:
        """The build of a kustomization; `above` are those that include it."""
        if one.path not in self._built:
            build = Gathering(one)
            # what a component patches is in the kustomizations that include it
            build.is_open = _is_component(one)
            self._run(build, one, above | {one.path}, None)
            self._built[one.path] = build
        return self._built[one.path]

    def _run(
        self, build: Gathering, one: Kustomization, above: frozenset[str], within: EntryPlace | None
    ) -> None:
        root = one.root
        fields = ("resources", "bases", "components")
        seen: set[str] = set()
        for field in fields:
            if field == "components":
                _generate(build, one, within)
            for number, (path, text, at) in enumerate(
                (path, text, at) for path, text, at, f in one.resources if f == field
            ):
                place = within or EntryPlace(at, (field, number), text)
                if field == "components":
                    self._component(build, path, above, place)
                elif path not in seen:
                    self._include(build, path, text, above, place)
                    seen.add(path)
        if any(maker in root.fields for maker in MAKERS):
            build.is_open = True
        transform(build, one, self.world, within)
        if "transformers" in root.fields:
            build.is_open = True
            build.blur()

    def _component(
        self, build: Gathering, path: str, above: frozenset[str], place: EntryPlace
    ) -> None:
        """Do what a component says, to all that is there."""
        inner = self._folder(build, path, above)
        if inner is None or not _is_component(inner):
            build.is_open = True
        else:
            held = EntryPlace(place.at, place.field, place.text, inner.path)
            self._run(build, inner, above | {inner.path}, held)

    def _include(
        self, build: Gathering, path: str, text: str, above: frozenset[str], place: EntryPlace
    ) -> None:
        """Add what an entry of `resources` or `bases` brings."""
        found: list[Gathered] | None = None
        if self.world.is_directory(path):
            inner = self._folder(build, path, above)
            if inner is not None and not _is_component(inner):  # kustomize refuses a component
                below = self.of(inner, above)
                build.paths |= below.paths
                build.is_open = build.is_open or below.is_open
                found = below.resources
        elif not is_remote(text) and not self.skips(path):
            build.paths.add(path)
            found = self.world.resources(path)
        if found is None:
            build.is_open = True
        else:
            _take(build, [one.copy() for one in found if one.name and one.kind], place)

    def _folder(self, build: Gathering, path: str, above: frozenset[str]) -> Kustomization | None:
        """The kustomization of a folder; None where it is none, or one that includes this one."""
        inner = in_folder(self.world, path) if self.world.is_directory(path) else None
        if inner is None or inner.path in above or len(above) > DEEPEST:
            return None
        build.paths.add(inner.path)
        return inner


def _is_component(one: Kustomization) -> bool:
    return one.root.text("kind") == "Component"


def _take(build: Gathering, brought: list[Gathered], place: EntryPlace) -> None:
    """Add resources; those that are there already are one trouble together."""
    twice = []
    for one in brought:
        first = build.add(one, place)
        if first is not None:
            # two documents of a file: another check says that
            told = (first.path, first.by, first.who) == (one.path, place.text, one.who)
            if not told or first.line == one.line:
                twice.append((first, one))
    if not twice:
        return
    first, one = twice[0]
    if not one.path:
        message = f"{one}, which is generated there, is in {first.path or first.by} too"
    elif one.path == first.path:
        message = f"{one} of {one.path} comes in a second time, first by {first.by}"
    else:
        message = f"{one} in line {one.line} of {one.path} is in {first.path or first.by} too"
    more = f", and {len(twice) - 1} more" if len(twice) > 1 else ""
    build.troubles.append(Trouble(TWICE, place, message + more))


def _generate(build: Gathering, one: Kustomization, within: EntryPlace | None) -> None:
    """Add what the generators make; a generator may also change what is there."""
    made: list[Gathered] = []
    for field, kind in GENERATORS:
        for number, item in one.root.maps(field):
            name, behavior = item.text("name"), item.text("behavior")
            if not name:
                continue
            place = within or EntryPlace(item.at, (field, number), one.path)
            who = Identity("", kind, item.text("namespace"), name, "v1", "")
            new = Gathered(who, labels=_of_options(one, item, "labels"))
            new.annotations = _of_options(one, item, "annotations")
            found = build.called(new.key)
            changes = behavior in ("merge", "replace")
            if not found and changes:
                if build.is_sure:
                    what = f"{new} is not there, so that nothing can be {behavior}d with it"
                    build.troubles.append(Trouble(NO_MERGE, place, what))
            elif not found:
                build.add(new, place)
                made.append(new)
            elif len(found) > 1:
                named = " and ".join(str(each) for each in found[:2])
                what = f"{new} may be {named}: kustomize does not choose"
                build.troubles.append(Trouble(NO_MERGE, place, what))
            elif changes:
                for slot in ("labels", "annotations"):
                    old = getattr(found[0], slot)
                    setattr(found[0], slot, None if old is None else old | getattr(new, slot))
            elif found[0] not in made:
                where = found[0].path or found[0].by
                what = f"{new} is in {where} too; to change that one, write `behavior: merge`"
                build.troubles.append(Trouble(TWICE, place, what))


def _of_options(one: Kustomization, item: Map, field: str) -> dict[str, str]:
    """Labels or annotations of what a generator makes."""
    holders = (one.root.map("generatorOptions"), item.map("options"))
    return {k: v for each in holders if each for k, v in texts_of(each.map(field)).items()}

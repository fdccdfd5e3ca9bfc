"""Read how the files of a repository are merged: attributes, configuration, environment."""

from __future__ import annotations

import os
from functools import partial

from kmerge_git.git.manifests import is_merged, way_out
from kmerge_git.git.repository import Repository
from kmerge_git.git.settings import ATTRIBUTES, settle
from kmerge_git.kube import keytable
from kmerge_git.kube.crds import learn_files, learn_own
from kmerge_git.outcome import LABELS, Options
from kmerge_git.whole.both_merges import options_for

DRIVER = "kmerge"


class SettingsOf:
    """The settings of one repository, for any path; `problems` are the values without sense."""

    def __init__(
        self,
        repository: Repository,
        favor: str | None = None,
        labels: tuple[str, str, str] = LABELS,
        config: list[tuple[str, str]] | None = None,
        mine: str = "",
    ) -> None:
        self._repository = repository
        self._flags = {"favor": favor} if favor else {}
        self._config = repository.settings() if config is None else config
        self._labels = labels
        self._mine = mine  # the side whose change goes on top (see `git.top_side`)
        self.problems: list[str] = []
        self._top = repository.worktree or os.getcwd()
        keytable.forget()  # definitions of other settings
        places = [value for key, value in self._config if key.lower() == "kmerge.crd" and value]
        if places:
            self.problems += learn_files(os.path.join(self._top, place) for place in places)
        self._known: dict[tuple[str, ...], dict[tuple[str, str], int]] = {
            (): keytable.learned()
        }  # by the places that an attribute names

    def __call__(self, path: str) -> Options:
        """Return how a path is merged, as git's driver reads it."""
        values = {name: self._repository.attribute(path, name) for name in ATTRIBUTES}
        attributes = {name: value for name, value in values.items() if value is not None}
        settings = settle(path, self._config, attributes, os.environ, self._flags)
        self.problems += [p for p in settings.problems if p not in self.problems]
        define = partial(keytable.know, self._definitions(tuple(settings.own_crds)))
        return options_for(path, settings, self._labels, mine=self._mine, define=define)

    def _definitions(self, places: tuple[str, ...]) -> dict[tuple[str, str], int]:
        """Return the definitions at the places that an attribute names, which are read once."""
        if places not in self._known:
            keytable.know(self._known[()])
            problems = learn_own(self._top, places)
            self.problems += [p for p in problems if p not in self.problems]
            self._known[places] = keytable.learned()
        return self._known[places]

    @property
    def timeout(self) -> float:
        """The seconds that a file may take; 0: as many as it needs."""
        return settle("", self._config, {}, os.environ, {}).timeout

    def takes(self, path: str, *, json: bool = False) -> bool:
        """Return whether a path is a manifest and belongs to no other merge driver."""
        return not self.refusal(path, json=json)

    def refusal(self, path: str, *, json: bool = False) -> str:
        """Return why a path is not merged by structure; nothing where it is."""
        driver = self.driver(path)
        if driver == DRIVER or way_out(driver):
            return "" if driver == DRIVER else way_out(driver)
        if is_merged(path, json=json):
            return ""
        return "JSON: --with-json takes it" if is_merged(path, json=True) else "no manifest"

    def driver(self, path: str) -> str | None:
        """Return the merge driver that the attributes give to a path."""
        return self._repository.attribute(path, "merge")

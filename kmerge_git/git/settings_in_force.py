"""Find every setting that is in force for a file, and the line that sets the value."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from kmerge_git.atomic_files import read_text, start_of
from kmerge_git.bounds import SEALED_BYTES
from kmerge_git.errors import KmergeError
from kmerge_git.git.attribute_files import split_line
from kmerge_git.git.config_places import (
    attributes_in_force,
    config_values,
    git_path,
    known_system_file,
)
from kmerge_git.git.generators import KEY, generators
from kmerge_git.git.hints import IGNORING
from kmerge_git.git.manifests import generator_line, is_merged, way_out
from kmerge_git.git.run_git import ask_git
from kmerge_git.git.settings import ATTRIBUTES, DELETION, VARIABLES, matches, settle
from kmerge_git.git.tracked_files import attributes_of
from kmerge_git.outcome import GENERATED, LONGEST_MARKERS
from kmerge_git.text.opaque_files import is_sealed, place_of_time

# fields of the settings that have one value
_ONE_VALUE = ("rules", "favor", "timeout", "conflict_style", "marker_size", "generated")
_CHECKS = ("kmerge-check", IGNORING, "kmerge.check.ignore")  # all three are added up
_ALL_CHECKS = {"set": "", "true": "", "unset": "no check", "false": "no check"}
_ASKED = ("merge", "filter", "linguist-generated", "kmerge-check", *ATTRIBUTES)
_CONFIG = r"^(kmerge\.|merge\.conflictstyle$|merge\.kmerge\.driver$)"


@dataclass(frozen=True, slots=True)
class SaidBy:
    """Hold the origin of a setting; `by` is attribute, environment, config or default."""

    by: str = "default"
    key: str = ""
    place: str = ""  # `.gitattributes:3`; `local, file:.git/config`

    @property
    def words(self) -> str:
        """Return the origin in words, such as `attribute kmerge-favor (.gitattributes:3)`."""
        by = "git config" if self.by == "config" else self.by
        return " ".join(filter(None, (by, self.key, self.place and f"({self.place})")))


@dataclass(frozen=True, slots=True)
class Said:
    """Hold a setting, the text that shows its value, and its origin."""

    name: str
    value: str
    source: SaidBy


@dataclass(frozen=True, slots=True)
class InForce:
    """Hold all settings for one file; `why` is the reason if the driver does not take the file."""

    path: str
    why: str
    settings: tuple[Said, ...]
    policies: tuple[Said, ...]  # field and policy, in the order in which they are asked
    is_generated: bool
    looks_generated: str  # the sign of a generator, if no attribute decides
    notes: tuple[str, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Given:
    """Hold a value that a user set for a key; if an attribute sets it, `place` is found later."""

    by: str
    key: str
    value: str
    place: str = ""


def in_force(top: Path, paths: Sequence[str]) -> Iterator[InForce]:
    """Yield the settings of each file, whose path is from the top of the working tree.

    Git is asked once for all files.
    """
    config = _configuration(top)
    attributes = attributes_of(paths, *_ASKED, cwd=top)
    places, known = AttributePlaces(top), generators(str(top))
    for path in paths:
        file = _FileInForce(places, path, config, attributes[path]).answer()
        rows = [
            Said("generator", one.name, SaidBy("config", f"{KEY}.{one.name}.files", "local"))
            for one in known
            if one.writes(path)
        ]
        yield replace(file, settings=(*file.settings, *rows))


def with_deletion(top: Path, paths: Sequence[str]) -> list[str]:
    """Return the files for which the policy `deletion` is in force, as paths from the top."""
    config = [("kmerge.policy", value) for value in config_values(None, "kmerge.policy", top)]
    by_path = attributes_of(paths, "kmerge-policy", cwd=top)
    return [p for p, values in by_path.items() if settle(p, config, values, {}, {}).deletion]


def _configuration(top: Path) -> list[_Given]:
    asked = ("config", "--null", "--show-scope", "--show-origin", "--get-regexp", _CONFIG)
    words = ask_git(*asked, cwd=top).out.split("\0")[:-1]
    lines = []
    for scope, origin, item in zip(words[::3], words[1::3], words[2::3], strict=False):
        key, newline, value = item.partition("\n")
        place = scope if origin == "command line:" else f"{scope}, {origin.removeprefix('file:')}"
        lines.append(_Given("config", key.lower(), value if newline else "true", place))
    return lines


class _FileInForce:
    """Collect every value that was given for one file."""

    def __init__(
        self, places: AttributePlaces, path: str, config: list[_Given], attributes: dict[str, str]
    ) -> None:
        self._places = places
        self._path = path
        self._attributes = attributes
        self._given = [
            *config,
            *(
                _Given("environment", name, os.environ[name])
                for name in (*VARIABLES, IGNORING)
                if os.environ.get(name)
            ),
            *(_Given("attribute", *pair) for pair in attributes.items()),
        ]
        pairs = [(line.key, line.value) for line in config]
        self._settings = settle(path, pairs, attributes, os.environ, {})
        self._data = start_of(places.top / path, SEALED_BYTES)

    def answer(self) -> InForce:
        """Return every setting for the file."""
        return InForce(
            self._path,
            self._why_not(),
            (
                Said("merge", self._attributes.get("merge", "git's own"), self._source("merge")),
                *self._one_value(),
                *self._crds(),
                *self._checks(),
            ),
            tuple(self._policies()),
            self._settings.generated,
            "" if "kmerge-generated" in self._attributes else self._generator(),
            tuple(self._notes()),
            tuple(self._settings.problems),
        )

    def _of(self, *keys: str) -> list[_Given]:
        """Return the values given for some keys, in the order of the keys."""
        return [given for key in keys for given in self._given if given.key == key]

    def _source(self, key: str, value: str | None = None) -> SaidBy:
        """Return the origin of the last value given for a key, or of the last such value."""
        last = (g for g in reversed(self._of(key)) if value is None or g.value == value)
        return next(map(self._origin, last), SaidBy())

    def _origin(self, given: _Given) -> SaidBy:
        place = given.place
        if given.by == "attribute":
            place = self._places.place_of(self._path, given.key, given.value)
        return SaidBy(given.by, given.key, place)

    def _why_not(self) -> str:
        """Return the reason if git does not give the file to the driver, otherwise ''."""
        driver = self._attributes.get("merge")
        if driver != "kmerge":
            return way_out(driver) or "no attribute sets merge=kmerge"
        if not any(line.value for line in self._of("merge.kmerge.driver")):
            return "the driver is not registered; run `kmerge install`"
        return "KMERGE=0 turns the driver off" if os.environ.get("KMERGE") == "0" else ""

    def _one_value(self) -> Iterator[Said]:
        for field in _ONE_VALUE:
            value = _shown_value(field, getattr(self._settings, field))
            source = self._source(*self._settings.origins.get(field, ("",)))
            yield Said(field.replace("_", " "), value, source)

    def _crds(self) -> Iterator[Said]:
        for line in self._of("kmerge.crd"):
            if line.value:
                yield Said("crd", line.value, self._origin(line))
        for place in self._settings.own_crds:
            yield Said("crd", place, self._source("kmerge-crd"))

    def _checks(self) -> Iterator[Said]:
        """Yield the settings that leave out checks of `kmerge check`."""
        for given in self._of(*_CHECKS):
            if given.by == "attribute":
                value = _ALL_CHECKS.get(given.value, given.value)
            else:  # in the form that the attribute has
                value = ",".join(f"-{word.strip()}" for word in given.value.split(","))
            if value and given.value:
                yield Said("check", value, self._origin(given))

    def _policies(self) -> Iterator[Said]:
        origins = self._settings.policy_origins
        for (field, policy), origin in zip(self._settings.policies, origins, strict=True):
            yield Said(field, policy, self._source(*origin))
        if self._settings.deletion:
            yield Said("", DELETION, self._source(*self._settings.origins[DELETION]))

    def _notes(self) -> Iterator[str]:
        if self._settings.generated:
            yield f"if both sides change this file: {GENERATED}"
            if self._settings.favor:
                yield "the setting `favor` has no effect on a generated file"
        text = self._data.decode("utf-8", "replace")
        time = place_of_time(self._path, [text])
        if time:
            yield f"if both sides change `{'.'.join(time)}`, the later time is taken (rule 16)"
        if is_sealed(text):
            yield "this is a SOPS file: it is in conflict if both sides change it"
            if self._settings.favor:
                yield "the setting `favor` has no effect on a SOPS file"
        driver = self._attributes.get("merge")
        is_ours = driver == "kmerge" or (not way_out(driver) and is_merged(self._path))
        if self._why_not() and is_ours:
            yield "`kmerge merge`, `kmerge solve` and `kmerge preview` merge this file nevertheless"
        program = self._attributes.get("filter", "unset")
        if program != "unset":
            yield f"git converts this file with the filter {program!r}: `kmerge resolve` skips it"

    def _generator(self) -> str:
        if self._attributes.get("linguist-generated") in ("set", "true"):
            return "the attribute linguist-generated"
        line = generator_line(self._data)
        return f"`{line}` at the top of the file" if line else ""


def _shown_value(name: str, value: object) -> str:
    """Return the value of a setting as text for people."""
    if name == "timeout":
        return f"{value:g} s" if value else "no limit"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(min(value, LONGEST_MARKERS))
    return "none" if value is None else str(value)


class AttributePlaces:
    """Find lines in the attribute files of a working tree, and read each file only once."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self._lines: dict[Path, list[str]] = {}

    def place_of(self, path: str, name: str, value: str) -> str:
        """Return `FILE:LINE` of the line that gives an attribute its value for a path.

        Return '' if the line is not certain: for macros, for patterns with brackets or
        backslashes, and for files that only the index has. `value` is in git's words.
        """
        files = list(self._files(path))
        for file, _ in files:  # a macro: any line that names it may set the attribute
            if any(name in ln and ln.lstrip().startswith("[attr]") for ln in self._lines_of(file)):
                return ""
        for file, inside in files:
            for number, line in reversed([*enumerate(self._lines_of(file), 1)]):
                pattern, words = split_line(line) if name in line else ("", [])
                given = _value(name, words)
                if given and ("[" in pattern or "\\" in pattern):
                    return ""
                if given and matches(pattern, inside):
                    return f"{_shown(file, self.top)}:{number}" if given == value else ""
        return ""

    def _files(self, path: str) -> Iterator[tuple[Path, str]]:
        """Yield the attribute files that may name a path, the strongest first.

        Each file comes with the path as its patterns see the path.
        """
        first, *weak = self._outside
        yield first, path
        parts = path.split("/")
        for count in range(len(parts) - 1, -1, -1):
            yield Path(self.top, *parts[:count], ".gitattributes"), "/".join(parts[count:])
        yield from ((file, path) for file in weak)

    @cached_property
    def _outside(self) -> list[Path]:
        """Return the attribute files of git's folder (the strongest), the user and the system."""
        own = git_path("info/attributes", self.top)
        return [own, attributes_in_force(self.top), *known_system_file(self.top)]

    def _lines_of(self, file: Path) -> list[str]:
        if file not in self._lines:
            text = ""
            if not file.is_symlink():  # git does not follow links here in a working tree
                with suppress(KmergeError, OSError):
                    text = read_text(file)
            self._lines[file] = text.split("\n")
        return self._lines[file]


def _value(name: str, words: list[str]) -> str:
    """Return the value that the words of a line give to an attribute; the last word wins."""
    plain = {name: "set", f"-{name}": "unset", f"!{name}": "unspecified"}
    value = ""
    for word in words:
        key, equals, given = word.partition("=")
        value = given if equals and key == name else plain.get(word, value)
    return value


def _shown(file: Path, top: Path) -> str:
    """Return the name of a file relative to the top, or to the home of the user."""
    for root, start in ((top, ""), (Path.home(), "~/")):
        if file.is_relative_to(root):
            return start + file.relative_to(root).as_posix()
    return str(file)

"""Every setting that is in force for a file, and the line of the file that sets it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kmerge_git.atomic_files import read_text
from kmerge_git.bounds import SEALED_BYTES
from kmerge_git.errors import KmergeError
from kmerge_git.git.attribute_files import split_line
from kmerge_git.git.config_places import git_path, system_attribute_file, user_attribute_file
from kmerge_git.git.file_attributes import attributes_of
from kmerge_git.git.manifests import generator_of, is_merged, way_out
from kmerge_git.git.run_git import ask_git
from kmerge_git.git.settings import ATTRIBUTES, VARIABLES, matches, settle
from kmerge_git.outcome import GENERATED, LONGEST_MARKERS
from kmerge_git.text.opaque_files import SEALED, is_sealed

# Shown name, attribute, variable, keys of the configuration (the strongest first), field.
_ONE_VALUE = (
    ("rules", "kmerge-rules", "KMERGE_RULES", ("kmerge.rules",), "rules"),
    ("favor", "kmerge-favor", "KMERGE_FAVOR", ("kmerge.favor",), "favor"),
    ("timeout", "", "KMERGE_TIMEOUT", ("kmerge.timeout",), "timeout"),
    (
        *("conflict style", "", "KMERGE_CONFLICT_STYLE"),
        *(("kmerge.conflictstyle", "merge.conflictstyle"), "conflict_style"),
    ),
    ("marker size", "conflict-marker-size", "", (), "marker_size"),
    ("generated", "kmerge-generated", "", (), "generated"),
)
_ASKED = ("merge", "filter", "linguist-generated", "kmerge-check", *ATTRIBUTES)
_CONFIG = r"^(kmerge\.|merge\.conflictstyle$|merge\.kmerge\.driver$)"


@dataclass(frozen=True, slots=True)
class SaidBy:
    """Who said something: `by` is attribute, environment, config or default."""

    by: str = "default"
    key: str = ""
    place: str = ""  # `.gitattributes:3`; `local, file:.git/config`

    @property
    def words(self) -> str:
        """`attribute kmerge-favor (.gitattributes:3)`."""
        called = {"config": "git config"}.get(self.by, self.by)
        return " ".join(
            part for part in (called, self.key, self.place and f"({self.place})") if part
        )


@dataclass(frozen=True, slots=True)
class Said:
    """A setting, its value for people, and where it comes from."""

    name: str
    value: str
    source: SaidBy


@dataclass(frozen=True, slots=True)
class InForce:
    """All that counts for one file; `why` is empty where the driver takes it."""

    path: str
    why: str
    settings: tuple[Said, ...]
    policies: tuple[Said, ...]  # field and policy, in the order in which they are asked
    is_generated: bool
    looks_generated: str  # why it may be one, where no attribute says yes or no
    notes: tuple[str, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _ConfigLine:
    """A line of a configuration."""

    key: str
    value: str
    place: str


def in_force(top: Path, paths: Sequence[str]) -> Iterator[InForce]:
    """The settings of files, named from the top of a working tree; git is asked once for all."""
    config = _configuration(top)
    attributes = attributes_of(paths, *_ASKED, cwd=top)
    places = AttributePlaces(top)
    for path in paths:
        yield _FileInForce(places, path, config, attributes[path]).answer()


def _configuration(top: Path) -> list[_ConfigLine]:
    asked = ("config", "--null", "--show-scope", "--show-origin", "--get-regexp", _CONFIG)
    words = ask_git(*asked, cwd=top).out.split("\0")[:-1]
    found = []
    for scope, origin, item in zip(words[::3], words[1::3], words[2::3], strict=False):
        key, newline, value = item.partition("\n")
        place = scope if origin == "command line:" else f"{scope}, {origin.removeprefix('file:')}"
        found.append(_ConfigLine(key.lower(), value if newline else "true", place))
    return found


class _FileInForce:
    """One file, and everything that was said."""

    def __init__(
        self,
        places: AttributePlaces,
        path: str,
        config: list[_ConfigLine],
        attributes: dict[str, str],
    ) -> None:
        self._places = places
        self._path = path
        self._config = config
        self._attributes = attributes
        self._environ = {name: os.environ.get(name, "") for name in VARIABLES}
        pairs = [(line.key, line.value) for line in config]
        self._found = settle(path, pairs, attributes, self._environ, {})

    def answer(self) -> InForce:
        data = self._data()
        may_be = "" if "kmerge-generated" in self._attributes else self._generator()
        return InForce(
            self._path,
            self._why_not(),
            (self._merge(), *self._one_value(), *self._crds(), *self._checks()),
            tuple(self._policies()),
            self._found.generated,
            may_be,
            tuple(self._notes(data)),
            tuple(self._found.problems),
        )

    def _why_not(self) -> str:
        """Why git does not give the file to the driver."""
        driver = self._attributes.get("merge")
        if driver != "kmerge":
            return way_out(driver) or "no attribute gives it to kmerge"
        if not any(line.key == "merge.kmerge.driver" and line.value for line in self._config):
            return "the driver is not registered here: `kmerge install`"
        return "KMERGE=0 turns the driver off" if os.environ.get("KMERGE") == "0" else ""

    def _merge(self) -> Said:
        value = self._attributes.get("merge", "")
        return Said("merge", value or "git's own", self._by_attribute("merge") or SaidBy())

    def _one_value(self) -> Iterator[Said]:
        for name, attribute, variable, keys, field in _ONE_VALUE:
            source = self._source(attribute, variable, keys, field)
            yield Said(name, _word(name, getattr(self._found, field)), source)

    def _source(self, attribute: str, variable: str, keys: tuple[str, ...], field: str) -> SaidBy:
        """Who is heard: the first, from the strongest on, whose word alone makes sense."""
        words = self._attributes
        if attribute in words and self._counts({attribute: words[attribute]}, [], {}, field):
            return self._by_attribute(attribute) or SaidBy()
        if self._environ.get(variable):
            said = {variable: self._environ[variable]}
            if self._counts({}, [], said, field):
                return SaidBy("environment", variable)
        for key in keys:
            for line in reversed([line for line in self._config if line.key == key]):
                if self._counts({}, [(key, line.value)], {}, field):
                    return SaidBy("config", key, line.place)
        return SaidBy()

    def _counts(
        self,
        attributes: dict[str, str],
        config: list[tuple[str, str]],
        environ: dict[str, str],
        field: str,
    ) -> bool:
        """Whether this alone comes to what is in force, and says something."""
        alone = settle(self._path, config, attributes, environ, {})
        if alone.problems or getattr(alone, field) != getattr(self._found, field):
            return False
        words = [*attributes.values(), *environ.values(), *(value for _, value in config)]
        if field == "marker_size":  # of one that is no number nothing is said
            return [str(alone.marker_size)] == words
        return field == "generated" or not {"set", "unset"}.intersection(attributes.values())

    def _by_attribute(self, name: str) -> SaidBy | None:
        value = self._attributes.get(name)
        if value is None:
            return None
        return SaidBy("attribute", name, self._places.place_of(self._path, name, value))

    def _crds(self) -> Iterator[Said]:
        for line in self._config:
            if line.key == "kmerge.crd" and line.value:
                yield Said("crd", line.value, SaidBy("config", line.key, line.place))
        for place in self._found.own_crds:
            yield Said("crd", place, self._by_attribute("kmerge-crd") or SaidBy())

    def _checks(self) -> Iterator[Said]:
        """What `kmerge check` leaves out; each adds to the others."""
        variable, key = "KMERGE_CHECK_IGNORE", "kmerge.check.ignore"
        words = {"set": "", "true": "", "unset": "no check", "false": "no check"}
        said = self._attributes.get("kmerge-check", "")
        if words.get(said, said):
            source = self._by_attribute("kmerge-check") or SaidBy()
            yield Said("check", words.get(said, said), source)
        if os.environ.get(variable):
            yield Said("check", _without(os.environ[variable]), SaidBy("environment", variable))
        for line in self._config:
            if line.key == key and line.value:
                yield Said("check", _without(line.value), SaidBy("config", key, line.place))

    def _policies(self) -> Iterator[Said]:
        name = "kmerge-policy"
        said = {name: self._attributes[name]} if name in self._attributes else {}
        alone = settle(self._path, [], said, {}, {})
        source = self._by_attribute(name) or SaidBy()
        yield from (Said(field, policy, source) for field, policy in alone.policies)
        for line in self._config:
            if line.key == "kmerge.policy":
                alone = settle(self._path, [(line.key, line.value)], {}, {}, {})
                source = SaidBy("config", line.key, line.place)
                yield from (Said(field, policy, source) for field, policy in alone.policies)

    def _notes(self, data: bytes) -> Iterator[str]:
        if self._found.generated:
            yield f"where both sides clash: {GENERATED}"
            if self._found.favor:
                yield "no side wins in a generated file: favor does not count here"
        if is_sealed(data.decode("utf-8", "replace")):
            yield f"{SEALED}: ours is kept, and a conflict"
        driver = self._attributes.get("merge")
        is_ours = driver == "kmerge" or (not way_out(driver) and is_merged(self._path))
        if self._why_not() and is_ours:
            yield "`kmerge merge`, `solve` and `preview` take it all the same"
        program = self._attributes.get("filter", "unset")
        if program != "unset":
            yield f"it passes through the filter {program!r}: `kmerge solve` leaves it to you"

    def _generator(self) -> str:
        if self._attributes.get("linguist-generated") in ("set", "true"):
            return "the attribute linguist-generated"
        line = generator_of(self._places.top / self._path)
        return f"`{line}` at its top" if line else ""

    def _data(self) -> bytes:
        file = self._places.top / self._path
        try:
            if file.is_symlink() or not file.is_file():
                return b""
            with file.open("rb") as opened:
                return opened.read(SEALED_BYTES)
        except OSError:
            return b""


def _without(words: str) -> str:
    """Some ids, as the attribute has them."""
    return ",".join(f"-{word.strip()}" for word in words.split(","))


def _word(name: str, value: object) -> str:
    """A value for people."""
    if name == "timeout" and isinstance(value, float):
        return f"{value:g} s" if value else "no limit"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name == "marker size" and isinstance(value, int):
        return str(min(value, LONGEST_MARKERS))
    return "none" if value is None else str(value)


class AttributePlaces:
    """The attribute files around the files of a working tree, each read once."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self._lines: dict[Path, list[str]] = {}

    def place_of(self, path: str, name: str, value: str) -> str:
        """`FILE:LINE` of the line that gives a path this value of an attribute.

        Nothing where that is not certain: macros, patterns with brackets or backslashes, files
        that only the index has. `value` is what git says, in its words.
        """
        files = list(self._files(path))
        if any(self._has_macro(file, name) for file, _ in files):
            return ""
        for file, inside in files:
            lines = self._lines_of(file)
            for number in range(len(lines), 0, -1):
                line = lines[number - 1]
                if name not in line:
                    continue
                pattern, words = split_line(line)
                found = _value(name, words)
                if found and ("[" in pattern or "\\" in pattern):
                    return ""
                if found and matches(pattern, inside):
                    return f"{_shown(file, self.top)}:{number}" if found == value else ""
        return ""

    def _has_macro(self, file: Path, name: str) -> bool:
        """Whether a macro says something of an attribute: any line that names it may, then."""
        lines = self._lines_of(file)
        return any(name in line and line.lstrip().startswith("[attr]") for line in lines)

    def _files(self, path: str) -> Iterator[tuple[Path, str]]:
        """The files that may say something of a path, the strongest first; its name for them."""
        yield self._info, path
        parts = path.split("/")
        for count in range(len(parts) - 1, -1, -1):
            yield Path(self.top, *parts[:count], ".gitattributes"), "/".join(parts[count:])
        yield self._user, path
        if self._system is not None:
            yield self._system, path

    @cached_property
    def _info(self) -> Path:
        return git_path("info/attributes", self.top)

    @cached_property
    def _user(self) -> Path:
        asked = ("config", "--type=path", "--get", "core.attributesFile")
        said = ask_git(*asked, cwd=self.top)  # of any scope: git takes it from each
        if said.code == 0 and said.line:
            return self.top / said.line
        return user_attribute_file(self.top)

    @cached_property
    def _system(self) -> Path | None:
        if not os.environ.get("GIT_ATTR_NOSYSTEM"):
            with suppress(KmergeError):  # git need not tell
                return system_attribute_file(self.top)
        return None

    def _lines_of(self, file: Path) -> list[str]:
        if file not in self._lines:
            self._lines[file] = _read(file).split("\n")
        return self._lines[file]


def _read(file: Path) -> str:
    if file.is_symlink():  # git does not follow one in a working tree
        return ""
    with suppress(KmergeError, OSError):
        return read_text(file)
    return ""


def _value(name: str, words: list[str]) -> str:
    """What a line says of an attribute, in git's words; the last of its words wins."""
    plain = {name: "set", f"-{name}": "unset", f"!{name}": "unspecified"}
    found = ""
    for word in words:
        key, equals, given = word.partition("=")
        found = given if equals and key == name else plain.get(word, found)
    return found


def _shown(file: Path, top: Path) -> str:
    """A file as people name it: from the top, or from their home."""
    for root, start in ((top, ""), (Path.home(), "~/")):
        with suppress(ValueError):
            return start + file.relative_to(root).as_posix()
    return str(file)

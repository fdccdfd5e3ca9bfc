"""Read the settings for the merge of one path, from attributes, environment and git config.

The precedence is: flag > attribute > environment > git config > default. Every run of the driver
reads the settings, so git is asked with `posix_spawn`, both questions run at once, and nothing
slow is imported. A value that makes no sense is reported and ignored: a typo must not cost anybody
a merge.
"""

from __future__ import annotations

from kmerge_git.git.hints import NO, YES, nothing_is_set
from kmerge_git.outcome import RULES, SIDES, STYLES
from kmerge_git.system import variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Given = tuple[str, str]  # a name and the value that it was given, as git or the system has them

ATTRIBUTES = (
    *("kmerge-rules", "kmerge-favor", "kmerge-policy", "kmerge-crd", "kmerge-generated"),
    "conflict-marker-size",
)
CONFIG = r"^(kmerge\.|merge\.conflictstyle$)"
# read before all other keys, some of which overrule `merge.conflictstyle`
_FIRST = ("kmerge.policy", "kmerge.crd", "merge.conflictstyle")
VARIABLES = ("KMERGE_RULES", "KMERGE_FAVOR", "KMERGE_TIMEOUT", "KMERGE_CONFLICT_STYLE")
MARKERS = 7  # the usual length of a marker
CHOICES = {
    "rules": ("rules", RULES),
    "favor": ("favor", SIDES),
    "conflictstyle": ("conflict_style", STYLES),
}
POLICIES = ("higher", "rebump", "mine", "ours", "theirs", "union")
DELETION = "deletion"  # a policy for files and resources, so without a field


class Settings:
    """Hold the settings for the merge of one path, and where their values were given.

    `problems` are sentences for stderr.
    """

    __slots__ = (
        "conflict_style",
        "crds",
        "deletion",
        "favor",
        "generated",
        "marker_size",
        "origins",
        "own_crds",
        "policies",
        "policy_origins",
        "problems",
        "rules",
        "timeout",
    )

    def __init__(self) -> None:
        self.rules = "git"
        self.favor: str | None = None
        self.timeout = 10.0  # seconds of CPU; 0 = no limit
        self.conflict_style = "merge"
        self.marker_size = MARKERS  # the size that git asks for outside of a criss-cross merge
        # (field path, policy): the first that matches a place decides; `**` is every field
        self.policies: list[tuple[str, str]] = []
        self.policy_origins: list[Given] = []  # one for each policy
        self.deletion = False  # a merge of whole commits keeps what was deleted away
        self.crds: list[str] = []  # files and folders with CustomResourceDefinitions
        self.own_crds: list[str] = []  # files that attributes name, only inside the tree
        self.generated = False  # a generator writes the file: a clash is not written as markers
        self.problems: list[str] = []
        self.origins: dict[str, Given] = {}  # field -> where its value was given; none: the default


def settings_for(
    path: str,
    *,
    environ: Mapping[str, str] | None = None,
    set_clock: Callable[[float], None] = lambda seconds: None,
) -> Settings:
    """Return the settings for a path below the current directory.

    Git is asked for the configuration and for the attributes at the same time. Before that,
    `set_clock` gets the time limit as far as it is known.
    """
    if environ is None:
        environ = {name: variable(name) or "" for name in VARIABLES}
    without_git = settle(path, [], {}, environ, {})
    if nothing_is_set(path):
        return without_git
    set_clock(without_git.timeout)
    from kmerge_git.git.spawned_git import GitQuestion, attributes_by_path, config_pairs

    config = GitQuestion("config", "--null", "--get-regexp", CONFIG)
    attributes = GitQuestion("check-attr", "-z", *ATTRIBUTES, "--", path)
    pairs = config_pairs(config.answer())
    return settle(path, pairs, attributes_by_path(attributes.answer()).get(path, {}), environ, {})


def settle(
    path: str,
    config: list[tuple[str, str]],
    attributes: Mapping[str, str],
    environ: Mapping[str, str],
    flags: Mapping[str, str],
) -> Settings:
    """Combine config, environment, attributes and flags into settings; a later source wins."""
    settings = Settings()
    for name, value in _in_order(config, attributes, environ, flags):
        if name == "kmerge.policy":
            policies = _policy_of(settings, path, value)
            settings.policies += policies
            settings.policy_origins += [(name, value)] * len(policies)
        elif name == "kmerge.crd":
            settings.crds += [value] if value else []
        elif name == "kmerge-generated":
            settings.generated = _is_yes(settings, name, value)
        elif name in ATTRIBUTES and value in ("set", "unset"):
            continue  # no value
        elif name == "kmerge-policy":
            policies = _policies_of(settings, value)
            settings.policies = policies + settings.policies
            settings.policy_origins = [(name, value)] * len(policies) + settings.policy_origins
        elif name == "kmerge-crd":
            settings.own_crds = [place for place in value.split(",") if place]
        else:
            _set(settings, name, value)
    return settings


def _in_order(
    config: list[tuple[str, str]],
    attributes: Mapping[str, str],
    environ: Mapping[str, str],
    flags: Mapping[str, str],
) -> list[tuple[str, str]]:
    """Return every value with its name, the strongest value last."""
    return [
        *(pair for pair in config if pair[0] in _FIRST),
        *(
            pair
            for pair in config
            if pair[0].startswith("kmerge.")
            and not pair[0].startswith((*_FIRST, "kmerge.generate."))
        ),
        *((name, environ[name]) for name in VARIABLES if environ.get(name)),
        *((name, attributes[name]) for name in ATTRIBUTES if attributes.get(name)),
        *((f"--{key}", value) for key, value in flags.items()),
    ]


def _set(settings: Settings, name: str, value: str) -> None:
    """Set one value, or note the problem if the value is wrong."""
    words = name.lstrip("-").rpartition(".")[2].lower().replace("_", "-")
    key = words.removeprefix("kmerge-").replace("-", "")
    if key == "favor" and value in ("none", ""):
        settings.favor = None
        settings.origins[key] = name, value
    elif key in CHOICES:
        field, allowed = CHOICES[key]
        if value in allowed:
            setattr(settings, field, value)
            settings.origins[field] = name, value
        else:
            settings.problems.append(f"{name}: `{value}` is not one of {', '.join(allowed)}")
    elif key == "conflictmarkersize":
        settings.marker_size = marker_size(value)
        if value == str(settings.marker_size):  # otherwise git reads no plain number in it
            settings.origins["marker_size"] = name, value
    elif key == "timeout":
        seconds = _seconds(value)
        if seconds < 0:
            settings.problems.append(f"{name}: `{value}` is not a number of seconds")
        else:
            settings.timeout = seconds
            settings.origins[key] = name, value


def marker_size(value: str) -> int:
    """Return the number that git reads in an attribute, as C reads numbers.

    For `9x`, or for a number beyond an `int`, some versions of git read a number and others
    nothing. Then the larger number is returned, which is safe: longer markers are those of an
    inner merge, which writes no markers.
    """
    digits = value.removeprefix("+")
    number = digits[: len(digits) - len(digits.lstrip("0123456789"))]
    long = min(int(number.lstrip("0")[:20] or "0"), 2**63 - 1)
    size = (long + 2**31) % 2**32 - 2**31
    is_plain = number == digits and size == long
    return size if is_plain and size > 0 else max(size, MARKERS)


def _is_yes(settings: Settings, name: str, value: str) -> bool:
    if value in YES + NO:
        settings.origins["generated"] = name, value
    else:
        settings.problems.append(f"{name}: `{value}` is neither {YES[1]} nor {NO[1]}")
    return value in YES


def _seconds(value: str) -> float:
    try:
        seconds = float(value.removesuffix("s"))
    except ValueError:
        return -1.0
    return seconds if 0 <= seconds < 1e6 else -1.0


def _policy_of(settings: Settings, path: str, value: str) -> list[tuple[str, str]]:
    """Return the policy in `GLOB FIELDPATH POLICY` of `kmerge.policy` if the glob matches."""
    words = value.split()
    if len(words) == 2 and words[1] == DELETION:
        if matches(words[0], path):
            _set_deletion(settings, "kmerge.policy", value)
        return []
    if len(words) != 3 or words[2] not in POLICIES:
        settings.problems.append(
            f"kmerge.policy: `{value}` is not of the form GLOB FIELDPATH {'|'.join(POLICIES)} "
            f"or GLOB {DELETION}"
        )
        return []
    return [(words[1], words[2])] if matches(words[0], path) else []


def _policies_of(settings: Settings, value: str) -> list[tuple[str, str]]:
    """Parse the attribute `FIELDPATH:POLICY,...`; a policy without a field is for every field."""
    policies = []
    for item in value.split(",") if value else []:
        field, _, policy = item.rpartition(":")
        if policy in POLICIES:
            policies.append((field or "**", policy))
        elif item == DELETION:
            _set_deletion(settings, "kmerge-policy", value)
        else:
            settings.problems.append(
                f"kmerge-policy: `{item}` is not of the form FIELDPATH:POLICY or {DELETION}"
            )
    return policies


def _set_deletion(settings: Settings, name: str, value: str) -> None:
    settings.deletion = True
    settings.origins[DELETION] = name, value


def matches(glob: str, path: str) -> bool:
    """Return whether a glob of an attribute file matches a path.

    In a glob `*` matches within one name, and `**` matches across folders.
    """
    parts = path.split("/")
    if "/" not in glob:
        return _matches_name(glob, parts[-1])
    return _matches_parts(glob.removeprefix("/").split("/"), parts)


def _matches_parts(globs: list[str], parts: list[str]) -> bool:
    if not globs:
        return not parts
    if globs[0] == "**":
        if len(globs) == 1:
            return bool(parts)
        return any(_matches_parts(globs[1:], parts[i:]) for i in range(len(parts)))
    return (
        bool(parts) and _matches_name(globs[0], parts[0]) and _matches_parts(globs[1:], parts[1:])
    )


def _matches_name(glob: str, name: str) -> bool:
    """Return whether a glob with `*` and `?` matches a name.

    After a mismatch only the last star is tried again with a longer match.
    """
    at = start = 0
    star = -1
    for_star = 0
    while start < len(name):
        if at < len(glob) and glob[at] == "*":
            star, for_star = at, start
            at += 1
        elif at < len(glob) and glob[at] in ("?", name[start]):
            at += 1
            start += 1
        elif star >= 0:
            for_star += 1
            at, start = star + 1, for_star
        else:
            return False
    return glob[at:].strip("*") == ""

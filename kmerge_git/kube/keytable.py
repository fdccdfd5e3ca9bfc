"""Tell which lists merge, and by what: the table of Kubernetes' own kinds, and some lists by hand.

`list_keys.json` is generated (tools/generate_list_keys.py explains the format): one string a line,
so that the merge driver reads it without the json module. Definitions are read when somebody asks
for them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    # strategic merge patch, structural merge, the definition below
    Facts = tuple[str, str, str]
    Groups = tuple[Collection[str], ...]


_FILE = __file__.removesuffix("keytable.py") + "list_keys.json"
_lines: list[str] = []
_first = 0  # the line of definition 0
_roots: dict[tuple[str, str], int] = {}
_keys: dict[str, list[tuple[str, str]]] = {}
_definitions: dict[int, dict[str, Facts]] = {}
_learned: dict[tuple[str, str], int] = {}  # (group, kind) -> a definition that a CRD brought
LEARNED = 1_000_000  # the number of the first of these


def root(api_version: str, kind: str) -> int:
    """Return the number of a kind's definition, or -1 for a kind the table does not know.

    A version that is not listed is read as the newest listed one of the same group and kind.
    """
    group = api_version.rpartition("/")[0]
    if (group, kind) in _learned:
        return _learned[group, kind]
    if (api_version, kind) not in _roots:
        _roots[api_version, kind] = _listed(api_version, group, f" {kind}=")
    return _roots[api_version, kind]


def _listed(api_version: str, group: str, wanted: str) -> int:
    newest = -1
    for line in _table()[:_first]:
        version, _, kinds = line.partition(" ")
        if version != api_version and (newest >= 0 or version.rpartition("/")[0] != group):
            continue
        at = f" {kinds} ".find(wanted)
        if at < 0:
            continue
        number = int(kinds[at + len(wanted) - 1 :].partition(" ")[0])
        if version == api_version:
            return number
        newest = number
    return newest


def fields(number: int) -> dict[str, Facts]:
    """Return the fields of a definition of which something is known."""
    known = _definitions.get(number)
    if known is None:
        known = {}
        for word in _table()[_first + number].split(" ")[1:]:
            name, smp, structural, inner = (word + "|||").split("|")[:4]
            known[name] = (smp, structural, inner)
        _definitions[number] = known
    return known


def below(column: str) -> int:
    """Return the number in a column `7`, `[7` (of each element) or `{7` (of each value), or -1."""
    return int(column.lstrip("[{")) if column else -1


def keys(structural: str) -> list[tuple[str, str]]:
    """Return the fields that tell the elements of a list apart, each with its default."""
    if structural not in _keys:
        words = [word.partition("=") for word in structural.split(",")]
        is_keyed = structural not in ("", "*", "?")
        _keys[structural] = [(name, default) for name, _, default in words if is_keyed]
    return _keys[structural]


def key_fields() -> set[str]:
    """Return the fields that are keys of lists in Kubernetes' own kinds."""
    return {
        name
        for number in range(len(_table()) - _first)
        for _, structural, _ in fields(number).values()
        for name, _ in keys(structural)
    }


def define(facts: dict[str, Facts]) -> int:
    """Return the number of a new definition.

    A list with `?` as its structural column has the keys that its elements show.
    """
    number = LEARNED + len(_definitions)
    _definitions[number] = facts
    return number


def learn(group: str, kind: str, number: int) -> None:
    """Let the kind have this definition from now on."""
    _learned[group, kind] = number


def learned() -> dict[tuple[str, str], int]:
    """Return all definitions that were learned so far."""
    return dict(_learned)


def know(learned: dict[tuple[str, str], int]) -> None:
    """Forget what was learned, and know this instead."""
    _learned.clear()
    _learned.update(learned)


def forget() -> None:
    """Forget what was learned."""
    _learned.clear()


def _table() -> list[str]:
    global _first
    if not _lines:
        with open(_FILE, encoding="utf-8") as file:
            text = file.read()
        lines = text[text.index('"') + 1 : text.rindex('"')].split('",\n"')
        lines = [line for line in lines if line[0] != "#"]
        _first = next(i for i, line in enumerate(lines) if line[0].isdigit())
        _lines.extend(lines)
    return _lines


KUSTOMIZATION = (
    # keyed by name
    "configMapGenerator|name secretGenerator|name images|name replicas|name vars|name "
    "helmCharts|name "
    # where every patch is a file, and has one target
    "patches|path "
    # sets
    "resources|* components|* bases|* crds|* configurations|* generators|* transformers|* "
    "validators|* patchesStrategicMerge|*"
)

_SOURCES = (
    "awsElasticBlockStore azureDisk azureFile cephfs cinder configMap csi downwardAPI emptyDir "
    "ephemeral fc flexVolume flocker gcePersistentDisk gitRepo glusterfs hostPath image iscsi nfs "
    "persistentVolumeClaim photonPersistentDisk portworxVolume projected quobyte rbd scaleIO "
    "secret storageos vsphereVolume"
)
_HANDLERS = frozenset(("exec", "httpGet", "tcpSocket", "grpc", "sleep"))
# Lists that only say what is allowed, in any order, by the list or the resource around them.
BAGS = {
    "rbac": ("rules", "subjects"),
    "rules[]": ("apiGroups", "resources", "resourceNames", "verbs", "nonResourceURLs"),
}
# Lists of custom resources that no definition in the repository declares.
CUSTOM: dict[tuple[str, str], tuple[tuple[str, ...], dict[str, Facts]]] = {
    ("operators.coreos.com", "ClusterServiceVersion"): (
        ("spec", "install", "spec"),
        {
            "clusterPermissions": ("", "serviceAccountName", ""),
            "permissions": ("", "serviceAccountName", ""),
        },
    ),
}
OPEN: dict[str, Facts] = {"": ("", "?", "")}  # the rest of a custom resource: the elements decide
# A mapping with `properties` is a schema, of a custom resource or of a chart's values.
SCHEMA: dict[str, Facts] = {"required": ("", "*", "")}
# Fields of which a mapping may have one, by the field or the list around the mapping.
EXCLUSIVE: dict[str, Groups] = {
    "volumes[]": (frozenset(_SOURCES.split()),),
    "env[]": (("value", "valueFrom"),),
    "valueFrom": (
        ("configMapKeyRef", "secretKeyRef", "fieldRef", "resourceFieldRef", "fileKeyRef"),
    ),
    "envFrom[]": (("configMapRef", "secretRef"),),
    "resourceClaims[]": (("resourceClaimName", "resourceClaimTemplateName", "source"),),
    **dict.fromkeys(
        ("livenessProbe", "readinessProbe", "startupProbe", "postStart", "preStop"), (_HANDLERS,)
    ),
}

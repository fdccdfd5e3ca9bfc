"""Look up which lists are merged by key or as a set, in a table of Kubernetes' own kinds.

`list_keys.json` is generated (tools/generate_list_keys.py explains the format). The file holds one
string per line, so that the merge driver can read it without the json module. A definition is
parsed when it is first used. This module also has tables for the lists of a few other kinds.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    # strategic merge patch, structural merge, the definition of the values below
    Facts = tuple[str, str, str]
    Groups = tuple[Collection[str], ...]


_FILE = __file__.removesuffix("keytable.py") + "list_keys.json"
_lines: list[str] = []
_first = 0  # the line of definition 0
_roots: dict[tuple[str, str], int] = {}
_definitions: dict[int, dict[str, Facts]] = {}
_learned: dict[tuple[str, str], int] = {}  # (group, kind) -> a definition that a CRD brought
LEARNED = 1_000_000  # the number of the first learned definition


def root(api_version: str, kind: str) -> int:
    """Return the number of the definition of a kind, or -1 if the table does not hold the kind.

    If the version is not in the table, use the newest version of the same group and kind.
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
    """Return the known fields of a definition."""
    known = _definitions.get(number)
    if known is None:
        known = {}
        for word in _table()[_first + number].split(" ")[1:]:
            name, smp, structural, inner = (word + "|||").split("|")[:4]
            known[name] = (smp, structural, inner)
        _definitions[number] = known
    return known


def below(column: str) -> int:
    """Return the number of the definition in a column, or -1 if the column is empty.

    A column is `7`, `[7` (the definition of each element) or `{7` (the definition of each value).
    """
    return int(column.lstrip("[{")) if column else -1


def keys(structural: str) -> list[tuple[str, str]]:
    """Return the fields that make the key of a list element, each with its default value."""
    if structural in ("", "*", "?"):
        return []
    words = [word.partition("=") for word in structural.split(",")]
    return [(name, default) for name, _, default in words]


def key_fields() -> set[str]:
    """Return all fields that are list keys in any of Kubernetes' own kinds."""
    return {
        name
        for number in range(len(_table()) - _first)
        for _, structural, _ in fields(number).values()
        for name, _ in keys(structural)
    }


def define(facts: dict[str, Facts]) -> int:
    """Add a definition and return its number.

    If the column for the structure of a list is `?`, the keys are inferred from the elements.
    """
    number = LEARNED + len(_definitions)
    _definitions[number] = facts
    return number


def learn(group: str, kind: str, number: int) -> None:
    """Use a definition for a kind from now on."""
    _learned[group, kind] = number


def learned() -> dict[tuple[str, str], int]:
    """Return all definitions that were learned so far."""
    return dict(_learned)


def know(learned: dict[tuple[str, str], int]) -> None:
    """Replace all learned definitions by the given definitions."""
    _learned.clear()
    _learned.update(learned)


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
    # Every patch is a file and has one target.
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
# Lists whose order has no meaning, by the list or the resource that holds them.
BAGS = {
    "rbac": ("rules", "subjects"),
    "rules[]": ("apiGroups", "resources", "resourceNames", "verbs", "nonResourceURLs"),
}
# Lists of custom resources that have no CRD in the repository.
CUSTOM: dict[tuple[str, str], tuple[tuple[str, ...], dict[str, Facts]]] = {
    ("operators.coreos.com", "ClusterServiceVersion"): (
        ("spec", "install", "spec"),
        {
            "clusterPermissions": ("", "serviceAccountName", ""),
            "permissions": ("", "serviceAccountName", ""),
        },
    ),
}
OPEN: dict[str, Facts] = {"": ("", "?", "")}  # other custom resources: keys are inferred
# A mapping with `properties` is a schema of a custom resource or of the values of a chart.
SCHEMA: dict[str, Facts] = {"required": ("", "*", "")}
# Groups of fields that exclude each other, by the field or the list that holds the mapping.
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

"""What is known of fields and lists beside the table of Kubernetes' own kinds; written by hand."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from kmerge_git.kube.keytable import Facts

    Groups = tuple[Collection[str], ...]

KUSTOMIZATION = (
    # keyed by name
    "configMapGenerator|name secretGenerator|name images|name replicas|name vars|name "
    "helmCharts|name "
    # where every patch is a file, and none is there for two targets
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
# Lists that only say what is allowed, in any order, by the list or the resource they stand in.
BAGS = {
    "rbac": ("rules", "subjects"),
    "rules[]": ("apiGroups", "resources", "resourceNames", "verbs", "nonResourceURLs"),
}
# Lists of custom resources that neither a definition in the repository nor their elements tell.
CUSTOM: dict[tuple[str, str], tuple[tuple[str, ...], dict[str, Facts]]] = {
    ("operators.coreos.com", "ClusterServiceVersion"): (
        ("spec", "install", "spec"),
        {
            "clusterPermissions": ("", "serviceAccountName", ""),
            "permissions": ("", "serviceAccountName", ""),
        },
    ),
}
OPEN: dict[str, Facts] = {"": ("", "?", "")}  # the rest of a custom resource: the elements tell
# What a mapping is that has `properties`: a schema, of a custom resource or of a chart's values.
SCHEMA: dict[str, Facts] = {"required": ("", "*", "")}
# Fields of which a mapping may have one, by the field or the list the mapping stands in.
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

"""What `kubectl apply` makes of a config and a live object, without a cluster."""

from __future__ import annotations

from dataclasses import dataclass

from kmerge_git.errors import PatchError
from kmerge_git.patch.apply_patch import apply_patch, without_nulls
from kmerge_git.patch.json_patch import apply_json_patch, make_json_patch3
from kmerge_git.patch.last_applied import LAST_APPLIED, with_last_applied
from kmerge_git.patch.last_applied import last_applied as read_last_applied
from kmerge_git.patch.make_patch import (
    make_patch3,
    require_key_unchanged,
    require_metadata_key_unchanged,
)
from kmerge_git.patch.schema import Schema
from kmerge_git.patch.stored import stored
from kmerge_git.patch.values import Map, copied

NO_ANNOTATION = (
    f"the live object is missing the {LAST_APPLIED} annotation, so nothing is deleted from it"
)


@dataclass(frozen=True, slots=True)
class Applied:
    """What an apply does: the object afterwards, the patch that is sent, and how."""

    result: Map
    patch: Map  # the whole object, if it is created
    created: bool
    strategic: bool  # else a JSON merge patch
    modified: Map  # the config as it is applied, with its annotation
    original: Map  # what was applied before
    warnings: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether kubectl says "configured" and not "unchanged"."""
        return self.created or bool(self.patch)


def apply_config(
    config: Map,
    live: Map,
    *,
    last_applied: Map | None = None,
    schema: Schema | None = None,
    overwrite: bool = True,
) -> Map:
    """The live object after `kubectl apply` of the config; `{}` as live: it does not exist yet.

    `last_applied` is the config applied before; None: taken from live's annotation. Without a
    schema a built-in kind has its own, and any other kind is merged by JSON merge patch.
    """
    applied = plan_apply(
        config, live, last_applied=last_applied, schema=schema, overwrite=overwrite
    )
    return applied.result


def plan_apply(
    config: Map,
    live: Map,
    *,
    last_applied: Map | None = None,
    schema: Schema | None = None,
    overwrite: bool = True,
    namespace: str = "",
) -> Applied:
    """The same, with the patch and what is worth telling about it.

    `namespace` is filled into a config without one; empty: the live object's.
    """
    _check(config)
    for name, value in (("live object", live), ("config applied before", last_applied or {})):
        if not isinstance(value, dict):
            raise PatchError(f"the {name} is no Kubernetes object", hint="a map is expected")
    config = _completed(config, live, namespace)
    modified = with_last_applied(config, config)
    schema = schema or Schema.find(str(config.get("apiVersion", "")), str(config.get("kind", "")))
    if not live:
        created = without_nulls(modified)
        return Applied(created, created, True, schema is not None, modified, {})
    known = last_applied if last_applied is not None else read_last_applied(live)
    warnings = (NO_ANNOTATION,) if known is None else ()
    original = known or {}
    if schema is None:
        patch = _json_patch(original, modified, live)
        result = apply_json_patch(live, patch)
    else:
        patch = make_patch3(original, modified, live, schema, overwrite=overwrite)
        result = stored(apply_patch(live, patch, schema), live)
    return Applied(result, patch, False, schema is not None, modified, copied(original), warnings)


def _check(config: Map) -> None:
    metadata = config.get("metadata") if isinstance(config, dict) else None
    if not isinstance(metadata, dict):
        raise PatchError("the config is no Kubernetes object", field="metadata")
    if metadata.get("generateName") and not metadata.get("name"):
        raise PatchError(
            "cannot use generate name with apply",
            field="metadata.generateName",
            steps=("metadata", "generateName"),
        )


def _completed(config: Map, live: Map, namespace: str) -> Map:
    """The config without an old annotation, with the namespace and an annotations map."""
    result = copied(config)
    metadata = result["metadata"]
    annotations = metadata.get("annotations")
    if isinstance(annotations, dict):
        annotations.pop(LAST_APPLIED, None)
    there = live.get("metadata")
    known = namespace or (there.get("namespace") if isinstance(there, dict) else None)
    if known and not metadata.get("namespace"):
        metadata["namespace"] = known
    return result


def _json_patch(original: Map, modified: Map, live: Map) -> Map:
    identity = (
        require_key_unchanged("apiVersion"),
        require_key_unchanged("kind"),
        require_metadata_key_unchanged("name"),
    )
    try:
        return make_json_patch3(original, modified, live, preconditions=identity)
    except PatchError as error:
        if not error.why.startswith("precondition failed"):
            raise
        raise PatchError("At least one of apiVersion, kind and name was changed") from None

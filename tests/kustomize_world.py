"""Random small kustomize trees: a base or two, components, generators, patches, and mistakes.

A tree is made of one seed by `random()` alone, so that it is the same with every Python.
"""

from __future__ import annotations

import json
import os
from random import Random
from typing import Any

KINDS = [
    ("apps/v1", "Deployment"), ("apps/v1", "StatefulSet"), ("v1", "ConfigMap"),
    ("v1", "Namespace"), ("rbac.authorization.k8s.io/v1", "ClusterRole"), ("x.io/v1", "Foo"),
    ("x.io/v2", "Foo"),
]  # fmt: skip
FOLDERS = ["base", "other", "deep/er", "comp", "comp2"]
COMPONENT = {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component"}

Thing = tuple[str, str, str, str]  # apiVersion, kind, name, namespace


class Tree:
    """The files of one tree; few of those with an even seed are wrong."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed).random
        self._wrong = 0.1 if seed % 2 else 1.0
        self.files: dict[str, str] = {}
        folders = [f for f in FOLDERS if self._maybe(0.4)]
        self._has: dict[str, list[Thing]] = {folder: [] for folder in folders}
        for number, folder in enumerate(folders):
            self._kustomization(folder, folders[:number])
        self._has[""] = []
        self._kustomization("", folders)

    def _maybe(self, chance: float) -> bool:
        return self._random() < chance

    def _slip(self, chance: float) -> bool:
        return self._maybe(chance * self._wrong)

    def _one(self, items: list[Any]) -> Any:
        return items[int(self._random() * len(items))]

    # -- resources -------------------------------------------------------------------------------

    def _kustomization(self, folder: str, below: list[str]) -> None:
        pre = f"{folder}/" if folder else ""
        is_component = folder.startswith("comp")
        fields: dict[str, Any] = dict(COMPONENT) if is_component else {}
        fields["resources"] = self._resources(folder, below, pre, is_component)
        fields["components"] = [
            _from(folder, b) for b in below if b.startswith("comp") and self._maybe(0.7)
        ]
        for field, chance, words in (
            ("namespace", 0.3, ["x", "z"]), ("namePrefix", 0.25, ["p-", "q-"]),
            ("nameSuffix", 0.15, ["-s", "-t"]),
        ):  # fmt: skip
            if self._maybe(chance):
                fields[field] = self._one(words)
        if self._maybe(0.2):
            fields["commonLabels"] = {"team": self._one(["a", "b"])}
        for field in ("configMapGenerator", "secretGenerator"):
            fields[field] = [self._generator(pre) for _ in range(3) if self._maybe(0.12)]
        fields["patches"] = [
            self._patch(folder, fields, f"{pre}p{n}.yaml") for n in range(2) if self._maybe(0.4)
        ]
        given = {name: value for name, value in fields.items() if value}
        if given.keys() <= COMPONENT.keys():
            given["namePrefix"] = "z-"  # kustomize refuses an empty one
        self.files[pre + "kustomization.yaml"] = json.dumps(given, indent=1) + "\n"

    def _resources(self, folder: str, below: list[str], pre: str, is_component: bool) -> list[str]:
        listed = []
        for number in range(1 if is_component else 3):
            if self._maybe(0.6):
                things = [self._thing() for _ in range(2) if self._maybe(0.7)]
                self._has[folder] += things
                name = f"r{number}.yaml"
                self.files[pre + name] = "---\n".join(self._text(t) for t in things) or "# none\n"
                listed.append(self._one([name, name, f"./{name}"]))
        for base in below:
            if not base.startswith("comp") and self._maybe(0.6):
                listed.append(_from(folder, base) + self._one(["", "", "/"]))
                self._has[folder] += self._has[base]
        if listed and self._slip(0.06):
            listed.append(self._one(listed))
        if self._slip(0.06):
            listed.append(self._one(["nope.yaml", "../nope", *below]))
        return listed

    def _thing(self) -> Thing:
        api, kind = self._one(KINDS)
        name = self._one(["a", "b", "p-a", "a-s"])
        if not self._slip(0.8):
            name += str(int(self._random() * 40))
        return api, kind, name, self._one(["", "", "", "", "x", "default"])

    def _text(self, thing: Thing) -> str:
        api, kind, name, namespace = thing
        metadata: dict[str, Any] = {"name": name}
        if namespace:
            metadata["namespace"] = namespace
        if self._maybe(0.25):
            metadata["labels"] = {"app": self._one(["a", "b"])}
        if self._maybe(0.1):
            metadata["annotations"] = {"note": "a"}
        return json.dumps({"apiVersion": api, "kind": kind, "metadata": metadata}) + "\n"

    def _generator(self, pre: str) -> dict[str, Any]:
        made: dict[str, Any] = {"name": self._one(["a", "b", "c"])}
        if self._maybe(0.3):
            made["namespace"] = self._one(["x", "z"])
        if self._slip(0.5):
            made["behavior"] = self._one(["merge", "replace", "create"])
        if self._maybe(0.2):
            self.files[pre + "conf.txt"] = "a\n"
            made["files"] = [self._one(["", "k="]) + ("gone" if self._slip(0.3) else "conf.txt")]
        else:
            made["literals"] = ["a=b"]
        return made

    # -- patches ---------------------------------------------------------------------------------

    def _patch(self, folder: str, fields: dict[str, Any], path: str) -> dict[str, Any]:
        thing = self._one(self._has[folder] or [self._thing()])
        api, kind, name, namespace = thing if not self._slip(0.1) else self._thing()
        if self._slip(0.15):
            namespace = self._one(["", "x", "z"])
        if self._slip(0.15):
            name = fields.get("namePrefix", "p-") + name
        entry: dict[str, Any] = {}
        if self._maybe(0.35):
            entry["target"] = self._target(kind, name)
        body = self._text((api, kind, name, namespace))
        if self._maybe(0.2):
            body = json.dumps(json.loads(body) | {"$patch": "delete"}) + "\n"
        if entry and self._maybe(0.4):
            body = self._operations()
        elif entry and self._maybe(0.2):
            entry["options"] = {self._one(["allowNameChange", "allowKindChange"]): True}
        if self._maybe(0.4):
            entry["patch"] = body
        else:
            entry["path"] = "gone.yaml" if self._slip(0.05) else path.rpartition("/")[2]
            self.files[path] = body
        return entry

    def _target(self, kind: str, name: str) -> dict[str, str]:
        target = {"kind": self._one([kind, ".*", "Nope"])}
        if self._maybe(0.6):
            target["name"] = self._one([name, ".*", name + "|b"])
        if self._maybe(0.2):
            target["namespace"] = self._one(["x", "default", "z"])
        if self._maybe(0.3):
            target["labelSelector"] = self._one(["app=b", "app in (a,b)", "!app", "team=a"])
        if self._maybe(0.1):
            target["annotationSelector"] = "note=a"
        return target

    def _operations(self) -> str:
        path, value = self._one([("labels", {"app": "b"}), ("name", "new"), ("namespace", "z")])
        return json.dumps([{"op": "add", "path": f"/metadata/{path}", "value": value}]) + "\n"


def _from(folder: str, other: str) -> str:
    return os.path.relpath(f"/{other}", f"/{folder}").replace(os.sep, "/")

"""How the examples of checks are written, and run.

An example is the text of a file, or of several, each below a line `# file: NAME`. A text without
`apiVersion` is a part of an object: it goes where its first key belongs, in an object with that
field. A check of patches is run for each of its tools; `target.yaml` is the object that the
patch changes. With a `kustomization.yaml` all files are there as they are. The versions of a
file in a merge stand below `# base:`, `# ours:`, `# theirs:` and `# committed:`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from kmerge_git.check import registry
from kmerge_git.check.checked_texts import World
from kmerge_git.check.registry import Check
from kmerge_git.check.run import Run, check_files
from kmerge_git.finding import Finding

FILE = "# file: "
VERSIONS = ("base", "ours", "theirs", "committed")
PATCH, TARGET, KUSTOMIZATION = "patch.yaml", "target.yaml", "kustomization.yaml"
OF_PATCHES = frozenset(
    (
        registry.PATCH_BOOK, registry.PATCH_REPEATED, registry.PATCH_KEYED, registry.PATCH,
        registry.MAP, registry.LIST, registry.ELEMENT, registry.KEY, registry.LIST_DIRECTIVE,
        registry.RETAINED, registry.DOLLAR, registry.WORDS,
    )
)  # fmt: skip

DEPLOYMENT = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n"
SERVICE = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n"
CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n"
POD = "spec:\n  template:\n    spec:\n"
CONTAINER = POD + "      containers:\n      - name: web\n"
VOLUME = POD + "      volumes:\n      - name: data\n        configMap:\n          name: web\n"

# The object in which a field is at home, by its name, and what stands above it.
HOMES = {
    **dict.fromkeys(("strategy", "replicas", "selector", "paused"), (DEPLOYMENT, "spec:\n")),
    "rollingUpdate": (DEPLOYMENT, "spec:\n  strategy:\n"),
    **dict.fromkeys(
        ("containers", "container", "initContainers", "tolerations", "volumes", "imagePullSecrets"),
        (DEPLOYMENT, POD),
    ),
    **dict.fromkeys(("env", "resources", "args", "ports"), (DEPLOYMENT, CONTAINER)),
    "defaultMode": (DEPLOYMENT, VOLUME),
    "finalizers": (DEPLOYMENT, ""),  # of metadata
    "data": (CONFIG, ""),
}


def files_of(text: str) -> dict[str, str]:
    """The files of an example, by name, each with what it lacks of an object around it."""
    files, name = {}, ""
    for line in text.split("\n"):
        if line.startswith(FILE):
            name = line.removeprefix(FILE)
        elif name or line.strip():
            files[name] = files.get(name, "") + line + "\n"
    return files


def versions_of(text: str) -> dict[str, str]:
    """The versions of an example that is about a merge; nothing for other examples."""
    versions: dict[str, str] = {}
    for line in text.split("\n"):
        if line.startswith("# ") and line[2:].rstrip(":") in VERSIONS:
            version = line[2:].rstrip(":")
            versions[version] = ""
        elif versions:
            versions[version] += line + "\n"
    return versions


def is_of_patch(check: Check, text: str) -> bool:
    """Whether an example is a patch that goes to one tool or the other."""
    is_patch = check.group == "directives" and check.scope in OF_PATCHES
    return is_patch and KUSTOMIZATION not in files_of(text)


def findings(check: Check, text: str, tools: str = "") -> Iterator[tuple[str, list[Finding]]]:
    """What is found in an example by the checks that are on, for each tool that counts."""
    files = files_of(text)
    if is_of_patch(check, text):
        for tool in tools or check.tools:
            yield tool, _of_patch(files, tool)
    else:
        there = {
            name or "web.yaml": content if name.endswith(KUSTOMIZATION) else whole(content)
            for name, content in files.items()
        }
        yield check.tools, _found(there)


def _of_patch(files: dict[str, str], tool: str) -> list[Finding]:
    """What is found in a patch that goes to one of the tools."""
    target = whole(files[TARGET]) if TARGET in files else ""
    texts = {PATCH: whole(files[""])}
    if tool == "K":
        texts |= {TARGET: target} if target else {}
    else:
        base = TARGET if target else "https://example.com/base"
        texts[KUSTOMIZATION] = f"resources:\n- {base}\npatches:\n- path: {PATCH}\n"
        texts |= {TARGET: target} if target else {}
    run = Run(
        _world(texts),
        script_with=lambda path: "deploy.sh" if (path, tool) == (PATCH, "K") else "",
        target=TARGET if target and tool == "K" else "",
    )
    return check_files([PATCH], run)


def _found(files: dict[str, str]) -> list[Finding]:
    """What is found in files that nobody calls patches."""
    return check_files(list(files), Run(_world(files)))


def _world(files: dict[str, str]) -> World:
    blobs = {name: text.encode() for name, text in files.items()}
    folders = {name.rpartition("/")[0] for name in files}
    return World(blobs.get, folders.__contains__)


def whole(text: str) -> str:
    """A file whose parts of objects have the rest of an object around them."""
    return "---\n".join(_document(document) for document in text.split("---\n"))


def _document(text: str) -> str:
    key = next((line for line in text.split("\n") if line[:1] not in ("", "#", " ")), "")
    field = key.partition(":")[0].rpartition("/")[2].lstrip("$")
    if field == "ports" and "- port:" in text:
        return SERVICE + "spec:\n" + textwrap.indent(text, "  ")
    if field == "spec":
        return DEPLOYMENT + text
    if field not in HOMES:
        return text
    head, above = HOMES[field]
    lines = (head + above).rstrip("\n").split("\n")
    last = lines[-1]
    column = len(last) - len(last.lstrip(" -"))
    indent = column + (2 if last.endswith(":") and field != "data" else 0)
    return head + above + textwrap.indent(text, " " * indent)

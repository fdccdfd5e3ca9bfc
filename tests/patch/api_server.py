"""An API server of a hundred lines: enough for kubectl to find kinds, read objects, send patches.

It keeps nothing. What kubectl sends is the answer to the question that a test asks.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

KINDS = {
    "v1": {
        "configmaps": "ConfigMap",
        "pods": "Pod",
        "services": "Service",
        "serviceaccounts": "ServiceAccount",
    },
    "apps/v1": {"deployments": "Deployment"},
    "policy/v1": {"poddisruptionbudgets": "PodDisruptionBudget"},
    "example.com/v1": {"foos": "Foo"},
}
VERBS = ["get", "patch", "create", "delete", "update", "list"]


@dataclass
class World:
    """The live objects by path, and the requests that changed something."""

    live: dict[str, Any] = field(default_factory=dict)
    sent: list[tuple[str, Any]] = field(default_factory=list)


class ApiServer:
    """Runs in a thread; `with ApiServer(directory) as server: server.apply(...)`."""

    def __init__(self, directory: Path) -> None:
        self.world = World()
        self.directory = directory

    def __enter__(self) -> ApiServer:
        handler = type("Handler", (_Handler,), {"world": self.world})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def apply(self, config: Any, live: Any, *options: str) -> Any:
        """What `kubectl apply` sends; `{}`: nothing, None: it refuses."""
        text = json.dumps(config)
        return self._ask(config, live, ["apply", "--validate=false", "-f", "-", *options], text)

    def edit(self, original: Any, modified: Any) -> Any:
        """What `kubectl edit` sends for a two-way change."""
        edited = self.directory / "edited.json"
        edited.write_text(json.dumps(modified), "utf-8")
        editor = self.directory / "editor.sh"
        editor.write_text(f'#!/bin/sh\ncp "{edited}" "$1"\n', "utf-8")
        editor.chmod(0o755)
        name = f"{_plural(original)}/{original['metadata']['name']}"
        command = ["edit", "--validate=false", name, "-o", "json"]
        return self._ask(original, original, command, "", EDITOR=str(editor))

    def _ask(self, target: Any, live: Any, command: list[str], text: str, **extra: str) -> Any:
        self.world.live.clear()
        self.world.sent.clear()
        if live is not None:
            self.world.live[_path(target)] = live
        done = subprocess.run(
            [
                "kubectl",
                "--kubeconfig=/dev/null",
                f"--server=http://127.0.0.1:{self._http.server_port}",
                f"--cache-dir={self.directory / 'cache'}",
                *command,
            ],
            input=text,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **extra},
            timeout=60,
        )
        if self.world.sent:
            return self.world.sent[-1][1]
        return {} if done.returncode == 0 else None


def _plural(target: Any) -> str:
    kinds = KINDS[target["apiVersion"]]
    return next(plural for plural, kind in kinds.items() if kind == target["kind"])


def _path(target: Any) -> str:
    version = target["apiVersion"]
    prefix = "/apis" if "/" in version else "/api"
    name = target["metadata"]["name"]
    return f"{prefix}/{version}/namespaces/default/{_plural(target)}/{name}"


def _discovery() -> dict[str, Any]:
    pages: dict[str, Any] = {"/api": {"kind": "APIVersions", "versions": ["v1"]}}
    groups = []
    for version, kinds in KINDS.items():
        group, _, name = version.rpartition("/")
        if group:
            entry = {"groupVersion": version, "version": name}
            groups.append({"name": group, "versions": [entry], "preferredVersion": entry})
        pages[f"/apis/{version}" if group else f"/api/{version}"] = {
            "kind": "APIResourceList",
            "groupVersion": version,
            "resources": [
                {"name": p, "singularName": "", "namespaced": True, "kind": k, "verbs": VERBS}
                for p, k in kinds.items()
            ],
        }
    return {**pages, "/apis": {"kind": "APIGroupList", "groups": groups}}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    world: World
    pages = _discovery()

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        page = self.pages.get(path) or self.world.live.get(path)
        missing = {"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404}
        self._answer(200 if page else 404, page or missing)

    def do_PATCH(self) -> None:
        body = self._body()
        self.world.sent.append((self.headers["Content-Type"], body))
        self._answer(200, self.world.live.get(self.path.partition("?")[0]) or body)

    def do_POST(self) -> None:
        body = self._body()
        self.world.sent.append((self.headers["Content-Type"], body))
        self._answer(201, body)

    def _body(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def _answer(self, code: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

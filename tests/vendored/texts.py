"""Manifests of a small shop, as upstream releases them."""

from __future__ import annotations


def deployment(name: str = "web", replicas: int = 1, image: str = "shop:1", more: str = "") -> str:
    return (
        f"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\nspec:\n"
        f"  replicas: {replicas}\n  template:\n    spec:\n      containers:\n"
        f"        - name: app\n          image: {image}\n          env:\n"
        f"            - name: LEVEL\n              value: info\n{more}"
    )


def service(name: str = "web", port: int = 80, more: str = "") -> str:
    return (
        f"apiVersion: v1\nkind: Service\nmetadata:\n  name: {name}\nspec:\n"
        f"  selector:\n    app: {name}\n  ports:\n    - name: http\n      port: {port}\n{more}"
    )


def config(name: str = "settings", **data: str) -> str:
    lines = "".join(f"  {key}: {value}\n" for key, value in data.items())
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n{lines}"


def stream(*documents: str) -> str:
    return "---\n".join(documents)

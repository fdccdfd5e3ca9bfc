"""Small manifests for the tests of whole repositories."""

from __future__ import annotations


def deployment(
    replicas: int = 1, image: str = "app:1", env: tuple[str, ...] = ("A=1",), name: str = "web"
) -> str:
    """A Deployment with one container."""
    lines = "".join(
        f'        - name: {item.partition("=")[0]}\n          value: "{item.partition("=")[2]}"\n'
        for item in env
    )
    return (
        "apiVersion: apps/v1\n"
        "kind: Deployment\n"
        "metadata:\n"
        f"  name: {name}\n"
        "spec:\n"
        f"  replicas: {replicas}\n"
        "  template:\n"
        "    spec:\n"
        "      containers:\n"
        "      - name: app\n"
        f"        image: {image}\n"
        "        env:\n"
        f"{lines}"
    )


def service(port: int = 80, name: str = "web") -> str:
    """A Service with one port."""
    return (
        "apiVersion: v1\n"
        "kind: Service\n"
        "metadata:\n"
        f"  name: {name}\n"
        "spec:\n"
        "  selector:\n"
        f"    app: {name}\n"
        "  ports:\n"
        "  - name: http\n"
        f"    port: {port}\n"
        "    targetPort: 8080\n"
    )


def stream(*documents: str) -> str:
    """Several documents as one file."""
    return "---\n".join(documents)

"""A session as clients are pointed at it, and what they make there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.tools.server import Server


@dataclass(frozen=True, slots=True)
class Place:
    """A session as its teacher's clients find it."""

    server: Server
    code: str
    token: str
    kubeconfig: Path

    @property
    def plain_url(self) -> str:
        """The API server by plain HTTP."""
        return f"{self.server.url}/clusters/{self.code}"


def deployment(name: str, replicas: int = 2) -> dict[str, Any]:
    """Return a deployment whose pods carry the label app=<name>."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "main", "image": "nginx:1.27"}]},
            },
        },
    }

"""A session on a started installation, as its teacher uses it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.tools.server import Server, wait_for


class Session:
    """Opens a session; every call asserts its status."""

    def __init__(self, server: Server, template: str = "three-nodes", *, seed: int = 3) -> None:
        self.server = server
        asked = {"title": "test", "template": template, "seed": seed}
        status, body = server.obeyed("POST", "/api/sessions", asked)
        assert status == 201, body
        self.opened = body
        self.code = body["code"].replace("-", "")
        self.token = body["token"]

    @classmethod
    def of(cls, server: Server, opened: Mapping[str, Any]) -> Session:
        """Return a session that somebody else has opened, by the answer that they were given."""
        made = cls.__new__(cls)
        made.server, made.opened = server, dict(opened)
        made.code, made.token = opened["code"].replace("-", ""), opened["token"]
        return made

    def call(self, method: str, path: str, body: Any = None, *, expect: int = 200) -> Any:
        status, answer = self.server.obeyed(method, path, body, self.token)
        assert status == expect, (status, answer)
        return answer

    def api(self, path: str) -> Any:
        """GET from the Kubernetes API."""
        return self.call("GET", f"/clusters/{self.code}{path}")

    def create(self, path: str, body: Mapping[str, Any]) -> Any:
        """POST to the Kubernetes API."""
        return self.call("POST", f"/clusters/{self.code}{path}", body, expect=201)

    def clock(self, **changes: Any) -> Any:
        path = f"/api/sessions/{self.code}/clock"
        return self.call("PATCH", path, changes) if changes else self.call("GET", path)

    def step(self, by: str, count: int = 1) -> Any:
        return self.call("POST", f"/api/sessions/{self.code}/clock/step", {"by": by, "count": count})

    def pods(self) -> list[Any]:
        found: list[Any] = self.api("/api/v1/namespaces/default/pods")["items"]
        return found

    def create_pod(self, name: str, cpu: str = "10m") -> None:
        container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": cpu}}}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container]}}
        self.create("/api/v1/namespaces/default/pods", pod)

    def bound(self) -> dict[str, str]:
        """Return the node of each bound pod."""
        return {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in self.pods() if pod["spec"].get("nodeName")}

    def scheduler(self) -> Any:
        """Return the status of the first scheduler replica."""
        return self.api("/apis/clustersim.io/v1/replicas/kube-scheduler-0").get("status", {})

    def wait_for_leader(self) -> None:
        wait_for(lambda: self.scheduler().get("leading"), what="a leading scheduler")

    def owner_pid(self) -> int:
        """Return the pid of the worker that claimed last, from its log line (for installations with one session)."""
        claims = [line for line in self.server.log.read_text().splitlines() if " claimed " in line]
        assert claims
        return int(claims[-1].partition("ownership[")[2].partition("]")[0])

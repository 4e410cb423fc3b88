"""The web process alone, for tests of the REST surface: a session with people, no engine.

with serving(folder) as server:
    server.kubectl("get", "pods")
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clustersim.apiserver import protobuf
from clustersim.apiserver.messages import PROTOBUF
from clustersim.runtime import certificates
from tests.tools.messages import parts_of
from tests.tools.patience import PATIENCE_SECONDS
from tests.tools.server import ROOT, free_port, wait_for

_MAKE = """
import json
from clustersim.classroom import people
from clustersim.classroom.writing import web_context
from clustersim.store import open_store, sessions
from controllers.log.operations import Create
from controllers.kinds.table import REGISTRY
row = sessions.create("Test", "empty", 7)
made = {"code": row.code, "id": row.id}
store = open_store(row.id)
names = ["default", "kube-system", "kube-public", "kube-node-lease"]
for role, name in (("teacher", "Tara"), ("student", "Stu"), ("viewer", "Vic"), ("component", "Comp")):
    principal = people.seat(row, name, role)
    made[role] = people.new_token(principal)
    if principal.namespace:
        names.append(principal.namespace)
        made[role + "Namespace"] = principal.namespace
with store.transaction("session") as transaction:
    for name in dict.fromkeys(names):
        document = {"metadata": {"name": name}}
        REGISTRY.apply(transaction, Create("namespaces", "", document), web_context("session", store))
    for name, value in (("system-cluster-critical", 2000000000), ("system-node-critical", 2000001000)):
        document = {"metadata": {"name": name}, "value": value}
        REGISTRY.apply(
            transaction, Create("priorityclasses.scheduling.k8s.io", "", document), web_context("session", store)
        )
print("MADE" + json.dumps(made))
"""


def _decoded(answer: Any) -> Any:
    text = answer.read()
    if "json" in answer.headers.get("Content-Type", ""):
        return json.loads(text) if text else None
    if PROTOBUF in answer.headers.get("Content-Type", ""):
        return protobuf.decode(text)
    return text.decode()


def watch_event(frame: bytes) -> dict[str, Any]:
    """Return what one frame of a watch in protobuf says, its length taken off."""
    event = dict(parts_of(frame))
    return {"type": event[1].decode(), "object": protobuf.decode(dict(parts_of(event[2]))[1])}


@dataclass
class Api:
    """A web process with one session."""

    port: int
    data: Path
    made: dict[str, Any]
    kubectl_binary: str = "kubectl"
    tls_port: int = 0

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}/clusters/{self.made['code']}"

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        role: str = "teacher",
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, Any, Mapping[str, str]]:
        """Return (status, decoded answer, headers)."""
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data=data, method=method)
        request.add_header("Content-Type", content_type)
        if role:
            request.add_header("Authorization", f"Bearer {self.made[role]}")
        for name, value in (headers or {}).items():
            request.add_header(name, value)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
                return answer.status, _decoded(answer), answer.headers
        except urllib.error.HTTPError as error:
            return error.code, _decoded(error), error.headers

    def answers(self) -> bool:
        """Return whether the process serves requests yet."""
        try:
            return self.request("GET", "/version")[0] == 200
        except (urllib.error.URLError, OSError):
            return False

    def watch(self, path: str, *, role: str = "teacher", accept: str = "application/json") -> Iterator[dict[str, Any]]:
        """Yield the events of a watch until the server ends it."""
        request = urllib.request.Request(self.base + path)
        request.add_header("Authorization", f"Bearer {self.made[role]}")
        request.add_header("Accept", accept)
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
            if PROTOBUF in answer.headers["Content-Type"]:
                while head := answer.read(4):
                    yield watch_event(answer.read(int.from_bytes(head, "big")))
            for line in answer:
                yield json.loads(line)

    def kubeconfig(self, role: str = "teacher", *, tls: bool = False) -> Path:
        """Return a kubeconfig with Basic credentials in a plain HTTP address; by TLS, with a token."""
        token = self.made[role]
        cluster: dict[str, Any] = {"server": self.base.replace("http://", f"http://{role}:{token}@")}
        user: dict[str, Any] = {}
        if tls:
            cluster["server"] = self.base.replace(f"http://127.0.0.1:{self.port}", f"https://127.0.0.1:{self.tls_port}")
            cluster["certificate-authority"] = str(certificates.authority_path(self.data))
            cluster["tls-server-name"] = certificates.SERVER_NAME
            user["token"] = token
        namespace = self.made.get(role + "Namespace") or "default"
        path = self.data / f"kubeconfig-{role}{'-tls' if tls else ''}"
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": cluster}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u", "namespace": namespace}}],
            "current-context": "x",
        }
        path.write_text(json.dumps(document))
        return path

    def kubectl_environment(self, role: str = "teacher", *, tls: bool = False) -> dict[str, str]:
        """Return the variables with which a kubectl asks this server."""
        return {
            **os.environ,
            "KUBECONFIG": str(self.kubeconfig(role, tls=tls)),
            "HOME": str(self.data),
            "KUBECACHEDIR": str(self.data / "kube-cache"),
        }

    def kubectl(
        self, *arguments: str, role: str = "teacher", stdin: str = "", check: bool = True, tls: bool = False
    ) -> subprocess.CompletedProcess[str]:
        """Run kubectl and return what it printed."""
        done = subprocess.run(
            [self.kubectl_binary, *arguments],
            env=self.kubectl_environment(role, tls=tls),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        if check and done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(arguments)}: {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done


@contextlib.contextmanager
def serving(data: Path, environment: Mapping[str, str] | None = None) -> Iterator[Api]:
    """Migrate, make a session with one person of each role, and serve it."""
    data.mkdir(parents=True, exist_ok=True)
    port, tls_port = free_port(), free_port()
    certificates.ensure(data, ["127.0.0.1"])
    settings = {
        **{key: value for key, value in os.environ.items() if key not in ("DATABASE_URL", "REDIS_URL")},
        "PORT": str(port),
        "TLS_PORT": str(tls_port),
        "HOST": "127.0.0.1",
        "CLUSTERSIM_DATA": str(data),
        **(environment or {}),
    }
    manage = [sys.executable, str(ROOT / "manage.py")]
    subprocess.run([*manage, "migrate", "-v0"], env=settings, cwd=ROOT, check=True, capture_output=True)
    shell = subprocess.run(
        [*manage, "shell", "-v0", "-c", _MAKE], env=settings, cwd=ROOT, check=True, capture_output=True, text=True
    )
    made = json.loads(next(line for line in shell.stdout.splitlines() if line.startswith("MADE"))[4:])
    log = data / "web.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*manage, "web"], env=settings, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.PIPE
        )
    api = Api(port, data, made, tls_port=tls_port)
    try:
        wait_for(lambda: api.answers() or process.poll() is not None, what="the web process answers")
        assert process.poll() is None, log.read_text(errors="replace")[-3000:]
        yield api
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)

"""Real kubectl and other clients forward ports of pods in which nothing runs. The engine is off."""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any
from zlib import crc32

import pytest
from websockets import Subprotocol
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from clustersim.apiserver.speaking import NO_HTTP
from tests.tools.apiserver import Api
from tests.tools.kubectl import binaries
from tests.tools.patience import PATIENCE_SECONDS

RUNNING = {"name": "main", "image": "", "imageID": "", "ready": True, "restartCount": 0, "started": True,
           "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}  # fmt: skip
CHANNELS = "v4.channel.k8s.io"
TUNNEL = "SPDY/3.1+portforward.k8s.io"
OWN = "<h1>Welcome to nginx!</h1>\n<p>web on n1</p>\n"


@pytest.fixture
def api(sqlite_api: Api) -> Api:
    """Return one web process: which database is behind it is nothing that a client could see."""
    sqlite_api.request("POST", "/api/v1/nodes", {"metadata": {"name": "n1"}})
    return sqlite_api


@pytest.fixture(params=sorted(binaries()))
def binary(request: pytest.FixtureRequest) -> str:
    return binaries()[request.param]


def address_in(namespace: str) -> str:
    """Return the address of a namespace's pods: another one than those of other tests have."""
    return f"10.201.{crc32(namespace.encode()) % 200}.7"


def put(api: Api, namespace: str, name: str = "web", phase: str = "Running", node: str = "n1") -> None:
    main = {"name": "main", "image": "nginx", "ports": [{"containerPort": 80}]}
    spec: dict[str, Any] = {"containers": [main], **({"nodeName": node} if node else {})}
    path = f"/api/v1/namespaces/{namespace}/pods"
    made = {"metadata": {"name": name, "labels": {"app": name}}, "spec": spec}
    assert api.request("POST", path, made)[0] == 201
    address = address_in(namespace)
    told: dict[str, Any] = {"status": {"phase": phase}}
    if node:
        told["status"] |= {"podIP": address, "podIPs": [{"ip": address}], "containerStatuses": [RUNNING]}
    assert api.request("PATCH", f"{path}/{name}/status", told, content_type="application/merge-patch+json")[0] == 200


@contextlib.contextmanager
def serving(api: Api, binary: str, *asked: str, role: str = "teacher") -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """Yield (a port of this machine that kubectl serves, kubectl)."""
    with subprocess.Popen(
        [binary, *asked],
        env=api.kubectl_environment(role, tls=True),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"127.0.0.1:(\d+)", process.stdout.readline())
            assert found, process.communicate()
            yield int(found[1]), process
        finally:
            process.terminate()


def got(port: int, path: str = "/", data: bytes | None = None) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", data, timeout=PATIENCE_SECONDS) as answer:
        return str(answer.read().decode())


def test_what_a_pod_serves_is_at_a_port_of_this_machine(api: Api, namespace: str, binary: str) -> None:
    put(api, namespace)
    spec = {"selector": {"app": "web"}, "ports": [{"port": 8080, "targetPort": 80}]}
    service = {"metadata": {"name": "shop"}, "spec": spec}
    assert api.request("POST", f"/api/v1/namespaces/{namespace}/services", service)[0] == 201
    for asked in (("pod/web", ":80"), ("service/shop", ":8080")):
        with serving(api, binary, "-n", namespace, "port-forward", *asked) as (port, _):
            assert got(port) == OWN
            assert got(port, "/a?b=1") == f"/a?b=1 of 127.0.0.1, answered by web ({address_in(namespace)}) on n1\n"
            assert got(port, "/p", b"x" * 300_000).startswith("/p of ")
            first, second = (HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS) for _ in range(2))
            for method in ("GET", "HEAD", "GET"):
                # Both stay open, and each has its own answers.
                first.request(method, "/")
                second.request("GET", "/second")
                answer = first.getresponse()
                assert (answer.status, answer.headers["Server"]) == (200, "nginx/1.27.0")
                assert (answer.headers["Content-Type"], answer.headers["Content-Length"]) == (
                    "text/html",
                    str(len(OWN)),
                )
                assert answer.read().decode() == ("" if method == "HEAD" else OWN)
                assert second.getresponse().read().startswith(b"/second of ")
            first.close()
            second.close()


def test_a_port_where_nobody_listens_is_told_by_kubectl(api: Api, namespace: str, binary: str) -> None:
    put(api, namespace)
    with serving(api, binary, "-n", namespace, "port-forward", "web", ":81") as (port, process):
        with pytest.raises((OSError, urllib.error.URLError)):
            got(port)
        said = process.communicate(timeout=PATIENCE_SECONDS)[1]
    assert "-> 81: error forwarding port 81 to pod " in said
    assert "dial tcp4 127.0.0.1:81: connect: connection refused" in said


def test_what_is_no_http_is_told_by_kubectl(api: Api, namespace: str, binary: str) -> None:
    put(api, namespace)
    with serving(api, binary, "-n", namespace, "port-forward", "web", ":80") as (port, process):
        with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as made:
            made.sendall(b"\x16\x03\x01\x00\x05hello")
            with contextlib.suppress(ConnectionResetError):
                assert made.recv(1) == b""
        assert NO_HTTP in process.communicate(timeout=PATIENCE_SECONDS)[1]


def test_a_pod_that_is_gone_is_told_by_kubectl(api: Api, namespace: str, binary: str) -> None:
    put(api, namespace)
    with serving(api, binary, "-n", namespace, "port-forward", "web", ":80") as (port, process):
        path = f"/api/v1/namespaces/{namespace}/pods/web?gracePeriodSeconds=0"
        assert api.request("DELETE", path)[0] == 200
        with pytest.raises((OSError, urllib.error.URLError)):
            got(port)
        assert "in store: not found" in process.communicate(timeout=PATIENCE_SECONDS)[1]


def kubectl(api: Api, binary: str, *arguments: str, role: str = "teacher") -> str:
    api.kubectl_binary = binary
    done = api.kubectl(*arguments, check=False, role=role, tls=True)
    assert done.returncode != 0, done
    return done.stderr


def test_who_may_not_run_commands_forwards_no_ports(api: Api, namespace: str, binary: str) -> None:
    put(api, namespace)
    put(api, namespace, "waits", "Pending", "")
    asked = ("-n", namespace, "port-forward")
    assert "Current status=Pending" in kubectl(api, binary, *asked, "waits", ":80")
    assert 'pods "none" not found' in kubectl(api, binary, *asked, "none", ":80")
    for role in ("viewer", "student"):
        assert 'cannot create resource "pods/portforward"' in kubectl(api, binary, *asked, "web", ":80", role=role)
    home, name = api.made["studentNamespace"], f"mine-{namespace}"
    put(api, home, name)
    with serving(api, binary, "-n", home, "port-forward", name, ":80", role="student") as (port, _):
        assert got(port) == f"<h1>Welcome to nginx!</h1>\n<p>{name} on n1</p>\n"


def test_a_page_is_reached_through_kubectl_proxy(api: Api, namespace: str, binary: str) -> None:
    put(api, namespace)
    path = f"/api/v1/namespaces/{namespace}/pods/web"
    with serving(api, binary, "proxy", "--port=0") as (port, _):
        # One without a slash is led to the one with it, through kubectl again.
        assert got(port, f"{path}:80/proxy").startswith("<h1>Welcome to nginx!</h1>")
        assert got(port, f"{path}:80/proxy/a?b=1").startswith(f"/a?b=1 of {address_in(namespace)}, ")


def opened(api: Api, path: str, protocol: str) -> ClientConnection:
    url = api.base.replace("http://", "ws://") + path
    head = {"Authorization": f"Bearer {api.made['teacher']}"}
    return connect(url, subprotocols=[Subprotocol(protocol)], additional_headers=head)


def test_the_older_protocol_has_channels(api: Api, namespace: str) -> None:
    put(api, namespace)
    path = f"/api/v1/namespaces/{namespace}/pods/web/portforward"
    with opened(api, f"{path}?ports=80&ports=81,80", CHANNELS) as made:
        assert made.subprotocol == CHANNELS
        begun, told = set(), b""
        while len(begun) < 6 or not told:
            frame = made.recv(PATIENCE_SECONDS)
            assert isinstance(frame, bytes)
            if len(frame) == 3:
                begun.add(frame)
            else:
                told = frame
        assert begun == {b"\0\x50\0", b"\1\x50\0", b"\2\x51\0", b"\3\x51\0", b"\4\x50\0", b"\5\x50\0"}
        assert told.startswith(b"\3error forwarding port 81 to pod ")
        for channel in (b"\4", b"\0"):
            made.send(channel + b"GET / HTTP/1.0\r\n\r\n")
            answer = made.recv(PATIENCE_SECONDS)
            assert isinstance(answer, bytes)
            assert (answer[:1], answer.endswith(OWN.encode())) == (channel, True)
        with pytest.raises(ConnectionClosed):
            # All that was asked for has ended.
            made.recv(PATIENCE_SECONDS)
        assert made.close_code == 1000


@pytest.mark.parametrize(
    ("name", "query", "protocol", "status"),
    [
        ("web", "", CHANNELS, 400),
        ("web", "?ports=", CHANNELS, 400),
        ("web", "?ports=0", CHANNELS, 400),
        ("web", "?ports=65536", CHANNELS, 400),
        ("web", "?ports=80,x", CHANNELS, 400),
        ("web", "?ports=" + ",".join(["80"] * 129), CHANNELS, 400),
        ("web", "?ports=80", "v5.channel.k8s.io", 501),
        ("web", "?ports=80", "binary.k8s.io", 501),
        ("waits", "?ports=80", CHANNELS, 400),
        ("none", "?ports=80", CHANNELS, 404),
    ],
)
def test_what_cannot_be_forwarded_is_not_opened(
    api: Api, namespace: str, name: str, query: str, protocol: str, status: int
) -> None:
    put(api, namespace)
    put(api, namespace, "waits", "Pending", "")
    with pytest.raises(InvalidStatus) as refused:
        opened(api, f"/api/v1/namespaces/{namespace}/pods/{name}/portforward{query}", protocol)
    assert refused.value.response.status_code == status


def test_who_asks_by_no_websocket_is_told(api: Api, namespace: str) -> None:
    put(api, namespace)
    for method in ("GET", "POST"):
        status, answer, _ = api.request(method, f"/api/v1/namespaces/{namespace}/pods/web/portforward")
        assert (status, TUNNEL in answer["message"]) == (501, True)


def test_students_reach_what_is_in_their_own_namespace_by_proxy(api: Api, namespace: str) -> None:
    home, name = api.made["studentNamespace"], f"mine-{namespace}"
    put(api, home, name)
    put(api, namespace)
    own, other = f"/api/v1/namespaces/{home}/pods/{name}/proxy/", f"/api/v1/namespaces/{namespace}/pods/web/proxy/"
    for method in ("GET", "POST", "DELETE"):
        assert api.request(method, own, role="student")[0] == 200
        status, answer, _ = api.request(method, other, role="student")
        assert (status, 'resource "pods/proxy"' in answer["message"]) == (403, True)
        assert api.request(method, own, role="viewer")[0] == 403
    assert api.request("GET", "/api/v1/nodes/n1/proxy/", role="student")[0] == 403

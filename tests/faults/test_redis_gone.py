"""Redis carries hints alone: without it everything goes on by polling, and when it is back it is used again."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from clustersim.runtime import redisserver
from clustersim.runtime.supervisor import Running
from tests.tools.patience import PATIENCE_SECONDS
from tests.tools.server import running, wait_for


class Redis:
    """A Redis of the test's own, at a socket."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = folder / "redis.sock"
        self.process: Running | None = None

    def start(self) -> None:
        child = redisserver.child(self.folder)
        child.start()
        self.process = child.process
        wait_for(self.socket.exists, what="the socket")

    def stop(self, number: int = signal.SIGKILL) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(number)
            self.process.wait(PATIENCE_SECONDS)


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Redis]:
    server = Redis(tmp_path)
    server.start()
    yield server
    with contextlib.suppress(ProcessLookupError):
        server.stop()


def test_everything_goes_on_without_redis_and_recovers(redis):
    with running({"REDIS_URL": f"unix://{redis.socket}", "WORKERS": "1"}) as server:
        assert server.redis_pids() == [], "with REDIS_URL none is started"
        body = server.request("POST", "/api/sessions", {"title": "x", "template": "three-nodes"})[1]
        code, token = body["code"].replace("-", ""), body["token"]
        pods = f"/clusters/{code}/api/v1/namespaces/default/pods"

        def call(method: str, path: str, body=None):
            status, answer = server.obeyed(method, path, body, token)
            assert status in (200, 201), answer
            return answer

        def bind(name: str) -> None:
            container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "10m"}}}
            call("POST", pods, {"metadata": {"name": name}, "spec": {"containers": [container]}})
            wait_for(lambda: call("GET", f"{pods}/{name}")["spec"].get("nodeName"), what=f"{name} bound")

        wait_for(lambda: call("PATCH", f"/api/sessions/{code}/clock", {"pace": 0})["pace"] == 0, what="pace 0")
        bind("with-redis")

        redis.stop()
        assert server.request("GET", "/healthz")[0] == 200
        status, answer = server.request("GET", "/readyz")
        assert status == 503
        assert answer["redis"] != "ok"
        assert (answer["database"], answer["worker"]) == ("ok", "ok")
        bind("without-redis")
        assert call("PATCH", f"/api/sessions/{code}/clock", {"rate": 2})["rate"] == 2
        other = server.request("POST", "/api/sessions", {"title": "y", "template": "empty"})
        assert other[0] == 201
        wait_for(lambda: server.log.read_text().count(" claimed ") == 2, what="the new session's owner")

        redis.start()
        wait_for(server.ready, what="ready again")
        bind("redis-again")
        assert "Traceback" not in server.tail(2000)


def test_a_redis_that_hangs_stops_nobody(redis):
    with running({"REDIS_URL": f"unix://{redis.socket}", "WORKERS": "1"}) as server:
        body = server.request("POST", "/api/sessions", {"title": "x", "template": "three-nodes"})[1]
        code, token = body["code"].replace("-", ""), body["token"]
        redis.process.send_signal(signal.SIGSTOP)
        path = f"/api/sessions/{code}/clock"
        wait_for(lambda: server.request("PATCH", path, {"rate": 3}, token=token)[0] == 200, what="obeyed")
        before = server.request("GET", path, token=token)[1]["simTime"]
        wait_for(lambda: server.request("GET", path, token=token)[1]["simTime"] > before + 2, what="time passes")
        assert server.request("GET", "/readyz")[0] == 503

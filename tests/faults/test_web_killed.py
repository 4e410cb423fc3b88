"""The web process is killed with -9: what it acknowledged stands, and who asks again sees it."""

from __future__ import annotations

import os
import signal
import urllib.error

from tests.tools.server import running, wait_for
from tests.tools.session import Session

PODS = 30


def test_nothing_acknowledged_is_lost_and_the_engine_goes_on():
    with running({"WORKERS": "1"}) as server:
        session = Session(server)
        session.wait_for_leader()
        session.clock(pace=0)
        (web,) = server.pids("web")
        acknowledged: dict[str, str] = {}

        def create(name: str) -> bool:
            """Create a pod; whether it is there when the server answers (again)."""
            container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "10m"}}}
            pod = {"metadata": {"name": name}, "spec": {"containers": [container]}}
            path = f"/clusters/{session.code}/api/v1/namespaces/default/pods"
            try:
                status, answer = server.request("POST", path, pod, session.token)
            except (urllib.error.URLError, OSError):
                return False
            if status == 201:
                acknowledged[name] = answer["metadata"]["uid"]
            # Written by the attempt whose answer was cut off.
            return status in (201, 409)

        for number in range(PODS):
            if number == PODS // 2:
                os.kill(web, signal.SIGKILL)
            wait_for(lambda name=f"p{number}": create(name), what=f"p{number} created")
        assert server.pids("web") != [web]
        pods = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in session.pods()}
        assert {f"p{number}" for number in range(PODS)} <= pods.keys()
        assert pods.items() >= acknowledged.items()
        wait_for(lambda: pods.keys() <= session.bound().keys(), what="all bound")
        assert session.clock(rate=2)["rate"] == 2

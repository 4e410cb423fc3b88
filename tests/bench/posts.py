"""Pods that eight clients POST to an installation with one web process: first one sent → last nodeName readable.

The clients are threads of this process with a kept connection each, as a client library has; the kubelets of the 1,000
nodes run.
"""

from __future__ import annotations

import json
import threading
from http.client import HTTPConnection
from statistics import quantiles
from time import perf_counter
from typing import Any, Final

from tests.tools.server import Server, running

CLIENTS: Final = 8
PODS: Final = 3_000
LOOK_SECONDS: Final = 0.1


def _client(server: Server, path: str, token: str, names: list[str], waits: list[float], refused: list[str]) -> None:
    """POST pods of these names one after another."""
    connection = HTTPConnection("127.0.0.1", server.port)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    requests = {"cpu": "10m", "memory": "8Mi"}
    container = {"name": "c", "image": "nginx", "resources": {"requests": requests}}
    for name in names:
        pod = {"metadata": {"name": name, "labels": {"app": "bench"}}, "spec": {"containers": [container]}}
        began = perf_counter()
        connection.request("POST", path, json.dumps(pod), headers)
        answer = connection.getresponse()
        body = answer.read()
        waits.append((perf_counter() - began) * 1000)
        if answer.status != 201:
            refused.append(f"{answer.status} {body[:200]!r}")
    connection.close()


def run() -> list[dict[str, Any]]:
    """Return one row: pods a second from the first POST until all are bound, and how long a POST takes."""
    waits: list[float] = []
    refused: list[str] = []
    with running() as server:
        asked = {"title": "bench", "template": "nodes-1000", "seed": 1}
        _, session = server.request("POST", "/api/sessions", asked)
        token, base = session["token"], f"/clusters/{session['code']}"
        server.obeyed("PATCH", f"/api/sessions/{session['code']}/clock", {"pace": 0}, token)
        path = f"{base}/api/v1/namespaces/default/pods"
        unbound = f"{path}?labelSelector=app%3Dbench&fieldSelector=spec.nodeName%3D&limit=1"
        clients = [
            threading.Thread(
                target=_client,
                args=(server, path, token, [f"p{n}" for n in range(first, PODS, CLIENTS)], waits, refused),
            )
            for first in range(CLIENTS)
        ]
        began = perf_counter()
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        posted = perf_counter() - began
        pause = threading.Event()
        while server.request("GET", unbound, token=token)[1]["items"]:
            pause.wait(LOOK_SECONDS)
        seconds = perf_counter() - began
    assert not refused, refused[:3]
    cuts = quantiles(waits, n=100)
    row = {"bench": "posts", "clients": CLIENTS, "pods": PODS, "postedSeconds": round(posted, 2)}
    row |= {"seconds": round(seconds, 2), "podsPerSecond": round(PODS / seconds)}
    return [row | {"postP50Ms": round(cuts[49], 1), "postP99Ms": round(cuts[98], 1)}]

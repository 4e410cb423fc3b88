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

from tests.bench.control_plane import nodes
from tests.tools.server import Server, running

CLIENTS: Final = 8
PODS: Final = 3_000
LOOK_SECONDS: Final = 0.1


def _client(server: Server, path: str, token: str, bodies: list[Any], waits: list[float], refused: list[str]) -> None:
    """POST these one after another."""
    connection = HTTPConnection("127.0.0.1", server.port)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    for body in bodies:
        began = perf_counter()
        connection.request("POST", path, json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        waits.append((perf_counter() - began) * 1000)
        if answer.status != 201:
            refused.append(f"{answer.status} {text[:200]!r}")
    connection.close()


def _post(server: Server, path: str, token: str, bodies: list[Any]) -> list[float]:
    """POST all of these by all clients side by side; return how long each took, in milliseconds."""
    waits: list[float] = []
    refused: list[str] = []
    clients = [
        threading.Thread(target=_client, args=(server, path, token, bodies[first::CLIENTS], waits, refused))
        for first in range(CLIENTS)
    ]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert not refused, refused[:3]
    return waits


def _pod(number: int) -> dict[str, Any]:
    container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "100m", "memory": "500Mi"}}}
    return {"metadata": {"name": f"p{number}", "labels": {"app": "bench"}}, "spec": {"containers": [container]}}


def run() -> list[dict[str, Any]]:
    """Return one row: pods a second from the first POST until all are bound, and how long a POST takes."""
    with running() as server:
        _, session = server.request("POST", "/api/sessions", {"title": "bench", "template": "empty", "seed": 1})
        token, api = session["token"], f"/clusters/{session['code']}/api/v1"
        server.obeyed("PATCH", f"/api/sessions/{session['code']}/clock", {"pace": 0}, token)
        _post(server, f"{api}/nodes", token, nodes())
        path = f"{api}/namespaces/default/pods"
        unbound = f"{path}?fieldSelector=spec.nodeName%3D&limit=1"
        began = perf_counter()
        waits = _post(server, path, token, [_pod(number) for number in range(PODS)])
        posted = perf_counter() - began
        pause = threading.Event()
        while server.request("GET", unbound, token=token)[1]["items"]:
            pause.wait(LOOK_SECONDS)
        seconds = perf_counter() - began
    cuts = quantiles(waits, n=100)
    row = {"bench": "posts", "clients": CLIENTS, "pods": PODS, "postedSeconds": round(posted, 2)}
    row |= {"seconds": round(seconds, 2), "podsPerSecond": round(PODS / seconds)}
    return [row | {"postP50Ms": round(cuts[49], 1), "postP99Ms": round(cuts[98], 1)}]

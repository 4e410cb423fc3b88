"""Lists of 10,000 bound pods as JSON, Table and protobuf: processor time of one request in one process."""

from __future__ import annotations

from time import process_time
from typing import Any, Final

from clustersim.apiserver.handling import handle
from clustersim.apiserver.messages import Request, Response
from clustersim.classroom import people
from clustersim.classroom.writing import web_context
from clustersim.store import SqlStore, open_store, sessions
from controllers.kinds.table import REGISTRY
from controllers.log.operations import Create
from controllers.log.store import copy_object

PODS: Final = 10_000
BATCH: Final = 500
ROUNDS: Final = 5
PROTOBUF: Final = "application/vnd.kubernetes.protobuf"
FORMS: Final = {
    "json": "application/json",
    "table": "application/json;as=Table;g=meta.k8s.io;v=v1",
    "protobuf": PROTOBUF,
}
SPEC: Final = {
    "containers": [
        {
            "name": "web",
            "image": "example.dev/web:v1",
            "ports": [{"containerPort": 80}],
            "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
            "env": [{"name": "A", "value": "b"}],
        }
    ]
}
SINCE: Final = "2026-01-01T00:00:05Z"


def _running(number: int) -> dict[str, Any]:
    """Return what a kubelet says of a pod that runs."""
    address = f"10.1.{number // 250}.{number % 250}"
    conditions = ("PodScheduled", "Initialized", "ContainersReady", "Ready")
    return {
        "phase": "Running",
        "podIP": address,
        "podIPs": [{"ip": address}],
        "hostIP": "10.0.0.1",
        "startTime": SINCE,
        "conditions": [{"type": one, "status": "True", "lastTransitionTime": SINCE} for one in conditions],
        "containerStatuses": [
            {
                "name": "web",
                "image": "example.dev/web:v1",
                "containerID": f"sim://{number}",
                "ready": True,
                "restartCount": 0,
                "state": {"running": {"startedAt": SINCE}},
            }
        ],
    }


def _fill(store: SqlStore) -> None:
    with store.transaction("bench") as transaction:
        home = {"metadata": {"name": "default"}}
        REGISTRY.apply(transaction, Create("namespaces", "", home), web_context("bench", store))
    for start in range(0, PODS, BATCH):
        with store.transaction("bench") as transaction:
            for number in range(start, start + BATCH):
                metadata = {"name": f"web-{number:05}", "labels": {"app": "web"}}
                pod = Create("pods", "default", {"metadata": metadata, "spec": SPEC})
                made = copy_object(REGISTRY.apply(transaction, pod, web_context("bench", store)).object)
                made["spec"]["nodeName"], made["status"] = f"node-{number % 100}", _running(number)
                transaction.put("pods", "default", metadata["name"], made)


def run() -> list[dict[str, Any]]:
    """Return one row a form: milliseconds of a processor for the first answer and for the best one, megabytes.

    No object is remembered from one answer to the next; the first one is made by code that has not run yet.
    """
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    session = sessions.create("Lists", "empty", 7)
    store = open_store(session.id)
    _fill(store)
    token = people.new_token(people.seat(session, "Tara", "teacher"))
    rows = []
    for form, accept in FORMS.items():
        headers = {"authorization": f"Bearer {token}", "accept": accept}
        spent: list[float] = []
        for _ in range(ROUNDS):
            began = process_time()
            answer = handle(Request("GET", session.code, "/api/v1/pods", {}, headers))
            spent.append((process_time() - began) * 1000)
            assert isinstance(answer, Response)
            assert answer.status == 200
        megabytes = round(len(answer.body) / 1e6, 1)
        first, best = round(spent[0]), round(min(spent))
        row = {"bench": "lists", "form": form, "pods": PODS, "first_ms": first, "ms": best, "megabytes": megabytes}
        rows.append(row)
    return rows

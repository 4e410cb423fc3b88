"""What the real kube-scheduler v1.34 did with devices: random classes, slices, claims and pods, one pod after another.

`recorded/devices.jsonl.gz` has a cluster a line: `objects`, `claims` and `pods` in the order in which they were made;
then `refused` by the API server, `said` of each pod (its node, why not, or that the attempt ended with an error, of
which any node's is told) and `got`: of each claim its allocation, for whom it is reserved, and its finalizers.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from controllers.log.operations import Patch
from scheduler_core.api.errors import ApiError
from scheduler_core.devices.claims import CLAIMS
from tests.tools.lab import Document, Lab

RECORDED = Path(__file__).with_name("recorded") / "devices.jsonl.gz"
CLUSTERS: list[dict[str, Any]] = [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).splitlines()]
ADMIN = {"metadata": {"labels": {"resource.kubernetes.io/admin-access": "true"}}}


def made(lab: Lab, document: Document) -> bool:
    """Create an object as it was created there; return whether it was accepted."""
    metadata = document["metadata"]
    if document["kind"] in ("Pod", "ResourceClaim"):
        document = {**document, "metadata": {**metadata, "namespace": "default"}}
    try:
        lab.create(document)
    except ApiError:
        return False
    return True


def said(pod: Document) -> Document:
    if node := pod["spec"].get("nodeName"):
        return {"node": node}
    (told,) = (one for one in pod["status"]["conditions"] if one["type"] == "PodScheduled")
    return {"error": True} if told["reason"] == "SchedulerError" else {"message": told["message"]}


def got(claim: Document) -> Document:
    status = claim.get("status") or {}
    users = sorted(one["name"] for one in status.get("reservedFor") or ())
    return {"alloc": status.get("allocation"), "for": users, "fin": claim["metadata"].get("finalizers")}


@pytest.mark.parametrize("cluster", CLUSTERS, ids=lambda one: one["seed"])
def test_devices_are_given_out_as_the_real_scheduler_gave_them(cluster: dict[str, Any]) -> None:
    lab = Lab([one for one in cluster["objects"] if one["kind"] == "Node"], kubelets=False)
    lab.run(15)
    lab.do(Patch("namespaces", "", "default", ADMIN, "merge"))
    others = [one for one in cluster["objects"] if one["kind"] != "Node"] + cluster["claims"]
    refused = [one["metadata"]["name"] for one in others if not made(lab, one)]
    lab.run(1)
    told: dict[str, Document] = {}
    for pod in cluster["pods"]:
        name = pod["metadata"]["name"]
        if not made(lab, pod):
            refused.append(name)
            continue
        lab.run(0.5)
        told[name] = said(lab.get("pods", name))
    assert refused == cluster["refused"]
    assert told == cluster["said"]
    assert {one["metadata"]["name"]: got(one) for one in lab.list(CLAIMS, "default")} == cluster["got"]

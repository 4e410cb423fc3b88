"""Random lives of nodes, pods and Services: in the end addresses are the ready pods, and quotas tell the truth."""

from __future__ import annotations

from random import Random

import pytest

from controllers.admission.taintnodesbycondition import STOPPED
from controllers.log.operations import Delete, Patch
from controllers.log.stamps import wire_time
from controllers.quota.evaluator import evaluator_of
from scheduler_core.api.document import Document, condition
from tests.tools.lab import Lab, any_of, node, workload

STEPS = 60
APPS = ("a", "b")
SLICES = "endpointslices.discovery.k8s.io"


def service(name: str) -> Document:
    spec = {"selector": {"app": name}, "ports": [{"port": 80}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def quota() -> Document:
    hard = {"pods": "99", "count/pods": "99", "services": "9", "requests.cpu": "90"}
    metadata = {"name": "q", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": hard}}


def step(lab: Lab, random: Random) -> None:
    app, name = random.choice(APPS), f"n{random.randrange(4)}"
    now = wire_time(lab.store.epoch_ms + lab.cluster.now_ms)
    pods = lab.list("pods", "default")
    choices = [
        lambda: lab.create(workload("ReplicaSet", app, random.randrange(1, 6))),
        lambda: lab.do(Patch("replicasets.apps", "default", app, {"spec": {"replicas": random.randrange(6)}})),
        lambda: lab.do(Delete("replicasets.apps", "default", app, propagation=random.choice(["Background", "Orphan"]))),
        lambda: lab.create(service(app)),
        lambda: lab.do(Delete("services", "default", app)),
        lambda: lab.do(Patch("nodes", "", name, {"metadata": {"annotations": {STOPPED: random.choice([now, None])}}})),
        lambda: lab.do(Delete("nodes", "", name)),
        lambda: lab.create(node(name)),
        *[lambda: lab.do(Delete("pods", "default", random.choice(pods)["metadata"]["name"]))] * (1 if pods else 0),
    ]
    any_of(random, choices)
    lab.run(random.choice([0.1, 2, 15, 70]))


def ready(pod: Document) -> bool:
    told = condition(pod, "Ready")
    return told is not None and told["status"] == "True" and "deletionTimestamp" not in pod["metadata"]


@pytest.mark.parametrize("seed", range(1, 4))
def test_addresses_and_quotas_tell_the_truth_in_the_end(seed: int) -> None:
    random = Random(seed)
    lab = Lab([*(node(f"n{number}") for number in range(4)), quota()], seed=seed)
    for _ in range(STEPS):
        step(lab, random)
    for one in lab.list("nodes"):
        lab.do(Patch("nodes", "", one["metadata"]["name"], {"metadata": {"annotations": {STOPPED: None}}}))
    lab.run(400)
    services = {one["metadata"]["name"] for one in lab.list("services", "default")} & set(APPS)
    pods = lab.list("pods", "default")
    for app in APPS:
        endpoints = lab.store.get("endpoints", "default", app)
        parts = [one for one in lab.list(SLICES) if one["metadata"]["labels"].get("kubernetes.io/service-name") == app]
        if app not in services:
            assert (endpoints, parts) == (None, [])
            continue
        assert endpoints is not None
        wanted = {pod["metadata"]["name"] for pod in pods if pod["metadata"]["labels"].get("app") == app and ready(pod)}
        told = {
            at["targetRef"]["name"]
            for one in endpoints.object.get("subsets") or ()
            for at in one.get("addresses") or ()
        }
        listed = [entry for one in parts for entry in one.get("endpoints") or () if entry["conditions"]["ready"]]
        assert told == wanted
        assert sorted(entry["targetRef"]["name"] for entry in listed) == sorted(wanted)
    used = lab.get("resourcequotas", "q")["status"]["used"]
    charged = [
        pod for pod in pods if "pods" in evaluator_of("pods").usage(pod, lab.store.epoch_ms + lab.cluster.now_ms)
    ]
    assert (used["pods"], used["count/pods"]) == (str(len(charged)), str(len(pods)))
    assert used["services"] == str(len(lab.list("services", "default")))
    owners = {one["metadata"]["uid"] for one in lab.list("replicasets.apps")}
    for pod in pods:
        assert all(reference["uid"] in owners for reference in pod["metadata"].get("ownerReferences") or ())
        assert lab.store.get("nodes", "", pod["spec"].get("nodeName") or "n0") is not None or not pod["spec"].get(
            "nodeName"
        )

"""Storage under crashes: whatever happens, a volume has one claim, a claim one volume, and pods run where both are."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from controllers.log.operations import Delete, Patch
from controllers.rerun import first_difference, rerun
from tests.tools.lab import Document, Lab, any_of, node, pod

NODES = 4
CLASSES = ("local", "late", "soon")


def _class(name: str) -> Document:
    provisioner = "kubernetes.io/no-provisioner" if name == "local" else "disk.example.dev"
    mode = "Immediate" if name == "soon" else "WaitForFirstConsumer"
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
            "provisioner": provisioner, "volumeBindingMode": mode}  # fmt: skip


def _volume(name: str, where: str, size: int) -> Document:
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [where]}]}
    spec = {
        "capacity": {"storage": f"{size}Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "local",
        "local": {"path": "/mnt"}, "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
    }  # fmt: skip
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}


def _claim(name: str, class_name: str, size: int) -> Document:
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": class_name,
            "resources": {"requests": {"storage": f"{size}Gi"}}}  # fmt: skip
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def _write(lab: Lab, random: Random, turn: int) -> None:
    name = f"c{random.randrange(6)}"
    size = random.randrange(1, 6)
    fault = {"spec": {"fault": {"id": turn + 1, "kind": random.choice(["crash", "recover", "recover"])}}}
    replica = f"{random.choice(['kube-scheduler', 'kube-controller-manager'])}-{random.randrange(2)}"
    choices: list[Any] = [
        lambda: lab.create(_volume(f"v{random.randrange(8)}", f"n{random.randrange(NODES)}", size)),
        lambda: lab.create(_claim(name, random.choice(CLASSES), size)),
        lambda: lab.create(
            pod(f"p{turn}", cpu="300m", volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": name}}])
        ),
        lambda: lab.do(Delete("persistentvolumeclaims", "default", name)),
        lambda: lab.do(Delete("persistentvolumes", "", f"v{random.randrange(8)}")),
        lambda: lab.do(Delete("pods", "default", f"p{random.randrange(turn + 1)}", grace_period_seconds=0)),
        lambda: lab.do(Patch("replicas.clustersim.io", "", replica, fault)),
    ]
    any_of(random, choices)


def live(seed: int) -> Lab:
    """Write at random between slices of time, with components that crash; then let everything settle."""
    random = Random(seed)
    lab = Lab([*(node(f"n{number}") for number in range(NODES)), *map(_class, CLASSES)], seed=seed, replicas=2)
    lab.run(1)
    for turn in range(70):
        _write(lab, random, turn)
        lab.obey()
        lab.run(random.randrange(0, 4000) / 1000)
    for one in lab.list("replicas.clustersim.io"):
        fault = {"spec": {"fault": {"id": 1000, "kind": "recover"}}}
        lab.do(Patch("replicas.clustersim.io", "", one["metadata"]["name"], fault))
    lab.obey()
    lab.run(120)
    return lab


def _is_bound(claim: Document) -> bool:
    return claim["status"]["phase"] == "Bound"


@pytest.mark.parametrize("seed", range(6))
def test_bindings_are_one_to_one_and_pods_are_where_their_volumes_are(seed: int) -> None:
    lab = live(seed)
    volumes = {one["metadata"]["name"]: one for one in lab.list("persistentvolumes")}
    claims = {one["metadata"]["name"]: one for one in lab.list("persistentvolumeclaims")}
    bound = {name: one["spec"]["volumeName"] for name, one in claims.items() if _is_bound(one)}
    assert bound, "the run binds something"
    assert len(set(bound.values())) == len(bound)
    for name, volume in bound.items():
        reference = volumes[volume]["spec"]["claimRef"]
        assert reference["uid"] == claims[name]["metadata"]["uid"], f"seed {seed}: {name}"
        assert volumes[volume]["status"]["phase"] == "Bound"
    for one in lab.list("pods"):
        home, name = one["spec"].get("nodeName"), one["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"]
        if not home or "deletionTimestamp" in one["metadata"]:
            continue
        assert one["status"]["phase"] == "Running", f"seed {seed}: {one['metadata']['name']}"
        affinity = volumes[bound[name]]["spec"].get("nodeAffinity")
        if affinity is not None and "local" in volumes[bound[name]]["spec"]:
            (wanted,) = affinity["required"]["nodeSelectorTerms"][0]["matchExpressions"]
            assert wanted["values"] == [home], f"seed {seed}: {one['metadata']['name']}"
    # Nothing that is going stays for ever but what something uses.
    used = {one["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"] for one in lab.list("pods")}
    assert {name for name, one in claims.items() if "deletionTimestamp" in one["metadata"]} <= used
    going = {name for name, one in volumes.items() if "deletionTimestamp" in one["metadata"]}
    assert going <= set(bound.values())


@pytest.mark.parametrize("seed", range(3))
def test_a_session_with_storage_run_again_from_its_log_gives_the_same_log(seed: int) -> None:
    lab = live(seed)
    log = lab.rows()
    again = rerun(log, seed=seed, epoch_ms=lab.store.epoch_ms)
    assert first_difference(log, list(again.events(0, len(log) + 1))) == "", f"replay with live({seed})"

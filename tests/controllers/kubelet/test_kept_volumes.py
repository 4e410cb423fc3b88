"""What a container's script writes in the volume of a claim outlives its pod, and is seen by others that mount it."""

from __future__ import annotations

from typing import Any

from controllers.kubelet.containers import Containers
from controllers.kubelet.keeping import kept_by
from controllers.kubelet.scripts import Scripts
from controllers.kubelet.stages.pods import STAGES
from controllers.log.operations import Delete
from tests.tools.lab import Document, Lab, node, pod

CLAIM: Document = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "default"},
    "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "", "resources": {"requests": {"storage": "1Gi"}}},
}
VOLUME: Document = {
    "apiVersion": "v1",
    "kind": "PersistentVolume",
    "metadata": {"name": "disk"},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
        "hostPath": {"path": "/mnt/data"},
        "claimRef": {"namespace": "default", "name": "data"},
    },
}


class LabFacts:
    """A lab's objects, as containers are told of them."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab

    def get(self, resource: str, namespace: str, name: str) -> Document | None:
        stored = self._lab.store.get(resource, namespace, name)
        return None if stored is None else stored.object

    def list(self, resource: str, namespace: str) -> list[Document]:
        return self._lab.list(resource, namespace)

    def at(self, unix_ms: int) -> LabFacts:
        return self


def writer(name: str, script: str, source: Document | None = None, **more: Any) -> Document:
    mounts = [{"name": "data", "mountPath": "/data"}]
    container = {"name": "main", "image": "busybox:1.36", "command": ["sh", "-c", script], "volumeMounts": mounts}
    volume = {"name": "data", **(source or {"persistentVolumeClaim": {"claimName": "data"}})}
    return pod(name, containers=[{**container, **more}], volumes=[volume])


def files(lab: Lab, name: str) -> dict[str, str | None]:
    """Return what a command in a pod's container sees of what was written."""
    document = lab.get("pods", name)
    (main,) = Containers(document).mains
    now_ms = lab.store.epoch_ms + lab.cluster.now_ms
    return Scripts(LabFacts(lab)).disk(document, main, STAGES.answers, now_ms)


def test_what_a_script_leaves_in_a_claim_is_there_for_the_next_pod() -> None:
    lab = Lab([node("n1"), VOLUME, CLAIM, writer("first", "echo one >> /data/log; sleep 30; echo late >> /data/log")])
    lab.run(10)
    lab.do(Delete("pods", "default", "first"))
    lab.run(10)
    assert [one.path for one in kept_by(lab.get("persistentvolumeclaims", "data"))] == ["log"]
    lab.create(writer("second", "echo two >> /data/log; sleep 3600"))
    lab.run(40)
    assert files(lab, "second")["/data/log"] == "one\ntwo\n", "what the first would have written later it never wrote"


def test_what_a_pod_leaves_that_is_deleted_at_once_is_kept_too() -> None:
    lab = Lab([node("n1"), VOLUME, CLAIM, writer("first", "echo one > /data/log; sleep 3600")])
    lab.run(10)
    lab.do(Delete("pods", "default", "first", grace_period_seconds=0))
    lab.run(5)
    assert [one.text for one in kept_by(lab.get("persistentvolumeclaims", "data"))] == ["one\n"]


def test_pods_that_mount_the_same_claim_see_what_the_others_write() -> None:
    lab = Lab([node("n1"), VOLUME, CLAIM, writer("first", "echo one > /data/log; sleep 3600")])
    lab.create(writer("second", "sleep 3600"))
    lab.run(10)
    assert files(lab, "second")["/data/log"] == "one\n"


def test_pods_of_a_node_that_mount_the_same_folder_of_it_see_what_the_others_write() -> None:
    folder = {"hostPath": {"path": "/var/shared"}}
    lab = Lab([node("n1"), writer("first", "echo one > /data/log; sleep 3600", folder)])
    lab.create(writer("second", "sleep 3600", folder), writer("third", "sleep 3600", {"emptyDir": {}}))
    lab.run(10)
    assert files(lab, "second")["/data/log"] == "one\n"
    assert "/data/log" not in files(lab, "third")


def test_what_a_hook_writes_before_its_container_ends_is_left_in_the_volume() -> None:
    hook = {"lifecycle": {"preStop": {"exec": {"command": ["sh", "-c", "echo bye >> /data/log"]}}}}
    lab = Lab([node("n1"), VOLUME, CLAIM, writer("first", "echo one > /data/log; sleep 3600", **hook)])
    lab.run(10)
    lab.do(Delete("pods", "default", "first"))
    lab.run(10)
    assert [one.text for one in kept_by(lab.get("persistentvolumeclaims", "data"))] == ["one\nbye\n"]

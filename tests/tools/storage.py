"""Claims, volumes and classes for tests, and what became of them in a lab."""

from __future__ import annotations

from typing import Any

from tests.tools.lab import Document, Lab, node, pod

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"


def claim(name: str, storage: str = "5Gi", class_name: str | None = "late", **spec: Any) -> Document:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}}
    if class_name is not None:
        wanted["storageClassName"] = class_name
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "default"},
            "spec": wanted | spec}  # fmt: skip


def storage_class(
    name: str = "late", provisioner: str = "disk.example.dev", late: bool = True, **more: Any
) -> Document:
    mode = "WaitForFirstConsumer" if late else "Immediate"
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
            "provisioner": provisioner, "volumeBindingMode": mode} | more  # fmt: skip


def local_class() -> Document:
    return storage_class("local", "kubernetes.io/no-provisioner")


def volume(
    name: str, storage: str = "5Gi", class_name: str = "", at: tuple[str, str] | None = None, **spec: Any
) -> Document:
    wanted: Document = {
        "capacity": {"storage": storage}, "accessModes": ["ReadWriteOnce"], "storageClassName": class_name,
    }  # fmt: skip
    if at is not None:
        term = {"matchExpressions": [{"key": at[0], "operator": "In", "values": [at[1]]}]}
        wanted["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
    if "csi" not in spec:
        spec = {"hostPath": {"path": f"/{name}"}} | spec
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": wanted | spec}


def using(name: str, *claims: str, **spec: Any) -> Document:
    volumes = [{"name": one, "persistentVolumeClaim": {"claimName": one}} for one in claims]
    return pod(name, volumes=volumes, **spec)


def labelled(name: str, **labels: str) -> Document:
    document = node(name)
    document["metadata"]["labels"] = {
        key.replace("_", "/").replace("zone", ZONE): value for key, value in labels.items()
    }
    return document


def place(lab: Lab, name: str) -> str:
    return str(lab.get("pods", name)["spec"].get("nodeName", ""))


def bound_to(lab: Lab, name: str) -> tuple[str, str]:
    found = lab.get("persistentvolumeclaims", name)
    return found["status"]["phase"], found["spec"].get("volumeName", "")


def phase(lab: Lab, name: str) -> str:
    return str(lab.get("persistentvolumes", name, "")["status"]["phase"])

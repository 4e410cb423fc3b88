"""Pods that a kubelet runs from files, shown to the API as mirror pods: etcd and the control plane on a node that asks.

Source: pkg/kubelet/pod/mirror_client.go, and kubeadm's manifests for what they look like, v1.34.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from hashlib import md5
from typing import Any, Final

from controllers.kinds.coordination.apiservers import NAMESPACE, components_of
from controllers.log.stamps import wire_time
from scheduler_core.api.document import Document

MIRROR: Final = "kubernetes.io/config.mirror"
_VERSION: Final = "v1.34.1"

_MANIFESTS: Final[Mapping[str, tuple[str, int, Mapping[str, str]]]] = {
    "etcd": ("registry.k8s.io/etcd:3.6.4-0", 2381, {"cpu": "100m", "memory": "100Mi"}),
    "kube-apiserver": (f"registry.k8s.io/kube-apiserver:{_VERSION}", 6443, {"cpu": "250m"}),
    "kube-controller-manager": (f"registry.k8s.io/kube-controller-manager:{_VERSION}", 10257, {"cpu": "200m"}),
    "kube-scheduler": (f"registry.k8s.io/kube-scheduler:{_VERSION}", 10259, {"cpu": "100m"}),
}
"""Component → (image, port that is probed, what it asks for)."""


def missing_pods(node: Mapping[str, Any], is_there: Callable[[str, str], bool], unix_ms: int) -> Iterator[Document]:
    """Yield the mirror pods that a node's kubelet has to make; `is_there` gets a pod's namespace and name."""
    name, uid = node["metadata"]["name"], node["metadata"]["uid"]
    for component in components_of(node):
        if component in _MANIFESTS and not is_there(NAMESPACE, f"{component}-{name}"):
            yield _mirror(component, name, uid, unix_ms)


def _mirror(component: str, node: str, uid: str, unix_ms: int) -> Document:
    image, port, requests = _MANIFESTS[component]
    digest = md5(f"{component}/{node}".encode(), usedforsecurity=False).hexdigest()
    annotations = {
        "kubernetes.io/config.hash": digest,
        MIRROR: digest,
        "kubernetes.io/config.seen": wire_time(unix_ms),
        "kubernetes.io/config.source": "file",
    }
    owner = {"apiVersion": "v1", "kind": "Node", "name": node, "uid": uid, "controller": True}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{component}-{node}",
            "namespace": NAMESPACE,
            "labels": {"component": component, "tier": "control-plane"},
            "annotations": annotations,
            "ownerReferences": [owner],
        },
        "spec": {
            "nodeName": node,
            "hostNetwork": True,
            "priorityClassName": "system-node-critical",
            "enableServiceLinks": True,
            "tolerations": [{"effect": "NoExecute", "operator": "Exists"}],
            "containers": [
                {
                    "name": component,
                    "image": image,
                    "imagePullPolicy": "IfNotPresent",
                    "command": [component],
                    "ports": [{"name": "probe-port", "containerPort": port, "protocol": "TCP"}],
                    "resources": {"requests": dict(requests)},
                }
            ],
        },
    }

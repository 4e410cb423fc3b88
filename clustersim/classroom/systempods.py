"""What people look for in kube-system, where a template asks for it: kube-proxy on each node, and the cluster's DNS.

As kubeadm installs them, without what a simulated container would do nothing with (mounts, arguments). The control
plane's own pods are made by the kubelets of its nodes (`controllers.kubelet.staticpods`).
"""

from __future__ import annotations

from typing import Any, Final

from controllers.kinds.core.service_addresses import DNS_ADDRESS
from scheduler_core.api.document import Document

NAMESPACE: Final = "kube-system"
_PROXY: Final = {"k8s-app": "kube-proxy"}
_DNS: Final = {"k8s-app": "kube-dns"}


def system_objects() -> list[Document]:
    """Return the objects to create, what others refer to first."""
    return [_account("kube-proxy"), _account("coredns"), _proxy(), _dns(), _dns_service()]


def _account(name: str) -> Document:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": NAMESPACE}}


def _proxy() -> Document:
    container = {
        "name": "kube-proxy",
        "image": "registry.k8s.io/kube-proxy:v1.34.1",
        "command": ["/usr/local/bin/kube-proxy"],
        "securityContext": {"privileged": True},
    }
    pod = {
        "priorityClassName": "system-node-critical",
        "serviceAccountName": "kube-proxy",
        "hostNetwork": True,
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [{"operator": "Exists"}],
        "containers": [container],
    }
    return _workload("DaemonSet", "kube-proxy", _PROXY, pod)


def _dns() -> Document:
    ports = [
        {"name": "dns", "containerPort": 53, "protocol": "UDP"},
        {"name": "dns-tcp", "containerPort": 53, "protocol": "TCP"},
        {"name": "metrics", "containerPort": 9153, "protocol": "TCP"},
    ]
    container = {
        "name": "coredns",
        "image": "registry.k8s.io/coredns/coredns:v1.12.1",
        "ports": ports,
        "resources": {"requests": {"cpu": "100m", "memory": "70Mi"}, "limits": {"memory": "170Mi"}},
    }
    pod = {
        "priorityClassName": "system-cluster-critical",
        "serviceAccountName": "coredns",
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [
            {"key": "CriticalAddonsOnly", "operator": "Exists"},
            {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"},
        ],
        "dnsPolicy": "Default",
        "containers": [container],
    }
    return _workload("Deployment", "coredns", _DNS, pod, replicas=2)


def _workload(kind: str, name: str, labels: dict[str, str], pod: Document, **spec: Any) -> Document:
    template = {"metadata": {"labels": labels}, "spec": pod}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
        "spec": {**spec, "selector": {"matchLabels": labels}, "template": template},
    }


def _dns_service() -> Document:
    ports = [
        {"name": "dns", "port": 53, "protocol": "UDP", "targetPort": 53},
        {"name": "dns-tcp", "port": 53, "protocol": "TCP", "targetPort": 53},
        {"name": "metrics", "port": 9153, "protocol": "TCP", "targetPort": 9153},
    ]
    labels = {**_DNS, "kubernetes.io/cluster-service": "true", "kubernetes.io/name": "CoreDNS"}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "kube-dns", "namespace": NAMESPACE, "labels": labels},
        "spec": {"clusterIP": DNS_ADDRESS, "selector": _DNS, "ports": ports},
    }

"""The API servers of a session: those on its control-plane nodes, else the one that every session has.

Several are all active at once, unlike schedulers: each has a Lease of its own, and an address among the endpoints of
the Service `kubernetes` while it lives. Source: pkg/controlplane (instance.go, reconcilers/lease.go), v1.34.
"""

from __future__ import annotations

from base64 import b32encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final, NamedTuple

from controllers.kinds.coordination.heartbeat import stopped_unix_ms
from controllers.kinds.core.service_addresses import API_SERVER_ADDRESS
from controllers.log.stamps import unix_ms_of, wire_micro_time, wire_time
from scheduler_core.api.document import Document, at
from scheduler_core.api.draw import draw_uid

STATIC_PODS: Final = "clustersim.io/static-pods"
"""Annotation of a node: the components that its kubelet runs from files, `etcd,kube-apiserver`."""

API_SERVER: Final = "kube-apiserver"
HOST: Final = "clustersim"
"""What that one's machine is called."""

NAMESPACE: Final = "kube-system"
LEASE_SECONDS: Final = 3_600
RENEW_MS: Final = 10_000
EXPIRES_MS: Final = 15_000
"""An API server that has been silent for this long is no endpoint any more (DefaultEndpointReconcilerTTL)."""


class ApiServer(NamedTuple):
    """One API server. `stopped_ms`: since when its machine is silent, in Unix milliseconds; None: it is not."""

    host: str
    address: str
    started_ms: int
    stopped_ms: int | None = None

    @property
    def lease(self) -> str:
        """Return the name of its Lease."""
        digest = b32encode(sha256(self.host.encode()).digest()[:16]).decode()
        return f"apiserver-{digest.rstrip('=').lower()}"


def components_of(node: Mapping[str, Any]) -> list[str]:
    """Return the components that a node's kubelet runs from files."""
    named = (node["metadata"].get("annotations") or {}).get(STATIC_PODS) or ""
    return [name for part in named.split(",") if (name := part.strip())]


def api_servers(nodes: Iterable[Mapping[str, Any]], epoch_ms: int) -> list[ApiServer]:
    """Return a session's API servers, in order of their machines' names."""
    found = []
    asked = False
    for node in nodes:
        if API_SERVER not in components_of(node):
            continue
        asked = True
        addresses = at(node, "status", "addresses") or ()
        address = next((one["address"] for one in addresses if one.get("type") == "InternalIP"), "")
        if address:
            metadata = node["metadata"]
            started_ms = unix_ms_of(metadata["creationTimestamp"])
            found.append(ApiServer(metadata["name"], address, started_ms, stopped_unix_ms(node)))
    return sorted(found) if asked else [ApiServer(HOST, API_SERVER_ADDRESS, epoch_ms)]


def lease_of(server: ApiServer, unix_ms: int) -> Document:
    """Return the Lease of an API server as of `unix_ms`: a read-only object that no row of the log holds."""
    until_ms = unix_ms if server.stopped_ms is None else min(unix_ms, server.stopped_ms)
    renewed_ms = server.started_ms + max(0, until_ms - server.started_ms) // RENEW_MS * RENEW_MS
    identity = draw_uid(0, "apiserver", f"{server.host}/{server.started_ms}")
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": server.lease,
            "namespace": NAMESPACE,
            "uid": draw_uid(0, "apiserver-lease", server.host),
            "resourceVersion": "1",
            "creationTimestamp": wire_time(server.started_ms),
            "labels": {
                "apiserver.kubernetes.io/identity": API_SERVER,
                "kubernetes.io/hostname": server.host,
            },
        },
        "spec": {
            "holderIdentity": f"{server.lease}_{identity}",
            "leaseDurationSeconds": LEASE_SECONDS,
            "renewTime": wire_micro_time(renewed_ms),
        },
    }

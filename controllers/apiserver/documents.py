"""The Service `kubernetes`, its Endpoints and its EndpointSlice, as kube-apiserver makes them."""

from __future__ import annotations

from collections.abc import Sequence

from controllers.kinds.core.service_addresses import API_SERVER_ADDRESS, API_SERVICE_ADDRESS
from scheduler_core.api.document import Document


def api_server(addresses: Sequence[str] = (API_SERVER_ADDRESS,)) -> list[Document]:
    """Return the Service under which pods find the API servers, with their addresses, as kube-apiserver makes them.

    Source: k8s.io/kubernetes/pkg/controlplane (controller/kubernetesservice, reconcilers).
    """
    port = {"name": "https", "port": 6443, "protocol": "TCP"}
    metadata: Document = {"name": "kubernetes", "namespace": "default"}
    service: Document = {
        "metadata": {**metadata, "labels": {"component": "apiserver", "provider": "kubernetes"}},
        "spec": {
            "clusterIP": API_SERVICE_ADDRESS,
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}],
            "sessionAffinity": "None",
            "type": "ClusterIP",
        },
    }
    endpoints: Document = {
        "metadata": {**metadata, "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}},
        "subsets": [{"addresses": [{"ip": address} for address in sorted(addresses)], "ports": [port]}],
    }
    slices: Document = {
        "metadata": {**metadata, "labels": {"kubernetes.io/service-name": "kubernetes"}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}} for address in sorted(addresses)],
        "ports": [port],
    }
    return [
        {"apiVersion": "v1", "kind": "Service", **service},
        {"apiVersion": "v1", "kind": "Endpoints", **endpoints},
        {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", **slices},
    ]

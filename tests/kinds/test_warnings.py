"""What whoever makes or changes an object is warned of, kind by kind, in upstream's words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registry.registry_tool import CONTAINER, Cluster

TEMPLATE: dict[str, Any] = {"spec": {"containers": [CONTAINER], "restartPolicy": "Never", "nodeSelector": {}}}
OLD: dict[str, Any] = {"spec": {**TEMPLATE["spec"], "nodeSelector": {"beta.kubernetes.io/os": "linux"}}}
OS = 'deprecated since v1.14; use "kubernetes.io/os" instead'
CIDR = 'CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)'
CLASS = 'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName"'
VOLUME: dict[str, Any] = {
    "capacity": {"storage": "1Gi"},
    "accessModes": ["ReadWriteOnce"],
    "hostPath": {"path": "/data"},
}
SERVICE: dict[str, Any] = {"ports": [{"port": 80}]}
INGRESS: dict[str, Any] = {"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}}
CLAIM: dict[str, Any] = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}

WARNED: list[tuple[str, dict[str, Any], list[str]]] = [
    (
        "jobs",
        {"spec": {"suspend": True, "template": OLD}},
        [f"spec.template.spec.nodeSelector[beta.kubernetes.io/os]: {OS}"],
    ),
    (
        "jobs",
        {
            "spec": {
                "suspend": True,
                "template": TEMPLATE,
                "completionMode": "Indexed",
                "completions": 100_001,
                "parallelism": 10_001,
            }
        },
        [
            "spec: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, "
            "Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
        ],
    ),
    (
        "cronjobs",
        {"spec": {"schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": OLD}}}},
        [f"spec.jobTemplate.spec.template.spec.nodeSelector[beta.kubernetes.io/os]: {OS}"],
    ),
    (
        "persistentvolumes",
        {
            "spec": {**VOLUME, "persistentVolumeReclaimPolicy": "Recycle"},
            "metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "a"}},
        },
        [
            f"{CLASS} attribute instead",
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, "
            "the recommended approach is "
            "to use dynamic provisioning.",
        ],
    ),
    (
        "persistentvolumes",
        {
            "spec": {
                **VOLUME,
                "nodeAffinity": {
                    "required": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "beta.kubernetes.io/os", "operator": "Exists"}]}
                        ]
                    }
                },
            }
        },
        [f"spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: beta.kubernetes.io/os is {OS}"],
    ),
    (
        "persistentvolumeclaims",
        {"spec": CLAIM, "metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "a"}}},
        [f"{CLASS} attribute instead"],
    ),
    (
        "storageclasses.storage.k8s.io",
        {
            "provisioner": "example.dev/disk",
            "allowedTopologies": [
                {"matchLabelExpressions": [{"key": "failure-domain.beta.kubernetes.io/zone", "values": ["a"]}]}
            ],
        },
        [
            "allowedTopologies[0].matchLabelExpressions[0].key: deprecated since v1.17; use "
            '"topology.kubernetes.io/zone" instead'
        ],
    ),
    (
        "services",
        {"spec": {**SERVICE, "type": "LoadBalancer", "loadBalancerSourceRanges": ["10.0.0.1/8"]}},
        [f"spec.loadBalancerSourceRanges[0]: {CIDR}"],
    ),
    (
        "services",
        {"spec": {**SERVICE, "externalIPs": ["010.2.3.4"]}},
        [
            'spec.externalIPs[0]: non-standard IP address "010.2.3.4" will be considered invalid in '
            'a future Kubernetes release: use "10.2.3.4"'
        ],
    ),
    (
        "services",
        {"spec": SERVICE, "metadata": {"annotations": {"service.kubernetes.io/topology-aware-hints": "auto"}}},
        [
            "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use "
            "service.kubernetes.io/topology-mode instead"
        ],
    ),
    (
        "networkpolicies.networking.k8s.io",
        {"spec": {"podSelector": {}, "ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.1/8"}}]}]}},
        [f"spec.ingress[0].from[0].ipBlock.cidr: {CIDR}"],
    ),
    (
        "networkpolicies.networking.k8s.io",
        {"spec": {"podSelector": {}, "egress": [{"to": [{"ipBlock": {"cidr": "2001:0db8::/32"}}]}]}},
        [
            'spec.egress[0].to[0].ipBlock.cidr: IPv6 CIDR value "2001:0db8::/32" should be in RFC '
            '5952 canonical format ("2001:db8::/32")'
        ],
    ),
    (
        "pods",
        {"spec": {"containers": [CONTAINER], "volumes": [{"name": "v", "storageos": {"volumeName": "a"}}]}},
        ["spec.volumes[0].storageOS: deprecated in v1.22, non-functional in v1.25+"],
    ),
    (
        "pods",
        {
            "spec": {
                "containers": [CONTAINER],
                "volumes": [
                    {
                        "name": "v",
                        "ephemeral": {
                            "volumeClaimTemplate": {"spec": {**CLAIM, "resources": {"requests": {"storage": "1500m"}}}}
                        },
                    }
                ],
            }
        },
        [
            "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: "
            'fractional byte value "1500m" is invalid, must be an integer'
        ],
    ),
    (
        "podtemplates",
        {
            "template": {
                **TEMPLATE,
                "metadata": {"annotations": {"container.apparmor.security.beta.kubernetes.io/c": "runtime/default"}},
            }
        },
        [
            "template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: "
            'deprecated since v1.30; use the "appArmorProfile" field instead'
        ],
    ),
]

ONCE: list[tuple[str, dict[str, Any], str]] = [
    (
        "ingresses.networking.k8s.io",
        {"spec": INGRESS, "metadata": {"annotations": {"kubernetes.io/ingress.class": "a"}}},
        "annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead",
    ),
    (
        "serviceaccounts",
        {"metadata": {"annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}}},
        "metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer "
        "separate namespaces to "
        "isolate access to mounted secrets",
    ),
    (
        "jobs.batch",
        {"spec": {"suspend": True, "template": OLD}},
        f"spec.template.spec.nodeSelector[beta.kubernetes.io/os]: {OS}",
    ),
]


@pytest.mark.parametrize(("resource", "body", "warnings"), WARNED)
def test_what_is_warned_of(resource: str, body: dict[str, Any], warnings: list[str]) -> None:
    cluster = Cluster()
    cluster.create({"jobs": "jobs.batch", "cronjobs": "cronjobs.batch"}.get(resource, resource), "web", body)
    assert cluster.warnings == warnings


@pytest.mark.parametrize(("resource", "body", "warning"), ONCE)
def test_who_labels_it_later_is_not_warned_again(resource: str, body: dict[str, Any], warning: str) -> None:
    cluster = Cluster()
    cluster.create(resource, "web", body)
    assert cluster.warnings == [warning]
    cluster.patch(resource, "web", {"metadata": {"labels": {"a": "b"}}})
    assert cluster.warnings == []


def test_a_template_that_is_changed_is_warned_of_again() -> None:
    cluster = Cluster()
    body = {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [CONTAINER]}}
    cluster.create("deployments.apps", "a.b", {"spec": {**body, "template": template}})
    assert [warning.partition(":")[0] for warning in cluster.warnings] == ["metadata.name"]
    cluster.patch(
        "deployments.apps", "a.b", {"spec": {"template": {"spec": OLD["spec"] | {"restartPolicy": "Always"}}}}
    )
    assert cluster.warnings == [f"spec.template.spec.nodeSelector[beta.kubernetes.io/os]: {OS}"]


def test_a_negative_time_to_end_is_a_second_in_a_pod() -> None:
    cluster = Cluster()
    stored = cluster.pod(spec={"terminationGracePeriodSeconds": -5})
    assert stored["spec"]["terminationGracePeriodSeconds"] == 1
    assert cluster.warnings == []


def test_a_change_with_which_an_object_goes_is_warned_of_too() -> None:
    cluster = Cluster()
    tls = {"type": "kubernetes.io/tls", "stringData": {"tls.crt": "a", "tls.key": "b"}}
    cluster.create("secrets", "web", {**tls, "metadata": {"finalizers": ["example.com/kept"]}})
    cluster.delete("secrets", "web")
    cluster.patch("secrets", "web", {"metadata": {"finalizers": None}})
    assert cluster.warnings == ["tls: failed to find any PEM data in certificate input"]
    assert cluster.get("secrets", "web") is None

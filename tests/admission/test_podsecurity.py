"""PodSecurity: what a namespace's labels forbid, in upstream's words, and whom they warn."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registry.registry_tool import CONTAINER, Cluster, refusal

LABEL = "pod-security.kubernetes.io/"
GOOD = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def cluster_of(**labels: str) -> Cluster:
    cluster = Cluster()
    cluster.create("serviceaccounts", "default")
    said = {LABEL + key.replace("_", "-"): value for key, value in labels.items()}
    cluster.patch("namespaces", "default", {"metadata": {"labels": said}})
    return cluster


def secured(**context: Any) -> dict[str, Any]:
    return {"containers": [{**CONTAINER, "securityContext": context}]}


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"hostNetwork": True, "hostPID": True}, "host namespaces (hostNetwork=true, hostPID=true)"),
        (
            secured(privileged=True, capabilities={"add": ["NET_RAW", "KILL"]}),
            'non-default capabilities (container "c" must not include "NET_RAW" in securityContext.capabilities.add), '
            'privileged (container "c" must not set securityContext.privileged=true)',
        ),
        ({"volumes": [{"name": "h", "hostPath": {"path": "/"}}]}, 'hostPath volumes (volume "h")'),
        (
            {"containers": [{**CONTAINER, "ports": [{"containerPort": 1, "hostPort": 8080}]}]},
            'hostPort (container "c" uses hostPort 8080)',
        ),
        (
            {"securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}},
            "forbidden sysctls (kernel.msgmax)",
        ),
        (
            secured(seLinuxOptions={"type": "spc_t", "user": "u"}),
            'seLinuxOptions (container "c" set forbidden securityContext.seLinuxOptions: type "spc_t"; '
            "user may not be set)",
        ),
        (
            {"securityContext": {"seccompProfile": {"type": "Unconfined"}}},
            'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
        ),
    ],
)
def test_baseline_forbids(spec: dict[str, Any], told: str) -> None:
    error = refusal(cluster_of(enforce="baseline").pod, spec=spec)
    assert (error.code, error.message) == (
        403,
        f'pods "web" is forbidden: violates PodSecurity "baseline:latest": {told}',
    )


def test_restricted_asks_for_what_a_plain_pod_does_not_say() -> None:
    cluster = cluster_of(enforce="restricted", enforce_version="v1.34")
    error = refusal(cluster.pod)
    assert error.message == (
        'pods "web" is forbidden: violates PodSecurity "restricted:v1.34": allowPrivilegeEscalation != false '
        '(container "c" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities '
        '(container "c" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true '
        '(pod or container "c" must set '
        'securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" must set '
        'securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")'
    )
    assert cluster.pod(spec=secured(**GOOD))
    volumes = [{"name": "n", "nfs": {"server": "s", "path": "/"}}]
    bad = refusal(cluster.pod, "nfs", {**secured(**GOOD), "volumes": volumes})
    assert bad.message.endswith('restricted volume types (volume "n" uses restricted volume type "nfs")')
    root = refusal(cluster.pod, "root", secured(**{**GOOD, "runAsUser": 0}))
    assert root.message.endswith('runAsUser=0 (container "c" must not set runAsUser=0)')


def test_older_versions_ask_for_less() -> None:
    cluster = cluster_of(enforce="restricted", enforce_version="v1.18")
    error = refusal(cluster.pod)
    assert "seccompProfile" not in error.message
    assert "unrestricted capabilities" not in error.message


def test_who_makes_pods_is_warned_and_not_refused() -> None:
    cluster = cluster_of(enforce="baseline", warn="restricted")
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [CONTAINER], "hostNetwork": True}}
    body = {"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}
    cluster.create("deployments.apps", "web", body)
    (warning,) = [text for text in cluster.warnings if "PodSecurity" in text]
    assert warning.startswith('would violate PodSecurity "restricted:latest": host namespaces (hostNetwork=true), ')
    assert refusal(cluster.pod, spec={"hostNetwork": True}).code == 403


def test_enforcing_warns_too() -> None:
    cluster = cluster_of(enforce="restricted")
    cluster.pod(spec=secured(**GOOD))
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [CONTAINER]}}
    cluster.create("deployments.apps", "web", {"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}})
    assert any(text.startswith('would violate PodSecurity "restricted:latest"') for text in cluster.warnings)


def test_labels_that_cannot_be_read_are_refused() -> None:
    error = refusal(cluster_of, enforce="strict", warn_version="1.2")
    assert error.code == 422
    assert [(cause.field, cause.message) for cause in error.causes] == [
        (
            f"metadata.labels[{LABEL}enforce]",
            'Invalid value: "strict": must be one of privileged, baseline, restricted',
        ),
        (f"metadata.labels[{LABEL}warn-version]", 'Invalid value: "1.2": must be "latest" or "v1.x"'),
    ]


def test_a_stricter_level_tells_of_the_pods_that_are_there() -> None:
    cluster = cluster_of()
    for name in ("b", "a", "c"):
        cluster.pod(name, {"hostNetwork": True})
    cluster.patch("namespaces", "default", {"metadata": {"labels": {LABEL + "enforce": "baseline"}}})
    assert [text for text in cluster.warnings if "stored" not in text] == [
        'existing pods in namespace "default" violate the new PodSecurity enforce level "baseline:latest"',
        "a (and 2 other pods): host namespaces",
    ]


def test_a_change_that_does_not_concern_its_containers_is_let_through() -> None:
    cluster = cluster_of()
    cluster.pod(spec={"hostNetwork": True})
    cluster.patch("namespaces", "default", {"metadata": {"labels": {LABEL + "enforce": "baseline"}}})
    assert cluster.patch("pods", "web", {"metadata": {"labels": {"x": "y"}}})
    image = {"spec": {"containers": [{"name": "c", "image": "nginx:2"}]}}
    assert refusal(cluster.patch, "pods", "web", image, "strategic").code == 403

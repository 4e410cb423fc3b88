"""Rules of Ingresses, NetworkPolicies, RuntimeClasses, roles and bindings, in upstream's words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registry.registry_tool import Cluster, refusal

INGRESSES = "ingresses.networking.k8s.io"
CLASSES = "ingressclasses.networking.k8s.io"
POLICIES = "networkpolicies.networking.k8s.io"
RUNTIMES = "runtimeclasses.node.k8s.io"
RBAC = "rbac.authorization.k8s.io"
SERVICE = {"service": {"name": "web", "port": {"number": 80}}}


def path(text: str, of: str | None = "Prefix", backend: Any = SERVICE) -> dict[str, Any]:
    one = {"path": text, "backend": backend, **({"pathType": of} if of else {})}
    return {"spec": {"rules": [{"http": {"paths": [one]}}]}}


def policy(**rule: Any) -> dict[str, Any]:
    return {"spec": {"ingress": [rule]}}


def bound(role: dict[str, Any], *subjects: dict[str, Any]) -> dict[str, Any]:
    return {"roleRef": role, "subjects": list(subjects)}


WHERE = "spec.rules[0].http.paths[0]"
ROLE = {"kind": "Role", "name": "r"}
CASES: list[tuple[str, dict[str, Any], list[tuple[str, str]]]] = [
    (INGRESSES, {}, [("spec", "Invalid value: null: either `defaultBackend` or `rules` must be specified")]),
    (INGRESSES, path("x"), [(f"{WHERE}.path", 'Invalid value: "x": must be an absolute path')]),
    (INGRESSES, path("/a//b/.."), [
        (f"{WHERE}.path", "Invalid value: \"/a//b/..\": must not contain '//'"),
        (f"{WHERE}.path", "Invalid value: \"/a//b/..\": cannot end with '/..'"),
    ]),
    (INGRESSES, path("/", None), [(f"{WHERE}.pathType", "Required value: pathType must be specified")]),
    (INGRESSES, path("/", "Odd"), [
        (f"{WHERE}.pathType", 'Unsupported value: "Odd": supported values: "Exact", "ImplementationSpecific", "Prefix"')
    ]),
    (INGRESSES, path("/", "Exact", {"service": {"name": "", "port": {}}}), [
        (f"{WHERE}.backend.service.name", "Required value"),
        (f"{WHERE}.backend", "Required value: port name or number is required"),
    ]),
    (INGRESSES, path("/", "Exact", {"resource": {"kind": "", "name": "x"}}), [
        (f"{WHERE}.backend.resource.kind", "Required value")
    ]),
    (INGRESSES, {"spec": {"rules": [{"host": "10.0.0.1"}]}}, [
        ("spec.rules[0].host", 'Invalid value: "10.0.0.1": must be a DNS name, not an IP address')
    ]),
    (CLASSES, {"spec": {"controller": "x"}}, [
        ("spec.controller", 'Invalid value: "x": must be a domain-prefixed path (such as "acme.io/foo")')
    ]),
    (CLASSES, {"spec": {"controller": "a.b/c", "parameters": {"kind": "K", "name": "n", "scope": "Namespace"}}}, [
        ("spec.parameters.namespace", "Required value: `parameters.scope` is set to 'Namespace'")
    ]),
    (POLICIES, policy(**{"from": [{}]}), [("spec.ingress[0].from[0]", "Required value: must specify a peer")]),
    (POLICIES, policy(**{"from": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.0.0.0/8"]}}]}), [
        (
            "spec.ingress[0].from[0].ipBlock.except[0]",
            'Invalid value: "10.0.0.0/8": must be a strict subset of `cidr`',
        )
    ]),
    (POLICIES, policy(ports=[{"endPort": 90}]), [
        ("spec.ingress[0].ports[0].endPort", "Invalid value: 90: may not be specified when `port` is not specified")
    ]),
    (POLICIES, policy(ports=[{"port": "http", "endPort": 90}]), [
        ("spec.ingress[0].ports[0].endPort", "Invalid value: 90: may not be specified when `port` is non-numeric")
    ]),
    (RUNTIMES, {"handler": "a", "overhead": {"podFixed": {"cpu": "-1"}}}, [
        ("overhead.limits[cpu]", 'Invalid value: "-1": must be greater than or equal to 0')
    ]),
    (f"roles.{RBAC}", {"rules": [{"verbs": []}]}, [
        ("rules[0].verbs", "Required value: verbs must contain at least one value"),
        ("rules[0].apiGroups", "Required value: resource rules must supply at least one api group"),
        ("rules[0].resources", "Required value: resource rules must supply at least one resource"),
    ]),
    (f"roles.{RBAC}", {"rules": [{"verbs": ["get"], "nonResourceURLs": ["/a"]}]}, [
        (
            "rules[0].nonResourceURLs",
            'Invalid value: ["/a"]: namespaced rules cannot apply to non-resource URLs',
        )
    ]),
    (f"rolebindings.{RBAC}", bound({"kind": "Odd", "name": ""}), [
        ("roleRef.kind", 'Unsupported value: "Odd": supported values: "Role", "ClusterRole"'),
        ("roleRef.name", "Required value"),
    ]),
    (f"rolebindings.{RBAC}", bound(ROLE, {"kind": "Odd", "name": "x"}), [
        ("subjects[0].kind", 'Unsupported value: "Odd": supported values: "ServiceAccount", "User", "Group"')
    ]),
    (f"clusterrolebindings.{RBAC}", bound({**ROLE, "kind": "ClusterRole"}, {"kind": "ServiceAccount", "name": "x"}), [
        ("subjects[0].namespace", "Required value")
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("resource", "body", "causes"), CASES)
def test_what_is_refused(resource: str, body: dict[str, Any], causes: list[tuple[str, str]]) -> None:
    error = refusal(Cluster().create, resource, "web", body)
    assert error.code == 422
    assert [(cause.field, cause.message) for cause in error.causes] == causes


def test_a_binding_keeps_its_role() -> None:
    cluster = Cluster()
    cluster.create(f"rolebindings.{RBAC}", "web", bound(ROLE))
    refused = refusal(cluster.patch, f"rolebindings.{RBAC}", "web", {"roleRef": {"name": "other"}})
    assert [(cause.field, cause.message.rpartition(": ")[2]) for cause in refused.causes] == [
        ("roleRef", "cannot change roleRef")
    ]


def test_a_policy_says_nothing_of_directions_that_it_has_no_rules_for() -> None:
    cluster = Cluster()
    assert cluster.create(POLICIES, "in")["spec"] == {"podSelector": {}, "policyTypes": ["Ingress"]}
    assert cluster.create(POLICIES, "out", {"spec": {"egress": [{}]}})["spec"]["policyTypes"] == ["Ingress", "Egress"]


def test_a_class_is_named_once_on_create_alone() -> None:
    cluster = Cluster()
    body = {"metadata": {"annotations": {"kubernetes.io/ingress.class": "a"}}, "spec": {"defaultBackend": SERVICE}}
    named = {**body, "spec": {**body["spec"], "ingressClassName": "b"}}
    refused = refusal(cluster.create, INGRESSES, "web", named)
    assert [cause.field for cause in refused.causes] == ["annotations.kubernetes.io/ingress.class"]
    cluster.create(INGRESSES, "web", body)
    assert cluster.patch(INGRESSES, "web", {"spec": {"ingressClassName": "b"}})["metadata"]["generation"] == 2


def test_a_template_may_say_how_its_pods_restart() -> None:
    spec = {"containers": [{"name": "c", "image": "web:1"}], "restartPolicy": "Never"}
    stored = Cluster().create("podtemplates", "web", {"template": {"spec": spec}})
    assert (stored["template"]["spec"]["restartPolicy"], stored["metadata"]["generation"]) == ("Never", 1)
    refused = refusal(Cluster().create, "podtemplates", "bad", {"template": {"spec": {"containers": []}}})
    assert [cause.field for cause in refused.causes] == ["template.spec.containers"]

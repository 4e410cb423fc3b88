"""What upstream's end-to-end tests of accounts, networks, quotas and API operations do (test/e2e, v1.34).

Same objects, same changes in the same order, same things expected; docs/e2e-api.md names them.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.tools.room import RBAC, REVIEWS, Room
from tests.tools.upstreamapi import CONDITION, CORE, DONE, changed, does, pod

SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"

# -- [sig-auth] -----------------------------------------------------------------------------------------------------


@does("[sig-auth] ServiceAccounts no secret-based service account token should be auto-generated")
def test_no_secret_is_made_for_an_account(room: Room) -> None:
    room.made(f"{CORE}/serviceaccounts", {"metadata": {"name": "default-sa"}})
    room.run(10)
    assert "secrets" not in room.ask("GET", f"{CORE}/serviceaccounts/default-sa")[1]
    assert room.ask("GET", f"{CORE}/secrets")[1]["items"] == []


@does("[sig-auth] ServiceAccounts should allow opting out of API token automount [Conformance]")
def test_a_token_is_mounted_unless_pod_or_account_say_no(room: Room) -> None:
    for name, mounts in (("mount", True), ("nomount", False)):
        account = {"metadata": {"name": name}, "automountServiceAccountToken": mounts}
        room.made(f"{CORE}/serviceaccounts", account)
    for account in ("default", "mount", "nomount"):
        for asked in (None, True, False):
            spec = {} if asked is None else {"automountServiceAccountToken": asked}
            made = room.made(f"{CORE}/pods", pod(f"{account}-{asked}".lower(), serviceAccountName=account, **spec))
            mounted = any(
                mount["mountPath"] == "/var/run/secrets/kubernetes.io/serviceaccount"
                for mount in made["spec"]["containers"][0].get("volumeMounts", ())
            )
            assert mounted is (asked if asked is not None else account != "nomount"), (account, asked)


@does(
    "[sig-auth] ServiceAccounts should create a serviceAccountToken and ensure a successful TokenReview [Conformance]"
)
def test_a_token_is_reviewed(room: Room) -> None:
    uid = room.made(f"{CORE}/serviceaccounts", {"metadata": {"name": "e2e"}})["metadata"]["uid"]
    made = room.made(f"{CORE}/serviceaccounts/e2e/token", {"metadata": {"name": "e2e"}, "spec": {"audiences": []}})
    review = room.made(REVIEWS, {"metadata": {"name": "e2e"}, "spec": {"token": made["status"]["token"]}})
    assert review["status"]["authenticated"] is True
    assert "error" not in review["status"]
    assert (review["status"]["user"]["username"], review["status"]["user"]["uid"]) == (
        "system:serviceaccount:default:e2e",
        uid,
    )


@does("[sig-auth] ServiceAccounts should guarantee kube-root-ca.crt exist in any namespace [Conformance]")
def test_the_bundle_comes_back_and_is_put_right(room: Room) -> None:
    room.run(2)
    path = f"{CORE}/configmaps/kube-root-ca.crt"
    data = room.ask("GET", path)[1]["data"]
    room.ask("DELETE", path)
    room.run(2)
    assert room.ask("GET", path)[1]["data"] == data
    assert changed(room, path, {"data": {"ca.crt": ""}})["data"] == {"ca.crt": ""}
    room.run(2)
    assert room.ask("GET", path)[1]["data"] == data


@does(
    "[sig-auth] ServiceAccounts should run through the lifecycle of a ServiceAccount [Conformance]",
    "[sig-auth] ServiceAccounts should update a ServiceAccount [Conformance]",
)
def test_the_life_of_an_account(room: Room) -> None:
    path = f"{CORE}/serviceaccounts"
    labels = {"test-serviceaccount-static": "true"}
    made = room.made(path, {"metadata": {"name": "life", "labels": labels}})
    assert (
        changed(room, f"{path}/life", {"automountServiceAccountToken": False})["automountServiceAccountToken"] is False
    )
    status, updated = room.ask(
        "PUT", f"{path}/life", {**made, "metadata": {"name": "life"}, "automountServiceAccountToken": True}
    )
    assert (status, updated["automountServiceAccountToken"]) == (200, True)
    assert room.ask("DELETE", f"{path}/life")[0] == 200
    assert room.ask("GET", f"{path}/life")[0] == 404


@does("[sig-auth] SubjectReview should support SubjectReview API operations [Conformance]")
def test_what_a_review_says_is_what_an_impersonated_client_may(room: Room) -> None:
    uid = room.made(f"{CORE}/serviceaccounts", {"metadata": {"name": "e2e"}})["metadata"]["uid"]
    name = "system:serviceaccount:default:e2e"
    groups = ["system:authenticated", "system:serviceaccounts", "system:serviceaccounts:default"]
    attributes = {"verb": "list", "resource": "configmaps", "namespace": "default", "version": "v1"}
    spec = {"resourceAttributes": attributes, "user": name, "groups": groups, "uid": uid}
    headers = {"impersonate-user": name, "impersonate-uid": uid, "impersonate-group": "\n".join(groups)}
    for allowed in (False, True):
        review = room.made("/apis/authorization.k8s.io/v1/subjectaccessreviews", {"spec": spec})
        assert review["status"]["allowed"] is allowed
        local = "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews"
        assert room.made(local, {"spec": spec})["status"]["allowed"] is allowed
        answer = room.answer("GET", f"{CORE}/configmaps", **headers)
        assert answer.status == (200 if allowed else 403)
        rule = {"verbs": ["list"], "apiGroups": [""], "resources": ["configmaps"]}
        room.ask("POST", f"{RBAC}/namespaces/default/roles", {"metadata": {"name": "lists"}, "rules": [rule]})
        binding = {
            "metadata": {"name": "lists"},
            "roleRef": {"kind": "Role", "name": "lists"},
            "subjects": [{"kind": "ServiceAccount", "name": "e2e"}],
        }
        room.ask("POST", f"{RBAC}/namespaces/default/rolebindings", binding)


# -- [sig-network] --------------------------------------------------------------------------------------------------


@does(
    "[sig-network] EndpointSlice should have Endpoints and EndpointSlices pointing to API Server [Conformance]",
    "[sig-network] Services should provide secure master service [Conformance]",
)
def test_the_api_server_has_addresses(room: Room) -> None:
    _, service = room.ask("GET", f"{CORE}/services/kubernetes")
    assert [(port["name"], port["port"]) for port in service["spec"]["ports"]] == [("https", 443)]
    _, endpoints = room.ask("GET", f"{CORE}/endpoints/kubernetes")
    _, listed = room.ask("GET", SLICES)
    (own,) = [one for one in listed["items"] if one["metadata"]["labels"]["kubernetes.io/service-name"] == "kubernetes"]
    (subset,) = endpoints["subsets"]
    assert [one["ip"] for one in subset["addresses"]] == [one["addresses"][0] for one in own["endpoints"]]
    assert [one["port"] for one in subset["ports"]] == [one["port"] for one in own["ports"]]


def slices_of(room: Room, service: str) -> list[Any]:
    _, listed = room.ask("GET", SLICES)
    return [one for one in listed["items"] if one["metadata"]["labels"].get("kubernetes.io/service-name") == service]


@does(
    "[sig-network] EndpointSlice should create and delete Endpoints and EndpointSlices for a Service with a selector "
    "specified [Conformance]"
)
def test_endpoints_come_and_go_with_a_service(room: Room) -> None:
    spec = {"selector": {"does-not-match-anything": "endpoints-and-endpoint-slices-should-still-be-created"},
            "ports": [{"name": "example", "port": 80, "protocol": "TCP"}]}  # fmt: skip
    room.made(f"{CORE}/services", {"metadata": {"name": "empty"}, "spec": spec})
    room.run(5)
    assert room.ask("GET", f"{CORE}/endpoints/empty")[0] == 200
    assert len(slices_of(room, "empty")) == 1
    room.ask("DELETE", f"{CORE}/services/empty")
    room.run(30)
    assert room.ask("GET", f"{CORE}/endpoints/empty")[0] == 404
    assert slices_of(room, "empty") == []


@does(
    "[sig-network] EndpointSlice should create Endpoints and EndpointSlices for Pods matching a Service [Conformance]"
)
def test_pods_behind_services_are_their_endpoints(room: Room) -> None:
    for name in ("pod1", "pod2"):
        room.made(f"{CORE}/pods", pod(name, {"foo": "bar", "is": name}))
    ports = [{"name": "example", "port": 80, "targetPort": 80, "protocol": "TCP"}]
    for name, selector in (("one", {"is": "pod1"}), ("both", {"foo": "bar"})):
        room.made(f"{CORE}/services", {"metadata": {"name": name}, "spec": {"selector": selector, "ports": ports}})
    room.run(90)
    addresses = {name: room.ask("GET", f"{CORE}/pods/{name}")[1]["status"]["podIP"] for name in ("pod1", "pod2")}
    for name, wanted in (("one", {"pod1"}), ("both", {"pod1", "pod2"})):
        (subset,) = room.ask("GET", f"{CORE}/endpoints/{name}")[1]["subsets"]
        assert {one["targetRef"]["name"]: one["ip"] for one in subset["addresses"]} == {
            one: addresses[one] for one in wanted
        }
        (found,) = slices_of(room, name)
        assert {one["targetRef"]["name"]: one["addresses"] for one in found["endpoints"]} == {
            one: [addresses[one]] for one in wanted
        }
        assert found["ports"] == [{"name": "example", "port": 80, "protocol": "TCP"}]


@does(
    "[sig-network] EndpointSliceMirroring should mirror a custom Endpoints resource through create update and delete "
    "[Conformance]",
    "[sig-network] Services should test the lifecycle of an Endpoint [Conformance]",
)
def test_endpoints_of_ones_own_are_mirrored(room: Room) -> None:
    ports = [{"name": "example", "port": 80, "protocol": "TCP"}]
    room.made(f"{CORE}/services", {"metadata": {"name": "custom"}, "spec": {"ports": ports}})
    path = f"{CORE}/endpoints"
    room.made(path, {"metadata": {"name": "custom"}, "subsets": [{"addresses": [{"ip": "10.1.2.3"}], "ports": ports}]})
    room.run(5)
    (found,) = slices_of(room, "custom")
    assert found["metadata"]["labels"]["endpointslice.kubernetes.io/managed-by"] == (
        "endpointslicemirroring-controller.k8s.io"
    )
    assert [one["addresses"] for one in found["endpoints"]] == [["10.1.2.3"]]
    changed(room, f"{path}/custom", {"subsets": [{"addresses": [{"ip": "10.2.3.4"}], "ports": ports}]})
    room.run(5)
    assert [one["addresses"] for found in slices_of(room, "custom") for one in found["endpoints"]] == [["10.2.3.4"]]
    room.ask("DELETE", f"{path}/custom")
    room.run(5)
    assert slices_of(room, "custom") == []


@does("[sig-network] Services should complete a service status lifecycle [Conformance]")
def test_the_status_of_a_service_is_written_with_its_annotations(room: Room) -> None:
    spec = {"type": "LoadBalancer", "ports": [{"name": "http", "port": 80, "protocol": "TCP"}]}
    room.made(f"{CORE}/services", {"metadata": {"name": "lb"}, "spec": spec})
    path = f"{CORE}/services/lb/status"
    patch = {
        "metadata": {"annotations": {"patchedstatus": "true"}},
        "status": {"loadBalancer": {"ingress": [{"ip": "203.0.113.1"}]}},
    }
    patched = changed(room, path, patch)
    assert patched["metadata"]["annotations"]["patchedstatus"] == "true"
    assert patched["status"]["loadBalancer"]["ingress"][0]["ip"] == "203.0.113.1"
    patched["status"]["conditions"] = [CONDITION]
    assert room.ask("PUT", path, patched)[1]["status"]["conditions"] == [CONDITION]


@does(
    "[sig-network] Services should delete a collection of services [Conformance]",
    "[sig-network] Services should find a service from listing all namespaces [Conformance]",
)
def test_services_are_found_and_deleted_together(room: Room) -> None:
    for name in ("a", "b", "c"):
        labels = {"kept": str(name == "c").lower()}
        spec = {"ports": [{"port": 80}]}
        room.made(f"{CORE}/services", {"metadata": {"name": name, "labels": labels}, "spec": spec})
    everywhere = {one["metadata"]["name"] for one in room.ask("GET", "/api/v1/services")[1]["items"]}
    assert everywhere == {"kubernetes", "a", "b", "c"}
    assert room.ask("DELETE", f"{CORE}/services", labelSelector="kept=false")[0] == 200
    assert {one["metadata"]["name"] for one in room.ask("GET", f"{CORE}/services")[1]["items"]} == {"kubernetes", "c"}


OPERATIONS: Final[dict[str, tuple[str, str, Any]]] = {
    # upstream's test → (collection, what is written with its status, a body)
    "[sig-network] EndpointSlice should support creating EndpointSlice API operations [Conformance]": (
        SLICES, "", {"addressType": "IPv4", "endpoints": [{"addresses": ["1.2.3.4", "5.6.7.8"]}],
                     "ports": [{"name": "http", "port": 80, "protocol": "TCP"}]}),
    "[sig-network] Ingress API should support creating Ingress API operations [Conformance]": (
        "/apis/networking.k8s.io/v1/namespaces/default/ingresses", "metadata",
        {"spec": {"defaultBackend": {"service": {"name": "default-backend", "port": {"name": "port80"}}}}}),
    "[sig-network] IngressClass API should support creating IngressClass API operations [Conformance]": (
        "/apis/networking.k8s.io/v1/ingressclasses", "", {"spec": {"controller": "example.com/controller"}}),
    "[sig-network] Netpol API should support creating NetworkPolicy API operations": (
        "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies", "",
        {"spec": {"podSelector": {"matchLabels": {"pod-name": "test-pod"}},
                  "ingress": [{"from": [{"namespaceSelector": {"matchLabels": {"ns-name": "pod-b"}}}]}]}}),
    "[sig-api-machinery] API priority and fairness should support FlowSchema API operations [Conformance]": (
        "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", "conditions",
        {"spec": {"matchingPrecedence": 10000, "priorityLevelConfiguration": {"name": "global-default"},
                  "distinguisherMethod": {"type": "ByUser"}}}),
    "[sig-api-machinery] API priority and fairness should support PriorityLevelConfiguration API operations "
    "[Conformance]": (
        "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations", "conditions",
        {"spec": {"type": "Limited", "limited": {"nominalConcurrencyShares": 2,
                                                 "limitResponse": {"type": "Reject"}}}}),
    "[sig-api-machinery] ValidatingAdmissionPolicy [Privileged:ClusterAdmin] should support "
    "ValidatingAdmissionPolicy API operations [Conformance]": (
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", "conditions",
        {"spec": {"matchConstraints": {"resourceRules": [{"apiGroups": ["apps"], "apiVersions": ["v1"],
                                                          "operations": ["CREATE"], "resources": ["deployments"]}]},
                  "validations": [{"expression": "object.spec.replicas <= 100"}]}}),
    "[sig-api-machinery] ValidatingAdmissionPolicy [Privileged:ClusterAdmin] should support "
    "ValidatingAdmissionPolicyBinding API operations [Conformance]": (
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings", "",
        {"spec": {"policyName": "replicalimit-policy.example.com", "validationActions": ["Deny"]}}),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATIONS)
def test_api_operations(room: Room, name: str) -> None:
    path, sub, body = OPERATIONS[name]
    group, version, plural = path.split("/")[2], path.split("/")[3], path.rpartition("/")[2]
    groups = room.ask("GET", "/apis")[1]["groups"]
    assert f"{group}/{version}" in [one["groupVersion"] for found in groups for one in found["versions"]]
    assert plural in [one["name"] for one in room.ask("GET", f"/apis/{group}/{version}")[1]["resources"]]
    labels = {"special-label": "e2e"}
    for number in range(3):
        room.made(path, {"metadata": {"name": f"e2e-{number}", "labels": labels}, **body})
    everywhere = f"/apis/{group}/{version}/{plural}"
    for collection in (path, everywhere):
        _, listed = room.ask("GET", collection, labelSelector="special-label=e2e")
        assert [one["metadata"]["name"] for one in listed["items"]] == ["e2e-0", "e2e-1", "e2e-2"]
    one = f"{path}/e2e-0"
    patched = changed(room, one, {"metadata": {"annotations": {"patched": "true"}}})
    assert patched["metadata"]["annotations"]["patched"] == "true"
    patched["metadata"]["annotations"]["updated"] = "true"
    status, updated = room.ask("PUT", one, patched)
    assert (status, updated["metadata"]["annotations"]) == (200, patched["metadata"]["annotations"])
    if sub == "metadata":
        patch: Any = {"metadata": {"annotations": {"patchedstatus": "true"}}, "status": {"loadBalancer": {}}}
        written = changed(room, f"{one}/status", patch)
        assert written["metadata"]["annotations"]["patchedstatus"] == "true"
    elif sub:
        condition = {**CONDITION, "type": "PatchStatusFailed"}
        written = changed(room, f"{one}/status", {"status": {"conditions": [condition]}})
        assert condition in written["status"]["conditions"]
    assert room.ask("DELETE", one)[0] == 200
    assert room.ask("GET", one)[0] == 404
    assert room.ask("DELETE", path, labelSelector="special-label=e2e")[0] == 200
    assert room.ask("GET", path, labelSelector="special-label=e2e")[1]["items"] == []


DONE.update(dict.fromkeys(OPERATIONS, "test_upstream_api.test_api_operations"))


# -- [sig-api-machinery] --------------------------------------------------------------------------------------------

RESOURCES = {"resources": {"requests": {"storage": "1Gi"}}}
TEMPLATE = {"metadata": {"labels": {"name": "x"}}, "spec": {"containers": [{"name": "c", "image": "agnhost:2"}]}}
LIVES: Final[dict[str, tuple[str, str, Any, int]]] = {
    # what the quota counts → (upstream's words, collection, body, how many there are before)
    "services": ("service. [Conformance]", f"{CORE}/services", {"spec": {"ports": [{"port": 80}]}}, 1),
    "secrets": ("secret. [Conformance]", f"{CORE}/secrets", {"data": {"data-1": "dmFsdWUtMQ=="}}, 0),
    "configmaps": ("configMap. [Conformance]", f"{CORE}/configmaps", {"data": {"data-1": "value-1"}}, 1),
    "replicationcontrollers": (
        "replication controller. [Conformance]", f"{CORE}/replicationcontrollers",
        {"spec": {"replicas": 0, "selector": {"name": "x"}, "template": TEMPLATE}}, 0),
    "count/replicasets.apps": (
        "replica set. [Conformance]", "/apis/apps/v1/namespaces/default/replicasets",
        {"spec": {"replicas": 0, "selector": {"matchLabels": {"name": "x"}}, "template": TEMPLATE}}, 3),
    "persistentvolumeclaims": (
        "persistent volume claim", f"{CORE}/persistentvolumeclaims",
        {"spec": {"accessModes": ["ReadWriteOnce"], **RESOURCES}}, 0),
    "gold.storageclass.storage.k8s.io/persistentvolumeclaims": (
        "persistent volume claim with a storage class", f"{CORE}/persistentvolumeclaims",
        {"spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "gold", **RESOURCES}}, 0),
}  # fmt: skip


@pytest.mark.parametrize("name", LIVES)
def test_a_quota_captures_a_life(room: Room, name: str) -> None:
    _, path, body, before = LIVES[name]
    room.run(3)
    quota = f"{CORE}/resourcequotas"
    room.made(quota, {"metadata": {"name": "test-quota"}, "spec": {"hard": {name: str(before + 1)}}})

    def used() -> str:
        room.run(3)
        return str(room.ask("GET", f"{quota}/test-quota")[1]["status"]["used"][name])

    assert used() == str(before)
    room.made(path, {"metadata": {"name": "counted"}, **body})
    assert used() == str(before + 1)
    status, refused = room.ask("POST", path, {"metadata": {"name": "too-much"}, **body})
    assert (status, refused["message"].partition(": exceeded")[2][:19]) == (403, " quota: test-quota,")
    room.ask("DELETE", f"{path}/counted")
    assert used() == str(before)


DONE.update(
    {
        f"[sig-api-machinery] ResourceQuota should create a ResourceQuota and capture the life of a {told}": (
            "test_upstream_api.test_a_quota_captures_a_life"
        )
        for told, *_ in LIVES.values()
    }
)


@does("[sig-api-machinery] Namespaces [Serial] should apply changes to a namespace status [Conformance]")
def test_the_status_of_a_namespace_is_written_with_its_annotations(room: Room) -> None:
    room.made("/api/v1/namespaces", {"metadata": {"name": "told"}})
    patch = {"metadata": {"annotations": {"e2e-patched-ns-status": "told"}}, "status": {"conditions": [CONDITION]}}
    written = changed(room, "/api/v1/namespaces/told/status", patch)
    assert written["metadata"]["annotations"]["e2e-patched-ns-status"] == "told"
    assert written["status"] == {"phase": "Active", "conditions": [CONDITION]}


@does("[sig-api-machinery] ResourceQuota should apply changes to a resourcequota status [Conformance]")
def test_the_status_of_a_quota_can_be_written_and_is_put_right(room: Room) -> None:
    room.run(3)
    path = f"{CORE}/resourcequotas/e2e"
    room.made(path.removesuffix("/e2e"), {"metadata": {"name": "e2e"}, "spec": {"hard": {"cpu": "500m"}}})
    room.run(3)
    before = room.ask("GET", path)[1]["status"]
    written = changed(room, f"{path}/status", {"status": {"hard": {"cpu": "600m"}}})
    assert written["status"]["hard"] == {"cpu": "600m"}
    # As upstream's controller does with its next full round.
    room.run(310)
    assert room.ask("GET", path)[1]["status"] == before

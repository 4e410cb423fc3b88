"""What upstream's end-to-end tests of requests do: fields, applying, a pod's quota, discovery (test/e2e, v1.34)."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any, Final

from tests.tools.room import Room
from tests.tools.upstreamapi import APPS, CORE, MERGE, does

FIELDS = "[sig-api-machinery] FieldValidation should detect unknown"
APPLY = "[sig-api-machinery] ServerSideApply should"
POD: Final = {"name": "nginx", "image": "nginx:1"}


def deployment(name: str, **spec: Any) -> Any:
    template = {"metadata": {"labels": {"app": "nginx"}}, "spec": {"containers": [POD], **spec}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": {"app": "nginx"}},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "nginx"}}, "template": template},
    }


@does(f"{FIELDS} and duplicate fields of a typed object [Conformance]",
      f"{FIELDS} metadata fields of a typed object [Conformance]")  # fmt: skip
def test_fields_that_are_none_or_come_twice(room: Room) -> None:
    query = {"fieldManager": "field_validation_mgr", "fieldValidation": "Strict"}
    text = json.dumps(deployment("my-dep")).replace(
        '"replicas": 3', '"unknownField": "foo", "replicas": 2, "replicas": 3'
    )
    answer = room.sent("POST", f"{APPS}/deployments", text.encode(), query=query)
    why = 'strict decoding error: unknown field "spec.unknownField", duplicate field "spec.replicas"'
    assert (answer.status, why in json.loads(answer.body)["message"]) == (400, True), answer.body
    body = deployment("my-dep")
    body["metadata"]["unknownMeta"] = "foo"
    status, told = room.ask("POST", f"{APPS}/deployments", body, **query)
    assert status == 400
    assert 'strict decoding error: unknown field "metadata.unknownMeta"' in told["message"]


def applied(room: Room, path: str, body: Any, manager: str, **query: str) -> tuple[int, Any]:
    headers = {"content-type": "application/apply-patch+yaml"}
    answer = room.answer("PATCH", path, body, query={"fieldManager": manager, **query}, **headers)
    return answer.status, json.loads(answer.body)


OWNED: Final = {
    "pods": (
        {"containers": [{"name": "test-container", "image": "test-image"}]},
        {"f:spec": {"f:containers": {'k:{"name":"test-container"}': {".": {}, "f:image": {}, "f:name": {}}}}},
    ),
    "services": (
        {"ports": [{"port": 8080, "protocol": "UDP"}]},
        {"f:spec": {"f:ports": {'k:{"port":8080,"protocol":"UDP"}': {".": {}, "f:port": {}, "f:protocol": {}}}}},
    ),
}


@does(f"{APPLY} create an applied object if it does not already exist")
def test_applying_makes_an_object(room: Room) -> None:
    for plural, (spec, owned) in OWNED.items():
        kind = plural.removesuffix("s").capitalize()
        body = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "test"}, "spec": spec}
        assert applied(room, f"{CORE}/{plural}/test", body, "apply_test")[0] == 201
        status, told = applied(room, f"{CORE}/{plural}/test", body, "apply_test_2")
        assert status == 200
        entries = [one for one in told["metadata"]["managedFields"] if one["manager"].startswith("apply_test")]
        # The text is compared upstream: members in order.
        assert [json.dumps(one["fieldsV1"]) for one in entries] == [json.dumps(owned)] * 2


@does(f"{APPLY} work for subresources")
def test_applying_to_a_status(room: Room) -> None:
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "test-pod"}}
    path = f"{CORE}/pods/test-pod"
    assert applied(room, path, {**body, "spec": {"containers": [POD]}}, "apply_test")[0] == 201
    status = {**body, "status": {"conditions": [{"type": "MyStatus", "status": "True"}]}}

    def has_it() -> bool:
        return "MyStatus" in [one["type"] for one in room.ask("GET", path)[1]["status"].get("conditions", ())]

    assert applied(room, path, status, "apply_test2")[0] == 200
    assert not has_it()
    assert applied(room, f"{path}/status", status, "apply_test2")[0] == 200
    assert has_it()
    room.run(30)
    assert has_it()


@does(f"{APPLY} remove a field if it is owned but removed in the apply request",
      f"{APPLY} not remove a field if an owner unsets the field but other managers still have ownership of the field",
      f"{APPLY} ignore conflict errors if force apply is used",
      f"{APPLY} give up ownership of a field if forced applied by a controller")  # fmt: skip
def test_who_owns_a_field(room: Room) -> None:
    path = f"{APPS}/deployments/owned"
    body = deployment("owned")
    body["spec"]["template"]["spec"]["containers"] = [{**POD, "ports": [{"containerPort": 80, "protocol": "TCP"}]}]
    assert applied(room, path, body, "apply_test")[0] == 201
    told = applied(room, path, deployment("owned"), "apply_test")[1]
    assert "ports" not in told["spec"]["template"]["spec"]["containers"][0]

    path = f"{APPS}/deployments/shared"
    shared = deployment("shared", hostname="test-hostname")
    for manager in ("shared_owner_1", "shared_owner_2"):
        assert applied(room, path, shared, manager)[0] in (200, 201)
    unset = deployment("shared")
    del unset["spec"]["replicas"]
    told = applied(room, path, unset, "shared_owner_1")[1]
    assert (told["spec"]["replicas"], told["spec"]["template"]["spec"]["hostname"]) == (3, "test-hostname")
    told = applied(room, path, unset, "shared_owner_2")[1]
    assert (told["spec"]["replicas"], "hostname" in told["spec"]["template"]["spec"]) == (1, False)

    path = f"{APPS}/deployments/forced"
    assert applied(room, path, deployment("forced"), "apply_test")[0] == 201
    change = {"spec": {"replicas": 5}}
    headers = {"content-type": MERGE}
    assert room.answer("PATCH", path, change, query={"fieldManager": "updater"}, **headers).status == 200
    status, refused = applied(room, path, deployment("forced"), "apply_test")
    assert (status, refused["details"]["causes"][0]["field"]) == (409, ".spec.replicas")
    status, told = applied(room, path, deployment("forced"), "apply_test", force="true")
    assert (status, told["spec"]["replicas"]) == (200, 3)
    # A controller that takes replicas over by force: the first one applies without them and they stay.
    scaled = deployment("forced")
    scaled["spec"]["replicas"] = 4
    assert applied(room, path, scaled, "controller", force="true")[1]["spec"]["replicas"] == 4
    without = deployment("forced")
    del without["spec"]["replicas"]
    status, told = applied(room, path, without, "apply_test")
    assert (status, told["spec"]["replicas"]) == (200, 4)


@does("[sig-api-machinery] ResourceQuota should create a ResourceQuota and capture the life of a pod. [Conformance]")
def test_a_quota_captures_the_life_of_a_pod(room: Room) -> None:
    home = "/api/v1/namespaces/e2e"
    room.made("/api/v1/namespaces", {"metadata": {"name": "e2e"}})
    dongles, fast = "requests.example.com/dongle", "example.com/dongle"
    hard = {
        "pods": "5",
        "cpu": "1",
        "memory": "500Mi",
        "ephemeral-storage": "50Gi",
        dongles: "3",
        "resourcequotas": "1",
    }
    room.made(f"{home}/resourcequotas", {"metadata": {"name": "test-quota"}, "spec": {"hard": hard}})

    def used() -> Any:
        room.run(3)
        return room.ask("GET", f"{home}/resourcequotas/test-quota")[1]["status"]["used"]

    def asking(name: str, **requests: str) -> Any:
        asked = {key.replace("_", "-"): value for key, value in requests.items() if key != "dongle"}
        limits = {fast: requests["dongle"]} if "dongle" in requests else {}
        container = {"name": "pause", "image": "pause:3", "resources": {"requests": asked | limits, "limits": limits}}
        return {"metadata": {"name": name}, "spec": {"containers": [container]}}

    assert used() == {**dict.fromkeys(hard, "0"), "resourcequotas": "1"}
    fits = asking("test-pod", cpu="500m", memory="252Mi", ephemeral_storage="30Gi", dongle="2")
    made = room.made(f"{home}/pods", fits)
    taken = {"pods": "1", "cpu": "500m", "memory": "252Mi", "ephemeral-storage": "30Gi", dongles: "2"}
    assert used() == {**taken, "resourcequotas": "1"}
    for body in (
        asking("fail-pod", cpu="600m", memory="100Mi"),
        asking("fail-extended", cpu="500m", memory="100Mi", ephemeral_storage="30Gi", dongle="2"),
    ):
        assert room.ask("POST", f"{home}/pods", body)[0] == 403
    smaller = deepcopy(made)
    smaller["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "100m", "memory": "100Mi"}
    assert room.ask("PUT", f"{home}/pods/test-pod", smaller)[0] in (409, 422)
    assert used() == {**taken, "resourcequotas": "1"}
    assert room.ask("DELETE", f"{home}/pods/test-pod", gracePeriodSeconds="0")[0] == 200
    assert used() == {**dict.fromkeys(hard, "0"), "resourcequotas": "1"}


PRESENT: Final = {
    "apiextensions.k8s.io/v1": "customresourcedefinitions",
    "apps/v1": "deployments",
    "admissionregistration.k8s.io/v1": "validatingwebhookconfigurations",
    "apiregistration.k8s.io/v1": "apiservices",
    "authentication.k8s.io/v1": "tokenreviews",
    "authorization.k8s.io/v1": "selfsubjectaccessreviews",
    "autoscaling/v1": "horizontalpodautoscalers",
    "autoscaling/v2": "horizontalpodautoscalers",
    "batch/v1": "jobs",
    "certificates.k8s.io/v1": "certificatesigningrequests",
    "coordination.k8s.io/v1": "leases",
    "discovery.k8s.io/v1": "endpointslices",
    "events.k8s.io/v1": "events",
    "networking.k8s.io/v1": "ingresses",
    "node.k8s.io/v1": "runtimeclasses",
    "policy/v1": "poddisruptionbudgets",
    "scheduling.k8s.io/v1": "priorityclasses",
    "storage.k8s.io/v1": "csinodes",
}
"""What each group serves."""


@does("[sig-api-machinery] Discovery should accurately determine present and missing resources",
      "[sig-api-machinery] Discovery should validate PreferredVersion for each APIGroup [Conformance]",
      "[sig-api-machinery] server version should find the server version [Conformance]",
      "[sig-cli] Kubectl client Kubectl api-versions should check if v1 is in available api versions [Conformance]",
      "[sig-architecture] Conformance Tests should have at least two untainted nodes [Conformance]")  # fmt: skip
def test_what_is_served(room: Room) -> None:
    assert "namespaces" in [one["name"] for one in room.ask("GET", "/api/v1")[1]["resources"]]
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    listed = json.loads(room.answer("GET", "/apis", accept=accept).body)["items"]
    found = {
        (f"{group['metadata']['name']}/{version['version']}", one["resource"])
        for group in listed
        for version in group["versions"]
        for one in version["resources"]
    }
    assert set(PRESENT.items()) <= found
    for version, resource in PRESENT.items():
        status, told = room.ask("GET", f"/apis/{version}")
        assert (status, told["groupVersion"]) == (200, version)
        assert resource in [one["name"] for one in told["resources"]]
    for missing in ("/apis/not-these-apps/v1", f"{APPS}/please-dont-ever-create-this"):
        assert room.answer("GET", missing).status == 404
    for group in room.ask("GET", "/apis/")[1]["groups"]:
        told = room.ask("GET", f"/apis/{group['name']}/")[1]
        assert told["preferredVersion"] in told["versions"]
    version = room.ask("GET", "/version")[1]
    assert (version["major"], version["minor"]) == ("1", "34")
    room.run(5)
    nodes = room.ask("GET", "/api/v1/nodes")[1]["items"]
    assert len([one for one in nodes if not one["spec"].get("taints")]) >= 2


@does("[sig-api-machinery] OpenAPIV3 should round trip OpenAPI V3 for all built-in group versions")
def test_documents_have_nothing_that_is_lost_when_written_again(room: Room) -> None:
    """Go's writer leaves out what is empty: an empty list or object would not come back, but for a default."""
    paths = room.ask("GET", "/openapi/v3")[1]["paths"]
    for path in paths:
        document = room.ask("GET", f"/openapi/v3/{path}")[1]
        assert document["openapi"].startswith("3.0")
        assert document["components"].get("schemas") or path in (".well-known/openid-configuration", "openid/v1/jwks")
        assert list(_empty(document, path)) == []
        assert all(one.startswith("/") for one in document["paths"])


def _empty(value: Any, where: str) -> Any:
    if value in (None, [], {}) and not where.endswith(".default"):
        yield where
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in members:
        yield from _empty(inner, f"{where}.{key}")

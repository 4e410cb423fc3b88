"""What upstream's end-to-end tests ask of kinds that a cluster defines, in a session (test/e2e/apimachinery, v1.34)."""

from __future__ import annotations

import json
from typing import Any, Final

from clustersim.apiserver.messages import Response
from tests.tools.room import Room
from tests.tools.upstreamapi import CORE, JSON_PATCH, MERGE, does

DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
POLICIES: Final = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
GROUP: Final = "stable.example.com"
CRONTABS: Final = f"/apis/{GROUP}/v1/namespaces/default/crontabs"
FREE: Final = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
APPLIED: Final = {"content-type": "application/apply-patch+yaml"}
SPEC: Final = {
    "type": "object",
    "properties": {"cronSpec": {"type": "string"}, "image": {"type": "string"}, "replicas": {"type": "integer"}},
}


def crontabs(schema: Any = None, **spec: Any) -> dict[str, Any]:
    """Return the definition of upstream's examples."""
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema or {"type": "object", "properties": {"spec": SPEC}}},
    }
    names = {"plural": "crontabs", "singular": "crontab", "kind": "CronTab", "shortNames": ["ct"]}
    return {
        "metadata": {"name": f"crontabs.{GROUP}"},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version], **spec},
    }


def crontab(name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": f"{GROUP}/v1", "kind": "CronTab", "metadata": {"name": name}, "spec": spec}


@does("[sig-api-machinery] ResourceQuota should create a ResourceQuota and capture the life of a custom resource.")
def test_a_quota_counts_instances(room: Room) -> None:
    name = f"count/crontabs.{GROUP}"
    quotas = f"{CORE}/resourcequotas"
    room.made(quotas, {"metadata": {"name": "early"}, "spec": {"hard": {name: "5"}}})
    room.run(2)
    assert name not in room.ask("GET", f"{quotas}/early")[1]["status"].get("used", {}), "nobody knows such a kind yet"
    room.made(DEFINITIONS, crontabs())
    room.run(2)
    assert room.ask("GET", f"{quotas}/early")[1]["status"]["used"] == {name: "0"}
    room.ask("DELETE", f"{quotas}/early")
    room.made(quotas, {"metadata": {"name": "test-quota"}, "spec": {"hard": {name: "1"}}})
    room.run(2)
    room.made(CRONTABS, crontab("test-cr-1"))
    assert room.ask("GET", f"{quotas}/test-quota")[1]["status"]["used"] == {name: "1"}
    status, told = room.ask("POST", CRONTABS, crontab("test-cr-2"))
    assert (status, "exceeded quota: test-quota" in told["message"]) == (403, True), told
    assert room.ask("DELETE", f"{CRONTABS}/test-cr-1")[0] == 200
    room.run(2)
    assert room.ask("GET", f"{quotas}/test-quota")[1]["status"]["used"] == {name: "0"}


def policy(name: str, *expressions: str) -> dict[str, Any]:
    rule = {"apiGroups": [GROUP], "apiVersions": ["v1"], "operations": ["*"], "resources": ["crontabs"]}
    return {
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": one} for one in expressions],
        },
    }


@does("[sig-api-machinery] ValidatingAdmissionPolicy [Privileged:ClusterAdmin] should type check a CRD")
def test_policies_are_checked_against_what_is_defined(room: Room) -> None:
    room.made(DEFINITIONS, crontabs())
    room.made(POLICIES, policy("good", "object.spec.replicas > 1", "has(object.metadata.labels)"))
    room.made(POLICIES, policy("confused", "object.spec.replicas > '1'", "object.spec.maxRetries < 10"))
    room.run(5)
    assert room.ask("GET", f"{POLICIES}/good")[1]["status"] == {"observedGeneration": 1, "typeChecking": {}}
    checked = room.ask("GET", f"{POLICIES}/confused")[1]["status"]["typeChecking"]["expressionWarnings"]
    assert [one["fieldRef"] for one in checked] == ["spec.validations[0].expression", "spec.validations[1].expression"]
    assert "found no matching overload for '_>_' applied to '(int, string)'" in checked[0]["warning"]
    assert "undefined field 'maxRetries'" in checked[1]["warning"]


def test_nothing_is_said_of_expressions_about_what_has_no_schema(room: Room) -> None:
    room.made(DEFINITIONS, crontabs(FREE))
    room.made(POLICIES, policy("free", "object.spec.anything > 1"))
    room.run(5)
    assert room.ask("GET", f"{POLICIES}/free")[1]["status"]["typeChecking"] == {}


TWICE: Final = f"""
apiVersion: {GROUP}/v1
kind: CronTab
metadata:
  name: mytest
spec:
  unknown: uk1
  foo: foo1
  foo: foo2
"""
SAID: Final = 'line 9: key "foo" already set in map'


def warnings(answer: Response) -> list[str]:
    return [value for name, value in answer.headers if name == "warning"]


@does("[sig-api-machinery] FieldValidation should detect duplicates in a CR when preserving unknown fields "
      "[Conformance]")  # fmt: skip
def test_what_is_applied_and_says_a_field_twice(room: Room) -> None:
    room.made(DEFINITIONS, crontabs({"type": "object", "properties": {"spec": FREE}}))
    query = {"fieldManager": "field_validation_mgr", "fieldValidation": "Strict"}
    answer = room.sent("PATCH", f"{CRONTABS}/mytest", TWICE.encode(), query=query, **APPLIED)
    before = "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  "
    assert (answer.status, json.loads(answer.body)["message"]) == (400, before + SAID)
    assert room.ask("GET", f"{CRONTABS}/mytest")[0] == 404, "nothing came of it"
    warned = room.sent("PATCH", f"{CRONTABS}/mytest", TWICE.encode(), query={"fieldManager": "m"}, **APPLIED)
    assert warned.status == 201
    told = f"299 - {json.dumps(SAID)}"
    assert warnings(warned) == [told]
    quiet = {"fieldManager": "m", "fieldValidation": "Ignore"}
    assert warnings(room.sent("PATCH", f"{CRONTABS}/mytest", TWICE.encode(), query=quiet, **APPLIED)) == []
    made = room.sent("POST", CRONTABS, TWICE.replace("mytest", "b").encode(), **{"content-type": "application/yaml"})
    assert warnings(made) == [told], "one warning a line"


def test_patches_that_say_a_field_twice(room: Room) -> None:
    room.made(f"{CORE}/configmaps", {"metadata": {"name": "m"}, "data": {"a": "1"}})
    twice = {
        "application/merge-patch+json": (b'{"data":{"a":"2","a":"3"}}', 'duplicate field "data.a"'),
        "application/strategic-merge-patch+json": (b'{"data":{"a":"2","a":"3"}}', 'duplicate field "data.a"'),
        "application/json-patch+json": (
            b'[{"op":"add","path":"/data/a","value":"2","value":"3"}]',
            'json patch duplicate field "[0].value"',
        ),
    }
    for kind, (patch, said) in twice.items():
        path, header = f"{CORE}/configmaps/m", {"content-type": kind}
        answer = room.sent("PATCH", path, patch, query={"fieldValidation": "Strict"}, **header)
        told = json.loads(answer.body)
        assert (answer.status, told["reason"]) == (422, "Invalid"), kind
        assert told["details"]["causes"][0]["field"] == "patch"
        assert f"strict decoding error: {said}" in told["message"]
        warned = room.sent("PATCH", path, patch, **header)
        assert warnings(warned) == [f"299 - {json.dumps(said)}"], kind


SIMPLE: Final = (
    "[sig-api-machinery] CustomResourceDefinition resources [Privileged:ClusterAdmin] Simple CustomResourceDefinition"
)


def simple(name: str, schema: Any = None, **labels: str) -> dict[str, Any]:
    """Return a definition of the cluster's own objects, of two versions."""
    versions = [
        {"name": one, "served": True, "storage": one == "v1beta1", "schema": {"openAPIV3Schema": schema or FREE}}
        for one in ("v1beta1", "v1")
    ]
    spec = {"group": "mygroup.example.com", "scope": "Cluster", "names": {"plural": name, "kind": name.capitalize()}}
    return {
        "metadata": {"name": f"{name}.mygroup.example.com", "labels": labels},
        "spec": {**spec, "versions": versions},
    }


@does(f"{SIMPLE} creating/deleting custom resource definition objects works [Conformance]",
      f"{SIMPLE} listing custom resource definition objects works [Conformance]",
      f"{SIMPLE} getting/updating/patching custom resource definition status sub-resource works "
      "[Conformance]")  # fmt: skip
def test_the_life_of_definitions(room: Room) -> None:
    for number in range(10):
        room.made(DEFINITIONS, simple(f"foo{number}s", e2e="listed"))
    room.made(DEFINITIONS, simple("others"))
    assert room.ask("DELETE", f"{DEFINITIONS}/others.mygroup.example.com")[0] == 200
    listed = room.ask("GET", DEFINITIONS, labelSelector="e2e=listed")[1]["items"]
    assert len(listed) == 10
    path = f"{DEFINITIONS}/foo0s.mygroup.example.com/status"
    status = room.ask("GET", path)[1]
    assert status["spec"] == listed[0]["spec"]
    told: dict[str, Any] = {"type": "", "status": "", "lastTransitionTime": None, "message": "updated"}
    status["status"]["conditions"].append(told)
    code, updated = room.ask("PUT", path, status)
    assert (code, updated["status"]["conditions"][-1]["message"]) == (200, "updated")
    patch = [{"op": "add", "path": "/status/conditions", "value": [{"message": "patched"}]}]
    patched = json.loads(room.answer("PATCH", path, patch, **{"content-type": JSON_PATCH}).body)
    assert [one["message"] for one in patched["status"]["conditions"]] == ["patched"]
    assert room.ask("DELETE", DEFINITIONS, labelSelector="e2e=listed")[0] == 200
    room.run(2)
    assert room.ask("GET", DEFINITIONS)[1]["items"] == []


@does("[sig-api-machinery] CustomResourceDefinition resources [Privileged:ClusterAdmin] custom resource defaulting for "
      "requests and from storage works [Conformance]")  # fmt: skip
def test_defaults_for_requests_and_from_storage(room: Room) -> None:
    members = {"a": {"type": "string"}, "b": {"type": "string"}}
    room.made(DEFINITIONS, simple("foos", {"type": "object", "properties": members}))
    path, where = "/apis/mygroup.example.com/v1beta1/foos", "/spec/versions/0/schema/openAPIV3Schema/properties"

    def instance(name: str) -> Any:
        body = {"apiVersion": "mygroup.example.com/v1beta1", "kind": "Foos", "metadata": {"name": name}}
        return room.made(path, body)

    def changed(*patch: dict[str, str]) -> None:
        target = f"{DEFINITIONS}/foos.mygroup.example.com"
        assert room.answer("PATCH", target, list(patch), **{"content-type": JSON_PATCH}).status == 200

    assert "a" not in instance("cr-1")
    changed({"op": "add", "path": f"{where}/a/default", "value": "A"})
    assert room.ask("GET", f"{path}/cr-1")[1]["a"] == "A"
    assert instance("cr-2")["a"] == "A"
    changed({"op": "remove", "path": f"{where}/a/default"}, {"op": "add", "path": f"{where}/b/default", "value": "B"})
    stored, read = room.ask("GET", f"{path}/cr-2")[1], room.ask("GET", f"{path}/cr-1")[1]
    assert (stored["a"], stored["b"]) == ("A", "B")
    assert ("a" in read, read["b"]) == (False, "B")


@does("[sig-api-machinery] Garbage collector should support cascading deletion of custom resources",
      "[sig-api-machinery] Garbage collector should support orphan deletion of custom resources")  # fmt: skip
def test_instances_that_are_owned(room: Room) -> None:
    room.made(DEFINITIONS, simple("foos"))
    path = "/apis/mygroup.example.com/v1/foos"
    for policy, stays in (("Background", 404), ("Orphan", 200)):
        base = {"apiVersion": "mygroup.example.com/v1", "kind": "Foos"}
        owner = room.made(path, {**base, "metadata": {"name": f"owner-{stays}"}})
        reference = {**base, "name": f"owner-{stays}", "uid": owner["metadata"]["uid"]}
        below = {"name": f"below-{stays}", "ownerReferences": [reference]}
        room.made(path, {**base, "metadata": below})
        options = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy}
        assert room.ask("DELETE", f"{path}/owner-{stays}", options)[0] == 200
        room.run(30)
        assert room.ask("GET", f"{path}/owner-{stays}")[0] == 404
        assert room.ask("GET", f"{path}/below-{stays}")[0] == stays
    assert "ownerReferences" not in room.ask("GET", f"{path}/below-200")[1]["metadata"]


@does("[sig-api-machinery] ServerSideApply should work for CRDs")
def test_instances_are_applied(room: Room) -> None:
    port = {"type": "object", "required": ["containerPort", "protocol"], "properties": {
        "containerPort": {"type": "integer"}, "name": {"type": "string"}, "protocol": {"type": "string"},
    }}  # fmt: skip
    keys = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["containerPort", "protocol"]}
    spec = {**FREE, "properties": {"ports": {"type": "array", "items": port, **keys}}}
    room.made(DEFINITIONS, simple("foos", {"type": "object", "properties": {"spec": spec}}))

    def path(version: str) -> str:
        return f"/apis/mygroup.example.com/{version}/foos/mytest"

    def applied(
        ports: list[Any], version: str = "v1beta1", manager: str = "apply_test", **query: str
    ) -> tuple[int, Any]:
        body = {"apiVersion": f"mygroup.example.com/{version}", "kind": "Foos", "spec": {"replicas": 1, "ports": ports}}
        body["metadata"] = {"name": "mytest", **({"finalizers": ["test-finalizer"]} if version == "v1beta1" else {})}
        answer = room.answer("PATCH", path(version), body, query={"fieldManager": manager, **query}, **APPLIED)
        return answer.status, json.loads(answer.body)

    def merged(patch: Any) -> Any:
        answer = room.answer("PATCH", path("v1beta1"), patch, **{"content-type": MERGE})
        assert answer.status == 200, answer.body
        return json.loads(answer.body)

    one = {"name": "x", "containerPort": 80, "protocol": "TCP"}
    status, made = applied([one])
    assert (status, made["metadata"]["finalizers"]) == (201, ["test-finalizer"])
    assert applied([one], "v1")[0] == 200
    merged({"metadata": {"finalizers": ["test-finalizer", "another-one"]}})
    assert set(applied([one])[1]["metadata"]["finalizers"]) == {"test-finalizer", "another-one"}, "finalizers are a set"
    assert merged({"spec": {"replicas": 5}})["spec"]["replicas"] == 5
    status, told = applied([one])
    assert (status, told["reason"], "conflict" in told["message"]) == (409, "Conflict", True)
    status, forced = applied([one], force="true")
    assert (status, forced["spec"]["replicas"]) == (200, 1)
    twice = [one, {**one, "name": "y"}]
    status, told = applied(twice)
    assert (status, "duplicate entries for key" in told["message"]) == (500, True), told
    second = {"name": "y", "containerPort": 8080, "protocol": "TCP"}
    assert len(applied([one, second])[1]["spec"]["ports"]) == 2
    assert len(applied([one])[1]["spec"]["ports"]) == 1


FIELDS: Final = "[sig-api-machinery] FieldValidation should"


@does(f"{FIELDS} create/apply a CR with unknown fields for CRD with no validation schema [Conformance]",
      f"{FIELDS} create/apply a valid CR for CRD with validation schema [Conformance]",
      f"{FIELDS} create/apply an invalid CR with extra properties for CRD with validation schema [Conformance]",
      f"{FIELDS} detect unknown metadata fields in both the root and embedded object of a CR "
      "[Conformance]")  # fmt: skip
def test_fields_of_instances_that_nobody_knows(room: Room) -> None:
    template = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    known = {"foo": {"type": "string"}, "template": template}
    room.made(DEFINITIONS, simple("frees"))
    room.made(
        DEFINITIONS, simple("foos", {"type": "object", "properties": {"spec": {"type": "object", "properties": known}}})
    )
    strict = {"fieldManager": "field_validation_mgr", "fieldValidation": "Strict"}

    def both(plural: str, name: str, spec: Any, **metadata: Any) -> list[tuple[int, str]]:
        path = f"/apis/mygroup.example.com/v1/{plural}"
        body = {"apiVersion": "mygroup.example.com/v1", "kind": plural.capitalize(), "spec": spec}
        answers = [
            room.answer(
                "PATCH", f"{path}/{name}", {**body, "metadata": {"name": name, **metadata}}, query=strict, **APPLIED
            ),
            room.answer("POST", path, {**body, "metadata": {"name": f"{name}-made", **metadata}}, query=strict),
        ]
        return [(one.status, json.loads(one.body).get("message", "")) for one in answers]

    assert both("frees", "any", {"unknown": {"a": [1]}, "foo": 1}) == [(201, ""), (201, "")]
    assert both("foos", "good", {"foo": "foo1"}) == [(201, ""), (201, "")]
    applied, made = both("foos", "more", {"foo": "foo1", "extraProperty": "arbitrary"})
    assert (applied[0], ".spec.extraProperty: field not declared in schema" in applied[1]) == (500, True), applied
    assert (made[0], 'strict decoding error: unknown field "spec.extraProperty"' in made[1]) == (400, True)
    inside = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "in", "unknownSubMeta": 1}, "spec": {}}
    applied, made = both("foos", "meta", {"template": inside}, unknownMeta="unknown")
    assert (applied[0], ".metadata.unknownMeta: field not declared in schema" in applied[1]) == (500, True), applied
    assert made[0] == 400
    for field in ("metadata.unknownMeta", "spec.template.metadata.unknownSubMeta"):
        assert f'unknown field "{field}"' in made[1], made

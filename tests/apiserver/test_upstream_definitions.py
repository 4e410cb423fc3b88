"""What upstream's end-to-end tests ask of kinds that a cluster defines, in a session (test/e2e/apimachinery, v1.34)."""

from __future__ import annotations

import json
from typing import Any, Final

from clustersim.apiserver.messages import Response
from tests.tools.room import Room
from tests.tools.upstreamapi import CORE, does

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

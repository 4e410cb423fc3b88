"""What upstream's end-to-end tests ask of discovery, OpenAPI and rules of kinds that a cluster defines (v1.34)."""

from __future__ import annotations

import json
from typing import Any, Final

from tests.apiserver.test_upstream_definitions import DEFINITIONS, FREE
from tests.tools.room import Room
from tests.tools.upstreamapi import JSON_PATCH, MERGE, does

OPENAPI: Final = "[sig-api-machinery] CustomResourcePublishOpenAPI [Privileged:ClusterAdmin]"
RULES: Final = "[sig-api-machinery] CustomResourceValidationRules [Privileged:ClusterAdmin] MUST"
DISCOVERY: Final = "[sig-api-machinery] AggregatedDiscovery should support"
AGGREGATED: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
BAR: Final = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "description": "Age of a bar."}},
}
FOO: Final = {
    "type": "object",
    "description": "A foo.",
    "properties": {
        "spec": {"type": "object", "properties": {"bars": {"type": "array", "items": BAR}}},
        "status": {"type": "object", "properties": {"dots": {"type": "array", "items": {"type": "string"}}}},
    },
}
WALDO: Final = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"at": {"type": "string"}}}}}


def defining(group: str, plural: str, schema: Any, *versions: str) -> dict[str, Any]:
    """Return a definition of equal versions; the first is stored."""
    listed = [
        {"name": name, "served": True, "storage": name == versions[0], "schema": {"openAPIV3Schema": schema}}
        for name in versions
    ]
    names = {"plural": plural, "kind": plural.capitalize()}
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": listed}
    return {"metadata": {"name": f"{plural}.{group}"}, "spec": spec}


def published(room: Room) -> dict[str, Any]:
    """Return what OpenAPI v2 tells of kinds of example.com, without what every object has."""
    told = {}
    for name, schema in room.ask("GET", "/openapi/v2")[1]["definitions"].items():
        if name.startswith("com.example.") and not name.endswith("List"):
            schema.pop("x-kubernetes-group-version-kind")
            properties = schema.get("properties", {})
            for key in ("apiVersion", "kind", "metadata"):
                properties.pop(key, None)
            told[name.removeprefix("com.example.")] = schema
    return told


@does(f"{OPENAPI} works for CRD with validation schema [Conformance]",
      f"{OPENAPI} works for CRD without validation schema [Conformance]",
      f"{OPENAPI} works for CRD preserving unknown fields at the schema root [Conformance]",
      f"{OPENAPI} works for CRD preserving unknown fields in an embedded object [Conformance]",
      f"{OPENAPI} works for multiple CRDs of different groups [Conformance]",
      f"{OPENAPI} works for multiple CRDs of same group and version but different kinds [Conformance]",
      f"{OPENAPI} works for multiple CRDs of same group but different versions [Conformance]")  # fmt: skip
def test_schemas_are_published_as_they_were_written(room: Room) -> None:
    nested = {"type": "object", "properties": {"spec": {**FREE, "description": "Anything."}}}
    for group, plural, schema, versions in (
        ("one.example.com", "foos", FOO, ["v1"]),
        ("two.example.com", "waldos", WALDO, ["v1beta1"]),
        ("two.example.com", "foos", FOO, ["v1beta1"]),
        ("many.example.com", "foos", FOO, ["v2", "v3"]),
        ("free.example.com", "roots", FREE, ["v1"]),
        ("free.example.com", "inners", nested, ["v1"]),
    ):
        room.made(DEFINITIONS, defining(group, plural, schema, *versions))
    inner = {"description": "Anything.", "x-kubernetes-preserve-unknown-fields": True}
    assert published(room) == {
        "one.v1.Foos": FOO,
        "two.v1beta1.Waldos": WALDO,
        "two.v1beta1.Foos": FOO,
        "many.v2.Foos": FOO,
        "many.v3.Foos": FOO,
        "free.v1.Roots": {"type": "object"},
        "free.v1.Inners": {"type": "object", "properties": {"spec": inner}},
    }


@does(f"{OPENAPI} updates the published spec when one version gets renamed [Conformance]",
      f"{OPENAPI} removes definition from spec when one version gets changed to not be served [Conformance]",
      "[sig-api-machinery] OpenAPIV3 should publish OpenAPI V3 for CustomResourceDefinition")  # fmt: skip
def test_documents_follow_what_is_served(room: Room) -> None:
    made = room.made(DEFINITIONS, defining("a.example.com", "foos", FOO, "v2", "v3"))
    path = f"{DEFINITIONS}/foos.a.example.com"
    assert set(published(room)) == {"a.v2.Foos", "a.v3.Foos"}
    patch = [
        {"op": "test", "path": "/spec/versions/1/name", "value": "v3"},
        {"op": "replace", "path": "/spec/versions/1/name", "value": "v4"},
    ]
    assert room.answer("PATCH", path, patch, **{"content-type": JSON_PATCH}).status == 200
    assert published(room) == {"a.v2.Foos": FOO, "a.v4.Foos": FOO}
    assert {"apis/a.example.com/v2", "apis/a.example.com/v4"} <= room.ask("GET", "/openapi/v3")[1]["paths"].keys()
    whole = room.ask("GET", path)[1]
    assert whole["metadata"]["uid"] == made["metadata"]["uid"]
    whole["spec"]["versions"][1]["served"] = False
    assert room.ask("PUT", path, whole)[0] == 200
    assert published(room) == {"a.v2.Foos": FOO}
    assert "apis/a.example.com/v4" not in room.ask("GET", "/openapi/v3")[1]["paths"]
    third = room.ask("GET", "/openapi/v3/apis/a.example.com/v2")[1]["components"]["schemas"]["com.example.a.v2.Foos"]
    assert third["properties"]["spec"] == FOO["properties"]["spec"]  # type: ignore[index]
    assert room.ask("DELETE", path)[0] == 200
    room.run(2)
    assert "apis/a.example.com/v2" not in room.ask("GET", "/openapi/v3")[1]["paths"]
    assert published(room) == {}


@does(f"{DISCOVERY} aggregated discovery interface [Conformance]",
      f"{DISCOVERY} aggregated discovery interface for CRDs [Conformance]",
      f"{DISCOVERY} raw aggregated discovery endpoint Accept headers [Conformance]",
      f"{DISCOVERY} raw aggregated discovery request for CRDs [Conformance]",
      "[sig-api-machinery] CustomResourceDefinition resources [Privileged:ClusterAdmin] should include custom resource "
      "definition resources in discovery documents [Conformance]",
      "[sig-api-machinery] Discovery Custom resource should have storage version hash",
      "[sig-api-machinery] Discovery should locate the groupVersion and a resource within each APIGroup "
      "[Conformance]")  # fmt: skip
def test_what_is_defined_is_found(room: Room) -> None:
    def aggregated() -> dict[str, Any]:
        answer = room.answer("GET", "/apis", accept=AGGREGATED)
        assert answer.content_type == AGGREGATED
        return {one["metadata"]["name"]: one["versions"] for one in json.loads(answer.body)["items"]}

    groups = {one["name"]: one for one in room.ask("GET", "/apis")[1]["groups"]}
    assert "v1" in [one["version"] for one in groups["apiextensions.k8s.io"]["versions"]]
    served = room.ask("GET", "/apis/apiextensions.k8s.io/v1")[1]["resources"]
    assert "customresourcedefinitions" in [one["name"] for one in served]
    for name, group in groups.items():
        for version in group["versions"]:
            told = room.ask("GET", f"/apis/{version['groupVersion']}")[1]
            assert told["groupVersion"] == version["groupVersion"]
            assert told["resources"], name
    before = aggregated()
    assert before.keys() == groups.keys()
    plain = room.answer("GET", "/apis", accept="application/json")
    assert json.loads(plain.body)["kind"] == "APIGroupList"
    assert room.answer("GET", "/apis", accept=AGGREGATED.replace("v2", "v3")).status == 406
    room.made(DEFINITIONS, defining("a.example.com", "foos", FOO, "v1"))
    (found,) = aggregated()["a.example.com"]
    assert (found["version"], [one["resource"] for one in found["resources"]]) == ("v1", ["foos"])
    (listed,) = room.ask("GET", "/apis/a.example.com/v1")[1]["resources"]
    assert len(listed["storageVersionHash"]) == 12, "eight bytes in base64"
    assert room.ask("DELETE", f"{DEFINITIONS}/foos.a.example.com")[0] == 200
    room.run(2)
    assert aggregated() == before


RULED: Final = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "x-kubernetes-validations": [
                {"rule": "self.low + self.high > 0"},
                {"rule": "self.few.isSorted() && (self.few.sum() + self.more.sum()) % 2 == 0"},
                {"rule": "self.many.all(one, self.many.all(other, other == one))"},
            ],
            "properties": {
                "low": {"type": "integer"},
                "high": {"type": "integer"},
                "few": {"type": "array", "maxItems": 1000, "items": {"type": "integer"}},
                "more": {"type": "array", "maxItems": 1000, "items": {"type": "integer"}},
                "many": {"type": "array", "maxItems": 725, "items": {"type": "integer"}},
            },
        },
        "num": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > oldSelf"}]},
    },
}


@does(f"{RULES} NOT fail validation for create of a custom resource that satisfies the x-kubernetes-validations rules",
      f"{RULES} fail validation for create of a custom resource that does not satisfy the x-kubernetes-validations "
      "rules",
      f"{RULES} fail create of a custom resource that exceeds the runtime cost limit for x-kubernetes-validations rule "
      "execution",
      f"{RULES} fail update of a custom resource that does not satisfy a x-kubernetes-validations transition "
      "rule")  # fmt: skip
def test_rules_are_asked_of_instances(room: Room) -> None:
    room.made(DEFINITIONS, defining("a.example.com", "foos", RULED, "v1"))
    path = "/apis/a.example.com/v1/namespaces/default/foos"

    def sent(name: str, num: int = 10, **spec: Any) -> tuple[int, Any]:
        body = {"apiVersion": "a.example.com/v1", "kind": "Foos", "metadata": {"name": name}, "num": num}
        return room.ask("POST", path, {**body, **({"spec": spec} if spec else {})})

    good = {"low": 1, "high": 0, "few": [3, 5], "more": [1, 5], "many": [2, 2]}
    assert sent("good", **good)[0] == 201
    status, told = sent("bad", **{**good, "low": 0})
    assert (status, "failed rule: self.low + self.high > 0" in told["message"]) == (422, True), told
    status, told = sent("dear", **{**good, "many": [20] * 725})
    assert (status, "call cost exceeds limit" in told["message"]) == (422, True)
    status, made = sent("grows")
    assert status == 201, "a rule of changes asks nothing of what is made"
    status, told = room.ask("PUT", f"{path}/grows", {**made, "num": 9})
    assert (status, "failed rule: self > oldSelf" in told["message"]) == (422, True)


@does(f"{RULES} fail create of a custom resource definition that contains a x-kubernetes-validations rule that refers "
      "to a property that do not exist",
      f"{RULES} fail create of a custom resource definition that contains an x-kubernetes-validations rule that "
      "contains a syntax error",
      f"{RULES} fail create of a custom resource definition that contains an x-kubernetes-validations rule that "
      "exceeds the estimated cost limit")  # fmt: skip
def test_wrong_rules_are_refused(room: Room) -> None:
    inner = {"type": "object", "properties": {"x": {"type": "integer"}}}
    texts = {"type": "array", "items": {"type": "string"}}
    for holder, rule, said in (
        (inner, "self.z == 100", "undefined field 'z'"),
        ({"type": "object"}, "self = 42", "Syntax error"),
        (texts, "self.all(s, s == 'string constant')", "exceeds budget"),
    ):
        ruled: dict[str, Any] = {**holder, "x-kubernetes-validations": [{"rule": rule}]}
        lists = {"type": "array", "items": ruled} if holder is texts else ruled
        schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"x": lists}}}}
        status, told = room.ask("POST", DEFINITIONS, defining("a.example.com", "foos", schema, "v1"))
        assert (status, said in told["message"]) == (422, True), told


RATCHETING: Final = (
    "[sig-api-machinery] CRDValidationRatcheting [Privileged:ClusterAdmin] [FeatureGate:CRDValidationRatcheting] MUST"
)
PLACES: Final = ("field", "struct.field", "list[0].field", "list[1].field", "map[foo].field", "map[bar].field")


def correlated(**field: Any) -> dict[str, Any]:
    """Return a schema with one field in several places in which a change finds the value that was there."""
    text = {"type": "string", "maxLength": 10, **field}
    more = {"field": text, "other": {"type": "string"}}
    item = {"type": "object", "required": ["key"], "properties": {"key": {"type": "string"}, **more}}
    keyed = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["key"], "items": item}
    holder = {"type": "object", "properties": more}
    members = {**more, "struct": holder, "list": keyed, "map": {"type": "object", "additionalProperties": holder}}
    return {"type": "object", "properties": members}


@does(f"{RATCHETING} NOT fail to update a resource due to CRD Validation Rule errors on unchanged correlatable fields",
      f"{RATCHETING} fail to update a resource due to CRD Validation Rule errors on changed fields",
      f"{RATCHETING} NOT ratchet errors raised by transition rules")  # fmt: skip
def test_what_was_there_before_a_rule_stays(room: Room) -> None:
    room.made(DEFINITIONS, defining("a.example.com", "foos", correlated(), "v1"))
    path = "/apis/a.example.com/v1/namespaces/default/foos"
    texts: Any = {"field": "notfoo"}
    keyed = [{"key": "foo", **texts}, {"key": "bar", **texts}]
    made = {**texts, "struct": texts, "list": keyed, "map": {"foo": texts, "bar": texts}}
    room.made(path, {"apiVersion": "a.example.com/v1", "kind": "Foos", "metadata": {"name": "a"}, **made})

    def ruled(rule: str) -> None:
        schema = correlated(**{"x-kubernetes-validations": [{"rule": rule}]})
        patch = [{"op": "replace", "path": "/spec/versions/0/schema", "value": {"openAPIV3Schema": schema}}]
        answer = room.answer("PATCH", f"{DEFINITIONS}/foos.a.example.com", patch, **{"content-type": JSON_PATCH})
        assert answer.status == 200, answer.body

    def merged(**patch: Any) -> tuple[int, list[str]]:
        answer = room.answer("PATCH", f"{path}/a", patch, **{"content-type": MERGE})
        told = json.loads(answer.body)
        return answer.status, [one["field"] for one in told.get("details", {}).get("causes", ())]

    ruled('self == "foo"')
    other = {"other": "doesntmatter"}
    grown = [*({**one, **other} for one in keyed), {"key": "baz", "field": "foo"}]
    assert merged(**other, struct=other, list=grown, map={"foo": other, "bar": other}) == (200, [])
    assert merged(metadata={"labels": {"foo": "bar"}}) == (200, [])
    wrong: Any = {"field": "changed"}
    changed = [{"key": "foo", **wrong}, {"key": "bar", **wrong}]
    assert merged(**wrong, struct=wrong, list=changed, map={"foo": wrong, "bar": wrong}) == (422, list(PLACES))
    assert merged(list=keyed) == (200, [])
    ruled("self != oldSelf")
    status, where = merged(metadata={"labels": {"foo": "baz"}})
    assert (status, set(where)) == (422, set(PLACES)), "a rule of changes is asked of what does not change, too"

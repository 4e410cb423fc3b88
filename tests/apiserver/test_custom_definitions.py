"""Kinds that a session defines: what is made of a definition, what is refused, and how it is published."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.apiserver.widgets import DEFINITIONS, SPEC, WIDGETS, definition, messages, widget
from tests.tools.room import Room

PATH = "spec.validation.openAPIV3Schema"

RULED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "x-kubernetes-validations": [
                {"rule": "self.x + self.y > 0"},
                {"rule": "self.few.isSorted() && self.few.sum() % 2 == 0"},
                {"rule": "self.many.all(x, self.many.all(y, y == x))"},
                {"rule": "self.low <= self.high", "message": "low is above high", "fieldPath": ".low"},
                {
                    "rule": "self.x < 100",
                    "messageExpression": "'x is %d'.format([self.x])",
                    "reason": "FieldValueForbidden",
                },
            ],
            "properties": {
                "x": {"type": "integer", "default": 1},
                "y": {"type": "integer", "default": 0},
                "low": {"type": "integer", "default": 0},
                "high": {"type": "integer", "default": 9},
                "few": {"type": "array", "maxItems": 1000, "items": {"type": "integer"}, "default": []},
                "many": {"type": "array", "maxItems": 725, "items": {"type": "integer"}, "default": []},
                "grows": {"type": "integer", "x-kubernetes-validations": [{"rule": "self >= oldSelf"}]},
            },
        }
    },
}


UNSTRUCTURED: list[tuple[dict[str, Any], str]] = [
    ({"properties": {}}, f"{PATH}.type: Required value: must not be empty at the root"),
    (
        {"type": "object", "properties": {"a": {"type": "array"}}},
        f"{PATH}.properties[a].items: Required value: must be specified",
    ),
    (
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "(?=a)"}}},
        f'{PATH}.properties[a].pattern: Invalid value: "(?=a)": must be a valid regular expression, but isn\'t: '
        "error parsing regexp: invalid or unsupported Perl syntax: `(?=`",
    ),
    (
        {"type": "object", "properties": {"a": {"type": "integer", "default": "x"}}},
        f'{PATH}.properties[a].default: Invalid value: "string":  in body must be of type integer: "string"',
    ),
    (
        {"type": "object", "properties": {"a": {"$ref": "#/b", "type": "object"}}},
        f"{PATH}.properties[a].$ref: Forbidden: $ref is not supported",
    ),
    (
        {"type": "object", "allOf": [{"properties": {"b": {"minimum": 1}}}]},
        f"{PATH}.properties[b]: Required value: because it is defined in {PATH}.allOf[0].properties[b]",
    ),
]


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"group": "nodots"}, 'spec.group: Invalid value: "nodots": should be a domain with at least one dot'),
    ({"scope": "World"}, 'spec.scope: Unsupported value: "World": supported values: "Cluster", "Namespaced"'),
    ({"scope": ""}, "spec.scope: Required value"),
]


def test_a_definition_is_filled_up_and_established_at_once(room: Room) -> None:
    made = room.made(DEFINITIONS, definition())
    assert made["spec"]["names"]["singular"] == "widget"
    assert made["spec"]["names"]["listKind"] == "WidgetList"
    assert made["spec"]["conversion"] == {"strategy": "None"}
    assert made["status"]["storedVersions"] == ["v1"]
    assert not made["status"]["conditions"]
    found = room.ask("GET", f"{DEFINITIONS}/widgets.example.com")[1]
    told = {one["type"]: (one["status"], one["reason"]) for one in found["status"]["conditions"]}
    assert told == {"NamesAccepted": ("True", "NoConflicts"), "Established": ("True", "InitialNamesAccepted")}
    assert found["status"]["acceptedNames"] == made["spec"]["names"]


def test_a_second_definition_does_not_get_names_that_are_taken(defined: Room) -> None:
    second = definition(plural="gadgets", kind="Widget")
    second["spec"]["names"]["shortNames"] = ["wi"]
    defined.made(DEFINITIONS, second)
    found = defined.ask("GET", f"{DEFINITIONS}/gadgets.example.com")[1]
    told = {one["type"]: one for one in found["status"]["conditions"]}
    assert told["NamesAccepted"]["status"] == "False"
    assert told["Established"]["status"] == "False"
    assert told["NamesAccepted"]["message"] == '"WidgetList" is already in use'
    assert defined.ask("GET", WIDGETS.replace("widgets", "gadgets"))[0] == 404


def test_what_is_defined_is_discovered_plainly_and_aggregated(defined: Room) -> None:
    groups = defined.ask("GET", "/apis")[1]["groups"]
    assert groups[-1]["name"] == "example.com"
    assert groups[-1]["preferredVersion"]["version"] == "v1"
    resources = defined.ask("GET", "/apis/example.com/v1")[1]["resources"]
    assert [one["name"] for one in resources] == ["widgets", "widgets/status", "widgets/scale"]
    assert resources[0]["verbs"] == ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]
    assert resources[0]["shortNames"] == ["wi"]
    assert resources[0]["categories"] == ["all"]
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    items = json.loads(defined.answer("GET", "/apis", accept=accept).body)["items"]
    (found,) = [one for one in items if one["metadata"]["name"] == "example.com"]
    assert found["versions"][0]["resources"][0]["resource"] == "widgets"
    (apps,) = [one for one in items if one["metadata"]["name"] == "apps"]
    revisions, _, deployments = apps["versions"][0]["resources"][:3]
    assert (revisions["resource"], revisions.get("subresources")) == ("controllerrevisions", None)
    # What lies in its own group and version does not repeat them.
    assert deployments["responseKind"] == {"group": "", "version": "", "kind": "Deployment"}
    scale = {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    assert scale in [one["responseKind"] for one in deployments["subresources"]]
    assert defined.ask("GET", "/apis/example.com/v2")[0] == 404


def test_openapi_tells_the_schema_in_both_versions(defined: Room) -> None:
    assert "apis/example.com/v1" in defined.ask("GET", "/openapi/v3")[1]["paths"]
    told = defined.ask("GET", "/openapi/v3/apis/example.com/v1")[1]
    patches = [methods["patch"] for methods in told["paths"].values() if "patch" in methods]
    assert patches
    assert not any("application/strategic-merge-patch+json" in one["requestBody"]["content"] for one in patches)
    schemas = told["components"]["schemas"]
    told = schemas["com.example.v1.Widget"]
    assert told["properties"]["spec"]["properties"]["size"] == {"type": "integer", "minimum": 1}
    assert told["x-kubernetes-group-version-kind"] == [{"group": "example.com", "kind": "Widget", "version": "v1"}]
    second = defined.ask("GET", "/openapi/v2")[1]
    assert "com.example.v1.Widget" in second["definitions"]
    assert "/apis/example.com/v1/namespaces/{namespace}/widgets" in second["paths"]


def test_openapi_v2_tells_what_its_readers_bear(room: Room) -> None:
    """As ToStructuralOpenAPIV2: kubectl takes everything for unknown that is not told where anything is told."""
    kept = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    inside = {"type": "object", "properties": {"a": {"type": "string"}}}
    template = {**kept, "x-kubernetes-embedded-resource": True}
    members = {
        "free": {**inside, **kept},
        "either": {**inside, "nullable": True},
        "list": {"type": "array", "nullable": True, "items": {"type": "string"}},
        "word": {"type": "string", "anyOf": [{"pattern": "^a"}, {"pattern": "^b"}]},
        "pod": template,
        "strict": {**inside, "x-kubernetes-embedded-resource": True},
    }
    schema = {"type": "object", "required": ["word", "either"], "properties": members}
    room.made(DEFINITIONS, definition({"type": "object", "properties": {"spec": schema}}))
    free = definition(kept, plural="gadgets", kind="Gadget")
    free["spec"]["versions"][0].pop("subresources")
    room.made(DEFINITIONS, free)
    definitions = room.ask("GET", "/openapi/v2")[1]["definitions"]
    gadget = definitions["com.example.v1.Gadget"]
    assert gadget == {
        "type": "object",
        "x-kubernetes-group-version-kind": [{"group": "example.com", "kind": "Gadget", "version": "v1"}],
    }
    told = definitions["com.example.v1.Widget"]["properties"]["spec"]
    assert told["required"] == ["word"]
    strict = told["properties"].pop("strict")
    assert set(strict["properties"]) == {"a", "apiVersion", "kind", "metadata"}
    assert strict["required"] == ["kind", "apiVersion"]
    marks = {"x-kubernetes-preserve-unknown-fields": True}
    embedded = {**marks, "x-kubernetes-embedded-resource": True}
    assert told["properties"] == {"free": marks, "either": {}, "list": {}, "word": {"type": "string"}, "pod": embedded}
    third = room.ask("GET", "/openapi/v3/apis/example.com/v1")[1]["components"]["schemas"]
    whole = third["com.example.v1.Widget"]["properties"]["spec"]["properties"]
    assert set(whole["pod"]["properties"]) == {"apiVersion", "kind", "metadata"}
    assert whole["free"]["properties"] == inside["properties"]
    assert "apiVersion" in third["com.example.v1.Gadget"]["properties"]


def test_a_wrong_definition_is_refused(room: Room) -> None:
    for change, said in WRONG:
        status, refused = room.ask("POST", DEFINITIONS, definition(**change))
        assert status == 422
        assert said in messages(refused)


def test_a_schema_has_to_be_structural(room: Room) -> None:
    for schema, said in UNSTRUCTURED:
        body = definition(schema)
        del body["spec"]["versions"][0]["subresources"]
        status, refused = room.ask("POST", DEFINITIONS, body)
        assert status == 422
        assert said in messages(refused)


def test_a_pattern_that_others_take_forever_over_costs_nothing(room: Room) -> None:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {}}}}
    schema["properties"]["spec"]["properties"]["size"] = {"type": "string", "pattern": "^(a+)+$"}  # type: ignore[index]
    body = definition(schema)
    del body["spec"]["versions"][0]["subresources"]
    room.made(DEFINITIONS, body)
    assert room.ask("POST", WIDGETS, widget(size="a" * 50_000 + "b"))[0] == 422


def test_a_definition_goes_with_its_instances_and_leaves_its_names(defined: Room) -> None:
    second = definition(plural="gadgets", kind="Widget")
    defined.made(DEFINITIONS, second)
    defined.made(WIDGETS, widget(size=3))
    held = widget("held", size=3)
    held["metadata"]["finalizers"] = ["example.com/hold"]
    defined.made(WIDGETS, held)
    status, answer = defined.ask("DELETE", f"{DEFINITIONS}/widgets.example.com")
    assert status == 200
    assert answer["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    defined.run(1)
    assert [one["metadata"]["name"] for one in defined.ask("GET", WIDGETS)[1]["items"]] == ["held"]
    assert defined.ask("POST", WIDGETS, widget("late", size=1))[0] == 405
    merge = {"content-type": "application/merge-patch+json"}
    freed = defined.answer("PATCH", f"{WIDGETS}/held", {"metadata": {"finalizers": None}}, **merge)
    assert freed.status == 200
    defined.run(6)
    assert defined.ask("GET", f"{DEFINITIONS}/widgets.example.com")[0] == 404
    assert defined.ask("GET", WIDGETS)[0] == 404
    assert defined.ask("GET", WIDGETS.replace("widgets", "gadgets"))[0] == 200


def ruled(schema: Any) -> dict[str, Any]:
    """Return a definition without subresources."""
    body = definition(schema)
    del body["spec"]["versions"][0]["subresources"]
    return body


def test_rules_in_cel_are_asked_of_every_object(room: Room) -> None:
    room.made(DEFINITIONS, ruled(RULED))
    room.made(WIDGETS, widget("good", x=1, few=[3, 5], many=[2, 2], grows=10))
    for spec, said in (
        ({"x": 0}, 'spec: Invalid value: "object": failed rule: self.x + self.y > 0'),
        ({"low": 10}, 'spec.low: Invalid value: "object": low is above high'),
        ({"x": 100}, "spec: Forbidden: x is 100"),
    ):
        status, refused = room.ask("POST", WIDGETS, widget(**spec))
        assert status == 422
        assert messages(refused) == [said]
    status, refused = room.ask("POST", WIDGETS, widget(many=[20] * 725))
    assert status == 422
    assert "call cost exceeds limit" in refused["message"]
    merge = {"content-type": "application/merge-patch+json"}
    assert room.answer("PATCH", f"{WIDGETS}/good", {"spec": {"grows": 11}}, **merge).status == 200
    shrunk = room.answer("PATCH", f"{WIDGETS}/good", {"spec": {"grows": 9}}, **merge)
    assert shrunk.status == 422
    assert "failed rule: self >= oldSelf" in json.loads(shrunk.body)["message"]
    status, refused = room.ask("POST", WIDGETS, widget(x="text"))
    assert status == 422
    assert "some validation rules were not checked because the object was invalid" in refused["message"]


def test_wrong_rules_are_refused_where_they_are_written(room: Room) -> None:
    texts = {"type": "array", "items": {"type": "string"}}
    dear = {**texts, "x-kubernetes-validations": [{"rule": "self.all(s, s == 'a text')"}]}
    for spec, said in (
        (
            {"properties": {"x": {"type": "integer"}}, "x-kubernetes-validations": [{"rule": "self.z == 1"}]},
            "undefined field 'z'",
        ),
        (
            {"properties": {"x": {"type": "integer"}}, "x-kubernetes-validations": [{"rule": "self = 42"}]},
            "Syntax error",
        ),
        ({"properties": {"x": {"type": "array", "items": dear}}}, "exceeds budget by factor of more than 100x"),
        (
            {"properties": {"x": {"type": "integer", "x-kubernetes-validations": [{"rule": "self + 1"}]}}},
            "must evaluate to a bool",
        ),
    ):
        schema = {"type": "object", "properties": {"spec": {"type": "object", **spec}}}
        status, refused = room.ask("POST", DEFINITIONS, ruled(schema))
        assert status == 422, said
        assert said in refused["message"]


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (
            {"properties": []},
            "array into Go struct field JSONSchemaProps.{}.properties of type map[string]v1.JSONSchemaProps",
        ),
        ({"enum": "x"}, "string into Go struct field JSONSchemaProps.{}.enum of type []v1.JSON"),
        (
            {"x-kubernetes-validations": "x"},
            "string into Go struct field JSONSchemaProps.{}.x-kubernetes-validations of type v1.ValidationRules",
        ),
        (
            {"x-kubernetes-validations": [{"rule": "true", "reason": 5}]},
            "number into Go struct field ValidationRule.{}.x-kubernetes-validations.reason of type "
            "v1.FieldValueErrorReason",
        ),
    ],
)
def test_a_schema_that_cannot_be_read_is_told_by_its_types(room: Room, schema: dict[str, Any], why: str) -> None:
    status, told = room.ask("POST", DEFINITIONS, definition({"type": "object", **schema}))
    title = 'CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition'
    place = "spec.versions.schema.openAPIV3Schema"
    assert (status, told["message"]) == (400, f"{title}: json: cannot unmarshal {why.format(place)}")


def test_a_schema_in_a_map_that_is_null_is_empty_and_items_that_are_no_schema_are_none(room: Room) -> None:
    status, told = room.ask("POST", DEFINITIONS, definition({"type": "object", "properties": {"a": None}}))
    assert (status, told["details"]["causes"][0]["field"]) == (
        422,
        "spec.validation.openAPIV3Schema.properties[a].type",
    )
    schema = {"type": "object", "properties": {"spec": SPEC}, "items": "x"}
    status, made = room.ask("POST", DEFINITIONS, definition(schema), dryRun="All")
    assert status == 201
    assert "items" not in made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]


def test_a_definition_that_is_deleted_says_that_its_instances_will_go(room: Room) -> None:
    made = room.made(DEFINITIONS, definition())
    name, uid = made["metadata"]["name"], made["metadata"]["uid"]
    status, told = room.ask("DELETE", f"{DEFINITIONS}/{name}", {"preconditions": {"uid": "other"}})
    assert (status, told["message"]) == (
        409,
        f'Operation cannot be fulfilled on customresourcedefinitions.apiextensions.k8s.io "{name}": '
        f"Precondition failed: UID in precondition: other, UID in object meta: {uid}",
    )
    status, told = room.ask("DELETE", f"{DEFINITIONS}/{name}", {"propagationPolicy": "Foreground"})
    assert status == 200
    assert told["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    assert "deletionGracePeriodSeconds" not in told["metadata"]
    ending = told["status"]["conditions"][-1]
    assert (ending["type"], ending["status"], ending["reason"]) == ("Terminating", "True", "InstanceDeletionPending")
    room.run(20)
    assert room.ask("GET", f"{DEFINITIONS}/{name}")[0] == 404

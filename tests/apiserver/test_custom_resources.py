"""Kinds that a session defines: what is made of a definition, and how its instances are served."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clustersim.classroom import people
from tests.tools.room import Room

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"

SPEC: dict[str, Any] = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "minimum": 1},
        "replicas": {"type": "integer", "default": 2},
        "color": {"type": "string", "enum": ["red", "green"], "default": "red"},
        "word": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5},
        "either": {"x-kubernetes-int-or-string": True},
        "extra": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "ports": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["port"],
            "items": {
                "type": "object",
                "required": ["port"],
                "properties": {"port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}},
            },
        },
    },
}
SCHEMA = {
    "type": "object",
    "properties": {"spec": SPEC, "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}}},
}


def definition(schema: Any = None, plural: str = "widgets", kind: str = "Widget", **spec: Any) -> dict[str, Any]:
    """Return a definition of one version with status and scale."""
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema or SCHEMA},
        "subresources": {
            "status": {},
            "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
        },
        "additionalPrinterColumns": [
            {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
            {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        ],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind, "shortNames": [plural[:2]], "categories": ["all"]},
            "versions": [version],
            **spec,
        },
    }


def widget(name: str = "a", **spec: Any) -> dict[str, Any]:
    """Return an instance."""
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec}


@pytest.fixture
def defined(room: Room) -> Room:
    """Return a session in which widgets are defined."""
    room.made(DEFINITIONS, definition())
    return room


def messages(answer: Any) -> list[str]:
    """Return field and message of every cause of a refusal."""
    return [f"{cause['field']}: {cause['message']}" for cause in answer["details"]["causes"]]


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


def test_a_list_of_what_is_defined_tells_the_type_of_each(defined: Room) -> None:
    assert defined.ask("GET", WIDGETS)[1]["metadata"].keys() == {"continue", "resourceVersion"}
    defined.made(WIDGETS, widget(size=1))
    listed = defined.ask("GET", WIDGETS)[1]
    assert [(one["apiVersion"], one["kind"]) for one in listed["items"]] == [("example.com/v1", "Widget")]
    assert listed["metadata"]["continue"] == ""
    typed = defined.ask("GET", "/api/v1/namespaces")[1]
    assert "continue" not in typed["metadata"]
    assert "kind" not in typed["items"][0]


def test_a_part_that_nobody_defined_is_an_object_that_is_not_there(defined: Room) -> None:
    status, refused = defined.ask("GET", f"{WIDGETS}/a/nothing")
    assert (status, refused["message"]) == (404, 'widgets.example.com "a" not found')


def test_numbers_are_told_as_go_writes_them_and_are_no_truth_values(defined: Room) -> None:
    merge = {"content-type": "application/merge-patch+json"}
    made = defined.sent("POST", WIDGETS, b'{"metadata":{"name":"a"},"spec":{"size":2.0,"extra":{"n":[3.0,1.5,true]}}}')
    assert b'"size":2,' in made.body
    assert b'"n":[3,1.5,true]' in made.body
    same = defined.answer("PATCH", f"{WIDGETS}/a", {"spec": {"extra": {"n": [3, 1.5, True]}}}, **merge)
    assert json.loads(same.body)["metadata"]["generation"] == 1
    other = defined.answer("PATCH", f"{WIDGETS}/a", {"spec": {"extra": {"n": [3, 1.5, 1]}}}, **merge)
    assert json.loads(other.body)["metadata"]["generation"] == 2


def test_a_change_to_another_type_is_refused_and_no_fault(defined: Room) -> None:
    merge = {"content-type": "application/merge-patch+json"}
    defined.made(WIDGETS, widget(size=1, labels={"a": "b"}, ports=[{"port": 1}]))
    for value in ("text", ["text"], 5):
        refused = defined.answer("PATCH", f"{WIDGETS}/a", {"spec": {"labels": value}}, **merge)
        assert refused.status == 422
        assert "spec.labels in body must be of type object" in refused.body.decode()
    refused = defined.answer("PATCH", f"{WIDGETS}/a", {"spec": {"ports": {"port": 1}}}, **merge)
    assert refused.status == 422


def test_openapi_tells_the_schema_in_both_versions(defined: Room) -> None:
    assert "apis/example.com/v1" in defined.ask("GET", "/openapi/v3")[1]["paths"]
    schemas = defined.ask("GET", "/openapi/v3/apis/example.com/v1")[1]["components"]["schemas"]
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


def test_instances_are_pruned_and_defaulted(defined: Room) -> None:
    body = widget(size=3, foo=1, extra={"kept": {"all": 1}}, ports=[{"port": 1, "x": 2}], either="5%")
    body["status"] = {"replicas": 1}
    answer = defined.answer("POST", WIDGETS, body)
    assert answer.status == 201
    made = json.loads(answer.body)
    assert made["spec"] == {
        "size": 3,
        "replicas": 2,
        "color": "red",
        "extra": {"kept": {"all": 1}},
        "ports": [{"port": 1, "protocol": "TCP"}],
        "either": "5%",
    }
    assert "status" not in made
    assert made["metadata"]["generation"] == 1
    warned = [text for name, text in answer.headers if name == "warning"]
    assert warned == ['299 - "unknown field \\"spec.foo\\""', '299 - "unknown field \\"spec.ports[0].x\\""']
    strict, refused = defined.ask("POST", WIDGETS, widget("b", size=3, foo=1), fieldValidation="Strict")
    assert strict == 400
    assert refused["message"] == (
        'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.foo"'
    )


UNFIT: list[tuple[dict[str, Any], str]] = [
    ({}, "spec.size: Required value"),
    ({"size": 0}, "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"),
    (
        {"size": "x"},
        'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
    ),
    ({"size": 1, "color": "blue"}, 'spec.color: Unsupported value: "blue": supported values: "red", "green"'),
    ({"size": 1, "word": "A"}, "spec.word: Invalid value: \"A\": spec.word in body should match '^[a-z]+$'"),
    ({"size": 1, "word": "abcdef"}, "spec.word: Too long: may not be more than 5 bytes"),
    ({"size": 1, "ports": [{"port": 1}, {"port": 1}]}, 'spec.ports[1]: Duplicate value: {"port":1}'),
    (
        {"size": 1, "either": 1.5},
        'spec.either: Invalid value: "number": spec.either in body must be of type integer,string: "number"',
    ),
    (
        {"size": 1, "labels": {"a": 1}},
        'spec.labels.a: Invalid value: "integer": spec.labels.a in body must be of type string: "integer"',
    ),
]


def test_what_does_not_fit_is_refused_in_upstreams_words(defined: Room) -> None:
    for spec, said in UNFIT:
        status, refused = defined.ask("POST", WIDGETS, widget(**spec))
        assert status == 422
        assert said in messages(refused)
        assert refused["message"].startswith('Widget.example.com "a" is invalid: ')


def test_what_was_good_enough_once_stays_so(defined: Room) -> None:
    defined.made(WIDGETS, widget(size=3))
    narrow = json.loads(json.dumps(SCHEMA))
    narrow["properties"]["spec"]["properties"]["size"]["maximum"] = 2
    patch = definition(narrow)["spec"]
    status, _ = defined.ask("PATCH", f"{DEFINITIONS}/widgets.example.com", None)
    merge = {"content-type": "application/merge-patch+json"}
    assert status >= 400
    assert defined.answer("PATCH", f"{DEFINITIONS}/widgets.example.com", {"spec": patch}, **merge).status == 200
    changed = defined.answer("PATCH", f"{WIDGETS}/a", {"spec": {"word": "ok"}}, **merge)
    assert changed.status == 200
    assert json.loads(changed.body)["metadata"]["generation"] == 2
    assert defined.answer("PATCH", f"{WIDGETS}/a", {"spec": {"size": 4}}, **merge).status == 422
    assert defined.ask("POST", WIDGETS, widget("b", size=3))[0] == 422


def test_status_and_scale_are_parts_of_their_own(defined: Room) -> None:
    defined.made(WIDGETS, widget(size=3))
    merge = {"content-type": "application/merge-patch+json"}
    told = json.loads(
        defined.answer("PATCH", f"{WIDGETS}/a/status", {"status": {"replicas": 2}, "spec": {"size": 9}}, **merge).body
    )
    assert told["status"] == {"replicas": 2}
    assert told["spec"]["size"] == 3
    assert told["metadata"]["generation"] == 1
    scaled = json.loads(defined.answer("PATCH", f"{WIDGETS}/a/scale", {"spec": {"replicas": 7}}, **merge).body)
    assert scaled["kind"] == "Scale"
    assert scaled["spec"] == {"replicas": 7}
    assert scaled["status"] == {"replicas": 2}
    found = defined.ask("GET", f"{WIDGETS}/a")[1]
    assert found["spec"]["replicas"] == 7
    assert found["metadata"]["generation"] == 2
    wrong = defined.answer("PATCH", f"{WIDGETS}/a/status", {"status": {"replicas": "x"}}, **merge)
    assert wrong.status == 422
    strategic = {"content-type": "application/strategic-merge-patch+json"}
    assert defined.answer("PATCH", f"{WIDGETS}/a", {"spec": {"size": 4}}, **strategic).status == 415


def test_what_is_applied_has_owners_by_the_schema(defined: Room) -> None:
    apply = {"content-type": "application/apply-patch+yaml"}
    one = widget(size=3, ports=[{"port": 80}])
    made = defined.answer("PATCH", f"{WIDGETS}/a", one, query={"fieldManager": "one"}, **apply)
    assert made.status == 201
    owned = json.loads(made.body)["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]
    assert 'k:{"port":80}' in owned["f:ports"]
    two = widget(size=4, ports=[{"port": 81}])
    refused = defined.answer("PATCH", f"{WIDGETS}/a", two, query={"fieldManager": "two"}, **apply)
    assert refused.status == 409
    assert ".spec.size" in json.loads(refused.body)["message"]
    forced = defined.answer("PATCH", f"{WIDGETS}/a", two, query={"fieldManager": "two", "force": "true"}, **apply)
    assert [one["port"] for one in json.loads(forced.body)["spec"]["ports"]] == [80, 81]


def test_tables_have_the_columns_that_are_defined(defined: Room) -> None:
    defined.made(WIDGETS, widget(size=3))
    table = defined.table(WIDGETS)
    assert [one["name"] for one in table["columnDefinitions"]] == ["Name", "Size", "Age"]
    assert table["rows"][0]["cells"][:2] == ["a", 3]
    listed = defined.ask("GET", "/apis/example.com/v1/widgets")[1]
    assert listed["kind"] == "WidgetList"
    assert [one["metadata"]["name"] for one in listed["items"]] == ["a"]


def test_an_object_is_shown_in_each_version(room: Room) -> None:
    both = definition()
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    beta = {"name": "v1beta1", "served": True, "storage": False, "schema": {"openAPIV3Schema": free}}
    both["spec"]["versions"].append(beta)
    room.made(DEFINITIONS, both)
    room.made(WIDGETS, widget(size=3))
    older = WIDGETS.replace("/v1/", "/v1beta1/")
    assert room.ask("GET", f"{older}/a")[1]["apiVersion"] == "example.com/v1beta1"
    made = room.made(older, {**widget("b", size=4, other=1), "apiVersion": "example.com/v1beta1"})
    assert made["apiVersion"] == "example.com/v1beta1"
    found = room.ask("GET", f"{WIDGETS}/b")[1]
    assert found["apiVersion"] == "example.com/v1"
    assert found["spec"] == {"size": 4, "replicas": 2, "color": "red"}
    assert [one["version"] for one in room.ask("GET", "/apis/example.com")[1]["versions"]] == ["v1", "v1beta1"]


def test_defaults_that_come_later_are_seen_in_what_is_stored(defined: Room) -> None:
    defined.made(WIDGETS, widget(size=3))
    wider = json.loads(json.dumps(SCHEMA))
    wider["properties"]["spec"]["properties"]["late"] = {"type": "string", "default": "here"}
    merge = {"content-type": "application/merge-patch+json"}
    patch = {"spec": definition(wider)["spec"]}
    assert defined.answer("PATCH", f"{DEFINITIONS}/widgets.example.com", patch, **merge).status == 200
    assert defined.ask("GET", f"{WIDGETS}/a")[1]["spec"]["late"] == "here"
    assert defined.ask("GET", WIDGETS)[1]["items"][0]["spec"]["late"] == "here"


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"group": "nodots"}, 'spec.group: Invalid value: "nodots": should be a domain with at least one dot'),
    ({"scope": "World"}, 'spec.scope: Unsupported value: "World": supported values: "Cluster", "Namespaced"'),
    ({"scope": ""}, "spec.scope: Required value"),
]


def test_a_wrong_definition_is_refused(room: Room) -> None:
    for change, said in WRONG:
        status, refused = room.ask("POST", DEFINITIONS, definition(**change))
        assert status == 422
        assert said in messages(refused)


PATH = "spec.validation.openAPIV3Schema"


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


def test_students_write_instances_at_home_and_define_nothing(defined: Room) -> None:
    student = people.seat(defined.session, "Stu", "student")
    token, home = people.new_token(student), student.namespace
    defined.made("/api/v1/namespaces", {"metadata": {"name": home}})
    at_home = WIDGETS.replace("/default/", f"/{home}/")
    assert defined.ask("POST", at_home, widget(size=1), token)[0] == 201
    assert defined.ask("POST", WIDGETS, widget(size=1), token)[0] == 403
    assert defined.ask("GET", at_home, None, token)[0] == 200
    assert defined.ask("POST", DEFINITIONS, definition(plural="gadgets", kind="Gadget"), token)[0] == 403


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


def test_owners_and_dependents_may_be_instances(defined: Room) -> None:
    owner = defined.made(WIDGETS, widget(size=3))
    reference = {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "name": "a",
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    maps = "/api/v1/namespaces/default/configmaps"
    defined.made(maps, {"metadata": {"name": "below", "ownerReferences": [reference]}})
    child = widget("child", size=1)
    child["metadata"]["ownerReferences"] = [reference]
    defined.made(WIDGETS, child)
    stranger = widget("stranger", size=1)
    stranger["metadata"]["ownerReferences"] = [{**reference, "uid": "11111111-1111-4111-8111-111111111111"}]
    defined.made(WIDGETS, stranger)
    defined.run(2)
    assert [one["metadata"]["name"] for one in defined.ask("GET", WIDGETS)[1]["items"]] == ["a", "child"]
    assert defined.ask("DELETE", f"{WIDGETS}/a")[0] == 200
    defined.run(2)
    assert defined.ask("GET", WIDGETS)[1]["items"] == []
    assert defined.ask("GET", f"{maps}/below")[0] == 404


def test_a_namespace_takes_its_instances_along(defined: Room) -> None:
    defined.made("/api/v1/namespaces", {"metadata": {"name": "team"}})
    defined.made(WIDGETS.replace("/default/", "/team/"), widget(size=3))
    assert defined.ask("DELETE", "/api/v1/namespaces/team")[0] == 200
    defined.run(15)
    assert defined.ask("GET", "/api/v1/namespaces/team")[0] == 404
    assert defined.ask("GET", "/apis/example.com/v1/widgets")[1]["items"] == []


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
                    "messageExpression": "'x is ' + string(self.x)",
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

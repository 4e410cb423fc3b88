"""Objects of kinds that a session defines: how they are checked, filled, changed, shown and deleted."""

from __future__ import annotations

import json
from typing import Any

from clustersim.classroom import people
from tests.apiserver.widgets import DEFINITIONS, SCHEMA, WIDGETS, definition, messages, widget
from tests.tools.room import Room

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
    head = b'"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}'
    made = defined.sent("POST", WIDGETS, b'{%b,"spec":{"size":2.0,"extra":{"n":[3.0,1.5,true]}}}' % head)
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


def test_students_write_instances_at_home_and_define_nothing(defined: Room) -> None:
    student = people.seat(defined.session, "Stu", "student")
    token, home = people.new_token(student), student.namespace
    defined.made("/api/v1/namespaces", {"metadata": {"name": home}})
    at_home = WIDGETS.replace("/default/", f"/{home}/")
    assert defined.ask("POST", at_home, widget(size=1), token)[0] == 201
    assert defined.ask("POST", WIDGETS, widget(size=1), token)[0] == 403
    assert defined.ask("GET", at_home, None, token)[0] == 200
    assert defined.ask("POST", DEFINITIONS, definition(plural="gadgets", kind="Gadget"), token)[0] == 403


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

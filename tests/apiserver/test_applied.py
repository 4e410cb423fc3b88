"""Server-side apply: what a real API server of v1.34.9 answered, asked again, and what the real kubectl makes of it."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from clustersim.apiserver.handling import handle
from clustersim.apiserver.messages import Request, error_response
from scheduler_core.api.errors import ApiError
from tests.tools.room import Room

FILE: Final = Path(__file__).parent / "recorded" / "ssa.jsonl.gz"
CASES: Final[dict[str, Any]] = {
    case["case"]: case for case in map(json.loads, gzip.decompress(FILE.read_bytes()).splitlines())
}
APPLY: Final = "application/apply-patch+yaml"
MERGE: Final = "application/merge-patch+json"
MAPS: Final = "/api/v1/namespaces/default/configmaps"
_VOLATILE: Final = (
    (re.compile(r"<uid:\d+>|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uid>"),
    (re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"), "<time>"),
    (re.compile(r"<clusterip:\d+>|10\.96\.\d+\.\d+"), "<address>"),
)


def plain(value: Any) -> Any:
    """Return an answer without what differs from one run to another."""
    if isinstance(value, dict):
        kept = {key: plain(one) for key, one in value.items() if key != "resourceVersion"}
        if kept.get("annotations"):
            kept["annotations"] = {key: text for key, text in kept["annotations"].items() if "clustersim.io" not in key}
        return {key: one for key, one in kept.items() if key != "annotations" or one}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, str):
        for pattern, shown in _VOLATILE:
            value = pattern.sub(shown, value)
    return value


def asked(room: Room, method: str, path: str, body: str = "", media: str = "", **query: str) -> tuple[int, Any]:
    headers = {"authorization": f"Bearer {room.teacher}", "user-agent": "corpus/1.0"}
    headers["content-type"] = media or "application/json"
    try:
        answer = handle(Request(method, room.code, path, query, headers, body.encode()))
    except ApiError as error:
        answer = error_response(error)
    return answer.status, json.loads(answer.body)


def test_what_was_recorded_is_answered(room: Room) -> None:
    """One session for all: each case has names of its own."""
    made: set[str] = set()
    for name, case in CASES.items():
        for namespace in set(case["namespaces"]) - made:
            made.add(namespace)
            room.made("/api/v1/namespaces", {"metadata": {"name": namespace}})
            room.made(f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": "default"}})
        for number, step in enumerate(case["steps"]):
            body = step["raw"] if "raw" in step else json.dumps(step["body"]) if "body" in step else ""
            status, answer = asked(room, step["method"], step["path"], body, step["type"], **step.get("query", {}))
            assert (status, plain(answer)) == (step["status"], plain(step["answer"])), f"{name}, step {number}"


def owners(document: Any) -> dict[tuple[str, str, str], Any]:
    """Return the fields of an object's managers by (name, operation, subresource)."""
    entries = document["metadata"].get("managedFields", [])
    return {(one["manager"], one["operation"], one.get("subresource", "")): one["fieldsV1"] for one in entries}


def test_whoever_changes_a_field_owns_it(room: Room) -> None:
    made = room.ask("POST", MAPS, {"metadata": {"name": "m"}, "data": {"a": "1", "b": "2"}}, fieldManager="one")[1]
    assert owners(made) == {("one", "Update", ""): {"f:data": {".": {}, "f:a": {}, "f:b": {}}}}
    changed = asked(room, "PATCH", f"{MAPS}/m", '{"data":{"a":"9"}}', MERGE, fieldManager="two")[1]
    assert owners(changed) == {
        ("one", "Update", ""): {"f:data": {".": {}, "f:b": {}}},
        ("two", "Update", ""): {"f:data": {"f:a": {}}},
    }
    same = asked(room, "PATCH", f"{MAPS}/m", '{"data":{"a":"9"}}', MERGE, fieldManager="three")[1]
    assert same == changed, "nobody owns what stays as it was, and nothing is written"
    gone = asked(room, "PATCH", f"{MAPS}/m", '{"data":{"a":null}}', MERGE, fieldManager="three")[1]
    assert owners(gone) == {("one", "Update", ""): {"f:data": {".": {}, "f:b": {}}}}


@pytest.mark.parametrize("sent", ["[]", "[{}]"])
def test_owners_are_forgotten_on_request(room: Room, sent: str) -> None:
    room.made(MAPS, {"metadata": {"name": "m"}, "data": {"a": "1"}})
    reset = asked(room, "PATCH", f"{MAPS}/m", f'{{"metadata":{{"managedFields":{sent}}}}}', MERGE)[1]
    assert "managedFields" not in reset["metadata"]
    later = asked(room, "PATCH", f"{MAPS}/m", '{"data":{"b":"2"}}', MERGE, fieldManager="late")[1]
    assert "managedFields" not in later["metadata"], "who changes it is told again once somebody applies"
    config = '{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"1"}}'
    applied = asked(room, "PATCH", f"{MAPS}/m", config, APPLY, fieldManager="first")[1]
    assert owners(applied) == {
        ("first", "Apply", ""): {"f:data": {"f:a": {}}},
        ("before-first-apply", "Update", ""): {"f:data": {".": {}, "f:a": {}, "f:b": {}}},
    }


def test_a_program_owns_by_its_name_what_it_changes(room: Room) -> None:
    made = asked(room, "POST", MAPS, '{"metadata":{"name":"m"},"data":{"a":"1"}}')[1]
    assert set(owners(made)) == {("corpus", "Update", "")}


def test_status_and_scale_have_owners_of_their_own(room: Room) -> None:
    path = "/apis/apps/v1/namespaces/default/deployments"
    pod = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": pod}
    room.made(path, {"metadata": {"name": "shop"}, "spec": spec})
    config = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "shop"}}
    body = json.dumps({**config, "status": {"replicas": 3}, "spec": {"replicas": 9}})
    answer = asked(room, "PATCH", f"{path}/shop/status", body, APPLY, fieldManager="teller")[1]
    assert answer["spec"]["replicas"] == 1
    assert owners(answer)["teller", "Apply", "status"] == {"f:status": {"f:replicas": {}}}
    scale = json.dumps({"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": 4}})
    status, refused = asked(room, "PATCH", f"{path}/shop/scale", scale, APPLY, fieldManager="hpa")
    assert (status, refused["reason"]) == (409, "Conflict")
    status, shown = asked(room, "PATCH", f"{path}/shop/scale", scale, APPLY, fieldManager="hpa", force="true")
    assert (status, shown["kind"], shown["spec"]) == (200, "Scale", {"replicas": 4})
    told = owners(room.ask("GET", f"{path}/shop")[1])
    assert told["hpa", "Apply", "scale"] == {"f:spec": {"f:replicas": {}}}
    assert "f:replicas" not in told["unknown", "Update", ""]["f:spec"]


def test_what_is_not_there_has_no_status_to_apply(room: Room) -> None:
    config = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"status":{"phase":"Failed"}}'
    path = "/api/v1/namespaces/default/pods/p/status"
    assert asked(room, "PATCH", path, config, APPLY, fieldManager="m")[0] == 404


def test_kubectl_takes_over_what_it_applied_itself(room: Room) -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"a": "1"}}
    note = "kubectl.kubernetes.io/last-applied-configuration"
    body = {**config, "metadata": {"name": "m", "annotations": {note: json.dumps(config)}}}
    room.ask("POST", MAPS, body, fieldManager="kubectl-client-side-apply")
    changed = json.dumps({**config, "data": {"a": "2"}})
    assert asked(room, "PATCH", f"{MAPS}/m", changed, APPLY, fieldManager="other")[0] == 409
    status, taken = asked(room, "PATCH", f"{MAPS}/m", changed, APPLY, fieldManager="kubectl")
    assert (status, taken["data"]) == (200, {"a": "2"})
    assert json.loads(taken["metadata"]["annotations"][note])["data"] == {"a": "2"}


def test_another_version_of_a_kind_is_applied(room: Room) -> None:
    path = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers/web"
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "maxReplicas": 3, "targetCPUUtilizationPercentage": 70}
    config = {"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"}}
    body = json.dumps({**config, "spec": spec})
    status, made = asked(room, "PATCH", path, body, APPLY, fieldManager="m")
    assert (status, made["spec"]["targetCPUUtilizationPercentage"]) == (201, 70)
    (entry,) = made["metadata"]["managedFields"]
    assert (entry["apiVersion"], set(entry["fieldsV1"]["f:spec"])) == ("autoscaling/v1", {f"f:{key}" for key in spec})
    less = json.dumps({**config, "spec": {"scaleTargetRef": target, "maxReplicas": 4}})
    status, changed = asked(room, "PATCH", path, less, APPLY, fieldManager="m")
    assert (status, changed["spec"]["maxReplicas"]) == (200, 4)


def test_a_refused_configuration_writes_nothing(room: Room) -> None:
    config = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"bad name"},"data":{"a":"1"}}'
    before = room.store.revision
    assert asked(room, "PATCH", f"{MAPS}/bad%20name", config, APPLY, fieldManager="m")[0] in (400, 422)
    assert room.store.revision == before


REFUSED: Final = "the server rejected our request due to an error in our request"
JSON_PATCH: Final = "application/json-patch+json"
STRATEGIC: Final = "application/strategic-merge-patch+json"
OBJECT: Final = "Go value of type map[string]interface {}"
PATCHES: Final[list[tuple[str, str, int, str]]] = [
    (JSON_PATCH, '[{"op":"replace","path":"/data/z","value":"2"}]', 200, ""),
    (JSON_PATCH, '[{"op":"remove","path":"/data/b"}]', 422, REFUSED),
    (JSON_PATCH, '[{"op":"test","path":"/data/b","value":"2"}]', 422, REFUSED),
    (JSON_PATCH, '[{"op":"test","path":"/data/b","value":null}]', 200, ""),
    (JSON_PATCH, '[{"op":"add","value":1}]', 422, REFUSED),
    (JSON_PATCH, '[{"op":"add","path":"","value":{}}]', 422, REFUSED),
    (JSON_PATCH, "null", 200, ""),
    (
        JSON_PATCH,
        "{}",
        400,
        "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
    ),
    (
        JSON_PATCH,
        '[{"op":"replace","path":"","value":{}}]',
        400,
        "the name of the object (m based on URL) was undeterminable: name must be provided",
    ),
    (MERGE, "null", 400, "Invalid JSON Patch"),
    (MERGE, "[]", 400, f"error decoding patch: json: cannot unmarshal array into {OBJECT}"),
    (STRATEGIC, '"x"', 400, f"json: cannot unmarshal string into {OBJECT}"),
    (STRATEGIC, "null", 200, ""),
    (
        STRATEGIC,
        '{"data":"x"}',
        422,
        ' "" is invalid: patch: Invalid value: "map[data:x]": cannot restore map from string',
    ),
    (STRATEGIC, '{"data":{"$retainKeys":["a"],"b":"1"}}', 400, "invalid patch format of retainKeys"),
    ("text/plain", "x", 415, "415: Unsupported Media Type"),
]


def test_patches_are_refused_in_upstreams_words(room: Room) -> None:
    room.made(MAPS, {"metadata": {"name": "m"}, "data": {"a": "1"}})
    for media, body, wanted, why in PATCHES:
        status, answer = asked(room, "PATCH", f"{MAPS}/m", body, media)
        assert (status, answer.get("message", "")) == (wanted, why), body
    uid = '{"metadata":{"uid":"11111111-2222-3333-4444-555555555555"}}'
    status, answer = asked(room, "PATCH", f"{MAPS}/m", uid, MERGE)
    assert (status, [cause["field"] for cause in answer["details"]["causes"]]) == (422, ["metadata.uid"] * 2)


def test_what_a_patch_may_not_say_is_refused(room: Room) -> None:
    room.made(MAPS, {"metadata": {"name": "m"}})
    for query, field in (
        ({"force": "true"}, "force"),
        ({"fieldManager": "x" * 129}, "fieldManager"),
        ({"fieldValidation": "x"}, "fieldValidation"),
    ):
        status, answer = asked(room, "PATCH", f"{MAPS}/m", "{}", MERGE, **query)
        assert (status, answer["details"]["kind"]) == (422, "PatchOptions")
        assert [cause["field"] for cause in answer["details"]["causes"]] == [field]


SERVICES: Final = "/api/v1/namespaces/default/services"


@pytest.mark.parametrize(
    ("path", "body", "why"),
    [
        (
            SERVICES,
            {"spec": {"clusterIP": "None", "ports": [{"port": 80}], "sessionAffinity": "ClientIP"}},
            "spec.SessionAffinity is ignored for headless services",
        ),
        (SERVICES, {"spec": {"clusterIP": "None", "ports": [{"port": 80}]}}, ""),
        (
            SERVICES,
            {"spec": {"ports": [{"port": 80}], "externalName": "a.b"}},
            'spec.externalName is ignored when spec.type is not \\"ExternalName\\"',
        ),
        (
            "/api/v1/namespaces/default/persistentvolumeclaims",
            {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1500m"}}}},
            'spec.resources.requests[storage]: fractional byte value \\"1500m\\" is invalid, must be an integer',
        ),
    ],
)
def test_what_is_passed_over_is_warned_of(room: Room, path: str, body: Any, why: str) -> None:
    answer = room.answer("POST", path, {"metadata": {"name": "x"}, **body})
    assert answer.status == 201
    assert [text for name, text in answer.headers if name == "warning"] == ([f'299 - "{why}"'] if why else [])

"""Answers that a real API server of v1.34 gave, rule by rule: options, bodies, paths, status and metadata."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.tools.room import Room

MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
REVISIONS = "/apis/apps/v1/namespaces/default/controllerrevisions"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
MERGE = {"content-type": "application/merge-patch+json"}
STRATEGIC = {"content-type": "application/strategic-merge-patch+json"}
POD = {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "main", "image": "web:1"}]}}
UNNAMED = "the name of the object (a based on URL) was undeterminable"
UNREAD = "couldn't get version/kind; json parse error: "
STRUCT = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'


def told(answer: tuple[int, Any]) -> tuple[int, str]:
    status, document = answer
    return status, document.get("message", "")


@pytest.mark.parametrize(
    ("query", "field", "why"),
    [
        ({"fieldManager": "x" * 129}, "fieldManager", "Too long: may not be more than 128 bytes"),
        ({"fieldManager": "a\tb"}, "fieldManager", 'Invalid value: "a\\tb": invalid character U+0009 (at position 1)'),
        ({"dryRun": "Some"}, "dryRun", 'Unsupported value: ["Some"]: supported values: "All"'),
        (
            {"fieldValidation": "Maybe"},
            "fieldValidation",
            'Unsupported value: "Maybe": supported values: "", "Ignore", "Strict", "Warn"',
        ),
    ],
)
def test_options_that_nobody_may_say(room: Room, query: dict[str, str], field: str, why: str) -> None:
    for method, path, kind in (("POST", MAPS, "CreateOptions"), ("PUT", f"{MAPS}/data", "UpdateOptions")):
        status, document = room.ask(method, path, {"metadata": {"name": "data"}}, **query)
        assert (status, document["details"]["kind"], document["details"]["group"]) == (422, kind, "meta.k8s.io")
        assert [(one["field"], one["message"]) for one in document["details"]["causes"]] == [(field, why)]


@pytest.mark.parametrize(
    ("body", "media", "why"),
    [
        (b"", "json", f"{UNREAD}unexpected end of JSON input (<empty>)"),
        (b'{"apiVersion": "v1", ', "json", f'{UNREAD}unexpected end of JSON input ({{"apiVersion": "v1", )'),
        (b"[]", "json", f"{UNREAD}json: cannot unmarshal array into Go value of type {STRUCT} (5b5d)"),
        (b'"x"', "json", f"{UNREAD}json: cannot unmarshal string into Go value of type {STRUCT} (227822)"),
        (
            b'{"apiVersion": 1, "kind": "ConfigMap"}',
            "json",
            f"{UNREAD}json: cannot unmarshal number into Go struct field .apiVersion of type string "
            '({"apiVersion": 1, "kind": "Con ...)',
        ),
        (
            b"apiVersion: v1\n kind: [",
            "yaml",
            "yaml: line 2: mapping values are not allowed in this context "
            "(61706956657273696f6e3a2076310a206b696e643a205b)",
        ),
    ],
)
def test_a_body_of_which_not_even_the_kind_can_be_read(room: Room, body: bytes, media: str, why: str) -> None:
    answer = room.sent("POST", MAPS, body, **{"content-type": f"application/{media}"})
    document = json.loads(answer.body)
    assert (answer.status, document["reason"]) == (400, "BadRequest")
    assert document["message"] == f"the object provided is unrecognized (must be of type ConfigMap): {why}"


@pytest.mark.parametrize("plural", [MAPS, REVISIONS])
def test_a_body_that_is_null_is_an_empty_object(room: Room, plural: str) -> None:
    answer = room.sent("PUT", f"{plural}/a", b"null", **{"content-type": "application/json"})
    assert (answer.status, json.loads(answer.body)["message"]) == (400, f"{UNNAMED}: name must be provided")
    made = room.sent("POST", plural, b"null", **{"content-type": "application/json"})
    assert made.status == 422
    assert "metadata.name: Required value: name or generateName is required" in json.loads(made.body)["message"]


def test_a_body_is_read_before_its_name_is_looked_at(room: Room) -> None:
    twice = b'{"data": {"a": "1"}, "data": {"a": "2"}}'
    answer = room.sent("PUT", f"{MAPS}/a", twice, **{"content-type": "application/json"})
    assert (answer.status, json.loads(answer.body)["message"]) == (400, f"{UNNAMED}: name must be provided")
    assert ("warning", '299 - "duplicate field \\"data\\""') in answer.headers
    unread = room.sent("PUT", f"{MAPS}/a", b'{"data": {"a": 1}}', **{"content-type": "application/json"})
    assert (unread.status, json.loads(unread.body)["message"]) == (
        400,
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct '
        "field ConfigMap.data of type string",
    )


def test_another_kind_than_the_path_says(room: Room) -> None:
    other = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}
    why = 'Secret in version "v1" cannot be handled as a ConfigMap: '
    conversion = "converting (v1.Secret) to (core.ConfigMap): unknown conversion"
    assert told(room.ask("POST", MAPS, other)) == (400, why + conversion)
    poem = {"apiVersion": "v1", "kind": "Poem", "metadata": {"name": "a"}}
    status, message = told(room.ask("POST", MAPS, poem))
    assert status == 400
    assert 'no kind "Poem" is registered for version "v1"' in message


def test_methods_are_refused_before_a_body_is_read(room: Room) -> None:
    for method, path in (("POST", f"{PODS}/none"), ("PATCH", PODS), ("PUT", PODS), ("POST", "/api/v1/pods")):
        status, document = room.ask(method, path)
        assert (status, document["details"]) == (405, {}), (method, path)


def test_names_that_no_path_can_have(room: Room) -> None:
    assert told(room.ask("GET", f"{PODS}/..")) == (400, "Name parameter invalid: \"..\": may not be '..'")
    assert told(room.ask("GET", f"{PODS}/a%b")) == (400, "Name parameter invalid: \"a%b\": may not contain '%'")


def test_owners_that_are_named_twice_are_kept_once(room: Room) -> None:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "1"}
    body = {"metadata": {"name": "data", "ownerReferences": [owner, owner]}}
    answer = room.answer("POST", MAPS, body)
    assert json.loads(answer.body)["metadata"]["ownerReferences"] == [owner]
    (warning,) = [text for name, text in answer.headers if name == "warning"]
    assert warning.endswith('duplicate UID(s) observed: 1"')
    again = {"metadata": {"ownerReferences": [owner, owner], "labels": {"a": "b"}}}
    (warning,) = [
        text for name, text in room.answer("PATCH", f"{MAPS}/data", again, **MERGE).headers if name == "warning"
    ]
    assert "after mutating admission happens" in warning


def test_a_generated_name_tells_what_it_was_made_from(room: Room) -> None:
    _, document = room.ask("POST", MAPS, {"metadata": {"generateName": "Data_"}})
    first, second = document["details"]["causes"]
    assert (first["field"], second["field"]) == ("metadata.generateName", "metadata.name")
    assert first["message"].startswith('Invalid value: "Data_": a lowercase RFC 1123 subdomain')
    assert room.ask("POST", MAPS, {"metadata": {"generateName": "data-"}})[0] == 201


def test_a_generation_stays_as_it_is_sent_where_nobody_counts(room: Room) -> None:
    assert room.made(MAPS, {"metadata": {"name": "a", "generation": 7}})["metadata"]["generation"] == 7
    classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
    assert room.made(classes, {"metadata": {"name": "a", "generation": 7}, "value": 1})["metadata"]["generation"] == 1
    changed = json.loads(room.answer("PATCH", f"{classes}/a", {"description": "x"}, **MERGE).body)
    assert changed["metadata"]["generation"] == 1
    assert (
        "generation"
        not in room.made("/apis/storage.k8s.io/v1/csidrivers", {"metadata": {"name": "a"}, "spec": {}})["metadata"]
    )


def test_a_namespace_in_what_has_none_is_passed_over(room: Room) -> None:
    path = "/apis/scheduling.k8s.io/v1/priorityclasses"
    made = room.made(path, {"metadata": {"name": "a", "namespace": "elsewhere"}, "value": 1})
    made["metadata"]["namespace"] = "elsewhere"
    status, changed = room.ask("PUT", f"{path}/a", made)
    assert (status, changed["metadata"].get("namespace")) == (200, None)


def test_a_change_that_names_no_version_where_upstream_asks_for_one(room: Room) -> None:
    body = {"metadata": {"name": "a"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}}
    room.made(BUDGETS, body)
    why = 'poddisruptionbudgets.policy "a" is invalid: metadata.resourceVersion: Invalid value: 0: '
    why += "must be specified for an update"
    for path in (f"{BUDGETS}/a", f"{BUDGETS}/a/status"):
        assert told(room.ask("PUT", path, body)) == (422, why)
    room.made(MAPS, {"metadata": {"name": "a"}})
    assert room.ask("PUT", f"{MAPS}/a", {"metadata": {"name": "a"}, "data": {"k": "v"}})[0] == 200


def test_causes_about_labels_come_as_often_as_upstream_looks(room: Room) -> None:
    room.made("/api/v1/nodes", {"metadata": {"name": "n"}})
    patch = {"metadata": {"labels": {"a b": "c"}}}
    for path, times in (("/api/v1/nodes/n", 4), ("/api/v1/namespaces/default", 4)):
        document = json.loads(room.answer("PATCH", path, patch, **STRATEGIC).body)
        assert [one["field"] for one in document["details"]["causes"]] == ["metadata.labels"] * times, path


# -- status ---------------------------------------------------------------------------------------------------------


def status_of(room: Room, path: str, status: Any, **metadata: Any) -> tuple[int, Any]:
    answer = room.answer("PATCH", f"{path}/status", {"status": status, "metadata": metadata}, **MERGE)
    return answer.status, json.loads(answer.body)


def causes(answer: tuple[int, Any]) -> list[tuple[str, str]]:
    status, document = answer
    assert status == 422, document
    return [(one["field"], one["message"]) for one in document["details"]["causes"]]


def test_what_a_pods_status_may_say(room: Room) -> None:
    room.made(PODS, POD)
    path = f"{PODS}/web"
    told = status_of(
        room, path, {"containerStatuses": [{"name": "main", "state": {"running": {}}}], "podIP": "10.0.0.1"}
    )
    (container,) = told[1]["status"]["containerStatuses"]
    assert (container["lastState"], container["ready"], container["restartCount"]) == ({}, False, 0)
    assert told[1]["status"]["podIPs"] == [{"ip": "10.0.0.1"}]
    assert causes(status_of(room, path, {"qosClass": "Guaranteed"})) == [
        ("status.qosClass", 'Invalid value: "Guaranteed": field is immutable')
    ]
    (nominated,) = causes(status_of(room, path, {"nominatedNodeName": "a b"}))
    assert nominated[0] == "status.nominatedNodeName"
    (condition,) = causes(status_of(room, path, {"conditions": [{"type": "a b", "status": "True"}]}))
    assert condition[0] == "status.conditions[0].Type"
    assert causes(status_of(room, path, {"podIP": "", "podIPs": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}]})) == [
        (
            "status.podIPs",
            'Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0.0.2"}]: may specify no more than one IP for each IP family',
        )
    ]
    body = {**POD, "status": {"phase": "Running"}}
    assert room.ask("PUT", f"{path}/status", body)[1]["status"]["qosClass"] == "BestEffort"


def test_a_container_that_must_not_run_again_stays_ended(room: Room) -> None:
    room.made(PODS, {**POD, "spec": {**POD["spec"], "restartPolicy": "Never"}})  # type: ignore[dict-item]
    ended = {"containerStatuses": [{"name": "main", "state": {"terminated": {"exitCode": 1}}}]}
    assert status_of(room, f"{PODS}/web", ended)[0] == 200
    again = {"containerStatuses": [{"name": "main", "state": {"running": {}}}]}
    assert causes(status_of(room, f"{PODS}/web", again)) == [
        ("status.containerStatuses[0].state", "Forbidden: may not be transitioned to non-terminated state")
    ]


def test_what_a_nodes_status_may_say(room: Room) -> None:
    room.made("/api/v1/nodes", {"metadata": {"name": "n"}})
    path = "/api/v1/nodes/n"
    body = {"metadata": {"name": "n"}, "status": {"capacity": {"cpu": "4"}}}
    told = room.ask("PUT", f"{path}/status", body)[1]["status"]
    assert (told["allocatable"], told["daemonEndpoints"]) == ({"cpu": "4"}, {"kubeletEndpoint": {"Port": 0}})
    assert told["nodeInfo"]["machineID"] == ""
    assert causes(status_of(room, path, {"allocatable": {"cpu": "-1"}})) == [
        ("status.allocatable.cpu", 'Invalid value: "-1": must be greater than or equal to 0')
    ]
    twice = {"addresses": [{"type": "InternalIP", "address": "10.0.0.1"}] * 2}
    why = [("status.addresses[1]", 'Duplicate value: {"Type":"InternalIP","Address":"10.0.0.1"}')]
    assert causes(status_of(room, path, twice)) == why
    strategic = room.answer("PATCH", f"{path}/status", {"status": twice}, **STRATEGIC)
    assert causes((strategic.status, json.loads(strategic.body))) == why


def test_what_a_namespaces_status_and_finalizers_may_say(room: Room) -> None:
    room.made("/api/v1/namespaces", {"metadata": {"name": "team"}})
    assert causes(status_of(room, "/api/v1/namespaces/team", {"phase": "Terminating"})) == [
        ("status.Phase", "Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty")
    ]
    space = {"metadata": {"name": "team"}, "spec": {"finalizers": ["hold"]}}
    assert causes(room.ask("PUT", "/api/v1/namespaces/team/finalize", space)) == [
        (
            "spec.finalizers[0]",
            'Invalid value: "hold": name is neither a standard finalizer name nor is it fully qualified',
        )
    ]
    space["spec"] = {"finalizers": ["kubernetes", "example.dev/x"]}
    _, kept = room.ask("PUT", "/api/v1/namespaces/team/finalize", space)
    assert kept["metadata"]["labels"] == {"kubernetes.io/metadata.name": "team"}
    space["spec"] = {"finalizers": []}
    _, plain = room.ask("PUT", "/api/v1/namespaces/team", space)
    assert plain["spec"]["finalizers"] == ["kubernetes", "example.dev/x"]
    assert plain["metadata"]["resourceVersion"] != kept["metadata"]["resourceVersion"], "who asks for none owns none"


def test_what_a_budgets_a_volumes_and_a_balancers_status_say(room: Room) -> None:
    body = {"metadata": {"name": "a"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}}
    room.made(BUDGETS, body)
    assert causes(status_of(room, f"{BUDGETS}/a", {"disruptionsAllowed": -1})) == [
        ("status.disruptionsAllowed", "Invalid value: -1: must be greater than or equal to 0")
    ]
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/data"}}
    volume = {"metadata": {"name": "v"}, "spec": spec}
    made = room.made("/api/v1/persistentvolumes", volume)
    assert made["metadata"]["finalizers"] == ["kubernetes.io/pv-protection"]
    _, told = room.ask("PUT", "/api/v1/persistentvolumes/v/status", {**volume, "status": {"phase": "Available"}})
    assert "finalizers" not in told["metadata"], "metadata is stored as it is sent"
    assert told["status"]["lastPhaseTransitionTime"]
    services = "/api/v1/namespaces/default/services"
    room.made(services, {"metadata": {"name": "s"}, "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]}})
    ingress = {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}
    _, told = status_of(room, f"{services}/s", ingress)
    assert told["status"]["loadBalancer"]["ingress"] == [{"ip": "1.2.3.4", "ipMode": "VIP"}]
    wrong = {"loadBalancer": {"ingress": [{"hostname": "10.0.0.1"}]}}
    assert causes(status_of(room, f"{services}/s", wrong)) == [
        (
            "status.loadBalancer.ingress[0].hostname",
            'Invalid value: "10.0.0.1": must be a DNS name, not an IP address',
        )
    ]


def test_a_status_says_what_go_always_writes(room: Room) -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": POD["spec"]}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    path = "/apis/apps/v1/namespaces/default/daemonsets"
    body = {"metadata": {"name": "d"}, "spec": spec}
    room.made(path, body)
    _, told = room.ask("PUT", f"{path}/d/status", {**body, "status": {"numberReady": 1}})
    assert told["status"] == {
        "currentNumberScheduled": 0,
        "desiredNumberScheduled": 0,
        "numberMisscheduled": 0,
        "numberReady": 1,
    }


def test_a_claims_and_a_quotas_status_may_say(room: Room) -> None:
    claims, quotas = "/api/v1/namespaces/default/persistentvolumeclaims", "/api/v1/namespaces/default/resourcequotas"
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    room.made(claims, {"metadata": {"name": "c"}, "spec": spec})
    assert causes(status_of(room, f"{claims}/c", {"capacity": {"storage": "-1"}})) == [
        ("status.capacity[storage]", "Invalid value: -1: must be a valid resource quantity")
    ]
    room.made(quotas, {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "1"}}})
    (wrong,) = causes(status_of(room, f"{quotas}/q", {"used": {"pods": "-1"}}))
    assert wrong[0] == "status.used[pods]"


def test_a_flow_schema_tells_soon_whether_its_level_is_there(room: Room) -> None:
    path = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"
    for level, status, words in (
        ("catch-all", "False", "and it exists"),
        ("none", "True", "but there is no such object"),
    ):
        spec = {"priorityLevelConfiguration": {"name": level}}
        made = room.made(path, {"metadata": {"name": f"to-{level}"}, "spec": spec})
        assert made["status"] == {}, "whoever makes it is told what was asked for"
        _, later = room.ask("GET", f"{path}/to-{level}")
        (condition,) = later["status"]["conditions"]
        assert (condition["type"], condition["status"]) == ("Dangling", status)
        assert condition["message"].endswith(words)
        assert later["metadata"]["resourceVersion"] != made["metadata"]["resourceVersion"]


# -- forms ----------------------------------------------------------------------------------------------------------


def test_a_scale_has_a_table_of_its_own(room: Room) -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": POD["spec"]}
    path = "/apis/apps/v1/namespaces/default/deployments"
    spec = {"replicas": 3, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    room.made(path, {"metadata": {"name": "scaled"}, "spec": spec})
    table = room.table(f"{path}/scaled/scale")
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Desired", "Available", "Age"]
    assert table["rows"][0]["cells"][:3] == ["scaled", 3, 0]


def test_metadata_alone_and_an_older_table_are_answered_in_the_version_that_is_asked(room: Room) -> None:
    room.made(MAPS, {"metadata": {"name": "a"}})
    accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1"
    document = json.loads(room.answer("GET", f"{MAPS}/a", accept=accept).body)
    assert (document["kind"], document["apiVersion"]) == ("PartialObjectMetadata", "meta.k8s.io/v1beta1")
    assert "data" not in document
    accept = "application/json;as=Table;g=meta.k8s.io;v=v1beta1"
    assert json.loads(room.answer("GET", MAPS, accept=accept).body)["apiVersion"] == "meta.k8s.io/v1beta1"


def test_what_nobody_could_read_is_not_written(room: Room) -> None:
    accept = "application/json;as=Poem;g=meta.k8s.io;v=v1"
    assert room.answer("POST", MAPS, {"metadata": {"name": "a"}}, accept=accept).status == 406
    assert room.ask("GET", f"{MAPS}/a")[0] == 404


def test_what_cannot_be_shown_as_it_is_asked_for_is_not_written(room: Room) -> None:
    """Metadata of a list where one object is answered, and the other way round: upstream writes, then refuses."""
    one, many = (f"application/json;as=PartialObjectMetadata{form};g=meta.k8s.io;v=v1" for form in ("", "List"))
    pods = "/api/v1/namespaces/default/pods"
    room.made(MAPS, {"metadata": {"name": "kept"}, "data": {"a": "b"}})
    room.made(pods, {**POD, "metadata": {"name": "kept"}})
    room.run(1)
    before = room.ask("GET", MAPS)[1]["metadata"]["resourceVersion"]
    sent = {"content-type": "application/merge-patch+json"}
    for method, path, body, accept in (
        ("POST", MAPS, {"metadata": {"name": "new"}}, many),
        ("PUT", f"{MAPS}/kept", {"metadata": {"name": "kept"}, "data": {"a": "c"}}, many),
        ("PATCH", f"{MAPS}/kept", {"data": {"a": "c"}}, many),
        ("DELETE", f"{pods}/kept", None, many),
        ("DELETE", MAPS, None, one),
    ):
        answer = room.answer(method, path, body, accept=accept, **(sent if method == "PATCH" else {}))
        assert (answer.status, b"you requested PartialObjectMetadata" in answer.body) == (406, True), (method, path)
    assert room.ask("GET", MAPS)[1]["metadata"]["resourceVersion"] == before
    assert room.answer("PATCH", f"{MAPS}/kept", {"data": {"a": "c"}}, accept=one, **sent).status == 200
    # What is gone at once is answered by a Status, whatever is accepted.
    assert room.answer("DELETE", f"{MAPS}/kept", accept=many).status == 200


@pytest.mark.parametrize(
    "rest", ["---\nkind: Pod\n", "---\n{broken: [\n", "...\n]]]\n", "--- x\n", "---\na: 1\na: 2\n"]
)
def test_of_yaml_the_first_document_is_read_and_no_more(room: Room, rest: str) -> None:
    """sigs.k8s.io/yaml reads one document: what follows is not even looked at."""
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: first\n{rest}"
    strict, as_yaml = {"dryRun": "All", "fieldValidation": "Strict"}, {"content-type": "application/yaml"}
    answer = room.sent("POST", MAPS, text.encode(), query=strict, **as_yaml)
    assert (answer.status, json.loads(answer.body)["metadata"]["name"]) == (201, "first")
    applied = {"content-type": "application/apply-patch+yaml"}
    owned = {**strict, "fieldManager": "m"}
    assert room.sent("PATCH", f"{MAPS}/first", text.encode(), query=owned, **applied).status == 201
    empty = room.sent("POST", MAPS, b"---\n---\n" + text.encode(), query=strict, **as_yaml)
    assert (empty.status, b"name or generateName is required" in empty.body) == (422, True)


def test_yaml_comes_back_for_refusals_too(room: Room) -> None:
    room.made(MAPS, {"metadata": {"name": "a"}, "data": {"k": "1"}})
    answer = room.sent("GET", f"{MAPS}/a", b"", accept="application/yaml")
    assert answer.content_type == "application/yaml"
    assert answer.body.startswith(b'apiVersion: v1\ndata:\n  k: "1"\nkind: ConfigMap\nmetadata:\n')
    answer = room.sent("GET", f"{MAPS}/none", b"", accept="application/yaml")
    assert (answer.status, answer.content_type) == (404, "application/yaml")
    assert b'message: configmaps "none" not found\n' in answer.body


@pytest.mark.parametrize(
    ("headers", "query", "laid_out"),
    [
        ({}, {}, False),
        ({"user-agent": "curl/8.10.1"}, {}, True),
        ({"user-agent": "Wget/1.21"}, {}, True),
        ({"user-agent": "kubectl/v1.34.1"}, {}, False),
        ({"user-agent": "kubectl/v1.34.1"}, {"pretty": "true"}, True),
        ({"user-agent": "curl/8.10.1"}, {"pretty": "false"}, False),
        ({"user-agent": "curl/8.10.1"}, {"pretty": "0"}, False),
        ({"user-agent": "Mozilla/5.0", "sec-fetch-dest": "document"}, {}, True),
        ({"user-agent": "Mozilla/5.0", "sec-fetch-dest": "empty"}, {}, False),
    ],
)
def test_json_is_laid_out_for_people(
    room: Room, headers: dict[str, str], query: dict[str, str], laid_out: bool
) -> None:
    answer = room.sent("GET", f"{MAPS}/none", b"", query=query, **headers)
    assert answer.status == 404
    assert answer.body.startswith(
        b'{\n  "kind": "Status",\n  "apiVersion": "v1",\n' if laid_out else b'{"kind":"Status",'
    )
    assert list(json.loads(answer.body))[-3:] == ["reason", "details", "code"]


def test_half_a_letter_is_read_where_the_spelling_counts_too(room: Room) -> None:
    body = rb'{"metadata":{"name":"half"},"revision":1,"data":{"a":"\ud800", "b":1}}'
    answer = room.sent("POST", REVISIONS, body)
    assert answer.status == 201, answer.body
    assert json.loads(answer.body)["data"] == {"a": "\ufffd", "b": 1}
    assert room.sent("PUT", f"{REVISIONS}/half", body).status == 200

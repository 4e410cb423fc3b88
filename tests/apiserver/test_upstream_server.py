"""What upstream's end-to-end tests of the server itself do: time limits, health, flows, discovery (test/e2e, v1.34)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clustersim.apiserver.health import CHECKS
from tests.tools.room import Room
from tests.tools.upstreamapi import CORE, does, pod

FLOWS = "/apis/flowcontrol.apiserver.k8s.io/v1"
TIMEOUT = "[sig-api-machinery] Server request timeout"
TABLES = "[sig-api-machinery] Servers with support for Table transformation should"


@does(
    f"{TIMEOUT} should return HTTP status code 400 if the user specifies an invalid timeout in the request URL",
    f"{TIMEOUT} the request should be served with a default timeout if the specified timeout in the request URL "
    "exceeds maximum allowed",
    f"{TIMEOUT} default timeout should be used if the specified timeout in the request URL is 0s",
)
def test_how_long_a_request_may_take(room: Room) -> None:
    answer = room.answer("GET", "/version", query={"timeout": "invalid"})
    assert answer.status == 400
    assert json.loads(answer.body)["message"] == (
        'invalid timeout specified in the request URL - time: invalid duration "invalid"'
    )
    for timeout in ("3m", "0s", "34s"):
        assert room.answer("GET", "/version", query={"timeout": timeout}).status == 200


@pytest.mark.parametrize("endpoint", ["healthz", "livez", "readyz"])
@does("[sig-api-machinery] health handlers should contain necessary checks")
def test_health_is_told_check_by_check(room: Room, endpoint: str) -> None:
    lines = room.answer("GET", f"/{endpoint}", query={"verbose": "1"}).body.decode().split("\n")
    assert lines[-2:] == [f"{endpoint} check passed", ""]
    assert lines[:-2] == [f"[+]{check} ok" for check in CHECKS[endpoint]]
    hooks = ("crd-informer-synced", "start-system-namespaces-controller", "apiservice-openapi-controller")
    told = ["ping", "log", "informer-sync" if endpoint == "readyz" else "etcd", "autoregister-completion"]
    assert {*told, *(f"poststarthook/{hook}" for hook in hooks)} <= set(CHECKS[endpoint])
    assert room.answer("GET", f"/{endpoint}").body == b"ok"


def test_one_check_is_asked_for_or_left_out(room: Room) -> None:
    assert room.answer("GET", "/livez/etcd").body == b"ok"
    assert room.sent("GET", "/livez/poststarthook/crd-informer-synced", b"").status == 200
    assert room.answer("GET", "/livez/no-such-check").status == 404
    # Its handlers ask for no method.
    assert room.answer("POST", "/livez", {}).status == 200
    told = room.answer("GET", "/livez", query={"verbose": "", "exclude": "etcd"}).body.decode()
    assert "[+]etcd excluded: ok\n" in told
    told = room.answer("GET", "/livez", query={"verbose": "", "exclude": "nothing"}).body.decode()
    assert 'no matches for "nothing"' in told
    left_out = {"verbose": "", "exclude": ["etcd", "nothing", "log", "at all"]}
    told = room.answer("GET", "/livez", query=left_out).body.decode()
    assert told.startswith("[+]ping ok\n[+]log excluded: ok\n[+]etcd excluded: ok\n")
    why = 'warn: some health checks cannot be excluded: no matches for "at all","nothing"'
    assert told.endswith(f"{why}\nlivez check passed\n")


def test_the_checks_are_those_of_default_feature_gates() -> None:
    assert CHECKS["livez"][:3] == ("ping", "log", "etcd")
    assert CHECKS["livez"][-1] == "poststarthook/apiservice-openapiv3-controller"
    assert CHECKS["readyz"][-1] == "shutdown"
    assert "poststarthook/storage-readiness" not in CHECKS["readyz"]


def test_levels_and_queues_are_dumped_as_a_text(room: Room) -> None:
    dumps = "/debug/api_priority_and_fairness"
    told = room.answer("GET", f"{dumps}/dump_priority_levels")
    assert told.content_type == "text/plain; charset=utf-8"
    lines = told.body.decode().split("\n")
    assert lines[0].startswith("PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, Executing")
    assert lines[1].startswith("catch-all,         0,            true,   false,       0,               0,  ")
    assert [line.partition(",")[0] for line in lines[1:4]] == ["catch-all", "exempt", "global-default"]
    level = {
        "apiVersion": "flowcontrol.apiserver.k8s.io/v1",
        "kind": "PriorityLevelConfiguration",
        "metadata": {"name": "narrow"},
        "spec": {
            "type": "Limited",
            "limited": {"limitResponse": {"type": "Queue", "queuing": {"queues": 2, "handSize": 1}}},
        },
    }
    room.made(f"{FLOWS}/prioritylevelconfigurations", level)
    queues = room.answer("GET", f"{dumps}/dump_queues").body.decode().split("\n")
    assert queues[0].startswith("PriorityLevelName, Index,  PendingRequests, ExecutingRequests, SeatsInUse, NextD")
    mine = [line for line in queues if line.startswith("narrow,")]
    assert mine == [
        f"narrow,            {one},      0,               0,                 0,          0.00000000ss,  0,"
        "               0,           0.00000000ss"
        for one in range(2)
    ]
    brief = room.answer("GET", f"{dumps}/dump_requests").body.decode()
    assert brief.endswith("AdditionalLatency, StartTime\n")
    details = {"includeRequestDetails": "1"}
    assert room.answer("GET", f"{dumps}/dump_requests", query=details).body.decode().endswith("Resource, SubResource\n")
    assert room.answer("GET", f"{dumps}/dump_nothing").status == 404


@does(f"{TABLES} return a 406 for a backend which does not implement metadata [Conformance]")
def test_a_review_has_no_table(room: Room) -> None:
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    body = {"spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}}
    accept = "application/json;as=Table;v=v1;g=meta.k8s.io"
    assert room.answer("POST", path, body, accept=accept).status == 406
    assert room.answer("POST", path, body, accept=f"{accept},application/json").status == 201


LEVEL = {"type": "Limited", "limited": {"nominalConcurrencyShares": 1, "limitResponse": {"type": "Reject"}}}


def flow_of(room: Room, path: str, user: str = "", **headers: str) -> tuple[str, str]:
    """Return the uids of the schema and of the level under which a request is answered."""
    if user:
        headers |= {"impersonate-user": user, "impersonate-group": "system:authenticated"}
    told = dict(room.answer("GET", path, **headers).headers)
    return told["x-kubernetes-pf-flowschema-uid"], told["x-kubernetes-pf-prioritylevel-uid"]


def own_flow(room: Room, schema: str, level: str) -> tuple[str, str]:
    """Return the uids of a schema and a level that every server has."""
    named = (("flowschemas", schema), ("prioritylevelconfigurations", level))
    uids = [room.ask("GET", f"{FLOWS}/{plural}/{name}")[1]["metadata"]["uid"] for plural, name in named]
    return uids[0], uids[1]


def schema(name: str, subject: Any, precedence: int = 1000, **rules: Any) -> Any:
    return {
        "metadata": {"name": name},
        "spec": {
            "matchingPrecedence": precedence,
            "priorityLevelConfiguration": {"name": "e2e"},
            "distinguisherMethod": {"type": "ByUser"},
            "rules": [{"subjects": [subject], **rules}],
        },
    }


EVERY_PATH = {"nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}]}
EVERY_RESOURCE = {
    "resourceRules": [
        {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": True, "namespaces": ["*"]}
    ]
}


@does(
    "[sig-api-machinery] API priority and fairness should ensure that requests can be classified by adding FlowSchema "
    "and PriorityLevelConfiguration"
)
def test_requests_are_told_their_flow(room: Room) -> None:
    before = flow_of(room, "/version", "foo")
    assert before == own_flow(room, "global-default", "global-default")
    level = room.made(f"{FLOWS}/prioritylevelconfigurations", {"metadata": {"name": "e2e"}, "spec": LEVEL})
    made = room.made(f"{FLOWS}/flowschemas", schema("e2e", {"kind": "User", "user": {"name": "noxu"}}, **EVERY_PATH))
    (dangling,) = room.ask("GET", f"{FLOWS}/flowschemas/e2e")[1]["status"]["conditions"]
    assert (dangling["type"], dangling["status"]) == ("Dangling", "False")
    seats = room.answer("GET", "/metrics").body.decode()
    assert 'apiserver_flowcontrol_nominal_limit_seats{priority_level="e2e"} 3\n' in seats
    assert flow_of(room, "/version", "noxu") == (made["metadata"]["uid"], level["metadata"]["uid"])
    assert flow_of(room, "/version", "foo") == before
    # A schema counts for nothing while its level is missing.
    assert room.ask("DELETE", f"{FLOWS}/prioritylevelconfigurations/e2e")[0] == 200
    assert flow_of(room, "/version", "noxu") == before


def test_a_request_has_a_flow_whatever_stands_under_the_servers_own_names(room: Room) -> None:
    for own in room.ask("GET", f"{FLOWS}/flowschemas")[1]["items"]:
        lost = schema(own["metadata"]["name"], {"kind": "User", "user": {"name": "noxu"}}, **EVERY_PATH)
        if own["spec"]["matchingPrecedence"] > 1:  # Only `exempt` may be the first.
            room.made(f"{FLOWS}/flowschemas", lost)
    last = own_flow(room, "catch-all", "catch-all")
    assert flow_of(room, "/version", "foo") == flow_of(room, "/version") == last


def test_flows_follow_groups_accounts_and_resources(room: Room) -> None:
    room.made(f"{FLOWS}/prioritylevelconfigurations", {"metadata": {"name": "e2e"}, "spec": LEVEL})
    room.account("e2e")
    token = room.token("e2e")
    assert flow_of(room, f"{CORE}/pods") == own_flow(room, "global-default", "global-default")
    rest = own_flow(room, "service-accounts", "workload-low")
    group = schema("group", {"kind": "Group", "group": {"name": "system:serviceaccounts"}}, 20, **EVERY_RESOURCE)
    subject = {"kind": "ServiceAccount", "serviceAccount": {"namespace": "default", "name": "*"}}
    by_group = room.made(f"{FLOWS}/flowschemas", group)["metadata"]["uid"]
    account = {"authorization": f"Bearer {token}"}
    assert flow_of(room, "/version", **account) == rest
    room.bind("e2e", "e2e")
    rule = {"verbs": ["*"], "apiGroups": ["", "apps"], "resources": ["*"]}
    room.made("/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
              {"metadata": {"name": "e2e"}, "rules": [rule]})  # fmt: skip
    assert flow_of(room, f"{CORE}/pods", **account)[0] == by_group
    narrow = schema("account", subject, 10, resourceRules=[{**rule, "namespaces": ["default"]}])
    by_account = room.made(f"{FLOWS}/flowschemas", narrow)["metadata"]["uid"]
    assert flow_of(room, f"{CORE}/pods", **account)[0] == by_account
    assert room.ask("DELETE", f"{FLOWS}/flowschemas/account")[0] == 200
    assert flow_of(room, f"{CORE}/pods", **account)[0] == by_group


def test_an_account_reads_metrics_by_a_role_alone(room: Room) -> None:
    room.account("e2e")
    answer = room.answer("GET", "/metrics", token=room.token("e2e"))
    assert answer.status == 403
    assert json.loads(answer.body)["message"] == (
        'forbidden: User "system:serviceaccount:default:e2e" cannot get path "/metrics"'
    )


CHUNKS = "[sig-api-machinery] Servers with support for API chunking should"
TEMPLATES = f"{CORE}/podtemplates"
COUNT = 40


def templates(room: Room) -> None:
    for number in range(COUNT):
        spec = {"containers": [{"name": "test", "image": "test2"}]}
        room.made(TEMPLATES, {"metadata": {"name": f"template-{number:04d}"}, "template": {"spec": spec}})


def rest_of(room: Room, page: Any, limit: int, found: int) -> int:
    """Read the pages that follow one of a list; return how many objects there were in all."""
    revision = page["metadata"]["resourceVersion"]
    while True:
        told = page["metadata"]
        assert told["resourceVersion"] == revision
        assert len(page["items"]) <= limit
        for one in page["items"]:
            assert one["metadata"]["name"] == f"template-{found:04d}"
            found += 1
        if "continue" not in told:
            assert "remainingItemCount" not in told
            return found
        assert told["remainingItemCount"] + found == COUNT
        page = room.ask("GET", TEMPLATES, limit=str(limit), **{"continue": told["continue"]})[1]


@does(
    f"{CHUNKS} return chunks of results for list calls [Conformance]",
    f"{CHUNKS} support continue listing from the last key if the original version has been compacted away, though the "
    "list is inconsistent [Slow] [Conformance]",
    f"{TABLES} return chunks of table results for list calls",
)
def test_lists_come_in_chunks(room: Room) -> None:
    templates(room)
    first = room.ask("GET", TEMPLATES, limit="7")[1]
    assert rest_of(room, first, 7, 0) == COUNT
    assert len(room.ask("GET", TEMPLATES, limit=str(COUNT + 1))[1]["items"]) == COUNT
    accept = "application/json;as=Table;v=v1beta1;g=meta.k8s.io"
    table = json.loads(room.answer("GET", TEMPLATES, query={"limit": "2"}, accept=accept).body)
    assert [row["cells"][0] for row in table["rows"]] == ["template-0000", "template-0001"]
    query = {"continue": table["metadata"]["continue"]}
    table = json.loads(room.answer("GET", TEMPLATES, query=query, accept=accept).body)
    assert table["rows"][0]["cells"][0] == "template-0002"
    # What the first page was read from is compacted away five minutes later.
    query = {"limit": "7", "continue": first["metadata"]["continue"]}
    room.run(240)
    assert room.ask("GET", TEMPLATES, **query)[0] == 200
    room.run(65)
    status, expired = room.ask("GET", TEMPLATES, **query)
    assert (status, expired["reason"]) == (410, "Expired")
    query["continue"] = expired["metadata"]["continue"]
    second = room.ask("GET", TEMPLATES, **query)[1]
    assert second["metadata"]["resourceVersion"] != first["metadata"]["resourceVersion"]
    assert rest_of(room, second, 7, 7) == COUNT


@does(
    f"{TABLES} return generic metadata details across all namespaces for nodes",
    f"{TABLES} return pod details",
)
def test_tables_of_the_older_version(room: Room) -> None:
    room.made(f"{CORE}/pods", pod("pod-1"))
    accept = "application/json;as=Table;v=v1beta1;g=meta.k8s.io"
    for path, first in ((f"{CORE}/pods/pod-1", "pod-1"), ("/api/v1/nodes", "n1")):
        table = json.loads(room.answer("GET", path, accept=accept).body)
        assert (table["kind"], table["apiVersion"]) == ("Table", "meta.k8s.io/v1beta1")
        assert table["metadata"]["resourceVersion"]
        assert table["columnDefinitions"][0]["name"] == "Name"
        assert table["rows"][0]["cells"][0] == first
        assert {len(row["cells"]) for row in table["rows"]} == {len(table["columnDefinitions"])}

"""The session's scheduler over HTTP: what it runs, another one, and what is wrong with one that is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.tools.application import bearer, http, opened
from tests.tools.http import PatientClient
from tests.tools.patience import PATIENCE_SECONDS
from tests.tools.server import Server, wait_for


class Teacher:
    """A session of the running installation and its teacher's requests."""

    def __init__(self, client: httpx.Client, session: dict[str, Any]) -> None:
        self.client = client
        self.path = f"/api/sessions/{session['code']}/scheduler"
        self.kubernetes = f"/clusters/{session['code']}"
        self.code = session["code"]

    def put(self, body: Any, expect: int = 200) -> Any:
        answer = self.client.put(self.path, **({"content": body} if isinstance(body, str) else {"json": body}))
        assert answer.status_code == expect, answer.text
        return answer.json()

    def get(self) -> Any:
        return self.client.get(self.path).json()

    def pod(self, name: str, **spec: Any) -> None:
        document = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name},
            "spec": {"containers": [{"name": "c", "image": "nginx"}], **spec},
        }
        answer = self.client.post(f"{self.kubernetes}/api/v1/namespaces/default/pods", json=document)
        assert answer.status_code == 201, answer.text

    def node_of(self, name: str) -> str:
        answer = self.client.get(f"{self.kubernetes}/api/v1/namespaces/default/pods/{name}")
        return str(answer.json()["spec"].get("nodeName") or "")

    def trace(self, name: str) -> Any:
        query = {"pod": f"default/{name}", "limit": 1}
        found = self.client.get(f"/api/sessions/{self.code}/decisions", params=query).json()
        return found[0] if found else None

    def clock(self, **fields: Any) -> None:
        answer = self.client.patch(f"/api/sessions/{self.code}/clock", json=fields)
        assert answer.status_code == 200, answer.text


@pytest.fixture
def teacher(live_server_up: Server) -> Iterator[Teacher]:
    with PatientClient(live_server_up.url) as client:
        session = client.post("/api/sessions", json={"title": "Scheduler", "template": "three-nodes"}).json()
        client.headers.update(bearer(session["token"]))
        client.cookies.clear()
        one = Teacher(client, session)
        one.clock(pace=0)
        wait_for(lambda: one.get()["profiles"], what="the profiles")
        yield one


def test_what_runs_is_told_plugin_by_plugin_and_point_by_point(teacher: Teacher) -> None:
    shown = teacher.get()
    assert (shown["era"], shown["title"], shown["configuration"]) == ("v1.34", "kube-scheduler 1.34", None)
    (profile,) = shown["profiles"]
    order = {one["point"]: one["plugins"] for one in profile["order"]}
    assert order["queueSort"] == ["PrioritySort"]
    assert order["filter"][:3] == ["NodeUnschedulable", "NodeName", "TaintToleration"]
    weights = {one["name"]: one["weight"] for one in profile["plugins"] if "score" in one["points"]}
    assert (weights["TaintToleration"], weights["NodeResourcesFit"]) == (3, 1)
    assert set(profile["enabled"]) == {one["name"] for one in profile["plugins"]} <= set(shown["registered"])
    assert {"v1.34", "algorithm-provider", "round-robin"} <= {one["name"] for one in shown["eras"]}


def test_a_configuration_as_yaml_takes_effect_at_the_next_cycle(teacher: Teacher) -> None:
    answered = teacher.put(
        """
        apiVersion: kubescheduler.config.k8s.io/v1
        kind: KubeSchedulerConfiguration
        podInitialBackoffSeconds: 3
        profiles:
        - schedulerName: default-scheduler
          plugins:
            score: {disabled: [{name: "*"}], enabled: [{name: ImageLocality, weight: 7}]}
            filter: {disabled: [{name: NodePorts}]}
        """
    )
    assert answered == teacher.get()
    assert answered["podInitialBackoffSeconds"] == 3
    assert answered["configuration"]["podInitialBackoffSeconds"] == 3
    (profile,) = answered["profiles"]
    order = {one["point"]: one["plugins"] for one in profile["order"]}
    assert order["score"] == ["ImageLocality"]
    refused = {(one["name"], one["point"]): one["reason"] for one in profile["refused"]}
    assert refused["NodePorts", "filter"] == "disabled at this point"
    assert refused["NodeResourcesFit", "score"] == "disabled at this point"
    teacher.pod("web")
    trace = wait_for(lambda: teacher.trace("web"), what="the decision")
    assert list(trace["result"]["scores"]["plugins"]) == ["ImageLocality"]
    assert trace["input"]["configuration"] == answered["hash"]


def test_an_era_runs_and_is_left_again(teacher: Teacher) -> None:
    assert teacher.put({"era": "round-robin"})["era"] == "round-robin"
    for name in ("a", "b", "c"):
        teacher.pod(name)
    placed = wait_for(lambda: all(nodes := [teacher.node_of(name) for name in "abc"]) and nodes, what="three bindings")
    assert len(set(placed)) == 3
    policy = {"kind": "Policy", "apiVersion": "v1", "predicates": [{"name": "PodFitsResources"}], "priorities": []}
    answered = teacher.put(policy)
    assert (answered["era"], answered["policy"]) == ("algorithm-provider", policy)
    assert teacher.put({"era": "v1.34"})["policy"] is None


def test_while_time_stands_the_owner_obeys_too(teacher: Teacher) -> None:
    teacher.clock(paused=True)
    answered = teacher.put({"percentageOfNodesToScore": 40})
    assert (answered["percentageOfNodesToScore"], teacher.get()["percentageOfNodesToScore"]) == (40, 40)
    teacher.pod("web")
    teacher.clock(paused=False)
    trace = wait_for(lambda: teacher.trace("web"), what="the decision")
    assert trace["input"]["configuration"] == answered["hash"]


def test_pods_of_a_profile_that_goes_leave_the_queue_and_come_back(teacher: Teacher) -> None:
    teacher.put({"profiles": [{"schedulerName": "other"}]})
    teacher.pod("web")
    teacher.pod("its", schedulerName="other")
    wait_for(lambda: teacher.node_of("its"), what="the other profile's pod")
    assert teacher.node_of("web") == ""
    teacher.put({"era": "v1.34"})
    wait_for(lambda: teacher.node_of("web"), what="the pod whose profile came back")


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        pytest.param({"era": "v9"}, ["era"], id="an unknown era"),
        pytest.param({"era": "v1.34", "policy": {}}, ["policy"], id="a field that the era has not"),
        pytest.param({"profiles": [{"plugin": {}}]}, ["profiles[0].plugin"], id="an unknown field"),
        pytest.param(
            {"era": "v1.34", "configuration": {"parallelism": 0}},
            ["configuration.parallelism"],
            id="in a spec the path begins at the spec",
        ),
        pytest.param(
            {"parallelism": 0, "percentageOfNodesToScore": 101},
            ["percentageOfNodesToScore", "parallelism"],
            id="every wrong field at once",
        ),
        pytest.param(
            {"profiles": [{"plugins": {"filter": {"enabled": [{"name": "PrioritySort"}]}}}]},
            ["profiles[0]"],
            id="a plugin that does not extend the point",
        ),
        pytest.param({"kind": "Pod", "apiVersion": "v1"}, ["kind"], id="another kind"),
        pytest.param({"kind": "Policy", "predicates": [{"name": "Nope"}]}, ["predicates[0].name"], id="in a Policy"),
    ],
)
def test_what_is_wrong_is_refused_by_field_and_the_old_one_stays(
    teacher: Teacher, body: Any, fields: list[str]
) -> None:
    before = teacher.get()
    refused = teacher.put(body, expect=422)
    assert [cause["field"] for cause in refused["details"]["causes"]] == fields
    assert teacher.get() == before


@pytest.mark.parametrize(
    ("body", "code"),
    [("a: [", 400), ("a: 1\n---\nb: 2\n", 400), ("", 400), ("x: " + "a" * 70_000, 413)],
)
def test_what_cannot_be_read_is_refused(teacher: Teacher, body: str, code: int) -> None:
    teacher.put(body, expect=code)


async def test_only_the_teacher_may_and_nothing_changes_without_an_owner() -> None:
    async with http(timeout=PATIENCE_SECONDS) as client:
        session = await opened(client)
        path = f"/api/sessions/{session['code']}/scheduler"
        client.cookies.clear()
        assert (await client.put(path, json={"era": "v1.34"})).status_code == 401
        people = f"/api/sessions/{session['code']}/people"
        viewer = await client.post(people, json={"role": "viewer", "name": "Wall"}, headers=bearer(session["token"]))
        token = viewer.json()["token"]
        assert (await client.get(path, headers=bearer(token))).status_code == 200
        assert (await client.put(path, json={"era": "v1.34"}, headers=bearer(token))).status_code == 403
        asked = await client.put(path, json={"era": "round-robin"}, headers=bearer(session["token"]))
        assert asked.status_code == 503
        assert (await client.get(path, headers=bearer(token))).json()["era"] == "v1.34"


def _metrics(teacher: Teacher, identity: str = "kube-scheduler-0", expect: int = 200) -> str:
    answer = teacher.client.get(f"/api/sessions/{teacher.code}/replicas/{identity}/metrics")
    assert answer.status_code == expect, answer.text
    return answer.text


def test_a_replicas_metrics_come_from_the_owner(teacher: Teacher) -> None:
    teacher.pod("web")
    wait_for(lambda: teacher.node_of("web"), what="the binding")
    # The binding is seen by others before its own answer has come back to the scheduler.
    wait_for(lambda: 'extension_point="Bind"' in _metrics(teacher), what="the binding's duration")
    families = {family.name: family for family in text_string_to_metric_families(_metrics(teacher))}
    (attempts,) = families["scheduler_schedule_attempts"].samples
    assert attempts.labels == {"result": "scheduled", "profile": "default-scheduler"}
    assert attempts.value >= 1
    durations = families["scheduler_framework_extension_point_duration_seconds"].samples
    seconds = {one.labels["extension_point"]: one.value for one in durations if one.name.endswith("_sum")}
    assert {"PreFilter", "Filter", "Score", "Reserve", "Bind"} <= set(seconds)
    assert 0 < seconds["Filter"] < 5
    plugins = families["scheduler_plugin_execution_duration_seconds"].samples
    assert "NodeResourcesFit" in {one.labels["plugin"] for one in plugins}
    pending = {one.labels["queue"]: one.value for one in families["scheduler_pending_pods"].samples}
    assert pending == {"active": 0, "backoff": 0, "unschedulable": 0, "gated": 0}


def test_only_replicas_that_live_have_metrics(teacher: Teacher) -> None:
    assert "workqueue_depth" in _metrics(teacher, "kube-controller-manager-0")
    _metrics(teacher, "kube-scheduler-7", expect=404)
    fault = f"/api/sessions/{teacher.code}/replicas/kube-scheduler-0/fault"
    assert teacher.client.post(fault, json={"kind": "crash"}).status_code == 200
    assert "is down" in _metrics(teacher, expect=503)

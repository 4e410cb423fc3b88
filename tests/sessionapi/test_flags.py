"""Flags over HTTP: what is in force, what is taken, what is refused, and what obeys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.tools.application import bearer
from tests.tools.http import PatientClient
from tests.tools.server import Server

MANAGER = "kube-controller-manager"
NODES = {
    MANAGER: {
        "node-monitor-grace-period": "12s",
        "node-monitor-period": "2s",
        "horizontal-pod-autoscaler-sync-period": "3s",
        "pvclaimbinder-sync-period": "3s",
        "concurrent-gc-syncs": "20",
    },
    "kubelet": {"annotation-prefix": "example"},
}


class Session:
    def __init__(self, client: PatientClient, code: str) -> None:
        self.client = client
        self.path = f"/api/sessions/{code}/flags"
        self.objects = f"/clusters/{code}/apis/clustersim.io/v1/flags"

    def put(self, body: Any, expect: int = 200) -> Any:
        answer = self.client.put(self.path, json=body)
        assert answer.status_code == expect, answer.text
        return answer.json()

    def get(self) -> Any:
        return self.client.get(self.path).json()


@pytest.fixture
def session(live_server_up: Server) -> Iterator[Session]:
    with PatientClient(live_server_up.url) as client:
        made = client.post("/api/sessions", json={"title": "Flags", "template": "empty"}).json()
        client.headers.update(bearer(made["token"]))
        client.cookies.clear()
        yield Session(client, made["code"])


def test_what_is_set_is_in_force_and_the_rest_has_upstreams_defaults(session: Session) -> None:
    before = session.get()
    assert list(before) == ["kube-apiserver", MANAGER, "kube-scheduler", "kubelet", "kube-proxy"]
    assert before[MANAGER]["node-monitor-grace-period"] == "50s"
    after = session.put(NODES)
    assert after == session.get()
    assert after == {
        **before,
        MANAGER: {**before[MANAGER], **NODES[MANAGER]},
        "kubelet": {**before["kubelet"], **NODES["kubelet"]},
    }
    merged = session.put({MANAGER: {"node-monitor-period": None, "terminated-pod-gc-threshold": 7}})
    assert merged[MANAGER]["node-monitor-period"] == "5s"
    assert merged[MANAGER]["node-monitor-grace-period"] == "12s"
    assert merged[MANAGER]["terminated-pod-gc-threshold"] == "7"
    assert session.put({"kube-scheduler": {"leader-elect": False}})["kube-scheduler"]["leader-elect"] == "false"
    kept = session.client.get(f"{session.objects}/flags").json()
    assert kept["spec"][MANAGER]["node-monitor-grace-period"] == "12s"
    assert kept["status"]["observedGeneration"] == kept["metadata"]["generation"]


@pytest.mark.parametrize(
    ("body", "field", "told"),
    [
        ({MANAGER: {"node-monitor-periode": "2s"}}, f"{MANAGER}.node-monitor-periode", "unknown flag"),
        ({MANAGER: {"nope": None}}, f"{MANAGER}.nope", "unknown flag"),
        ({MANAGER: {"node-monitor-period": "soon"}}, f"{MANAGER}.node-monitor-period", 'invalid duration "soon"'),
        ({MANAGER: {"concurrent-gc-syncs": 2.5}}, f"{MANAGER}.concurrent-gc-syncs", "invalid syntax"),
        ({MANAGER: {"concurrent-gc-syncs": [3]}}, f"{MANAGER}.concurrent-gc-syncs", "give a text"),
        ({MANAGER: "x"}, MANAGER, "give an object"),
        ({"kube-dns": {}}, "kube-dns", "no such field"),
        ({"kubelet": {"annotation-prefix": "Not/That"}}, "kubelet.annotation-prefix", "RFC 1123 subdomain"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_changes(session: Session, body: Any, field: str, told: str) -> None:
    before = session.get()
    status = session.put({**body, "kube-apiserver": {"etcd-prefix": "/other"}}, expect=422)
    assert [cause["field"] for cause in status["details"]["causes"]] == [field]
    assert told in status["details"]["causes"][0]["message"]
    assert session.get() == before


def test_flags_are_obeyed_while_time_stands(session: Session) -> None:
    clock = session.path.replace("/flags", "/clock")
    assert session.client.patch(clock, json={"paused": True}).status_code == 200
    assert session.put(NODES)[MANAGER]["node-monitor-period"] == "2s"


def test_only_a_teacher_sets_flags_and_only_here(session: Session) -> None:
    code = session.path.split("/")[3]
    with PatientClient(str(session.client.base_url)) as other:
        other.headers.update(bearer(other.post(f"/api/sessions/{code}/join", json={"name": "Ann"}).json()["token"]))
        other.cookies.clear()
        assert other.put(session.path, json=NODES).status_code == 403
        assert other.get(session.path).status_code == 200
    document = {"apiVersion": "clustersim.io/v1", "kind": "Flags", "metadata": {"name": "flags"}, "spec": {}}
    assert session.client.post(session.objects, json=document).status_code == 403

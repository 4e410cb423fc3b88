"""The way of API requests: which steps they took, where they were refused, and what controllers are at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.tools.application import bearer
from tests.tools.http import PatientClient
from tests.tools.server import Server, wait_for


class Session:
    def __init__(self, client: PatientClient, made: Any) -> None:
        self.client = client
        self.code = made["code"]
        self.path = f"/api/sessions/{made['code']}"
        self.pods = f"/clusters/{made['code']}/api/v1/namespaces/default/pods"

    def pod(self, name: str = "web", **spec: Any) -> Any:
        body = {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "nginx"}], **spec}}
        return self.client.post(self.pods, json=body)

    def newest(self, limit: int = 1) -> Any:
        answer = self.client.get(f"{self.path}/requests?limit={limit}")
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture
def session(live_server_up: Server) -> Iterator[Session]:
    with PatientClient(live_server_up.url) as client:
        made = client.post("/api/sessions", json={"title": "Way", "template": "three-nodes"}).json()
        client.headers.update(bearer(made["token"]))
        client.cookies.clear()
        yield Session(client, made)


def steps(request: Any) -> list[str]:
    return list(dict.fromkeys(step["step"] for step in request["steps"]))


def test_a_request_that_creates_a_pod_tells_its_way(session: Session) -> None:
    made = session.pod()
    assert made.status_code == 201
    (request,) = session.newest()
    assert steps(request) == [
        "authentication",
        "authorization",
        "registry",
        "mutating",
        "validating",
        "quota",
        "store",
    ]
    told = {step["step"]: step["message"] for step in request["steps"] if "message" in step and "plugin" not in step}
    assert told == {
        "authentication": "teacher, clustersim:teacher, system:authenticated",
        "authorization": "clustersim:teacher allows create pods in default",
    }
    assert request["verb"] == "create"
    assert request["key"] == "/registry/pods/default/web"
    assert (request["rvBefore"], request["rvAfter"]) == ("", made.json()["metadata"]["resourceVersion"])
    account = next(step for step in request["steps"] if step.get("plugin") == "ServiceAccount")
    assert account["result"] == "changed"
    assert account["message"].startswith("serviceAccountName default, volume kube-api-access-")
    assert all(step["ms"] >= 0 for step in request["steps"])
    assert session.client.get(f"{session.path}/requests/{request['id']}").json() == request


def test_the_way_ends_at_the_step_that_refused(session: Session) -> None:
    flags = {"kube-apiserver": {"etcd-prefix": "/elsewhere"}}
    assert session.client.put(f"{session.path}/flags", json=flags).status_code == 200
    assert session.pod(serviceAccountName="nobody").status_code == 403
    (request,) = session.newest()
    assert (request["code"], request["key"]) == (403, "/elsewhere/pods/default/web")
    assert (request["steps"][-1]["plugin"], request["steps"][-1]["result"]) == ("ServiceAccount", "refused")
    assert "service account default/nobody" in request["message"]
    headers = {"Authorization": "Bearer wrong"}
    assert session.client.get(session.pods, headers=headers).status_code == 401
    (request,) = session.newest()
    assert [(step["step"], step["result"]) for step in request["steps"]] == [("authentication", "refused")]


def test_both_writers_of_a_race_tell_on_what_they_were_made(session: Session) -> None:
    path = f"/clusters/{session.code}/api/v1/namespaces/default/configmaps"
    read = session.client.post(path, json={"metadata": {"name": "one"}}).json()["metadata"]["resourceVersion"]
    body = {"metadata": {"name": "one", "resourceVersion": read}}
    first = session.client.put(f"{path}/one", json={**body, "data": {"by": "first"}})
    assert first.status_code == 200
    assert session.client.put(f"{path}/one", json={**body, "data": {"by": "second"}}).status_code == 409
    patch = {"metadata": {"resourceVersion": read}, "data": {"by": "third"}}
    headers = {"Content-Type": "application/merge-patch+json"}
    assert session.client.patch(f"{path}/one", json=patch, headers=headers).status_code == 409
    preconditions = {"preconditions": {"resourceVersion": read}}
    assert session.client.request("DELETE", f"{path}/one", json=preconditions).status_code == 409
    stored = first.json()["metadata"]["resourceVersion"]
    told = [(one["code"], one["rvAsked"], one["rvBefore"], one["rvAfter"]) for one in session.newest(5)]
    assert told == [(409, read, stored, "")] * 3 + [(200, read, read, stored), (201, "", "", read)]


def test_students_see_their_own_requests(session: Session) -> None:
    with PatientClient(str(session.client.base_url)) as other:
        joined = other.post(f"{session.path}/join", json={"name": "Ann"}).json()
        other.headers.update(bearer(joined["token"]))
        other.cookies.clear()
        session.pod()
        nodes = f"/clusters/{session.code}/api/v1/nodes"
        assert other.post(nodes, json={"metadata": {"name": "n9"}}).status_code == 403
        (own,) = other.get(f"{session.path}/requests").json()
    assert (own["steps"][-1]["step"], own["steps"][-1]["result"]) == ("authorization", "refused")
    assert own["key"] == "/registry/minions"
    assert {request["user"] for request in session.newest(50)} == {own["user"], "teacher"}


def test_what_is_read_and_watched_from_outside_is_told(session: Session) -> None:
    agent = {"User-Agent": "kubectl/v1.34.1 (linux/amd64) kubernetes/93248f9"}
    mine = lambda: [one for one in session.client.get(f"{session.path}/watches").json() if "client" in one]  # noqa: E731
    session.pod("read")
    assert session.client.get(f"{session.pods}/read", headers=agent).status_code == 200
    assert session.client.get(f"{session.pods}/nobody", headers=agent).status_code == 404
    with session.client.stream("GET", f"{session.pods}?watch=true", headers=agent) as stream:
        lines = stream.iter_lines()
        assert "read" in next(lines)
        read = [
            (one["agent"], one["user"], one["verb"], one["path"].rsplit("/", 1)[-1])
            for one in reads(session.client, session)
        ]
        assert read[:2] == [("kubectl", "teacher", "watch", "pods"), ("kubectl", "teacher", "get", "read")]
        (watch,) = mine()
        assert (watch["client"]["agent"], watch["client"]["namespace"]) == ("kubectl", "default")
        assert watch["resources"][0]["resource"] == "pods"
        session.pod("more")
        assert any("more" in line for line in lines)
        assert mine()[0]["resources"][0]["watchEvents"] >= 1
        with PatientClient(str(session.client.base_url)) as other:
            joined = other.post(f"{session.path}/join", json={"name": "Ann"}).json()
            other.headers.update(bearer(joined["token"]))
            other.cookies.clear()
            assert reads(other, session) == []
            assert not [one for one in other.get(f"{session.path}/watches").json() if "client" in one]
    wait_for(lambda: mine() == [])


def reads(client: PatientClient, session: Session) -> Any:
    return client.get(f"{session.path}/reads").json()


@pytest.mark.parametrize("limit", ["0", "x", "100000"])
def test_a_bad_limit_is_refused(session: Session, limit: str) -> None:
    answer = session.client.get(f"{session.path}/requests?limit={limit}")
    assert answer.status_code == 422
    assert session.client.get(f"{session.path}/requests/nope").status_code == 404


def test_controllers_tell_by_what_they_work_and_what_they_did(session: Session) -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    sets = f"/clusters/{session.code}/apis/apps/v1/namespaces/default/replicasets"
    assert session.client.post(sets, json={"metadata": {"name": "web"}, "spec": spec}).status_code == 201
    assert session.client.put(
        f"{session.path}/flags", json={"kube-controller-manager": {"concurrent-replicaset-syncs": "3"}}
    )

    def panel() -> Any:
        found = session.client.get(f"{session.path}/controllers/replicaset").json()
        return found if found.get("last") else None

    found = wait_for(panel, what="the controller to have reconciled the set")
    assert found["flags"] == {"concurrent-replicaset-syncs": "3", "burst-replicas": "500"}
    assert found["workers"]["limit"] == 3
    assert set(found["caches"]) == {"pods", "replicasets.apps"}
    listed = session.client.get(f"{session.path}/controllers").json()
    assert "node-lifecycle" in [one["name"] for one in listed]
    assert session.client.get(f"{session.path}/controllers/nope").status_code == 404


def test_the_store_is_read_by_its_keys(session: Session) -> None:
    # By a name that no controller gives: the template's Deployments make pods of their own meanwhile.
    version = session.pod("alone").json()["metadata"]["resourceVersion"]
    found = session.client.get(f"{session.path}/store?prefix=/registry/pods/default/alo").json()
    assert [(one["key"], one["resource"]) for one in found["keys"]] == [("/registry/pods/default/alone", "pods")]
    assert int(found["keys"][0]["resourceVersion"]) >= int(version)
    whole = session.client.get(f"{session.path}/store?limit=5").json()
    keys = [one["key"] for one in whole["keys"]]
    assert (len(keys), keys) == (5, sorted(keys))
    assert whole["count"] > 20
    assert all(key.startswith("/registry/") for key in keys)
    one = session.client.get(f"{session.path}/store?key=/registry/pods/default/alone").json()
    assert one["value"]["metadata"]["resourceVersion"] == one["resourceVersion"]
    assert one["bytes"] > 500
    assert session.client.get(f"{session.path}/store?key=/registry/pods/default/none").status_code == 404
    assert session.client.get(f"{session.path}/store?limit=0").status_code == 422
    changed = session.client.put(f"{session.path}/flags", json={"kube-apiserver": {"etcd-prefix": "/lab"}})
    assert changed.status_code == 200
    assert session.client.get(f"{session.path}/store?key=/lab/pods/default/alone").status_code == 200


def test_a_student_does_not_see_the_keys_of_secrets(session: Session) -> None:
    secret = {"metadata": {"name": "hidden"}, "stringData": {"a": "b"}}
    path = session.pods.replace("/pods", "/secrets")
    assert session.client.post(path, json=secret).status_code == 201
    key = f"{session.path}/store?key=/registry/secrets/default/hidden"
    assert session.client.get(key).status_code == 200
    joined = session.client.post(f"{session.path}/join", json={"name": "Ann"}, headers={"Authorization": ""})
    token = joined.json()["token"]
    assert session.client.get(key, headers=bearer(token)).status_code == 404

"""`manage.py replica`: another process takes part in a session's election, schedules, rests and steps down."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tools.patience import PATIENCE_SECONDS
from tests.tools.server import ROOT, Server, wait_for
from tests.tools.session import Session

LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"


def pod(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "nginx:1.27"}]},
    }


def address(session: Session) -> str:
    return f"{session.server.url}/clusters/{session.code}"


THINGS: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "things", "kind": "Thing"},
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
        ],
    },
}


class Outside:
    """One `manage.py replica`."""

    def __init__(self, session: Session, folder: Path, component: str, token: str, identity: str) -> None:
        self.log = folder / f"{identity}.log"
        command = [sys.executable, str(ROOT / "manage.py"), "replica", "--server", address(session), "--token", token]
        command += ["--component", component, "--identity", identity]
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)

    def text(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def end(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE_SECONDS)


@pytest.fixture
def session(live_server_up: Server) -> Session:
    opened = Session(live_server_up, "three-nodes")
    # Twice as fast: a leader has to renew within 10 s of the session's time, which a busy machine must be able to.
    opened.clock(rate=2, pace=0)
    return opened


@pytest.fixture
def outside(session: Session, tmp_path: Path) -> Iterator[Any]:
    begun: list[Outside] = []

    def begin(component: str = "kube-scheduler", *, token: str = "", identity: str = "from-outside") -> Outside:
        made = (
            token
            or session.call(
                "POST", f"/api/sessions/{session.code}/people", {"role": "component", "name": identity}, expect=201
            )["token"]
        )
        begun.append(Outside(session, tmp_path, component, made, identity))
        return begun[-1]

    yield begin
    for one in begun:
        one.end()


def holder(session: Session) -> str:
    """Return who holds the schedulers' lease, empty where nobody does or has yet made it."""
    path, _, name = LEASE.rpartition("/")
    return next(
        (one["spec"]["holderIdentity"] for one in session.api(path)["items"] if one["metadata"]["name"] == name), ""
    )


def bound(session: Session, name: str) -> str:
    found = session.api(f"/api/v1/namespaces/default/pods/{name}")
    return str(found["spec"].get("nodeName") or "")


def crash(session: Session, identity: str) -> None:
    session.call("POST", f"/api/sessions/{session.code}/replicas/{identity}/fault", {"kind": "crash"})


def test_a_scheduler_from_outside_takes_over_schedules_and_gives_its_lease_up(session: Session, outside: Any) -> None:
    other = outside()
    wait_for(lambda: "takes part" in other.text(), what=other.text())
    assert holder(session) == "kube-scheduler-0"
    crash(session, "kube-scheduler-0")
    wait_for(lambda: holder(session) == "from-outside", what="a takeover")
    session.create_pod("one")
    wait_for(lambda: bound(session, "one"), what="a binding by the replica from outside")
    told = "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=one,reason=Scheduled"
    events = wait_for(lambda: session.api(told)["items"], what="the event of a binding")
    assert [one["reportingInstance"] or one["source"].get("host") for one in events] == ["from-outside"]
    assert other.end() == 0
    assert holder(session) == ""
    assert "Requested to terminate, exiting" in other.text()
    assert "Traceback" not in other.text()


def test_its_election_rests_with_the_sessions_clock(session: Session, outside: Any) -> None:
    crash(session, "kube-scheduler-0")
    other = outside()
    wait_for(lambda: holder(session) == "from-outside", what="a takeover")
    session.clock(paused=True)
    wait_for(lambda: "time stands" in other.text(), what="a replica that has heard of the pause")
    version = session.api(LEASE)["metadata"]["resourceVersion"]
    session.create_pod("meanwhile")
    for _ in range(20):
        session.clock()
    assert session.api(LEASE)["metadata"]["resourceVersion"] == version
    session.clock(paused=False)
    wait_for(lambda: session.api(LEASE)["metadata"]["resourceVersion"] != version, what="a renewal after the pause")
    assert holder(session) == "from-outside"
    assert other.process.poll() is None


def test_a_controller_manager_from_outside_makes_pods(session: Session, outside: Any) -> None:
    """The ReplicaSet is there before the manager is: it comes in a list, whose items do not say their kind."""
    crash(session, "kube-controller-manager-0")
    template = {"metadata": {"labels": {"app": "o"}}, "spec": pod("x")["spec"]}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "o"}}, "template": template}
    made = session.create(
        "/apis/apps/v1/namespaces/default/replicasets",
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "o"}, "spec": spec},
    )
    outside("kube-controller-manager", token=session.token, identity="manager-outside")
    pods = "/api/v1/namespaces/default/pods?labelSelector=app=o"
    wait_for(lambda: len(session.api(pods)["items"]) == 2, what="two pods")
    lease = LEASE.replace("kube-scheduler", "kube-controller-manager")
    assert session.api(lease)["spec"]["holderIdentity"] == "manager-outside"
    # What the session defines is watched from outside as well: an instance goes with its owner.
    session.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", THINGS)
    things = "/apis/example.com/v1/namespaces/default/things"
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "o", "uid": made["metadata"]["uid"]}
    metadata = {"name": "t", "ownerReferences": [owner]}
    session.create(things, {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": metadata})
    session.call("DELETE", f"/clusters/{session.code}/apis/apps/v1/namespaces/default/replicasets/o")
    wait_for(lambda: session.api(things)["items"] == [], what="the instance collected")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"--server": "http://127.0.0.1:1/nothing"}, "is no session's API server"),
        ({"--server": "http://127.0.0.1:1/clusters/AAA-AAA"}, "cannot be reached"),
        ({"--token": "wrong"}, "token"),
    ],
)
def test_what_cannot_be_is_told_at_once(session: Session, change: dict[str, str], told: str) -> None:
    given = {
        "--server": address(session),
        "--token": session.token,
        "--component": "kube-scheduler",
        "--identity": "x",
        **change,
    }
    command = [sys.executable, str(ROOT / "manage.py"), "replica", *(part for pair in given.items() for part in pair)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert done.returncode != 0
    assert told in done.stderr
    assert "Traceback" not in done.stderr

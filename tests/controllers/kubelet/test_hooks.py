"""`lifecycle`: a command that runs as soon as its container has started, and one before it is asked to end."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.log.operations import Delete
from tests.tools.lab import Document, Lab, node, pod


def hooked(*command: str, name: str = "main", **more: Any) -> Document:
    lifecycle = {"postStart": {"exec": {"command": list(command)}}}
    return {"name": name, "image": "nginx:1.27", "lifecycle": lifecycle, **more}


def looks_for(path: str) -> Document:
    return {"readinessProbe": {"exec": {"command": ["cat", path]}, "periodSeconds": 1}}


def status(lab: Lab, name: str = "main") -> Document:
    told: list[Document] = lab.get("pods", "web")["status"]["containerStatuses"]
    return next(one for one in told if one["name"] == name)


def test_what_a_hook_writes_is_there() -> None:
    writes = ("/bin/sh", "-c", "echo hello > /tmp/said")
    lab = Lab([node("n1"), pod("web", containers=[hooked(*writes, **looks_for("/tmp/said"))])])
    lab.run(20)
    assert status(lab)["ready"]
    other = Lab([node("n1"), pod("web", containers=[hooked("true", **looks_for("/tmp/said"))])])
    other.run(20)
    assert not status(other)["ready"], "without it there is no such file"


def test_what_a_hook_writes_in_a_volume_is_seen_by_who_mounts_it_too() -> None:
    mounts = {"volumeMounts": [{"name": "data", "mountPath": "/data"}]}
    first = hooked("sh", "-c", "echo 1 > /data/one", name="first", **mounts)
    second = {"name": "second", "image": "redis:7", **mounts, **looks_for("/data/one")}
    lab = Lab([node("n1"), pod("web", containers=[first, second], volumes=[{"name": "data", "emptyDir": {}}])])
    lab.run(20)
    assert status(lab, "second")["ready"]


def test_a_hook_that_fails_ends_its_container_which_is_started_again_with_back_off() -> None:
    lab = Lab([node("n1"), pod("web", containers=[hooked("sh", "-c", "exit 3")])])
    lab.run(60)
    reasons = lab.reasons("web")
    assert reasons.index("Started") < reasons.index("FailedPostStartHook") < reasons.index("Killing")
    assert status(lab)["restartCount"] >= 1
    assert status(lab)["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert status(lab)["lastState"]["terminated"]["exitCode"] == 137


def test_a_hook_of_which_nothing_is_known_goes_well() -> None:
    lab = Lab([node("n1"), pod("web", containers=[hooked("/app/register", "--now")])])
    lab.run(20)
    assert status(lab)["ready"]
    assert "FailedPostStartHook" not in lab.reasons("web")


def ends(*command: str, grace: int = 30, **more: Any) -> tuple[float, list[str]]:
    """Return (seconds from the deletion of a pod with such a hook until it is gone, the reasons of its events)."""
    hook = {"preStop": {"exec": {"command": list(command)}}}
    main = {"name": "main", "image": "nginx:1.27", "lifecycle": hook, **more}
    lab = Lab([node("n1"), pod("web", containers=[main], terminationGracePeriodSeconds=grace)])
    lab.run(20)
    lab.do(Delete("pods", "default", "web"))
    begun_ms = lab.cluster.now_ms
    lab.run(120)
    (gone,) = (row for row in lab.rows() if row.resource == "pods" and row.verb == "DELETED")
    return (gone.now_ms - begun_ms) / 1000, lab.reasons("web")


@pytest.mark.parametrize(
    "command",
    [
        ("sleep", "12"),
        ("/bin/sh", "-c", "sleep 12"),
        ("sh", "-c", "echo bye; sleep 2 && sleep 10; nginx -s quit; while killall -0 nginx; do sleep 1; done"),
    ],
)
def test_a_container_is_asked_to_end_when_its_hook_is_over(command: tuple[str, ...]) -> None:
    seconds, reasons = ends(*command)
    assert 12 <= seconds <= 15
    assert "FailedPreStopHook" not in reasons


def test_a_hook_has_the_grace_of_its_pod_and_its_container_two_seconds_more() -> None:
    seconds, _ = ends("sh", "-c", "sleep 100", grace=10)
    assert 10 <= seconds <= 12


def test_a_hook_that_fails_is_told_and_the_container_ends_all_the_same() -> None:
    seconds, reasons = ends("sh", "-c", "exit 1")
    assert seconds <= 3
    assert reasons.index("Killing") < reasons.index("FailedPreStopHook")


def test_a_container_that_is_killed_for_its_probe_has_its_hook_first() -> None:
    fails = {"livenessProbe": {"exec": {"command": ["false"]}, "periodSeconds": 1, "failureThreshold": 1}}
    hook = {"lifecycle": {"preStop": {"exec": {"command": ["sleep", "5"]}}}}
    lab = Lab([node("n1"), pod("web", containers=[{"name": "main", "image": "nginx:1.27", **fails, **hook}])])
    lab.run(20)
    rows = [row for row in lab.rows() if row.resource == "events"]
    killing, *_ = (row.now_ms for row in rows if row.object["reason"] == "Killing")
    _, again, *_ = (row.now_ms for row in rows if row.object["reason"] == "Started")
    assert again - killing >= 5_000

"""`lifecycle.postStart`: a command that runs as soon as its container has started; one that fails ends it."""

from __future__ import annotations

from typing import Any

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
    second = {"name": "second", "image": "nginx:1.27", **mounts, **looks_for("/data/one")}
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

"""Probes that are commands: they look at the files that the container's script and `kubectl exec` write and remove."""

from __future__ import annotations

from typing import Any

import msgspec

from controllers.kubelet.keeping import FILES, Kept, kept_by, text_of
from controllers.log.operations import Patch
from tests.tools.lab import Document, Lab, node, pod

HOME = "default"
SHELL = "busybox:1.36"


def probe(*command: str, **more: Any) -> Document:
    return {"exec": {"command": list(command)}, "periodSeconds": 5, **more}


def container(script: str = "", name: str = "main", *, image: str = SHELL, **more: Any) -> Document:
    return {"name": name, "image": image, **({"command": ["sh", "-c", script]} if script else {}), **more}


def one(lab: Lab, name: str = "main") -> Document:
    told: list[Document] = lab.get("pods", "web")["status"]["containerStatuses"]
    return next(status for status in told if status["name"] == name)


def told(lab: Lab, reason: str) -> list[tuple[float, str]]:
    """Return (seconds, message) of the events of a reason, each time that they were told."""
    rows = [row for row in lab.rows() if row.resource == "events" and row.object["reason"] == reason]
    return [(row.now_ms / 1000, row.object["message"]) for row in rows]


def started(lab: Lab) -> float:
    return told(lab, "Started")[0][0]


def write(lab: Lab, *kept: Kept) -> None:
    """Write files as a command in the pod."""
    known = kept_by(lab.get("pods", "web"))
    now_ms = lab.store.epoch_ms + lab.cluster.now_ms
    text = text_of([*known, *(msgspec.structs.replace(file, ms=now_ms) for file in kept)])
    lab.do(Patch("pods", HOME, "web", {"metadata": {"annotations": {FILES: text}}}))


def test_the_example_of_a_liveness_command_restarts_after_thirty_seconds() -> None:
    script = "touch /tmp/healthy; sleep 30; rm -f /tmp/healthy; sleep 600"
    liveness = probe("cat", "/tmp/healthy", initialDelaySeconds=5)
    lab = Lab([node("n1"), pod("web", containers=[container(script, livenessProbe=liveness)])])
    lab.run(150)
    begun = started(lab)
    first, second, third = (at for at, _ in told(lab, "Unhealthy")[:3])
    assert 29 <= first - begun <= 36  # wire times are whole seconds
    assert (round(second - first), round(third - second)) == (5, 5)
    (message,) = {text for _, text in told(lab, "Unhealthy")}
    assert message == "Liveness probe failed: cat: can't open '/tmp/healthy': No such file or directory\n"
    assert told(lab, "Killing")[0][1] == "Container main failed liveness probe, will be restarted"
    # The new run begins with the file again, and loses it again.
    assert one(lab)["restartCount"] >= 2
    assert told(lab, "Unhealthy")[3][0] - third >= 29


def test_a_pod_is_ready_while_a_command_has_left_a_file() -> None:
    readiness = probe("test", "-f", "/data/go", periodSeconds=1, failureThreshold=1)
    lab = Lab([node("n1"), pod("web", containers=[container(image="nginx:1.27", readinessProbe=readiness)])])
    lab.run(30)
    assert one(lab)["ready"] is False
    assert told(lab, "Unhealthy")[0][1] == "Readiness probe failed: "
    write(lab, Kept("/data/go", 0, "", container="main"))
    lab.run(3)
    assert one(lab)["ready"] is True
    write(lab, Kept("/data/go", 0, None, container="main"))
    lab.run(3)
    assert one(lab)["ready"] is False


def test_what_a_command_has_written_ends_with_the_run_but_in_a_volume() -> None:
    mounts = {"volumeMounts": [{"name": "work", "mountPath": "/pipe"}]}
    probes = {
        "livenessProbe": probe("sh", "-c", "[ ! -e /tmp/bad ]", failureThreshold=1),
        "readinessProbe": probe("ls", "/pipe/go", periodSeconds=1),
    }
    web = pod(
        "web", containers=[container("sleep 3600", **mounts, **probes)], volumes=[{"name": "work", "emptyDir": {}}]
    )
    lab = Lab([node("n1"), web])
    lab.run(20)
    assert one(lab)["ready"] is False
    write(lab, Kept("go", 0, "", volume="work"), Kept("/tmp/bad", 0, "", container="main"))
    lab.run(60)
    assert one(lab)["restartCount"] == 1, "the file that it dies of is gone with the run"
    assert one(lab)["ready"] is True, "the file in the volume is there"


def test_a_file_of_one_container_is_seen_by_the_other_at_its_time() -> None:
    mounts = {"volumeMounts": [{"name": "work", "mountPath": "/pipe"}]}
    writer = container("sleep 20; mkdir -p /pipe/out; echo done > /pipe/out/state; sleep 3600", "writer", **mounts)
    readiness = probe("grep", "-q", "done", "/pipe/out/state", periodSeconds=1)
    web = pod(
        "web", containers=[container(image="nginx:1.27", readinessProbe=readiness, **mounts), writer],
        volumes=[{"name": "work", "emptyDir": {}}],
    )  # fmt: skip
    lab = Lab([node("n1"), web])
    lab.run(15)
    assert one(lab)["ready"] is False
    lab.run(30)
    assert one(lab)["ready"] is True


def test_a_script_waits_for_what_a_command_writes() -> None:
    script = "while [ ! -f /tmp/go ]; do sleep 1; done; exit 3"
    lab = Lab([node("n1"), pod("web", containers=[container(script)], restartPolicy="Never")])
    lab.run(30)
    assert "running" in one(lab)["state"]
    write(lab, Kept("/tmp/go", 0, "", container="main"))
    lab.run(10)
    assert one(lab)["state"]["terminated"]["exitCode"] == 3


def test_what_cannot_be_told_succeeds_as_before() -> None:
    cases = [
        container(image="redis:7", readinessProbe=probe("redis-cli", "ping")),
        container(image="shop:1", readinessProbe=probe("cat", "/app/ready")),
        container("server --port 80; rm /tmp/ready", image="shop:1", readinessProbe=probe("cat", "/tmp/ready")),
        {"name": "main", "image": "shop:1", "command": ["/server"], "readinessProbe": probe("test", "-f", "/tmp/up")},
    ]
    for case in cases:
        lab = Lab([node("n1"), pod("web", containers=[case])])
        lab.run(30)
        assert one(lab)["ready"] is True, case


def test_a_command_that_takes_too_long_fails() -> None:
    lab = Lab([node("n1"), pod("web", containers=[container("sleep 600", livenessProbe=probe("sleep", "10"))])])
    lab.run(40)
    assert told(lab, "Unhealthy")[0][1] == 'Liveness probe failed: command timed out: "sleep 10" timed out after 1s'
    assert one(lab)["restartCount"] >= 1


def test_what_is_kept_is_bounded_and_the_oldest_goes() -> None:
    files = [Kept(f"/tmp/{number}", number, "x" * 20_000, container="main") for number in range(100)]
    kept = msgspec.json.decode(text_of(files), type=list[Kept])
    assert kept[-1].path == "/tmp/99"
    assert len(kept) < 64
    assert all(len(one.text or "") == 16_384 for one in kept)
    assert kept_by({"metadata": {"annotations": {FILES: "{nothing"}}}) == []

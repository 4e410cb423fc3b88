"""A container whose command looks for a file ends as that does, where it is not there for sure; else it runs on."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.log.operations import Patch
from tests.tools.lab import Document, Lab, node, pod

CONFIG = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "app", "namespace": "default"},
    "data": {"a": "1"},
}
VOLUMES = [
    {"name": "conf", "configMap": {"name": "app"}},
    {"name": "host", "hostPath": {"path": "/srv"}},
    {"name": "own", "emptyDir": {}},
]
MOUNTS = [
    {"name": "conf", "mountPath": "/conf"},
    {"name": "host", "mountPath": "/host"},
    {"name": "own", "mountPath": "/own"},
]


def told(lab: Lab) -> Document:
    return dict(lab.get("pods", "web")["status"]["containerStatuses"][0])


def ran(*words: str, image: str = "busybox:1.36", seconds: int = 20, policy: str = "Never", **more: Any) -> Lab:
    container = {"name": "main", "image": image, "command": list(words), "volumeMounts": MOUNTS, **more}
    lab = Lab([node("n1"), CONFIG, pod("web", containers=[container], volumes=VOLUMES, restartPolicy=policy)])
    lab.run(seconds)
    return lab


def code_of(lab: Lab) -> int | None:
    ended = told(lab)["state"].get("terminated")
    return None if ended is None else int(ended["exitCode"])


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("cat /etc/nosuch", 1),
        ("ls /nope", 1),
        (". /missing.sh; echo on", 2),
        (". /missing.sh || true", 2),
        ("sh /missing.sh", 2),
        ("cat /home/x || exit 7", 7),
        ("cat /conf/b", 1),
        ("cat < /tmp/in", 1),
        ("cat /conf/a && cat /etc/hosts && ls /", 0),
        ("cat /etc/nosuch; echo on", 0),
        ("echo on; sleeep 3600", 127),
        ("sleeep 1 || sleep 2", 0),
        ("set -e; cat /etc/nosuch; sleep 3600", 1),
    ],
)
def test_a_script_ends_as_its_command_does_that_finds_no_file(script: str, code: int) -> None:
    assert code_of(ran("sh", "-c", script)) == code


def test_a_command_that_is_no_script_does_so_too_and_its_container_crashes() -> None:
    lab = ran("cat", "/etc/nosuch", policy="Always", seconds=9)
    assert told(lab)["lastState"]["terminated"]["exitCode"] == 1
    assert told(lab)["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert code_of(ran("ls", "/nope", image="alpine")) == 1
    assert code_of(ran("cat", "/etc/hosts")) == 0


@pytest.mark.parametrize(
    ("script", "image"),
    [
        ("cat /etc/nosuch", "toolbox"),
        ("cat /etc/app.conf", "nginx:1.27"),
        ("cat /app/env", "acme/busybox-app"),
        ("cat /host/x", "busybox"),
        ("cat /own/x", "busybox"),
        ("ls /usr/share/app", "busybox"),
        ("sleep 1; cat /conf/b", "busybox"),
        ("cat /proc/1/maps", "busybox"),
        ("ls", "busybox"),
        ("make-it; cat /tmp/made", "toolbox"),
        ("sleeep 3600", "nginx"),
        ("cp /usr/share/app/x /tmp/x; sleep 3600", "busybox"),
        ("cp /etc/app/x /tmp/x && exec tool", "toolbox"),
        ("echo bin > /usr/local/bin/tool; tool", "busybox"),
        ("export PATH=$PATH:/own; tool", "busybox"),
        ("apk add tool && tool", "alpine"),
    ],
)
def test_in_doubt_nothing_fails(script: str, image: str) -> None:
    assert not code_of(ran("sh", "-c", script, image=image, workingDir="/work"))


def test_a_script_runs_on_once_its_file_is_there() -> None:
    lab = ran("sh", "-c", "cat /conf/b && sleep 3600", policy="Always", seconds=9)
    assert told(lab)["restartCount"] or told(lab)["lastState"]
    lab.do(Patch("configmaps", "default", "app", {"data": {"b": "2"}}))
    lab.run(60)
    assert "running" in told(lab)["state"]


def test_a_command_that_reads_what_is_sent_waits_for_that() -> None:
    assert code_of(ran("cat", stdin=True, seconds=4)) is None
    assert code_of(ran("cat", stdin=True)) == 0
    assert code_of(ran("cat", seconds=4)) == 0
    assert code_of(ran("cat", stdin=True, policy="Always", seconds=60)) is None

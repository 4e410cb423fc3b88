"""What becomes of containers that are started with a script of their own: it is played, and its files stay."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.log.stamps import unix_ms_of
from tests.controllers.test_kubelet_lives import container, shell, statuses
from tests.tools.lab import Document, Lab, node, pod

EMPTY = {"name": "data", "emptyDir": {}}
HOST = {"name": "data", "hostPath": {"path": "/srv/data"}}
MOUNT = {"name": "data", "mountPath": "/data"}
MARK = "if [[ -r /data/seen ]]; then exit 0; else touch /data/seen; exit 5; fi"


def ended(lab: Lab, name: str = "web") -> dict[str, Any]:
    found: dict[str, Any] = statuses(lab, name)[0]["state"]["terminated"]
    return found


def task(script: str, name: str = "web", policy: str = "Never", volume: Document = EMPTY, **more: Any) -> Document:
    one = container(command=shell(script), volumeMounts=[MOUNT], **more)
    return pod(name, restartPolicy=policy, containers=[one], volumes=[volume])


@pytest.mark.parametrize(
    ("script", "code", "seconds"),
    [
        ("for i in 1 2 3; do echo $i; sleep 2; done", 0, 6),
        ("i=0; while [ $i -lt 4 ]; do i=$((i+1)); sleep 1; done; exit $i", 4, 4),
        ('if [ "$MODE" = strict ]; then exit 7; fi', 7, 0),
        ("exit $(( $NUMBER % 2 ))", 1, 0),
        ("if [ $(expr ${NUMBER} % 2) -ne 0 ]; then exit 3; else exit 0; fi", 3, 0),
        ("[ -f /data/none ] || exit 9", 9, 0),
        ("trap 'sleep 2; exit 6' EXIT; sleep 1; false", 6, 3),
    ],
)
def test_a_script_ends_as_it_says(script: str, code: int, seconds: int) -> None:
    env = [{"name": "MODE", "value": "strict"}, {"name": "NUMBER", "value": "5"}]
    lab = Lab([node("n1"), task(script, env=env)])
    lab.run(30)
    state = ended(lab)
    assert state["exitCode"] == code
    assert lab.get("pods", "web")["status"]["phase"] == ("Failed" if code else "Succeeded")
    ran_ms = unix_ms_of(state["finishedAt"]) - unix_ms_of(state["startedAt"])
    assert abs(ran_ms - 1000 * seconds) <= 1000


@pytest.mark.parametrize(
    "script",
    [
        "while true; do sleep 1; done",
        "touch /data/x; if true; then sleep 1000000; fi",
        "while true; do echo busy; done",
        "./serve & wait",
        "trap 'exit 0' TERM; ./serve",
        "trap 'exit 0' TERM; while :; do sleep 10; done",
    ],
)
def test_a_script_that_goes_on_goes_on(script: str) -> None:
    lab = Lab([node("n1"), task(script)])
    lab.run(120)
    assert lab.get("pods", "web")["status"]["phase"] == "Running"


@pytest.mark.parametrize(
    "script", ["if ./migrate; then exit 4; fi", "curl example.dev; exit $?", "x=$(cat /opt/none); exit $?"]
)
def test_what_calls_something_unknown_ends_well_after_the_usual_time(script: str) -> None:
    lab = Lab([node("n1"), task(script)])
    lab.run(30)
    state = ended(lab)
    assert state["exitCode"] == 0
    assert unix_ms_of(state["finishedAt"]) - unix_ms_of(state["startedAt"]) >= 4_000


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("coproc cat; exit 7", 0),
        ("if true; then echo @(a|b); exit 7; fi", 0),
        ("if true; then exit 7", 2),
        ("x='open; exit 7", 2),
        ("exit 7", 7),
    ],
)
def test_what_this_shell_cannot_read_fails_no_container(script: str, code: int) -> None:
    """What is broken for every shell does."""
    lab = Lab([node("n1"), task(script, image="debian:13")])
    lab.run(30)
    assert ended(lab)["exitCode"] == code


def test_a_pod_of_an_indexed_job_starts_after_its_init_container() -> None:
    says = "words=(foo bar baz); echo ${words[$INDEX]} > /data/word; [[ $(</data/word) == baz ]]"
    env = [{"name": "INDEX", "value": "2"}]
    init = container("input", "docker.io/library/bash", command=["bash", "-c", says], env=env, volumeMounts=[MOUNT])
    document = task("[ $(rev /data/word) = zab ] && exit 6")
    document["spec"]["initContainers"] = [init]
    lab = Lab([node("n1"), document])
    lab.run(60)
    assert ended(lab)["exitCode"] == 6


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["/scripts/run.sh", "7"], 7),
        (["sh", "/scripts/run.sh", "4"], 4),
        (["bash", "-e", "/scripts/run.sh"], 9),
        (["sh", "/opt/of-the-image.sh"], 0),
        (["/scripts/other.py"], 0),
    ],
)
def test_a_script_of_a_config_map_ends_as_it_says(command: list[str], code: int) -> None:
    data = {"run.sh": "#!/bin/bash\nset -u\nexit ${1-9}\n", "other.py": "#!/usr/bin/python3\nexit(5)\n"}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "scripts", "namespace": "default"}}
    mount = {"name": "scripts", "mountPath": "/scripts"}
    one = container(image="debian:13", command=command, volumeMounts=[mount])
    volume = {"name": "scripts", "configMap": {"name": "scripts", "defaultMode": 0o755}}
    lab = Lab([node("n1"), {**config, "data": data}])
    lab.create(pod("web", restartPolicy="Never", containers=[one], volumes=[volume]))
    lab.run(30)
    assert ended(lab)["exitCode"] == code


def test_what_a_script_writes_in_a_volume_is_there_when_it_is_started_again() -> None:
    lab = Lab([node("n1"), task(MARK, policy="OnFailure")])
    lab.run(60)
    (one,) = statuses(lab)
    assert (one["restartCount"], one["state"]["terminated"]["exitCode"]) == (1, 0)
    assert one["lastState"] == {} or one["lastState"]["terminated"]["exitCode"] == 5
    assert lab.get("pods", "web")["status"]["phase"] == "Succeeded"


@pytest.mark.parametrize(("volume", "code"), [(HOST, 0), (EMPTY, 5)])
def test_a_folder_of_the_node_outlives_a_pod(volume: Document, code: int) -> None:
    lab = Lab([node("n1"), task(MARK, "first", volume=volume)])
    lab.run(20)
    assert ended(lab, "first")["exitCode"] == 5
    lab.create(task(MARK, "second", volume=volume))
    lab.run(20)
    assert ended(lab, "second")["exitCode"] == code


@pytest.mark.parametrize(
    ("script", "more", "message"),
    [
        ("echo -n DONE > /dev/termination-log", {}, "DONE"),
        ("echo -n DONE > /data/end; exit 1", {"terminationMessagePath": "/data/end"}, "DONE"),
        ("echo -n DONE; false", {"terminationMessagePolicy": "FallbackToLogsOnError"}, "DONE"),
        ("echo -n DONE", {"terminationMessagePolicy": "FallbackToLogsOnError"}, None),
        ("echo -n DONE; false", {}, None),
    ],
)
def test_the_last_word_of_a_container(script: str, more: Document, message: str | None) -> None:
    lab = Lab([node("n1"), task(script, **more)])
    lab.run(20)
    assert ended(lab).get("message") == message


@pytest.mark.parametrize(
    ("image", "policy", "phase"),
    [("busybox:1.36", "Never", "Succeeded"), ("nginx:1.27", "Never", "Running"), ("busybox:1.36", "Always", "Running")],
)
def test_an_image_that_is_a_shell_has_nothing_to_do(image: str, policy: str, phase: str) -> None:
    lab = Lab([node("n1"), pod("web", restartPolicy=policy, containers=[container(image=image)])])
    lab.run(30)
    assert lab.get("pods", "web")["status"]["phase"] == phase

"""The lives of pods: what people see with `kubectl get pods`, and what is told, when containers end, fail and wait."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from controllers.log.operations import Delete, Patch, Update
from tests.tools.lab import Document, Lab, node, pod

HOME = "default"


def container(name: str = "main", image: str = "nginx:1.27", **more: Any) -> Document:
    return {"name": name, "image": image, **more}


def shell(text: str) -> list[str]:
    return ["sh", "-c", text]


def statuses(lab: Lab, name: str = "web", key: str = "containerStatuses") -> list[Document]:
    """Return the containers of a pod as the API shows them."""
    found: list[Document] = lab.get("pods", name)["status"][key]
    return found


def reasons(lab: Lab, name: str = "web") -> list[str]:
    """Return each word by which a container was waiting or has ended, in order."""
    seen: list[str] = []
    for row in lab.rows():
        if row.resource == "pods" and row.object["metadata"]["name"] == name:
            for entry in row.object["status"].get("containerStatuses", []):
                word = next((state.get("reason", kind) for kind, state in entry["state"].items()), "")
                if not seen or seen[-1] != word:
                    seen.append(word)
    return seen


def told(lab: Lab, reason: str) -> list[str]:
    """Return the messages of the events of a reason."""
    found = [row.object for row in lab.rows() if row.resource == "events" and row.verb == "ADDED"]
    return [one["message"] for one in found if one["reason"] == reason]


def condition(lab: Lab, kind: str, name: str = "web") -> Document:
    found: Document = next(one for one in lab.get("pods", name)["status"]["conditions"] if one["type"] == kind)
    return found


def test_a_container_that_crashes_is_started_again_after_waits_that_double() -> None:
    lab = Lab([node("n1"), pod("web", containers=[container(command=shell("sleep 3; exit 7"))])])
    lab.run(70)
    assert reasons(lab)[:7] == [
        "ContainerCreating",
        "running",
        "Error",
        "running",
        "Error",
        "CrashLoopBackOff",
        "running",
    ]
    (one,) = statuses(lab)
    assert one["restartCount"] == 3
    assert one["lastState"]["terminated"]["exitCode"] == 7
    (text,) = set(told(lab, "BackOff"))
    uid = lab.get("pods", "web")["metadata"]["uid"]
    assert text == f"Back-off restarting failed container main in pod web_default({uid})"
    started = [
        row.now_ms
        for row in lab.rows()
        if row.resource == "pods"
        and any("running" in one["state"] for one in row.object["status"].get("containerStatuses", []))
    ]
    waits = [later - before for before, later in pairwise(started)]
    assert waits[0] < 6_000
    assert 13_000 <= waits[1] <= 16_000
    assert 23_000 <= waits[2] <= 26_000
    assert lab.get("pods", "web")["status"]["phase"] == "Running"


@pytest.mark.parametrize(
    ("policy", "text", "phase", "code"),
    [
        ("Never", "sleep 4", "Succeeded", 0),
        ("Never", "sleep 4 && false", "Failed", 1),
        ("OnFailure", "echo well", "Succeeded", 0),
    ],
)
def test_a_command_that_can_be_read_ends_as_it_says(policy: str, text: str, phase: str, code: int) -> None:
    lab = Lab([node("n1"), pod("web", restartPolicy=policy, containers=[container(command=shell(text))])])
    lab.run(30)
    assert lab.get("pods", "web")["status"]["phase"] == phase
    assert statuses(lab)[0]["state"]["terminated"]["exitCode"] == code
    why = "PodCompleted" if phase == "Succeeded" else "PodFailed"
    assert (condition(lab, "Ready")["status"], condition(lab, "Ready")["reason"]) == ("False", why)


def test_what_runs_for_ever_keeps_running() -> None:
    texts = ["sleep infinity", "while true; do sleep 1; done", "tail -f /dev/null"]
    lab = Lab([node("n1"), *(pod(f"p{n}", containers=[container(command=shell(t))]) for n, t in enumerate(texts))])
    lab.run(60)
    assert {one["status"]["phase"] for one in lab.list("pods")} == {"Running"}
    assert {one["status"]["containerStatuses"][0]["restartCount"] for one in lab.list("pods")} == {0}


def test_init_containers_end_one_after_the_other_and_a_failing_one_is_tried_again() -> None:
    inits = [container("first", command=shell("sleep 5")), container("second", command=shell("exit 3"))]
    lab = Lab([node("n1"), pod("web", initContainers=inits)])
    lab.run(4)
    first, second = statuses(lab, key="initContainerStatuses")
    assert "running" in first["state"]
    assert second["state"]["waiting"]["reason"] == "PodInitializing"
    lab.run(30)
    first, second = statuses(lab, key="initContainerStatuses")
    assert first["state"]["terminated"]["reason"] == "Completed"
    assert second["restartCount"] >= 1
    assert condition(lab, "Initialized")["message"] == "containers with incomplete status: [second]"
    assert lab.get("pods", "web")["status"]["phase"] == "Pending"
    assert statuses(lab)[0]["state"]["waiting"]["reason"] == "PodInitializing"


def test_an_init_container_that_fails_ends_a_pod_that_is_never_started_again() -> None:
    inits = [container("first", command=shell("exit 3"))]
    lab = Lab([node("n1"), pod("web", restartPolicy="Never", initContainers=inits)])
    lab.run(20)
    assert lab.get("pods", "web")["status"]["phase"] == "Failed"


def test_an_image_that_is_not_there_is_tried_again_and_again() -> None:
    lab = Lab([node("n1"), pod("web", image="example.dev/does-not-exist:1")])
    lab.run(60)
    assert reasons(lab)[:5] == [
        "ContainerCreating",
        "ErrImagePull",
        "ImagePullBackOff",
        "ErrImagePull",
        "ImagePullBackOff",
    ]
    assert told(lab, "BackOff") == ['Back-off pulling image "example.dev/does-not-exist:1"']
    assert "Error: ErrImagePull" in told(lab, "Failed")
    lab.do(Patch("pods", HOME, "web", {"spec": {"containers": [container(image="nginx:1.27")]}}, "strategic"))
    lab.run(20)
    assert lab.get("pods", "web")["status"]["phase"] == "Running"


def test_a_missing_config_map_keeps_a_container_from_being_made_until_it_is_there() -> None:
    env = [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "a"}}}]
    lab = Lab([node("n1"), pod("web", containers=[container(env=env)])])
    lab.run(20)
    waiting = statuses(lab)[0]["state"]["waiting"]
    assert waiting == {"reason": "CreateContainerConfigError", "message": 'configmap "settings" not found'}
    assert told(lab, "Failed") == ['Error: configmap "settings" not found']
    made = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": HOME},
        "data": {"b": "1"},
    }
    lab.create(made)
    lab.run(5)
    assert statuses(lab)[0]["state"]["waiting"]["message"] == "couldn't find key a in ConfigMap default/settings"
    lab.do(Patch("configmaps", HOME, "settings", {"data": {"a": "1"}}))
    lab.run(5)
    assert lab.get("pods", "web")["status"]["phase"] == "Running"


def test_a_missing_secret_keeps_a_volume_from_being_mounted() -> None:
    volumes = [{"name": "keys", "secret": {"secretName": "keys"}}]
    lab = Lab([node("n1"), pod("web", volumes=volumes)])
    lab.run(20)
    assert statuses(lab)[0]["state"]["waiting"]["reason"] == "ContainerCreating"
    assert told(lab, "FailedMount") == ['MountVolume.SetUp failed for volume "keys" : secret "keys" not found']
    lab.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys", "namespace": HOME}})
    lab.run(5)
    assert lab.get("pods", "web")["status"]["phase"] == "Running"


def test_a_pod_has_until_its_deadline() -> None:
    lab = Lab([node("n1"), pod("web", activeDeadlineSeconds=20), pod("later", activeDeadlineSeconds=60)])
    lab.run(15)
    lab.do(Patch("pods", HOME, "later", {"spec": {"activeDeadlineSeconds": 5}}))
    lab.run(2)
    text = "Pod was active on the node longer than the specified deadline"
    for name in ("later", "web"):
        status = lab.get("pods", name)["status"]
        assert (status["phase"], status["reason"], status["message"]) == ("Failed", "DeadlineExceeded", text)
        lab.run(10)


def test_an_image_that_changes_in_place_starts_the_container_again() -> None:
    lab = Lab([node("n1"), pod("web")])
    lab.run(10)
    before = lab.get("pods", "web")["status"]
    lab.do(Patch("pods", HOME, "web", {"spec": {"containers": [container(image="nginx:1.28")]}}, "strategic"))
    lab.run(20)
    (one,) = statuses(lab)
    assert (one["image"], one["restartCount"], one["ready"]) == ("docker.io/library/nginx:1.28", 1, True)
    assert one["containerID"] != before["containerStatuses"][0]["containerID"]
    assert lab.get("pods", "web")["status"]["podIP"] == before["podIP"]
    assert told(lab, "Killing") == ["Container main definition changed, will be restarted"]


def test_probes_take_the_time_that_they_are_given() -> None:
    probes = {
        "startupProbe": {"tcpSocket": {"port": 80}, "initialDelaySeconds": 8},
        "readinessProbe": {
            "httpGet": {"port": 80},
            "initialDelaySeconds": 10,
            "successThreshold": 3,
            "periodSeconds": 5,
        },
    }
    lab = Lab([node("n1"), pod("web", containers=[container(**probes)])])
    lab.run(8)
    assert [(one["started"], one["ready"]) for one in statuses(lab)] == [(False, False)]
    lab.run(6)
    assert [(one["started"], one["ready"]) for one in statuses(lab)] == [(True, False)]
    assert condition(lab, "ContainersReady")["message"] == "containers with unready status: [main]"
    lab.run(15)
    assert [(one["started"], one["ready"]) for one in statuses(lab)] == [(True, True)]
    revision = lab.store.revision
    lab.run(60)
    later = [row for row in lab.rows() if row.revision > revision and row.resource in ("pods", "events")]
    assert later == [], "probes that succeed write nothing"


def test_a_liveness_probe_that_fails_three_times_has_the_container_killed() -> None:
    web = pod("web", containers=[container(livenessProbe={"httpGet": {"port": 80}, "periodSeconds": 5})])
    web["metadata"]["annotations"] = {"clustersim.io/failing-probes": "liveness"}
    lab = Lab([node("n1"), web])
    lab.run(30)
    assert told(lab, "Unhealthy")[0] == "Liveness probe failed: HTTP probe failed with statuscode: 500"
    assert told(lab, "Killing")[0] == "Container main failed liveness probe, will be restarted"
    (one,) = statuses(lab)
    assert one["restartCount"] >= 1
    assert one["lastState"]["terminated"]["exitCode"] == 137


def test_a_readiness_probe_that_fails_is_told_and_the_pod_is_not_ready() -> None:
    web = pod("web", containers=[container(readinessProbe={"tcpSocket": {"port": 80}, "periodSeconds": 5})])
    web["metadata"]["annotations"] = {"clustersim.io/failing-probes": "readiness"}
    lab = Lab([node("n1"), web])
    lab.run(30)
    address = lab.get("pods", "web")["status"]["podIP"]
    assert set(told(lab, "Unhealthy")) == {
        f"Readiness probe failed: dial tcp {address}:80: connect: connection refused"
    }
    assert condition(lab, "Ready")["status"] == "False"
    lab.do(Patch("pods", HOME, "web", {"metadata": {"annotations": {"clustersim.io/failing-probes": None}}}))
    lab.run(5)
    assert condition(lab, "Ready")["status"] == "True"


def test_others_have_a_say_in_readiness() -> None:
    lab = Lab([node("n1"), pod("web", readinessGates=[{"conditionType": "example.dev/balanced"}])])
    lab.run(10)
    ready = condition(lab, "Ready")
    assert (ready["status"], ready["reason"]) == ("False", "ReadinessGatesNotReady")
    assert ready["message"] == 'corresponding condition of pod readiness gate "example.dev/balanced" does not exist.'
    assert condition(lab, "ContainersReady")["status"] == "True"
    status = lab.get("pods", "web")["status"]
    status = {**status, "conditions": [*status["conditions"], {"type": "example.dev/balanced", "status": "True"}]}
    lab.do(Update("pods", HOME, "web", {"status": status}, "status"))
    lab.run(5)
    assert condition(lab, "Ready")["status"] == "True"


def test_a_kernel_parameter_that_is_not_safe_is_refused() -> None:
    good, bad = ({"sysctls": [{"name": name, "value": "1"}]} for name in ("net.ipv4.tcp_syncookies", "kernel.msgmax"))
    lab = Lab([node("n1"), pod("web", securityContext=bad), pod("good", securityContext=good)])
    lab.run(10)
    status = lab.get("pods", "web")["status"]
    text = 'forbidden sysctl: "kernel.msgmax" not allowlisted'
    assert (status["phase"], status["reason"], status["message"]) == (
        "Failed",
        "SysctlForbidden",
        f"Pod was rejected: {text}",
    )
    assert told(lab, "SysctlForbidden") == [text]
    assert lab.get("pods", "good")["status"]["phase"] == "Running"


def test_a_session_has_stages_of_its_own_and_says_when_they_cannot_be_read() -> None:
    stages = {"pods.yaml": "images:\n- {image: 'nginx*', exit: 5, seconds: 1}\n"}
    name = {"name": "kubelet-stages", "namespace": "kube-system"}
    lab = Lab([node("n1"), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": name, "data": stages}])
    lab.create(pod("web", restartPolicy="Never"))
    lab.run(15)
    assert statuses(lab)[0]["state"]["terminated"]["exitCode"] == 5
    lab.do(Patch("configmaps", "kube-system", "kubelet-stages", {"data": {"pods.yaml": "waits: {admit: soon}"}}))
    lab.run(1)
    (text,) = told(lab, "InvalidStages")
    assert text.startswith("pods.yaml is not obeyed: ")
    lab.create(pod("again", restartPolicy="Never"))
    lab.run(15)
    assert statuses(lab, "again")[0]["state"]["terminated"]["exitCode"] == 5, "what was said before holds"


def test_who_holds_a_deleted_pod_is_told_how_it_ended() -> None:
    held = pod("web")
    held["metadata"]["finalizers"] = ["example.dev/wait"]
    lab = Lab([node("n1"), held])
    lab.run(10)
    lab.do(Delete("pods", HOME, "web"))
    lab.run(10)
    status = lab.get("pods", "web")["status"]
    assert status["phase"] == "Failed"
    assert statuses(lab)[0]["state"]["terminated"]["exitCode"] == 143
    lab.do(Patch("pods", HOME, "web", {"metadata": {"finalizers": None}}))
    lab.run(1)
    assert lab.list("pods") == []


def test_a_pod_that_is_held_without_grace_ends_after_a_moment() -> None:
    """Who lets it go at once sees it run, as where a Job is over."""
    held = pod("web")
    held["metadata"]["finalizers"] = ["example.dev/wait"]
    lab = Lab([node("n1"), held])
    lab.run(10)
    lab.do(Delete("pods", HOME, "web", grace_period_seconds=0))
    lab.run(0.1)
    assert lab.get("pods", "web")["status"]["phase"] == "Running"
    lab.run(3)
    assert lab.get("pods", "web")["status"]["phase"] == "Failed"
    lab.do(Patch("pods", HOME, "web", {"metadata": {"finalizers": None}}))
    lab.run(1)
    assert lab.list("pods") == []


def test_two_containers_of_a_pod_crash_each_in_its_own_time() -> None:
    both = [container("quick", command=shell("sleep 2; exit 1")), container("slow", command=shell("sleep 20; exit 2"))]
    lab = Lab([node("n1"), pod("web", containers=both)])
    lab.run(50)
    quick, slow = statuses(lab)
    assert quick["restartCount"] >= 2
    assert slow["restartCount"] == 1
    assert slow["lastState"]["terminated"]["exitCode"] == 2


def test_what_a_node_can_give_follows_what_it_has() -> None:
    lab = Lab([node("n1")])
    lab.run(5)
    lab.do(Patch("nodes", "", "n1", {"status": {"capacity": {"example.dev/thing": "5"}}}, "merge", "status"))
    lab.run(5)
    assert lab.get("nodes", "n1", "")["status"]["allocatable"]["example.dev/thing"] == "5"
    lab.do(Patch("nodes", "", "n1", {"status": {"allocatable": {"cpu": "3"}}}, "merge", "status"))
    lab.run(5)
    assert lab.get("nodes", "n1", "")["status"]["allocatable"]["cpu"] == "3"

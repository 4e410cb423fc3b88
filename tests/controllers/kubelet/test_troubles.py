"""What a kubelet says of pods whose files are wrong: the name of an image, the key of a volume, what is to be run."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.kubelet.images import why_no_name
from controllers.log.operations import Patch
from tests.tools.lab import Document, Lab, node, pod

COULD_NOT = (
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: "
    "unable to start container process: error during container init:"
)


def status(lab: Lab, part: str = "containerStatuses") -> Document:
    (told,) = lab.get("pods", "web")["status"][part]
    return dict(told)


def messages(lab: Lab, reason: str) -> list[str]:
    return [row.object["message"] for row in lab.rows() if row.resource == "events" and row.object["reason"] == reason]


def started(container: Document, **more: Any) -> Lab:
    lab = Lab([node("n1"), pod("web", containers=[{"name": "main", "image": "busybox:1.36", **container}], **more)])
    lab.run(30)
    return lab


def test_a_name_that_no_image_can_have_is_refused_until_it_is_another() -> None:
    lab = started({"image": "NGINX:1.27"})
    why = (
        'Failed to apply default image tag "NGINX:1.27": couldn\'t parse image name "NGINX:1.27": '
        "invalid reference format: repository name (library/NGINX) must be lowercase"
    )
    assert status(lab)["state"] == {"waiting": {"reason": "InvalidImageName", "message": why}}
    assert messages(lab, "InspectFailed")[0] == why
    assert messages(lab, "Failed")[0] == "Error: InvalidImageName"
    lab.do(Patch("pods", "default", "web", {"spec": {"containers": [{"name": "main", "image": "nginx"}]}}, "strategic"))
    lab.run(20)
    assert status(lab)["ready"]


@pytest.mark.parametrize(
    "image",
    [
        "nginx", "nginx:1.27-alpine", "library/nginx", "registry.k8s.io/pause:3.10", "localhost:5000/a/b_c:v1",
        "a--b/c__d", "localhost/web", f"nginx:1@sha256:{'a' * 64}", "Example.com/web", "10.0.0.1:5000/x",
    ],
)  # fmt: skip
def test_a_name_of_an_image_is_taken(image: str) -> None:
    assert why_no_name(image) == ""


@pytest.mark.parametrize(
    "image", ["nginx:", "nginx:1.27:2", "nginx@1.27", "-nginx", "a//b", "nginx:.1", "ngi nx", f"nginx:{'a' * 129}"]
)
def test_what_is_no_name_is_told(image: str) -> None:
    assert why_no_name(image).endswith(": invalid reference format")


def test_a_volume_waits_for_a_key_that_it_names() -> None:
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "app", "namespace": "default"}}
    secret = {**settings, "kind": "Secret", "metadata": {"name": "key", "namespace": "default"}}
    volumes = [
        {"name": "conf", "configMap": {"name": "app", "items": [{"key": "web.conf", "path": "web"}]}},
        {"name": "keys", "projected": {"sources": [{"secret": {"name": "key", "items": [{"key": "k", "path": "k"}]}}]}},
    ]
    lab = Lab([node("n1"), {**settings, "data": {"a": "1"}}, secret, pod("web", volumes=volumes)])
    lab.run(20)
    assert status(lab)["state"]["waiting"]["reason"] == "ContainerCreating"
    failed = 'MountVolume.SetUp failed for volume "{}" : {}'
    assert messages(lab, "FailedMount")[-1] == failed.format(
        "conf", "configmap references non-existent config key: web.conf"
    )
    lab.do(Patch("configmaps", "default", "app", {"data": {"web.conf": "x"}}))
    lab.run(20)
    assert messages(lab, "FailedMount")[-1] == failed.format("keys", "references non-existent secret key: k")
    lab.do(Patch("secrets", "default", "key", {"data": {"k": "eA=="}}))
    lab.run(20)
    assert status(lab)["ready"]


@pytest.mark.parametrize(
    ("container", "exe"),
    [
        ({"command": ["bash", "-c", "sleep 9"]}, 'exec: "bash": executable file not found in $PATH'),
        ({"args": ["curl", "web"]}, 'exec: "curl": executable file not found in $PATH'),
        ({"command": ["sleeep", "3600"]}, 'exec: "sleeep": executable file not found in $PATH'),
        ({"args": ["sleeep"], "image": "alpine"}, 'exec: "sleeep": executable file not found in $PATH'),
        ({"command": ["/run.sh"]}, 'exec: "/run.sh": stat /run.sh: no such file or directory'),
        ({"command": ["./run.sh"], "workingDir": "/app"}, 'exec: "./run.sh": stat ./run.sh: no such file or directory'),
        ({"command": ["/app/web"], "image": "nginx"}, 'exec: "/app/web": stat /app/web: no such file or directory'),
        ({"command": ["/bin/bash"]}, 'exec: "/bin/bash": stat /bin/bash: no such file or directory'),
        (
            {"image": "nginx:1.27", "command": ["sleep 3600"]},
            'exec: "sleep 3600": executable file not found in $PATH',
        ),
    ],
)
def test_what_an_image_lacks_cannot_be_started(container: Document, exe: str) -> None:
    lab = started(container)
    why = f"{COULD_NOT} {exe}"
    told = status(lab)
    ended = told["lastState"]["terminated"]
    assert (ended["reason"], ended["exitCode"], ended["message"]) == ("StartError", 128, why)
    assert told["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert messages(lab, "Failed")[0] == f"Error: {why}"
    assert "Started" not in lab.reasons("web")


@pytest.mark.parametrize(
    "container",
    [
        {"command": ["sleeep"], "image": "nginx"},
        {"command": ["web"], "env": [{"name": "PATH", "value": "/app"}]},
        {"command": ["/app/web"], "image": "acme/web"},
        {"command": ["/app/web"], "volumeMounts": [{"name": "own", "mountPath": "/app"}]},
        {"command": ["web"], "volumeMounts": [{"name": "own", "mountPath": "/usr/local/bin"}]},
        {"command": ["httpd", "-f"]},
        {"command": ["/bin/sh", "-c", "sleep 99"]},
    ],
)
def test_in_doubt_a_container_is_started(container: Document) -> None:
    lab = started(container, volumes=[{"name": "own", "emptyDir": {}}])
    assert "Started" in lab.reasons("web")


def test_a_pod_that_is_not_started_again_has_failed() -> None:
    lab = started({"command": ["bash"]}, restartPolicy="Never")
    assert lab.get("pods", "web")["status"]["phase"] == "Failed"
    assert status(lab)["state"]["terminated"]["reason"] == "StartError"


def test_an_init_container_that_cannot_be_started_lets_nothing_begin() -> None:
    init = {"name": "init", "image": "busybox:1.36", "command": ["bash", "-c", "true"]}
    lab = started({"command": ["sleep", "99"]}, initContainers=[init])
    assert status(lab, "initContainerStatuses")["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert status(lab)["state"]["waiting"]["reason"] == "PodInitializing"


def webs(*containers: Document, seconds: int = 9) -> dict[str, Document]:
    lab = Lab([node("n1"), pod("web", containers=list(containers), volumes=[{"name": "conf", "emptyDir": {}}])])
    lab.run(seconds)
    return {one["name"]: one for one in lab.get("pods", "web")["status"]["containerStatuses"]}


def test_of_two_containers_that_listen_on_one_port_the_second_crashes() -> None:
    told = webs({"name": "one", "image": "nginx:1.27"}, {"name": "two", "image": "docker.io/library/nginx"}, seconds=16)
    assert "running" in told["one"]["state"]
    ended = told["two"]["lastState"]["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (1, "Error")
    assert told["two"]["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert webs({"name": "one", "image": "httpd"}, {"name": "two", "image": "nginx"}, seconds=40)["two"]["restartCount"]


@pytest.mark.parametrize(
    "second",
    [
        {"image": "acme/nginx:1"},
        {"image": "redis:7"},
        {"image": "nginx", "command": ["sleep", "3600"]},
        {"image": "nginx", "volumeMounts": [{"name": "conf", "mountPath": "/etc/nginx/conf.d"}]},
    ],
)
def test_of_others_it_is_not_known_on_which_port_they_listen(second: Document) -> None:
    told = webs({"name": "one", "image": "nginx"}, {"name": "two", **second}, seconds=30)
    assert all("running" in one["state"] and not one["restartCount"] for one in told.values())

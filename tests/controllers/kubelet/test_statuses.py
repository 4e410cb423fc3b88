"""What the status of a pod says, field by field, as kubelets of v1.34 with containerd write it."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.kubelet.images import image_of, size_bytes
from controllers.log.operations import Patch
from tests.tools.lab import Document, Lab, node, pod

HOME = "default"
OWN = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"]


def status_of(document: Document, seconds: float = 15) -> Document:
    lab = Lab([node("n1"), document])
    lab.run(seconds)
    found: Document = lab.get("pods", "web")["status"]
    return found


def one_of(security: Document | None = None, of_pod: Document | None = None, **container: Any) -> Document:
    main = {"name": "main", "image": "nginx:1.27", "securityContext": security or {}, **container}
    volumes = [{"name": "data", "emptyDir": {}}]
    return pod("web", containers=[main], securityContext=of_pod or {}, volumes=volumes)


RESOURCES: list[tuple[Document, Document, Document | None]] = [
    ({}, {}, None),
    ({"requests": {"cpu": "100m"}}, {"requests": {"cpu": "100m"}}, {"cpu": "100m"}),
    (
        {"limits": {"cpu": "0.5", "memory": "64Mi"}},
        {"limits": {"cpu": "500m", "memory": "64Mi"}, "requests": {"cpu": "500m", "memory": "64Mi"}},
        {"cpu": "500m", "memory": "64Mi"},
    ),
    # The runtime knows its limit of memory in bytes, which are spelled anew.
    (
        {"limits": {"memory": "128M"}, "requests": {"memory": "64M"}},
        {"limits": {"memory": "125000Ki"}, "requests": {"memory": "64M"}},
        {"memory": "64M"},
    ),
]


@pytest.mark.parametrize(("asked", "told", "allocated"), RESOURCES, ids=str)
def test_what_a_container_was_given(asked: Document, told: Document, allocated: Document | None) -> None:
    (one,) = status_of(one_of(resources=asked))["containerStatuses"]
    assert one["resources"] == told
    assert one.get("allocatedResources") == allocated


MOUNTS: list[tuple[Document, Document]] = [
    ({}, {}),
    ({"readOnly": True}, {"readOnly": True, "recursiveReadOnly": "Disabled"}),
    ({"readOnly": True, "recursiveReadOnly": "IfPossible"}, {"readOnly": True, "recursiveReadOnly": "Enabled"}),
    ({"subPath": "in"}, {}),
]


@pytest.mark.parametrize(("mount", "told"), MOUNTS, ids=str)
@pytest.mark.parametrize("seconds", [0.3, 15], ids=["before-it-runs", "running"])
def test_what_is_mounted_in_a_container(mount: Document, told: Document, seconds: float) -> None:
    place = {"name": "data", "mountPath": "/data"}
    (one,) = status_of(one_of(volumeMounts=[place | mount]), seconds)["containerStatuses"]
    assert [at for at in one["volumeMounts"] if at["name"] == "data"] == [place | told]


USERS: list[tuple[Document, Document, tuple[int, int, list[int]]]] = [
    ({}, {}, (0, 0, [0])),
    ({}, {"runAsUser": 1000}, (1000, 0, [0])),
    ({"runAsUser": 7, "runAsGroup": 8}, {"runAsUser": 1000, "runAsGroup": 1000}, (7, 8, [8])),
    ({"runAsGroup": 44}, {"fsGroup": 2000, "supplementalGroups": [3000, 44]}, (0, 44, [44, 2000, 3000])),
    ({"runAsNonRoot": True}, {}, (65532, 65532, [65532])),
]


@pytest.mark.parametrize(("security", "of_pod", "user"), USERS, ids=str)
def test_as_whom_a_container_runs(security: Document, of_pod: Document, user: tuple[int, int, list[int]]) -> None:
    (one,) = status_of(one_of(security, of_pod))["containerStatuses"]
    uid, gid, groups = user
    assert one["user"] == {"linux": {"uid": uid, "gid": gid, "supplementalGroups": groups}}


DIGEST = f"sha256:{'a' * 64}"
IMAGES = [
    # (as the pod spells it, the image's name in statuses, its id up to the digest)
    ("nginx", "docker.io/library/nginx:latest", "docker.io/library/nginx@"),
    ("nginx:1.27", "docker.io/library/nginx:1.27", "docker.io/library/nginx@"),
    ("team/app:2", "docker.io/team/app:2", "docker.io/team/app@"),
    ("index.docker.io/library/nginx:1", "docker.io/library/nginx:1", "docker.io/library/nginx@"),
    ("localhost/app", "localhost/app:latest", "localhost/app@"),
    ("registry.example:5000/a/b:3", "registry.example:5000/a/b:3", "registry.example:5000/a/b@"),
    (f"nginx:1.27@{DIGEST}", "sha256:", f"docker.io/library/nginx@{DIGEST}"),
]


@pytest.mark.parametrize(("name", "told", "image_id"), IMAGES)
def test_images_have_the_names_that_containerd_gives_them(name: str, told: str, image_id: str) -> None:
    image = image_of(name)
    assert (image.told.startswith(told), image.digest.startswith(image_id)) == (True, True)
    # What a status tells stands for the same image.
    assert image_of(image.told).told == image.told
    assert image_of(image.familiar).full == image.full


def test_an_image_has_one_digest_on_all_nodes() -> None:
    lab = Lab([node("n1"), node("n2"), *(pod(f"p{n}", nodeName=f"n{n}", image="nginx") for n in (1, 2))])
    lab.run(20)
    ids = {lab.get("pods", f"p{n}")["status"]["containerStatuses"][0]["imageID"] for n in (1, 2)}
    assert ids == {image_of("nginx").digest}
    names = [lab.get("nodes", f"n{n}", "")["status"]["images"][0]["names"] for n in (1, 2)]
    assert names[0] == names[1] == [*ids, "docker.io/library/nginx:latest", "nginx:latest"]


def test_statuses_stand_in_the_order_of_names_and_init_containers_in_that_of_the_spec() -> None:
    containers = [{"name": name, "image": "nginx"} for name in ("zeta", "alpha")]
    inits = [{"name": name, "image": "busybox", "command": ["true"]} for name in ("second", "first")]
    status = status_of(pod("web", containers=containers, initContainers=inits), 30)
    assert [one["name"] for one in status["containerStatuses"]] == ["alpha", "zeta"]
    assert [one["name"] for one in status["initContainerStatuses"]] == ["second", "first"]
    (init, _) = status["initContainerStatuses"]
    assert (init["ready"], init["started"], init["resources"]) == (True, False, {})


def test_conditions_tell_the_generation_that_they_are_about() -> None:
    lab = Lab([node("n1"), pod("web"), pod("elsewhere", nodeName="n1"), pod("big", cpu="100")])
    lab.run(15)
    for name in ("web", "elsewhere"):
        told = lab.get("pods", name)["status"]["conditions"]
        assert [(one["type"], one["observedGeneration"]) for one in told] == [(kind, 1) for kind in OWN]
    (unscheduled,) = lab.get("pods", "big")["status"]["conditions"]
    assert (unscheduled["status"], unscheduled["observedGeneration"]) == ("False", 1)
    before = {one["type"]: one for one in lab.get("pods", "web")["status"]["conditions"]}
    tolerations = [{"key": "a", "operator": "Exists"}]
    known = lab.get("pods", "web")["spec"]["tolerations"]
    lab.do(Patch("pods", HOME, "web", {"spec": {"tolerations": [*known, *tolerations]}}, "merge"))
    lab.run(15)
    after = lab.get("pods", "web")
    assert (after["metadata"]["generation"], after["status"]["observedGeneration"]) == (2, 2)
    assert after["status"]["conditions"] == [{**before[kind], "observedGeneration": 2} for kind in OWN]


def test_conditions_of_others_come_first() -> None:
    lab = Lab([node("n1"), pod("web")])
    lab.run(10)
    others = [{"type": "a.b/c", "status": "True"}]
    lab.do(Patch("pods", HOME, "web", {"status": {"conditions": others}}, "strategic", "status"))
    lab.do(Patch("pods", HOME, "web", {"spec": {"activeDeadlineSeconds": 5000}}, "merge"))
    lab.run(10)
    assert [one["type"] for one in lab.get("pods", "web")["status"]["conditions"]] == ["a.b/c", *OWN]


def test_a_generation_that_a_writer_leaves_out_stays_observed() -> None:
    lab = Lab([node("n1"), pod("web")])
    lab.run(10)
    status = lab.get("pods", "web")["status"]
    less = [{key: value for key, value in one.items() if key != "observedGeneration"} for one in status["conditions"]]
    body = {"status": {"conditions": less, "observedGeneration": None}}
    lab.do(Patch("pods", HOME, "web", body, "merge", "status"))
    assert lab.get("pods", "web")["status"] == status


def test_a_pod_that_its_node_does_not_take_is_told_of_in_few_words() -> None:
    status = status_of(pod("web", cpu="100", nodeName="n1"))
    why = "Node didn't have enough resource: cpu, requested: 100000, used: 0, capacity: 4000"
    assert status.pop("startTime")
    assert status == {
        "observedGeneration": 1,
        "phase": "Failed",
        "reason": "OutOfcpu",
        "message": f"Pod was rejected: {why}",
        "qosClass": "Burstable",
    }


def test_what_could_not_be_pulled_has_its_network_already() -> None:
    status = status_of(pod("web", image="team/app:missing"))
    assert status["podIP"]
    assert {one["type"]: one["status"] for one in status["conditions"]}["PodReadyToStartContainers"] == "True"
    (one,) = status["containerStatuses"]
    assert (one["image"], one["imageID"], one["started"]) == ("team/app:missing", "", False)
    assert not one.keys() & {"containerID", "resources", "allocatedResources", "user"}


def test_the_run_before_is_told_with_its_container() -> None:
    lab = Lab([node("n1"), pod("web", image="crash")])
    lab.run(120)
    ran: dict[int, str] = {}
    for row in lab.rows():
        for one in row.object.get("status", {}).get("containerStatuses") or ():
            last = one["lastState"].get("terminated")
            if "running" in one["state"]:
                ran[one["restartCount"]] = one["containerID"]
            if last:
                before = one["restartCount"] - ("running" in one["state"] or "terminated" in one["state"])
                assert last["containerID"] == ran[before]
            if "terminated" in one["state"]:
                assert one["state"]["terminated"]["containerID"] == one["containerID"]
    assert len(set(ran.values())) == len(ran) > 2


def test_a_resize_is_found_by_an_owner_who_was_not_there_when_it_was_asked_for() -> None:
    lab = Lab([node("n1"), one_of(resources={"requests": {"cpu": "100m"}})])
    lab.run(10)
    spec = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "200m"}}}]}
    lab.do(Patch("pods", HOME, "web", {"spec": spec}, "strategic", "resize"))
    again = Lab(store=lab.store)
    again.run(30)
    (one,) = again.get("pods", "web")["status"]["containerStatuses"]
    assert one["resources"]["requests"] == one["allocatedResources"] == {"cpu": "200m"}
    assert [event["reason"] for event in again.list("events")].count("ResizeCompleted") == 1


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("busybox", 3_000_000),
        ("registry.k8s.io/busybox:1.27.2", 3_000_000),
        ("alpine:3", 5_000_000),
        ("curlimages/curl:8.10.1", 10_000_000),
        ("registry.k8s.io/pause:3.10", 400_000),
    ],
)
def test_images_that_everybody_knows_to_be_small_are(name: str, most: int) -> None:
    assert 0 < size_bytes(name) < most
    assert size_bytes(name) == size_bytes(image_of(name).full), "however it is spelled"
    assert size_bytes("example.com/busybox-tools:1") > 20_000_000

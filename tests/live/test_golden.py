"""Golden streams: what the server sends for a fixed story, and the view that it folds to.

The browser state's tests replay the same files (tests/js/view.test.js). `--update-golden` writes them anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clustersim.feed.batch import Batch
from clustersim.feed.view import SlimView
from controllers.log.memory import MemoryStore
from scheduler_core.api.document import Document

FOLDER = Path(__file__).parent.parent / "golden" / "watch"


def metadata(name: str, namespace: str = "", **more: Any) -> Document:
    base = {"name": name, "uid": f"uid-{name}", "creationTimestamp": "2024-01-01T00:00:00Z"}
    return {**base, **({"namespace": namespace} if namespace else {}), **more}


NODE: Document = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": metadata("n1", labels={"topology.kubernetes.io/zone": "zone-a"}),
    "spec": {"taints": [{"key": "gpu", "value": "true", "effect": "NoSchedule", "timeAdded": "2024-01-01T00:00:00Z"}]},
    "status": {
        "capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"},
        "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "2024-01-01T00:00:00Z"}],
        "images": [{"names": ["nginx:1.27"], "sizeBytes": 70000000}],
        "nodeInfo": {"kubeletVersion": "v1.34.1"},
    },
}
POD: Document = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": metadata(
        "web-1",
        "default",
        labels={"app": "web"},
        annotations={"clustersim.io/created-by": "mei", "kubectl.kubernetes.io/last-applied-configuration": "{…}"},
        ownerReferences=[
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "uid-web", "controller": True}
        ],
        managedFields=[{"manager": "kubectl"}],
    ),
    "spec": {
        "schedulerName": "default-scheduler",
        "priority": 0,
        "containers": [
            {
                "name": "c",
                "image": "nginx:1.27",
                "resources": {"requests": {"cpu": "500m", "memory": "512Mi"}, "limits": {"cpu": "1"}},
                "env": [{"name": "SECRET", "value": "hidden"}],
            }
        ],
        "tolerations": [{"operator": "Exists"}],
    },
    "status": {"phase": "Pending"},
}


def put(store: MemoryStore, resource: str, document: Document, now_ms: int, actor: str = "session") -> None:
    with store.transaction(actor, now_ms=now_ms) as transaction:
        place = document["metadata"]
        transaction.put(resource, place.get("namespace", ""), place["name"], document)


def delete(store: MemoryStore, resource: str, namespace: str, name: str, now_ms: int) -> None:
    with store.transaction("kube-controller-manager-0/podgc", now_ms=now_ms) as transaction:
        transaction.delete(resource, namespace, name)


def with_fields(document: Document, path: str, **fields: Any) -> Document:
    return {**document, path: {**document[path], **fields}}


def pod_is_bound(store: MemoryStore) -> None:
    put(store, "pods", POD, 100, "user:mei")
    bound = with_fields(POD, "spec", nodeName="n1")
    put(store, "pods", bound, 1_250, "kube-scheduler-0")
    conditions = [{"type": "PodScheduled", "status": "True", "lastTransitionTime": "2024-01-01T00:00:01Z"}]
    put(store, "pods", with_fields(bound, "status", conditions=conditions), 1_250, "kube-scheduler-0")
    running = with_fields(bound, "status", phase="Running", startTime="2024-01-01T00:00:02Z", conditions=conditions)
    put(store, "pods", running, 2_500, "kubelet/n1")


def pods_come_and_go(store: MemoryStore) -> None:
    for number in range(3):
        put(store, "pods", {**POD, "metadata": metadata(f"web-{number}", "default")}, 100 * number)
    delete(store, "pods", "default", "web-1", 900)
    put(store, "pods", {**POD, "metadata": metadata("web-1", "other")}, 1_000)
    put(store, "configmaps", {"metadata": metadata("c", "default"), "data": {"password": "hidden"}}, 1_100)


def commands_are_objects(store: MemoryStore) -> None:
    clock = {"metadata": metadata("clock"), "spec": {"paused": False, "rate": 1.0, "pace": 250}}
    put(store, "clocks.clustersim.io", clock, 0)
    status = {"observedGeneration": 1, "paused": False, "rate": 1.0, "pace": 250, "simTimeMs": 0, "anchorUnixMs": 1000}
    put(store, "clocks.clustersim.io", {**clock, "status": status}, 100, "kube-scheduler-0")
    cycle = {"pod": "default/web-1", "uid": "uid-web-1", "attempt": 1, "point": "Filter", "input": {"large": [1, 2, 3]}}
    replica = {
        "metadata": metadata("kube-scheduler-0"),
        "spec": {"component": "kube-scheduler"},
        "status": {"state": "Running", "leading": True, "cycle": cycle},
    }
    put(store, "replicas.clustersim.io", replica, 350, "kube-scheduler-0")
    replay = {"metadata": metadata("trace"), "spec": {"pods": "name\n…", "divisor": 10, "start": 0}}
    put(store, "replays.clustersim.io", replay, 400, "user:mei")


STORIES: dict[str, Callable[[MemoryStore], None]] = {
    "pod-is-bound": pod_is_bound,
    "pods-come-and-go": pods_come_and_go,
    "commands-are-objects": commands_are_objects,
}


def told(story: Callable[[MemoryStore], None]) -> Document:
    """Return the stream of a story: a list, then a batch for every row; and the fresh view at its end."""
    store = MemoryStore(seed=1)
    put(store, "nodes", NODE, 0)
    first = SlimView.read(store)
    frames = [json.loads(frame) for frame in first.frames()]
    story(store)
    for event in store.events(first.revision):
        frames += [json.loads(frame) for frame in Batch(event.revision - 1, event.revision, [event]).frames]
    objects: dict[str, dict[str, Document]] = {}
    for frame in SlimView.read(store).frames():
        for thing in json.loads(frame)["objects"]:
            namespace = thing["metadata"].get("namespace")
            key = f"{namespace}/{thing['metadata']['name']}" if namespace else thing["metadata"]["name"]
            objects.setdefault(thing["resource"], {})[key] = thing
    return {"frames": frames, "view": {"revision": store.revision, "objects": objects}}


@pytest.mark.parametrize("name", STORIES)
def test_the_server_sends_what_the_golden_file_holds(name: str, pytestconfig: pytest.Config) -> None:
    stream, file = told(STORIES[name]), FOLDER / f"server-{name}.json"
    if pytestconfig.getoption("--update-golden"):
        file.write_text(json.dumps(stream, indent=1, ensure_ascii=False) + "\n")
    assert json.loads(file.read_text()) == stream


def fold(frames: list[Document]) -> tuple[int, dict[str, dict[str, Document]]]:
    """Return (revision, objects): docs/protocol.md, Folding."""
    revision, objects, listing = -1, {}, False
    for frame in frames:
        if frame["type"] == "list":
            objects = objects if listing else {}
            for thing in frame["objects"]:
                objects[place(thing)] = thing
            listing, revision = not frame["last"], frame["revision"]
        elif frame["type"] == "events" and frame["to"] > revision:
            for event in frame["events"]:
                if event["revision"] <= revision:
                    continue
                if event["verb"] == "DELETED":
                    del objects[place(event["object"])]
                else:
                    objects[place(event["object"])] = event["object"]
            revision = frame["to"]
    found: dict[str, dict[str, Document]] = {}
    for (resource, key), thing in objects.items():
        found.setdefault(resource, {})[key] = thing
    return revision, found


def place(thing: Document) -> tuple[str, str]:
    namespace, name = thing["metadata"].get("namespace"), thing["metadata"]["name"]
    return thing["resource"], f"{namespace}/{name}" if namespace else name


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.json")), ids=lambda file: file.stem)
def test_old_view_and_messages_give_the_fresh_list(file: Path) -> None:
    document = json.loads(file.read_text())
    revision, objects = fold(document["frames"])
    assert revision == document["view"]["revision"]
    # A resource whose last object was deleted may stand there empty.
    assert objects == {resource: things for resource, things in document["view"]["objects"].items() if things}


def test_nothing_of_an_object_travels_that_the_page_does_not_read() -> None:
    sent = json.dumps([told(story)["frames"] for story in STORIES.values()])
    for left_out in (
        "hidden",
        "managedFields",
        "last-applied",
        "kubeletVersion",
        "sizeBytes",
        "limits",
        '"input"',
        "name\\n",
    ):
        assert left_out not in sent

"""VolumeBinding after Filter: what is taken, what later pods see of it, what is written, and how a wait ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from scheduler_core.api.document import Document
from scheduler_core.framework.asks import PatchObject, Reply, Sleep
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.status import SUCCESS, Status, error
from scheduler_core.profiles.defaults import default_configuration, in_tree_registry
from scheduler_core.snapshot.snapshot import ALL_ROWS, Snapshot
from scheduler_core.volumes.assumed import AssumedObjects
from tests.core.objects import info, node, pod

CLAIMS, VOLUMES, CLASSES = "persistentvolumeclaims", "persistentvolumes", "storageclasses.storage.k8s.io"
SELECTED = "volume.kubernetes.io/selected-node"


class World:
    """Listers over documents that a test changes; every put is a new version."""

    def __init__(self, *documents: tuple[str, Document]) -> None:
        self.objects: dict[tuple[str, str, str], Document] = {}
        self.version = 0
        for resource, document in documents:
            self.put(resource, document)

    def put(self, resource: str, document: Document) -> None:
        self.version += 1
        meta = {**document["metadata"], "resourceVersion": str(self.version)}
        self.objects[resource, meta.get("namespace", ""), meta["name"]] = {**document, "metadata": meta}

    def get(self, resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        return self.objects.get((resource, namespace, name))

    def list(self, resource: str) -> Sequence[Mapping[str, Any]]:
        return [one for (kind, _, _), one in sorted(self.objects.items()) if kind == resource]


def claim(name: str, storage: str = "5Gi", class_name: str = "local", volume: str = "", **annotations: str) -> Document:
    notes = {key.replace("_", "-"): value for key, value in annotations.items()}
    if volume:
        notes["pv.kubernetes.io/bind-completed"] = "yes"
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": class_name, "volumeName": volume,
            "resources": {"requests": {"storage": storage}}}  # fmt: skip
    meta = {"name": name, "namespace": "default", "uid": f"uid-{name}", "annotations": notes}
    return {"metadata": meta, "spec": spec, "status": {"phase": "Bound" if volume else "Pending"}}


def volume(name: str, storage: str = "5Gi", **spec: Any) -> Document:
    body = {"capacity": {"storage": storage}, "accessModes": ["ReadWriteOnce"], "storageClassName": "local"}
    return {"metadata": {"name": name, "uid": f"uid-{name}"}, "spec": body | spec, "status": {"phase": "Available"}}


def storage_class(name: str, provisioner: str) -> Document:
    return {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"}


def world(*documents: tuple[str, Document]) -> World:
    return World(
        ("nodes", {"metadata": {"name": "a"}}),
        ("pods", {"metadata": {"name": "p", "namespace": "default", "uid": pod("p").uid}}),
        (CLASSES, storage_class("local", "kubernetes.io/no-provisioner")),
        (CLASSES, storage_class("made", "disk.example.dev")),
        *documents,
    )


class Asked:
    """One plugin over a world, and one pod on its way through it."""

    def __init__(self, seen: World, *claims: str, timeout: int = 3, assumed: AssumedObjects | None = None) -> None:
        self.assumed = assumed or AssumedObjects(seen)
        arguments = {"VolumeBinding": {"bindTimeoutSeconds": timeout}}
        configuration = replace(default_configuration(), arguments=arguments)
        framework = Framework(configuration, in_tree_registry(), listers=self.assumed)
        self.plugin: Any = framework.plugins["VolumeBinding"]
        self.state = CycleState()
        volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
        self.pod = pod("p", volumes=volumes)
        self.snapshot = Snapshot([info(node("a"))])
        _, self.pre_filtered = self.plugin.pre_filter(self.state, self.pod, self.snapshot)
        self.fits = self.plugin.filter(self.state, self.pod, self.snapshot, ALL_ROWS).status(0).ok

    def reserve(self) -> Status:
        status: Status = self.plugin.reserve(self.state, self.pod, "a")
        return status

    def unreserve(self) -> None:
        self.plugin.unreserve(self.state, self.pod, "a")

    def pre_bind(self, *answers: Any) -> tuple[list[Any], Status]:
        """Run PreBind; each answer is a Reply, or a function called while the plugin sleeps. Returns (asks, status)."""
        steps = self.plugin.pre_bind(self.state, self.pod, "a")
        asks: list[Any] = []
        given = list(answers)
        reply: Reply | None = None
        while True:
            try:
                ask = steps.send(reply) if asks else next(steps)
            except StopIteration as stop:
                return asks, stop.value
            asks.append(ask)
            answer = given.pop(0) if given else None
            reply = answer if isinstance(answer, Reply) else Reply()
            if callable(answer):
                answer()


def test_what_is_reserved_is_nobody_elses_until_it_is_given_back() -> None:
    seen = world((CLAIMS, claim("one")), (CLAIMS, claim("two")), (VOLUMES, volume("disk")))
    first = Asked(seen, "one")
    assert (first.fits, first.reserve()) == (True, SUCCESS)
    assert first.assumed.volumes["disk"]["uid"] == "uid-one"
    assert not Asked(seen, "two", assumed=first.assumed).fits
    # A second pod with the same claim takes the volume that is kept for it.
    assert Asked(seen, "one", assumed=first.assumed).fits
    first.unreserve()
    assert first.assumed.volumes == {}
    assert Asked(seen, "two", assumed=first.assumed).fits


def test_the_smallest_volume_goes_and_small_claims_choose_first() -> None:
    seen = world(
        (CLAIMS, claim("big", "8Gi")), (CLAIMS, claim("small", "2Gi")),
        (VOLUMES, volume("large", "20Gi")), (VOLUMES, volume("middle", "10Gi")), (VOLUMES, volume("tiny", "1Gi")),
    )  # fmt: skip
    asked = Asked(seen, "big", "small")
    assert asked.reserve() == SUCCESS
    assert {name: kept["name"] for name, kept in asked.assumed.volumes.items()} == {"middle": "small", "large": "big"}


def test_a_volume_to_be_made_ties_its_claim_to_the_node() -> None:
    seen = world((CLAIMS, claim("new", class_name="made")))
    asked = Asked(seen, "new")
    assert asked.reserve() == SUCCESS
    assert asked.assumed.claims == {"default/new": "a"}
    shown = asked.assumed.get(CLAIMS, "default", "new")
    assert shown is not None
    assert shown["metadata"]["annotations"][SELECTED] == "a"


def test_what_the_watch_shows_anew_overtakes_what_was_assumed() -> None:
    seen = world((CLAIMS, claim("one")), (VOLUMES, volume("disk")))
    asked = Asked(seen, "one")
    asked.reserve()
    seen.put(VOLUMES, volume("disk", "6Gi"))
    assert asked.assumed.volumes == {}
    assert asked.assumed.get(VOLUMES, "", "disk") == seen.get(VOLUMES, "", "disk")


@pytest.mark.parametrize("change", ["taken", "gone"])
def test_a_choice_that_is_out_of_date_is_refused_and_leaves_nothing(change: str) -> None:
    seen = world(
        (CLAIMS, claim("one", "1Gi")), (CLAIMS, claim("two", "2Gi")),
        (VOLUMES, volume("first", "1Gi")), (VOLUMES, volume("second", "2Gi")),
    )  # fmt: skip
    asked = Asked(seen, "one", "two")
    if change == "taken":
        seen.put(VOLUMES, volume("second", claimRef={"namespace": "default", "name": "other", "uid": "x"}))
        text = 'v1.PersistentVolume "second" is out of sync (stored: 9, assume: 8)'
    else:
        del seen.objects[VOLUMES, "", "second"]
        text = 'could not find v1.PersistentVolume "second"'
    assert asked.reserve() == error(text)
    assert asked.assumed.volumes == {}


def test_an_input_shows_the_same_as_what_it_was_written_from() -> None:
    seen = world((CLAIMS, claim("one")), (CLAIMS, claim("new", class_name="made")), (VOLUMES, volume("disk")))
    asked = Asked(seen, "one", "new")
    asked.reserve()
    again = AssumedObjects(seen, asked.assumed.volumes, asked.assumed.claims)
    for resource in (CLAIMS, VOLUMES):
        assert list(again.list(resource)) == list(asked.assumed.list(resource))
    assert again.volumes == asked.assumed.volumes
    assert again.claims == asked.assumed.claims


class TestPreBind:
    def reserved(self, *, timeout: int = 3) -> tuple[World, Asked]:
        seen = world((CLAIMS, claim("one")), (CLAIMS, claim("new", class_name="made")), (VOLUMES, volume("disk")))
        asked = Asked(seen, "one", "new", timeout=timeout)
        assert asked.reserve() == SUCCESS
        return seen, asked

    def test_writes_both_sides_and_waits_until_all_is_bound(self) -> None:
        seen, asked = self.reserved()
        kept = {"namespace": "default", "name": "one", "uid": "uid-one"}

        def bind_one() -> None:
            seen.put(VOLUMES, volume("disk", claimRef=kept))
            seen.put(CLAIMS, claim("one", volume="disk"))

        def bind_both() -> None:
            made = claim("new", class_name="made", volume="pvc")
            made["metadata"]["annotations"][SELECTED] = "a"
            seen.put(CLAIMS, made)
            seen.put(VOLUMES, volume("pvc"))

        asks, status = asked.pre_bind(Reply(), Reply(), bind_one, bind_both)
        assert status == SUCCESS
        assert [type(ask) for ask in asks] == [PatchObject, PatchObject, Sleep, Sleep]
        first, second = asks[:2]
        assert (first.resource, first.name) == (VOLUMES, "disk")
        told = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **kept, "resourceVersion": "5"}
        assert first.patch["spec"]["claimRef"] == told
        assert first.patch["metadata"]["annotations"] == {"pv.kubernetes.io/bound-by-controller": "yes"}
        assert first.patch["metadata"]["resourceVersion"] == "7"
        assert (second.resource, second.name) == (CLAIMS, "new")
        assert second.patch["metadata"]["annotations"] == {SELECTED: "a"}

    def test_ends_with_what_the_api_server_refuses(self) -> None:
        _, asked = self.reserved()
        asks, status = asked.pre_bind(Reply("the object has been modified", code=409))
        assert (len(asks), status) == (1, error("the object has been modified"))

    def test_gives_up_after_a_while(self) -> None:
        _, asked = self.reserved(timeout=5)
        asks, status = asked.pre_bind()
        assert status == error("binding volumes: context deadline exceeded")
        assert [ask.ms for ask in asks if isinstance(ask, Sleep)] == [1000] * 5

    @pytest.mark.parametrize(
        ("happens", "text"),
        [
            ("the node goes", 'failed to get node "a": node "a" not found'),
            ("the pod goes", 'pod does not exist any more: pod "p" not found'),
            ("the volume goes", 'failed to check binding: could not find v1.PersistentVolume "disk"'),
            (
                "the claim goes",
                'failed to check provisioning pvc: could not find v1.PersistentVolumeClaim "default/new"',
            ),
            ("the volume is let go", 'ClaimRef got reset for pv "disk"'),
            ("the volume moves", 'pv "disk" node affinity doesn\'t match node "a": no matching NodeSelectorTerms'),
            ("nothing is left of it", 'selectedNode annotation reset for PVC "new"'),
            ("making fails", 'provisioning failed for PVC "new"'),
        ],
    )
    def test_says_why_it_will_never_be(self, happens: str, text: str) -> None:
        seen, asked = self.reserved()
        kept = {"namespace": "default", "name": "one", "uid": "uid-one"}
        far = {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "x", "operator": "Exists"}]}]}}

        def change() -> None:
            seen.put(VOLUMES, volume("disk", claimRef=kept))
            seen.put(CLAIMS, claim("one", volume="disk"))
            match happens:
                case "the node goes":
                    del seen.objects["nodes", "", "a"]
                case "the pod goes":
                    del seen.objects["pods", "default", "p"]
                case "the volume goes":
                    del seen.objects[VOLUMES, "", "disk"]
                case "the claim goes":
                    del seen.objects[CLAIMS, "default", "new"]
                case "the volume is let go":
                    seen.put(VOLUMES, volume("disk"))
                case "the volume moves":
                    seen.put(VOLUMES, volume("disk", claimRef=kept, nodeAffinity=far))
                case "nothing is left of it":
                    seen.put(CLAIMS, claim("new", class_name="made"))
                case _:
                    seen.put(CLAIMS, claim("new", class_name="made", asked="disk.example.dev"))

        _, status = asked.pre_bind(Reply(), Reply(), change)
        assert status == error(f"binding volumes: {text}")

    def test_a_pod_whose_claims_are_bound_waits_for_nothing(self) -> None:
        seen = world((CLAIMS, claim("one", volume="disk")), (VOLUMES, volume("disk")))
        asked = Asked(seen, "one")
        assert (asked.reserve(), asked.pre_bind()) == (SUCCESS, ([], SUCCESS))

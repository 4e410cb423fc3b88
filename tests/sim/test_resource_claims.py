"""Claims of devices under crashes: each pod that lives has its own, none is left of one that has gone, and no device is
in two of them."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from controllers.log.operations import Delete, Patch
from controllers.resourceclaim.controller import REMEMBERED_MS
from controllers.resourceclaim.documents import TEMPLATES
from scheduler_core.api.document import has_ended
from scheduler_core.devices.claims import CLAIMS, allocation_of, devices_in, reserved_for
from tests.controllers.scheduler.test_devices import DRIVER, device_class, gpu, slice_of
from tests.controllers.test_resource_claims import GPU, asking, template
from tests.tools.lab import Document, Lab, any_of, node

SEEDS = range(6)
HOMES = {"n1": "abc", "n2": "ab"}
DEVICES = [(DRIVER, home, name) for home, names in HOMES.items() for name in names]
CRASHING = [f"kube-{which}-{number}" for which in ("controller-manager", "scheduler") for number in range(2)]
TURNS = 60


def _write(lab: Lab, random: Random, turn: int) -> None:
    some = f"p{random.randrange(turn + 1)}"
    fault = {"spec": {"fault": {"id": turn + 1, "kind": random.choice(["crash", "recover", "recover"])}}}
    claims = [one["metadata"]["name"] for one in lab.list(CLAIMS)]
    choices: list[Any] = [
        lambda: lab.create(asking(f"p{turn}", GPU)),
        lambda: lab.create(asking(f"p{turn}", GPU, {**GPU, "name": "second"})),
        lambda: lab.do(Delete("pods", "default", some, grace_period_seconds=0)),
        lambda: lab.do(Delete("pods", "default", some)),
        lambda: lab.do(Patch("pods", "default", some, {"status": {"phase": "Succeeded"}}, "merge", "status")),
        lambda: lab.do(Delete(CLAIMS, "default", random.choice(claims))) if claims else None,
        lambda: lab.do(Delete(TEMPLATES, "default", "card")),
        lambda: lab.create(template("card")),
        lambda: lab.do(Patch("replicas.clustersim.io", "", random.choice(CRASHING), fault)),
    ]
    any_of(random, choices)


def live(seed: int) -> Lab:
    """Write at random between slices of time, with controllers that crash; then let everything settle."""
    random = Random(seed)
    cards = [slice_of(home, *map(gpu, names)) for home, names in HOMES.items()]
    lab = Lab([node("n1"), node("n2"), template("card"), device_class("gpu"), *cards], seed=seed, replicas=2)
    lab.run(1)
    for turn in range(TURNS):
        _write(lab, random, turn)
        lab.obey()
        lab.run(random.choice([0.1, 1, 5, 20]))
    for name in CRASHING:
        recover = {"spec": {"fault": {"id": TURNS + 1, "kind": "recover"}}}
        lab.do(Patch("replicas.clustersim.io", "", name, recover))
    lab.obey()
    if not lab.list(TEMPLATES):
        lab.create(template("card"))
    lab.run(2 * REMEMBERED_MS / 1000)
    # One that was taken away right after it was made counts as there, until the pod is looked at again.
    for one in lab.list("pods"):
        forgotten = {"status": {"resourceClaimStatuses": None}}
        lab.do(Patch("pods", "default", one["metadata"]["name"], forgotten, "merge", "status"))
    lab.run(30)
    return lab


def complaints(lab: Lab) -> list[str]:
    """Return what is not as it should be."""
    pods = {one["metadata"]["uid"]: one for one in lab.list("pods")}
    found = []
    made: dict[str, list[Document]] = {uid: [] for uid in pods}
    for claim in lab.list(CLAIMS):
        (owner,) = claim["metadata"]["ownerReferences"]
        if owner["uid"] not in pods:
            found.append(f"{claim['metadata']['name']} is left of {owner['name']}")
        else:
            made[owner["uid"]].append(claim)
    for uid, pod in pods.items():
        told = {one["resourceClaimName"] for one in pod.get("status", {}).get("resourceClaimStatuses") or ()}
        there = {one["metadata"]["name"] for one in made[uid]}
        ended = pod["status"]["phase"] in ("Succeeded", "Failed")
        wanted = 0 if ended else len(pod["spec"]["resourceClaims"])
        if len(there) != wanted or (not ended and told != there):
            found.append(f"{pod['metadata']['name']} has {sorted(there)}, tells {sorted(told)}, should have {wanted}")
    return found + devices_amiss(lab, pods)


def devices_amiss(lab: Lab, pods: dict[str, Document]) -> list[str]:
    """Return which devices are in two claims, or in one of a pod elsewhere, and who waits though there are enough."""
    found: list[str] = []
    holders: dict[tuple[str, ...], str] = {}
    for claim in lab.list(CLAIMS):
        name = claim["metadata"]["name"]
        users = [one["uid"] for one in reserved_for(claim)]
        for device in devices_in(allocation_of(claim) or {}):
            if device in holders:
                found.append(f"{device} is in {name} and in {holders[device]}")
            holders[device] = name
            homes = {pods[uid]["spec"].get("nodeName") for uid in users if uid in pods} - {None}
            if homes - {device[1]}:
                found.append(f"{name} has {device}, its pods are on {homes}")
    free = {home: sum(key[1] == home for key in DEVICES) - sum(key[1] == home for key in holders) for home in HOMES}
    for pod in pods.values():
        asked = len(pod["spec"]["resourceClaims"])
        if not pod["spec"].get("nodeName") and not has_ended(pod) and max(free.values()) >= asked:
            found.append(f"{pod['metadata']['name']} waits for {asked}, free are {free}")
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_each_pod_has_its_claims_and_nobody_elses_are_left(seed: int) -> None:
    assert complaints(live(seed)) == [], f"seed {seed}"

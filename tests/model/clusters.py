"""Tiny clusters, drawn at random, with a taste for the places where the model and the engine part."""

from __future__ import annotations

from random import Random
from typing import Any

from scheduler_core.api.meta import view
from scheduler_core.api.node import Node
from scheduler_core.model.objects import Objects
from scheduler_core.snapshot.node_info import PodInfo

EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
HOST, ZONE = "kubernetes.io/hostname", "zone"


def node(name: str, cpu: str = "4", *, labels: dict[str, str] | None = None, pods: int = 110, **spec: Any) -> Node:
    ready = spec.pop("ready", "True")
    document = {
        "metadata": {"name": name, "labels": {HOST: name, **(labels or {})}},
        "spec": spec,
        "status": {
            "allocatable": {"cpu": cpu, "memory": "8Gi", "pods": str(pods)},
            "conditions": [{"type": "Ready", "status": ready}],
        },
    }
    return view(document, Node)


def pod(name: str, cpu: str = "1", *, on: str = "", labels: dict[str, str] | None = None, **spec: Any) -> PodInfo:
    status = spec.pop("status", {})
    document = {
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", "labels": labels or {}},
        "spec": {
            "schedulerName": "default-scheduler",
            "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu} if cpu else {}}}],
            **({"nodeName": on} if on else {}),
            **spec,
        },
        "status": status,
    }
    return PodInfo.of(document)


def near(key: str = ZONE, **labels: str) -> dict[str, Any]:
    return {"topologyKey": key, "labelSelector": {"matchLabels": labels}}


def required(kind: str, *terms: dict[str, Any]) -> dict[str, Any]:
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def preferred(kind: str, weight: int, term: dict[str, Any]) -> dict[str, Any]:
    return {kind: {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": weight, "podAffinityTerm": term}]}}


def maybe(random: Random, chance: float) -> bool:
    return random.random() < chance


def draw_node(random: Random, name: str) -> Node:
    labels: dict[str, str] = {}
    if maybe(random, 0.8):
        labels[ZONE] = random.choice("ab")
    if maybe(random, 0.5):
        labels["disk"] = random.choice(("ssd", "hdd"))
    if maybe(random, 0.4):
        labels["gen"] = random.choice(("1", "2", "3", "x"))
    taints = [
        {"key": random.choice("kg"), "value": random.choice(("", "v")), "effect": random.choice(EFFECTS)}
        for _ in range(random.choice((0, 0, 0, 1, 2)))
    ]
    return node(
        name,
        random.choice(("2", "3", "4")),
        labels=labels,
        pods=random.choice((1, 2, 110, 110, 110)),
        ready=random.choice(("True",) * 8 + ("False", "Unknown")),
        **({"taints": taints} if taints else {}),
        **({"unschedulable": True} if maybe(random, 0.1) else {}),
    )


def draw_toleration(random: Random) -> dict[str, str]:
    if maybe(random, 0.1):
        return {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}
    return {
        "key": random.choice(("k", "g", "")),
        "operator": random.choice(("Exists", "Equal", "")),
        "value": random.choice(("", "v")),
        "effect": random.choice((*EFFECTS, "")),
    }


def draw_requirement(random: Random) -> dict[str, Any]:
    operator = random.choice(OPERATORS)
    values: list[str] = []
    if operator in ("In", "NotIn"):
        values = random.choice((["ssd"], ["hdd", "1"], [], ["2", "3"]) if maybe(random, 0.2) else (["ssd"], ["2"]))
    elif operator in ("Gt", "Lt"):
        values = random.choice((["1"], ["2"], ["2", "3"], ["x"], []) if maybe(random, 0.3) else (["1"], ["2"]))
    return {"key": random.choice(("disk", "gen")), "operator": operator, "values": values}


def draw_node_term(random: Random) -> dict[str, Any]:
    term: dict[str, Any] = {"matchExpressions": [draw_requirement(random) for _ in range(random.choice((0, 1, 1, 2)))]}
    if maybe(random, 0.15):
        term["matchFields"] = [
            {
                "key": "metadata.name",
                "operator": random.choice(("In", "NotIn")),
                "values": [random.choice(("n0", "n1"))],
            }
        ]
    return term


def draw_affinity(random: Random) -> dict[str, Any]:
    affinity: dict[str, Any] = {}
    if maybe(random, 0.25):
        terms = [draw_node_term(random) for _ in range(random.choice((1, 1, 2)))]
        affinity["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    if maybe(random, 0.2):
        liked = [{"weight": random.choice((1, 10, 50)), "preference": draw_node_term(random)} for _ in range(2)]
        affinity.setdefault("nodeAffinity", {})["preferredDuringSchedulingIgnoredDuringExecution"] = liked
    for kind in ("podAffinity", "podAntiAffinity"):
        found: dict[str, Any] = {}
        if maybe(random, 0.15):
            found |= required(kind, *(draw_pod_term(random) for _ in range(random.choice((1, 1, 2)))))[kind]
        if maybe(random, 0.15):
            found |= preferred(kind, random.choice((1, 10, 100)), draw_pod_term(random))[kind]
        if found:
            affinity[kind] = found
    return affinity


def draw_pod_term(random: Random) -> dict[str, Any]:
    return near(random.choice((HOST, ZONE)), **{random.choice(("app", "tier")): random.choice(("x", "y"))})


def draw_pod(random: Random, name: str, on: str = "") -> PodInfo:
    labels = {key: random.choice(("x", "y")) for key in ("app", "tier") if maybe(random, 0.7)}
    spec: dict[str, Any] = {"priority": random.choice((0, 0, 5, 10) if not on else (0, 0, 0, 1, 5))}
    if maybe(random, 0.3):
        spec["tolerations"] = [draw_toleration(random) for _ in range(random.choice((1, 2)))]
    if maybe(random, 0.1):
        spec["nodeSelector"] = {random.choice(("disk", ZONE)): random.choice(("ssd", "a"))}
    affinity = draw_affinity(random)
    if affinity:
        spec["affinity"] = affinity
    if maybe(random, 0.1):
        sidecar = {"restartPolicy": "Always"} if maybe(random, 0.5) else {}
        spec["initContainers"] = [{"name": "i", "resources": {"requests": {"cpu": "1"}}, **sidecar}]
    if maybe(random, 0.05):
        spec["overhead"] = {"cpu": "500m"}
    if maybe(random, 0.1):
        spec["preemptionPolicy"] = "Never"
    cpu = random.choice(("", "500m", "1", "1", "2", "2", "3"))
    if maybe(random, 0.1):
        requests = {"requests": {"cpu": cpu}} if cpu else {}
        spec["containers"] = [{"name": "c", "resources": requests, "ports": [{"containerPort": 80, "hostPort": 80}]}]
    if on:
        spec["status"] = {"startTime": f"2030-01-01T00:00:0{random.randrange(10)}Z"}
    return pod(name, cpu, on=on, labels=labels, **spec)


def draw_objects(random: Random, *, nodes: int = 4, pods: int = 6) -> Objects:
    """Return at most so many nodes and pods; some pods are bound, perhaps where they never fitted.

    No two pods of a node hold one host port: a kubelet refuses the second, and the engine, like upstream, would take
    the port for free as soon as one of the two left.
    """
    held = tuple(draw_node(random, f"n{index}") for index in range(random.randint(1, nodes)))
    placed: list[PodInfo] = []
    taken: set[str] = set()
    for index in range(random.randint(1, pods)):
        on = random.choice(held).name if maybe(random, 0.5) else ""
        drawn = draw_pod(random, f"p{index}", on)
        if drawn.host_ports and on in taken:
            continue
        if drawn.host_ports and on:
            taken.add(on)
        placed.append(drawn)
    return Objects(tuple(placed), held)

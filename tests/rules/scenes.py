"""Small clusters of the lessons, as scenes that rules decide on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from controllers.rules.deciding import Answer, Scene, decide, scene_on
from controllers.rules.table import RULES
from scheduler_core.api.document import FrozenDocument
from scheduler_core.oracle import CaseListers
from scheduler_core.scheduler.replay import Seen
from scheduler_core.snapshot.node_info import PodInfo


def node(name: str, cpu: str = "4", memory: str = "16Gi", **spec: Any) -> dict[str, Any]:
    size = {"cpu": cpu, "memory": memory, "pods": "110"}
    return {"metadata": {"name": name, "uid": f"uid-{name}"}, "spec": spec, "status": {"allocatable": size}}


def pod(
    name: str,
    cpu: str,
    on: str = "",
    priority: int = 0,
    *,
    memory: str = "",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    nominated: str = "",
    **spec: Any,
) -> dict[str, Any]:
    requests = {"cpu": cpu} | ({"memory": memory} if memory else {})
    meta = {"name": name, "namespace": "default", "uid": f"uid-{name}", "labels": dict(labels or {})}
    return {
        "metadata": {**meta, "annotations": dict(annotations or {})},
        "spec": {
            "schedulerName": "default-scheduler",
            "priority": priority,
            "containers": [{"name": "c", "resources": {"requests": requests}}],
            **({"nodeName": on} if on else {}),
            **spec,
        },
        "status": {"nominatedNodeName": nominated} if nominated else {},
    }


def budget(name: str, label: str, allowed: int = 0) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": label}}, "minAvailable": 1},
        "status": {"disruptionsAllowed": allowed},
    }


def scene(
    nodes: Sequence[FrozenDocument],
    pods: Sequence[FrozenDocument],
    asked: FrozenDocument,
    budgets: Sequence[FrozenDocument] = (),
    *,
    spec: Mapping[str, Any] | None = None,
    **given: Any,
) -> Scene:
    """Return the scene of a pod; `given` is what else the attempt sees, as in a trace's input."""
    listers = CaseListers({"poddisruptionbudgets.policy": list(budgets)})
    found = scene_on(Seen.of(nodes, [*pods, asked]), PodInfo.of(asked), listers)
    return replace(found, spec=spec or {}, given={**found.given, **given})


def which_node() -> Scene:
    """Lesson 3, step 3: three nodes of 4 CPU, each with an untouchable 20,000."""
    pods = [pod(f"db-{number}", "2", f"n{number}", 20_000) for number in (1, 2, 3)]
    pods += [pod("api", "2", "n1", 500), pod("web", "1", "n2", 100), pod("a", "500m", "n2"), pod("b", "500m", "n2")]
    pods += [pod("cart", "2", "n3", 0, labels={"app": "cart"})]
    nodes = [node(name) for name in ("n1", "n2", "n3")]
    return scene(nodes, pods, pod("vip", "2", priority=10_000), [budget("cart", "cart")])


def alone_with_a_budget() -> Scene:
    """Lesson 3, step 4: n3 alone is left."""
    pods = [pod("db-3", "2", "n3", 20_000), pod("cart", "2", "n3", 0, labels={"app": "cart"})]
    return scene([node("n3")], pods, pod("vip", "2", priority=10_000), [budget("cart", "cart")])


def who_dies() -> Scene:
    """Lesson 3, step 2: one node of 4 CPU, full."""
    pods = [pod("p100", "1500m", "n1", 100), pod("p50", "2", "n1", 50), pod("p0", "500m", "n1", 0)]
    return scene([node("n1")], pods, pod("vip", "2", priority=1_000))


def then_and_now(spec: Mapping[str, Any] | None = None, **of_n3: Any) -> Scene:
    """Lesson 2, steps 3 to 6: nodes 10 CPU and 20 Gi, more and less used."""
    nodes = [node(name, "10", "20Gi", **(of_n3 if name == "n3" else {})) for name in ("n1", "n2", "n3")]
    used = [("n1", "7", "14Gi"), ("n2", "5500m", "11Gi"), ("n3", "1", "10Gi")]
    pods = [pod(f"used-{name}", cpu, name, memory=memory) for name, cpu, memory in used]
    return scene(nodes, pods, pod("bare", "1", memory="2Gi"), spec=spec)


def answer(of: Scene, rule: str) -> Answer:
    found = decide(of, RULES[rule])
    assert found is not None, f"{rule} says nothing"
    return found

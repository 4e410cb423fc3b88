"""A scene and what rules make of it, as plain values: what the page draws and what a sheet of results names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from controllers.rules.deciding import Answer, Scene, decide
from controllers.rules.finding import Found
from controllers.rules.rule import ENGINE
from controllers.rules.table import RULES
from scheduler_core.api.document import Document
from scheduler_core.preemption.budgets import RESOURCE, Budget, budgets_of, split
from scheduler_core.scheduler.run import CycleInput
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo


def cluster(scene: Scene) -> Document:
    """Return the cluster and the pod in question.

    Returns:
        `pod` (`key`, `uid`, `name`, `priority`, `cpu` in millicores, `memory` in bytes, `nominated`) and `nodes`, in
        order of name (`name`, `cpu`, `memory`, `taints`, `pods` as `pod`, the most important first, with `protected`: a
        PodDisruptionBudget allows no disruption of it; and `held`: Permit holds it, it is not bound).
    """
    budgets = budgets_of(scene.listers.list(RESOURCE))
    snapshot = scene.seen.snapshot(CycleInput.of(dict(scene.given)))
    nodes = sorted(snapshot.infos, key=lambda info: info.name)
    held = set(scene.given["assumed"])
    return {"pod": _pod(scene.seen.pods[scene.uid]), "nodes": [_node(info, budgets, held) for info in nodes]}


def _pod(info: PodInfo) -> Document:
    asked = info.asked
    return {
        "key": info.key,
        "uid": info.uid,
        "name": info.pod.name,
        "priority": info.priority,
        "cpu": asked.get("cpu", 0),
        "memory": asked.get("memory", 0),
        "nominated": info.pod.status.nominated_node_name,
    }


def _node(info: NodeInfo, budgets: list[Budget], held: set[str]) -> Document:
    taints = info.node.spec.taints if info.node is not None else ()
    there = sorted(info.pods, key=lambda one: (-one.priority, one.key))
    return {
        "name": info.name,
        "cpu": info.allocatable.get("cpu", 0),
        "memory": info.allocatable.get("memory", 0),
        "taints": [f"{taint.key}:{taint.effect}" for taint in taints],
        "pods": [{**_pod(one), "protected": bool(split([one], budgets)[0]), "held": one.uid in held} for one in there],
    }


def told(answer: Answer) -> Document:
    """Return what came of a rule.

    Returns:
        `nodes` (all that are equally right), `chosen` (the one of them that was drawn, None: pending), `nominated`,
        `victims` (keys, of the chosen node), `message`, `table` (preemption's candidates: `node`, `victims`, `costs` by
        criterion, `eliminatedBy`), `asked` (the criteria that were asked, in order) and `scores` (node → total).
    """
    preemption = answer.result.get("preemption") or {}
    explained = answer.explanation.get("preemption") or {}
    drawn = preemption.get("nominatedNode") if answer.nominated else answer.result.get("chosen")
    chosen = drawn or next(iter(answer.nodes), None)
    scores = answer.result.get("scores") or {}
    return {
        "nodes": list(answer.nodes),
        "chosen": chosen,
        "nominated": answer.nominated,
        "victims": list(answer.victims.get(chosen or "", ())) if answer.nominated else [],
        "message": answer.message,
        "table": [_candidate(one, answer) for one in explained.get("candidates") or ()],
        "asked": list(explained.get("asked") or ()),
        "scores": dict(zip(scores.get("nodes") or (), scores.get("total") or (), strict=True)),
    }


def _candidate(candidate: dict[str, Any], answer: Answer) -> Document:
    return {
        "node": candidate["node"],
        "victims": list(answer.victims.get(candidate["node"], ())),
        "costs": candidate["costs"],
        "eliminatedBy": candidate["eliminatedBy"],
    }


def compared(scene: Scene, rules: Iterable[str]) -> Document:
    """Return the cluster with what each of the rules makes of it; `answers` has no entry for those that say nothing."""
    answers = {name: answer for name in rules if (answer := decide(scene, RULES[name])) is not None}
    return {**cluster(scene), "answers": {name: told(answer) for name, answer in answers.items()}}


def apart(scene: Scene) -> list[str]:
    """Return the rules that come to another node, or other victims, than the engine; in order of the table."""
    answers = compared(scene, RULES)["answers"]
    engine = _outcome(answers[ENGINE])
    return [name for name, answer in answers.items() if _outcome(answer) != engine]


def _outcome(answer: Document) -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(answer["nodes"]), frozenset(answer["victims"])


def found(one: Found) -> Document:
    """Return what a finder found: the cluster, both answers, and the objects that a session can be opened with."""
    return {
        "rule": one.rule,
        "looked": one.looked,
        "size": {"nodes": one.case.size.nodes, "pods": one.case.size.pods},
        **cluster(one.case.scene()),
        "answers": {"engine": told(one.engine), one.rule: told(one.believed)},
        "objects": one.case.objects(),
        "scheduler": dict(one.case.spec),
    }

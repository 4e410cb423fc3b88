"""Trying an expression: what it says of a pod and some nodes as they are now, without any scheduler running it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.log.store import Store
from scheduler_core.api.errors import Cause, invalid
from scheduler_core.api.meta import view
from scheduler_core.api.node import Node
from scheduler_core.cel.documents import Documents
from scheduler_core.cel.language import ASKED_MIN, EvaluationError, ExpressionError, Program, compile_expression
from scheduler_core.snapshot.node_info import NodeInfo, PodInfo

KINDS: Final = {"filter": "bool", "score": "number"}
"""Kind of expression → what it must come to."""


def compiled(source: str, kind: str) -> Program:
    """Return a compiled expression.

    Raises:
        ApiError: 422, a cause for each error, with line and column.
    """
    try:
        return compile_expression(source, "bool" if kind == "filter" else "number")
    except ExpressionError as wrong:
        causes = [Cause("expression", f"Invalid value: {problem}") for problem in wrong.problems]
        raise invalid("Expression", "clustersim.io", "", causes) from wrong


def tried(store: Store, program: Program, pod: Mapping[str, Any], names: Sequence[str]) -> list[dict[str, Any]]:
    """Return what an expression comes to on each of the nodes: `name`, and `value` or `error`.

    Args:
        store: the session's.
        program: compiled.
        pod: the pod's document.
        names: the nodes; one that is not there has an error.

    Raises:
        ApiError: 400, the pod cannot be read.
        QuantityError: a quantity of the pod cannot be read.
    """
    info = PodInfo.of(pod)
    documents = Documents([program])
    about_pod, pod_size = documents.of_pod(info)
    stored = store.list("nodes")[0]
    wanted = set(names)
    nodes = {one.name: NodeInfo(one.name, view(one.object, Node)) for one in stored if one.name in wanted}
    if any(root in ("pods", "requested") for root, _ in program.reads):
        _place(store, nodes, info.uid)
    answers: list[dict[str, Any]] = []
    shares = max(len(stored), 1) * ASKED_MIN
    for name in names:
        if name not in nodes:
            answers.append({"name": name, "error": "there is no such node"})
            continue
        about_node, size = documents.of_node(nodes[name])
        try:
            found = program.evaluate(about_pod | about_node, size.with_(pod_size), shares)
        except EvaluationError as wrong:
            answers.append({"name": name, "error": str(wrong)})
            continue
        if isinstance(found, float) and not math.isfinite(found):
            answers.append({"name": name, "error": f"it comes to {found}"})
        else:
            answers.append({"name": name, "value": found})
    return answers


def _place(store: Store, nodes: Mapping[str, NodeInfo], besides: str) -> None:
    """Count the pods on their nodes, but for the one that is to be placed."""
    for one in store.list("pods")[0]:
        spec = one.object.get("spec") or {}
        if spec.get("nodeName") not in nodes or one.uid == besides:
            continue
        pod = PodInfo.of(one.object)
        if not pod.pod.is_finished:
            nodes[spec["nodeName"]].add_pod(pod)

"""One rule twice: as a plugin beside the others, and as the example extender over HTTP (docs/extenders.md)."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
from django.test import override_settings

from clustersim.runtime import extenders
from scheduler_core.api.meta import view
from scheduler_core.api.node import Node
from scheduler_core.extender.configuration import read_extenders
from scheduler_core.framework.asks import Ask, CallExtenders, Reply
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.interface import Reads
from scheduler_core.framework.status import Code
from scheduler_core.framework.verdicts import Verdicts, single_reason
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.snapshot.snapshot import Ints, Rows, Snapshot
from tests.scheduler.kit import Hand, pod, scheduler

EXAMPLE: Final = Path(__file__).parents[2] / "docs" / "examples" / "extender" / "extender.py"
NODES: Final = 100
PODS: Final = 200


class Tiers:
    """The example extender's rule, as a plugin."""

    name: ClassVar[str] = "Tiers"
    filter_reads: ClassVar[Reads] = Reads.NODE
    score_reads: ClassVar[Reads] = Reads.NODE

    def filter(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Verdicts:
        tier = pod.pod.metadata.labels.get("tier")
        own = [info.node.metadata.labels.get("tier") for info in _infos(snapshot, rows)]
        failed = np.array([tier is not None and one != tier for one in own], dtype=np.bool_)
        return single_reason(failed, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "node is of another tier")

    def score(self, state: CycleState, pod: PodInfo, snapshot: Snapshot, rows: Rows) -> Ints:
        cores = np.array([info.allocatable.get("cpu", 0) for info in _infos(snapshot, rows)], dtype=np.int64)
        return 10 * np.rint(10 * cores / 8000).astype(np.int64)


def _infos(snapshot: Snapshot, rows: Rows) -> list[Any]:
    return snapshot.infos[rows] if isinstance(rows, slice) else [snapshot.infos[row] for row in rows.tolist()]


def _nodes() -> list[dict[str, Any]]:
    return [
        {
            "metadata": {"name": f"n{number:03}", "labels": {"tier": "front" if number % 4 else "back"}},
            "status": {"allocatable": {"cpu": str(2 + number % 7), "memory": "64Gi", "pods": "110"}},
        }
        for number in range(NODES)
    ]


@contextmanager
def _served() -> Iterator[str]:
    """Yield the address of the example extender, in a process of its own."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as known:
        json.dump({"items": _nodes()}, known)
        known.flush()
        command = [sys.executable, str(EXAMPLE), "--port", "0", "--nodes", known.name]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield process.stdout.readline().split()[-1]
            finally:
                process.terminate()


def _over_http(ask: Ask) -> Reply:
    if isinstance(ask, CallExtenders):
        return Reply(value=[extenders.call(call) for call in ask.calls])
    return Reply()


def _place(hand: Hand, carry_out: Callable[[Ask], Reply]) -> tuple[float, list[str]]:
    """Return (milliseconds a pod, the nodes chosen)."""
    for document in _nodes():
        hand.core.observe_node(view(document, Node))
    for number in range(PODS):
        hand.core.observe_pod(pod(f"p{number}", cpu="10m", metadata={"labels": {"tier": "front"}}))
    began = time.perf_counter()
    chosen = [run.chosen for _ in range(PODS) if (run := hand.attempt(carry_out)) is not None]
    return 1000 * (time.perf_counter() - began) / PODS, chosen


def run() -> list[dict[str, Any]]:
    """Return one row each for the plugin and the extender: msPerPod, and whether the same nodes were chosen."""
    local, chosen = _place(Hand(scheduler(Tiers())), _over_http)
    rows: list[dict[str, Any]] = [{"bench": "extender", "rule": "plugin", "msPerPod": round(local, 2)}]
    with _served() as url:
        for names_only in (True, False):
            document = {
                "urlPrefix": url,
                "filterVerb": "filter",
                "prioritizeVerb": "prioritize",
                "weight": 1,
                "nodeCacheCapable": names_only,
            }
            configured, _ = read_extenders([document])
            with override_settings(EXTENDER_ORIGINS=frozenset({configured[0].origin})):
                spent, same = _place(Hand(scheduler(extenders=configured)), _over_http)
            rule = "extender, names" if names_only else "extender, whole nodes"
            rows.append({"bench": "extender", "rule": rule, "msPerPod": round(spent, 2), "same": same == chosen})
    return rows

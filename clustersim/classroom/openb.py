"""The importer of recorded GPU cluster traces in the openb format: nodes at once, pods by a Replay object.

GPUs become one extended resource in thousandths, so single cards and the fragmentation within a node are left out.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from clustersim.classroom.auth import Principal
from clustersim.classroom.batching import GROUP
from clustersim.classroom.templates import PODS_PER_NODE
from clustersim.classroom.writing import apply, context_for, writes
from clustersim.store import SqlStore
from controllers.kinds.table import REGISTRY
from controllers.log.operations import Create
from controllers.replay.trace import GPU_MILLI, GPU_MODEL_LABEL, POD_COLUMNS
from scheduler_core.api.errors import ApiError, Cause, invalid
from scheduler_core.api.said import said

NODE_COLUMNS: Final = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
DEFAULT_SECONDS: Final = 600.0
"""Simulated seconds that a whole trace takes unless another time is asked for."""

TRACE_NODES_MAX: Final = 5_000
TRACE_PODS_MAX: Final = 20_000
"""Rows of the two lists; longer ones are refused: give a limit."""

LEFT_OUT: Final = (
    "single GPUs: thousandths are summed over a node's cards, so a pod may be placed where no one card has room",
    "pod phase, quality of service class and the recorded scheduling time",
)


@dataclass(frozen=True, slots=True)
class Trace:
    """Both lists, read and checked. `pods` is the CSV text that the Replay object holds."""

    nodes: Sequence[dict[str, str]]
    pods: str
    pod_count: int
    span_seconds: float


def read(nodes: str, pods: str, limit: int | None) -> Trace:
    """Return the trace.

    Raises:
        ApiError: 422 with line and column of what is wrong.
    """
    node_rows = _rows("nodes", nodes, NODE_COLUMNS, ("cpu_milli", "memory_mib", "gpu"), TRACE_NODES_MAX)
    numbers = ("cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "creation_time", "deletion_time")
    pod_rows = _rows("pods", pods, POD_COLUMNS, numbers, TRACE_PODS_MAX)
    pod_rows.sort(key=lambda row: int(row["creation_time"]))
    if limit is not None:
        pod_rows = pod_rows[:limit]
    first = int(pod_rows[0]["creation_time"]) if pod_rows else 0
    last = max((int(row["deletion_time"] or row["creation_time"]) for row in pod_rows), default=0)
    text = io.StringIO()
    writer = csv.DictWriter(text, POD_COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(pod_rows)
    return Trace(node_rows, text.getvalue(), len(pod_rows), max(1.0, float(last - first)))


def _rows(field: str, text: str, columns: Sequence[str], numbers: Sequence[str], most: int) -> list[dict[str, str]]:
    reader = csv.DictReader(io.StringIO(text))
    missing = [column for column in columns if column not in (reader.fieldnames or ())]
    if missing:
        raise _bad(field, said("openb.columns", "the first line lacks the columns {known}", known=", ".join(missing)))
    rows: list[dict[str, str]] = []
    try:
        for row in reader:
            kept = {column: (row[column] or "").strip() for column in columns}
            for column in numbers:
                empty = column == "deletion_time" and not kept[column]
                if not empty and not (kept[column].isdecimal() and len(kept[column]) <= 15):
                    raise _bad(
                        f"{field}[{len(rows)}].{column}",
                        said("openb.whole", "{kept!r} is no whole number", kept=kept[column]),
                    )
            if not kept[columns[0]]:
                raise _bad(f"{field}[{len(rows)}].{columns[0]}", said("give.name", "give a name"))
            rows.append(kept)
            if len(rows) > most:
                raise _bad(field, said("openb.rows", "there are more than {most:,} rows; send fewer", most=most))
    except csv.Error as error:
        raise _bad(field, f"line {reader.line_num}: {error}") from error
    return rows


def _bad(field: str, message: str) -> ApiError:
    return invalid("Replay", "clustersim.io", "", [Cause(field, message)])


def node_document(row: dict[str, str]) -> dict[str, Any]:
    """Return the Node of one row."""
    name = row["sn"].lower()
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
    resources = {"cpu": f"{row['cpu_milli']}m", "memory": f"{row['memory_mib']}Mi", "pods": PODS_PER_NODE}
    if int(row["gpu"]):
        resources[GPU_MILLI] = str(1000 * int(row["gpu"]))
    if row["model"]:
        labels[GPU_MODEL_LABEL] = row["model"]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"capacity": resources, "allocatable": dict(resources)},
    }


def start_replay(
    store: SqlStore, principal: Principal, trace: Trace, *, name: str, seconds: float | None, divisor: float | None
) -> dict[str, Any]:
    """Make the nodes and the Replay object; return the answer of `POST …/replays`.

    Raises:
        ApiError: a node or the Replay is refused for another reason than being there already.
    """
    ratio = divisor if divisor is not None else trace.span_seconds / (seconds or DEFAULT_SECONDS)
    created = _create(store, principal, [Create("nodes", "", node_document(row)) for row in trace.nodes])
    document = {
        "apiVersion": "clustersim.io/v1",
        "kind": "Replay",
        "metadata": {"name": name} if name else {"generateName": "openb-"},
        "spec": {"pods": trace.pods, "divisor": ratio, "start": store.horizon_ms / 1000},
    }
    context = context_for(principal, store, commands=True)
    stored = apply(store, Create("replays.clustersim.io", "", document), context)
    return {
        "name": stored.name,
        "nodes": {"created": created, "unchanged": len(trace.nodes) - created},
        "pods": trace.pod_count,
        "divisor": ratio,
        "leftOut": list(LEFT_OUT),
    }


def _create(store: SqlStore, principal: Principal, operations: Sequence[Create]) -> int:
    """Create what is not there; return how many were made."""
    created = 0
    for start in range(0, len(operations), GROUP):
        with writes(store, principal.actor) as transaction:
            for operation in operations[start : start + GROUP]:
                result = REGISTRY.attempt(transaction, operation, context_for(principal, store))
                if result.error is None:
                    created += 1
                elif result.error.reason != "AlreadyExists":
                    raise result.error
    return created

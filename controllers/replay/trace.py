"""A recorded trace of pods (the openb format): rows of CSV, and what becomes of each.

GPUs are one extended resource in thousandths, `num_gpu` × `gpu_milli`; single cards are left out.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scheduler_core.api.document import Document

GPU_MILLI: Final = "nvidia.com/gpu-milli"
"""The extended resource: thousandths of a GPU, summed over a node's cards."""

GPU_MODEL_LABEL: Final = "nvidia.com/gpu.model"
"""The node label that `gpu_spec` selects by."""

POD_COLUMNS: Final = (
    "name",
    "cpu_milli",
    "memory_mib",
    "num_gpu",
    "gpu_milli",
    "gpu_spec",
    "qos",
    "pod_phase",
    "creation_time",
    "deletion_time",
    "scheduled_time",
)
NAMESPACE: Final = "default"
"""Where the pods of a trace live."""

IMAGE: Final = "registry.example/openb:1"


class BadTrace(ValueError):
    """The text is no such list of pods; the message says where."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do: create the pod, or (pod None) delete the one of that name. `due_ms` is session time."""

    due_ms: int
    name: str
    pod: Document | None


def read_rows(text: str) -> list[dict[str, str]]:
    """Return the rows of the pod list.

    Raises:
        BadTrace: a column is missing, or a number is none.
    """
    reader = csv.DictReader(io.StringIO(text))
    missing = [column for column in POD_COLUMNS[:6] + POD_COLUMNS[8:10] if column not in (reader.fieldnames or ())]
    if missing:
        raise BadTrace(f"the pod list lacks the columns {', '.join(missing)}")
    rows: list[dict[str, str]] = []
    try:
        for row in reader:
            rows.append({column: (row.get(column) or "").strip() for column in POD_COLUMNS})
    except csv.Error as error:
        raise BadTrace(f"line {reader.line_num}: {error}") from error
    return rows


def steps_of(text: str, *, divisor: float, start_ms: int) -> list[Step]:
    """Return what is to be done, in order of time; a deletion comes before a creation of the same time.

    Args:
        text: the pod list, CSV.
        divisor: trace seconds per session second.
        start_ms: session time of the first creation.

    Raises:
        BadTrace: the text cannot be read.
    """
    return sorted(_steps(read_rows(text), divisor, start_ms), key=lambda step: (step.due_ms, step.pod is not None))


def _steps(rows: Sequence[Mapping[str, str]], divisor: float, start_ms: int) -> Iterator[Step]:
    try:
        first = min((int(row["creation_time"]) for row in rows), default=0)
        for row in rows:
            created_ms = start_ms + int((int(row["creation_time"]) - first) * 1000 / divisor)
            yield Step(created_ms, row["name"], pod_of(row))
            if row["deletion_time"]:
                deleted_ms = start_ms + int((int(row["deletion_time"]) - first) * 1000 / divisor)
                # A pod that lived for less than one millisecond of session time is still made before it goes.
                yield Step(max(deleted_ms, created_ms + 1), row["name"], None)
    except ValueError as error:
        raise BadTrace(f"the pod list has a number that is none: {error}") from error


def pod_of(row: Mapping[str, str]) -> Document:
    """Return the pod of one row.

    Raises:
        ValueError: an amount is no whole number.
    """
    requests = {"cpu": f"{int(row['cpu_milli'])}m", "memory": f"{int(row['memory_mib'])}Mi"}
    resources: Document = {"requests": requests}
    gpu_milli = int(row["num_gpu"] or 0) * int(row["gpu_milli"] or 0)
    if gpu_milli:
        # Requests and limits of an extended resource are always equal.
        requests[GPU_MILLI] = str(gpu_milli)
        resources["limits"] = {GPU_MILLI: str(gpu_milli)}
    spec: Document = {"containers": [{"name": "main", "image": IMAGE, "resources": resources}]}
    models = [model for model in row["gpu_spec"].split("|") if model]
    if models:
        term = {"matchExpressions": [{"key": GPU_MODEL_LABEL, "operator": "In", "values": models}]}
        spec["affinity"] = {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        }
    labels = {"app": "openb", **({"qos": row["qos"]} if row["qos"] else {})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": row["name"], "namespace": NAMESPACE, "labels": labels},
        "spec": spec,
    }

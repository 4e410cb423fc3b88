"""The pod that a Job asks for.

Source: pkg/controller/job (addCompletionIndexEnvVariables, podGenerateNameWithIndex), v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.job.facts import FAILURES, IGNORED_FAILURES, INDEX, TRACKING, failures_of, judged, limits_each_index
from controllers.kit.pods import owner_reference
from scheduler_core.api.document import Document

_ENV: Final = "JOB_COMPLETION_INDEX"
_NAME_MAX: Final = 58
"""Letters of a generated name before its random ones."""


def pod_of(job: Document, index: int | None, replaced: Document | None) -> Document:
    """Return the pod of a Job.

    Args:
        job: the Job.
        index: which completion it is for; None where these have no numbers.
        replaced: the failed pod of that index which it follows, where retries are limited index by index.
    """
    template = job["spec"].get("template") or {}
    given, spec = template.get("metadata") or {}, dict(template.get("spec") or {})
    metadata: Document = {field: dict(given[field]) for field in ("labels", "annotations") if given.get(field)}
    finalizers = list(given.get("finalizers") or ())
    metadata["finalizers"] = finalizers if TRACKING in finalizers else [*finalizers, TRACKING]
    metadata["ownerReferences"] = [owner_reference(job)]
    name = job["metadata"]["name"]
    metadata["generateName"] = f"{name}-"
    if index is not None:
        suffix = f"-{index}-"
        metadata["generateName"] = name[: _NAME_MAX - len(suffix)] + suffix
        for field in ("annotations", "labels"):
            metadata.setdefault(field, {})[INDEX] = str(index)
        spec["hostname"] = f"{name}-{index}"
        for key in ("initContainers", "containers"):
            if spec.get(key):
                spec[key] = [_told_its_index(one) for one in spec[key]]
        if limits_each_index(job):
            metadata["annotations"].update(_failures(job, replaced))
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _told_its_index(container: Mapping[str, Any]) -> Document:
    known = list(container.get("env") or ())
    if any(one.get("name") == _ENV for one in known):
        return dict(container)
    source = {"fieldRef": {"fieldPath": f"metadata.labels['{INDEX}']"}}
    return {**container, "env": [*known, {"name": _ENV, "valueFrom": source}]}


def _failures(job: Document, replaced: Document | None) -> dict[str, str]:
    """Return the annotations that count an index's failures."""
    if replaced is None:
        return {FAILURES: "0"}
    ignored = int((replaced["metadata"].get("annotations") or {}).get(IGNORED_FAILURES) or 0)
    counted = failures_of(replaced)
    if judged(job, replaced).counts:
        counted += 1
    else:
        ignored += 1
    return {FAILURES: str(counted), **({IGNORED_FAILURES: str(ignored)} if ignored else {})}

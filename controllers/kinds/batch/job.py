"""Jobs: pods that run to their end, as often as it takes.

Source: pkg/registry/batch/job/strategy.go, pkg/apis/batch, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from controllers.kinds.batch import jobspec, jobstatus
from controllers.kinds.columns import AGE, NAME, TEMPLATE, selector_words
from controllers.kinds.core.pod import warnings
from controllers.kinds.masks import CONDITIONS
from controllers.log.stamps import human_duration, unix_ms_of
from controllers.registry import fields, internal
from controllers.registry.kind import Column, Kind
from controllers.registry.subresources import STATUS
from scheduler_core.api.document import Document, at, child
from scheduler_core.api.errors import Cause
from scheduler_core.api.meta import view
from scheduler_core.api.selectors import LabelSelector

JOB_NAME: Final = "batch.kubernetes.io/job-name"
CONTROLLER_UID: Final = "batch.kubernetes.io/controller-uid"
_MANY_INDEXES: Final = 100_000
_MANY_AT_ONCE: Final = 10_000
UNLIMITED: Final = 2**31 - 1
"""The limit of retries of a Job that limits them for each index."""


def _prepare(document: Document) -> None:
    """Give the pods labels that no other Job's have, and select them by these (generateSelector)."""
    document["status"] = {}
    spec = child(document, "spec")
    if spec.get("manualSelector"):
        return
    name, uid = document["metadata"]["name"], document["metadata"]["uid"]
    labels = child(child(child(spec, "template"), "metadata"), "labels")
    if not labels:
        # The Job's own are looked at before it gets these, too.
        document["metadata"].setdefault("labels", {})
    for key, value in (("job-name", name), (JOB_NAME, name), ("controller-uid", uid), (CONTROLLER_UID, uid)):
        labels.setdefault(key, value)
    child(child(spec, "selector"), "matchLabels").setdefault(CONTROLLER_UID, uid)


def _defaults(document: Document) -> None:
    spec = child(document, "spec")
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    if spec.get("parallelism") is None:
        spec["parallelism"] = 1
    if spec.get("backoffLimit") is None:
        spec["backoffLimit"] = UNLIMITED if spec.get("backoffLimitPerIndex") is not None else 6
    replaced = "Failed" if spec.get("podFailurePolicy") is not None else "TerminatingOrFailed"
    usual = {
        "completionMode": "NonIndexed",
        "suspend": False,
        "podReplacementPolicy": replaced,
        "manualSelector": False,
    }
    for name, value in usual.items():
        if spec.get(name) is None:
            spec[name] = value
    jobspec.template_defaults(spec)
    if "labels" not in document["metadata"]:
        _settle(document)


def _settle(document: Document) -> None:
    """Give the Job the labels of its pods where it has none."""
    labels = at(document, "spec", "template", "metadata", "labels")
    if labels and not document["metadata"].get("labels"):
        document["metadata"]["labels"] = dict(labels)


def _validate(document: Document) -> list[Cause]:
    causes = _generated(document) + _spec(document["spec"])
    spec = document["spec"]
    completions = spec.get("completions") or 0
    if spec.get("completionMode") == jobspec.INDEXED and completions > 0:
        host = f"{document['metadata']['name']}-{completions - 1}"
        if fields.label_name("", host):
            why = f"will not able to create pod with invalid DNS label: {host}"
            causes.append(fields.bad("metadata.name", document["metadata"]["name"], why))
    return causes


def _spec(spec: Mapping[str, Any]) -> list[Cause]:
    """Check a spec with its selector (ValidateJobSpec)."""
    causes = jobspec.validate("spec", spec)
    selector, labels = spec.get("selector"), at(spec, "template", "metadata", "labels") or {}
    wrong = [] if selector is None else fields.label_selector("spec.selector", selector)
    causes += [fields.required("spec.selector")] if selector is None else wrong
    if not wrong and (selector is None or not view(selector, LabelSelector).matches(labels)):
        why = "`selector` does not match template `labels`"
        causes.append(fields.bad("spec.template.metadata.labels", labels or None, why))
    return causes


def _generated(document: Mapping[str, Any]) -> list[Cause]:
    """Check that a selector that is made for the Job, and the labels it selects, are as they were made."""
    spec, metadata = document["spec"], document["metadata"]
    selector = spec.get("selector")
    if spec.get("manualSelector") or selector is None:
        return []
    name, uid = metadata["name"], metadata["uid"]
    wanted = {"controller-uid": uid, "job-name": name, CONTROLLER_UID: uid, JOB_NAME: name}
    labels = at(spec, "template", "metadata", "labels") or {}
    causes: list[Cause] = []
    for key, value in wanted.items():
        where = f"spec.template.metadata.labels[{key}]"
        if key not in labels:
            causes.append(fields.required(where, f"must be '{value}'"))
        elif labels[key] != value:
            causes.append(fields.bad(where, labels, f"must be '{value}'"))
    if not fields.label_selector("spec.selector", selector) and not view(selector, LabelSelector).matches(wanted):
        causes.append(fields.bad("spec.selector", fields.selector_shown(selector), "`selector` not auto-generated"))
    return causes


_IMMUTABLE: Final = {
    "completionMode": "*s",
    "podFailurePolicy": "*batch.PodFailurePolicy",
    "backoffLimitPerIndex": "*i",
    "managedBy": "*s",
    "successPolicy": "*batch.SuccessPolicy",
}
"""What of a Job stays as it is → its type."""


def _validate_update(new: Document, old: Mapping[str, Any]) -> list[Cause]:
    spec, before = new["spec"], old["spec"]
    # Upstream checks the spec once as a Job's and once as a change of one, and tells both.
    causes = _spec(spec)
    if spec.get("completionMode") != jobspec.INDEXED:
        causes += fields.immutable("spec.completions", spec.get("completions"), before.get("completions"))
    elif spec.get("completions") not in (None, before.get("completions"), spec.get("parallelism")):
        why = "can only be modified in tandem with spec.parallelism"
        causes.append(fields.bad("spec.completions", spec["completions"], why))
    causes += fields.fixed_selector(new, old)
    template = spec.get("template")
    if template != _template_before(spec, old):
        shown = internal.shown(template or {}, "core.PodTemplateSpec")
        causes.append(fields.bad("spec.template", shown, "field is immutable"))
    for name, of in _IMMUTABLE.items():
        causes += internal.immutable(f"spec.{name}", spec.get(name), before.get(name), of)
    return causes


def _template_before(spec: Mapping[str, Any], old: Mapping[str, Any]) -> Any:
    """Return the template as it may be now: where a Job that never began may run can be changed while it waits."""
    before = old["spec"].get("template")
    if not old["spec"].get("suspend") or at(old, "status", "startTime") or not isinstance(before, dict):
        return before
    template = spec.get("template") or {}
    pod_spec, metadata = dict(before.get("spec") or {}), dict(before.get("metadata") or {})
    for part, given, names in (
        (pod_spec, template.get("spec") or {}, ("nodeSelector", "tolerations", "schedulingGates")),
        (metadata, template.get("metadata") or {}, ("labels", "annotations")),
    ):
        for name in names:
            part.pop(name, None)
            if name in given:
                part[name] = given[name]
    affinity = {
        **(pod_spec.pop("affinity", None) or {}),
        "nodeAffinity": at(template, "spec", "affinity", "nodeAffinity"),
    }
    affinity = {name: value for name, value in affinity.items() if value is not None}
    if affinity or at(template, "spec", "affinity") is not None:
        pod_spec["affinity"] = affinity
    return {**before, "spec": pod_spec, "metadata": metadata}


def _state(document: Mapping[str, Any], age: Any) -> str:
    true = {one["type"] for one in at(document, "status", "conditions") or () if one.get("status") == "True"}
    if "Complete" in true or "Failed" in true:
        return "Complete" if "Complete" in true else "Failed"
    if "deletionTimestamp" in document["metadata"]:
        return "Terminating"
    return next((one for one in ("Suspended", "FailureTarget", "SuccessCriteriaMet") if one in true), "Running")


def _completions(document: Mapping[str, Any], age: Any) -> str:
    spec, done = document["spec"], at(document, "status", "succeeded") or 0
    if spec.get("completions") is not None:
        return f"{done}/{spec['completions']}"
    parallelism = spec.get("parallelism") or 0
    return f"{done}/1 of {parallelism}" if parallelism > 1 else f"{done}/1"


def _duration(document: Mapping[str, Any], age: Any) -> str:
    status = document.get("status") or {}
    started, ended = status.get("startTime"), status.get("completionTime")
    if not started:
        return ""
    if not ended:
        return str(age(started))
    return human_duration((unix_ms_of(ended) - unix_ms_of(started)) // 1000)


def _selector(document: Mapping[str, Any], age: Any) -> str:
    return selector_words(at(document, "spec", "selector") or {})


def parallelism_of(document: Mapping[str, Any]) -> int:
    """Return how many pods a Job keeps at a time at most (`Kind.replicas`)."""
    spec = document.get("spec") or {}
    wanted = [spec.get(name) for name in ("parallelism", "completions")]
    return min((one for one in wanted if isinstance(one, int)), default=1)


def warns_of_spec(where: str, spec: Mapping[str, Any]) -> list[str]:
    """Return the warnings of what a Job is to do (pkg/api/job)."""
    told = []
    many = (spec.get("completions") or 0) > _MANY_INDEXES and (spec.get("parallelism") or 0) > _MANY_AT_ONCE
    if spec.get("completionMode") == "Indexed" and many:
        why = (
            "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, "
            "Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
        )
        told.append(f"{where}: {why}")
    return told + warnings.of_template(f"{where}.template.", spec.get("template"))


KIND: Final = Kind(
    "Job",
    "jobs",
    group="batch",
    metadata_looks="wc",
    categories=("all",),
    subresources=(replace(STATUS, part_rules=jobstatus.rules),),
    replicas=parallelism_of,
    orphans=True,
    orphans_warning="child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to "
    "remove them or set propagationPolicy=Orphan to suppress this warning",
    keeper="job",
    prepare=_prepare,
    whole_rules=True,
    defaults=_defaults,
    settle=_settle,
    validate=_validate,
    validate_update=_validate_update,
    warns_made=warnings.host_name,
    warns_spec=lambda document: warns_of_spec("spec", document["spec"]),
    generation=True,
    columns=(
        NAME,
        Column("Status", "string", "Status of the job.", _state),
        Column("Completions", "string", "Pods that succeeded.", _completions, source="batch_v1.JobStatus#succeeded"),
        Column("Duration", "string", "Time required to complete the job.", _duration),
        AGE,
        *TEMPLATE,
        Column("Selector", "string", "Pods it counts.", _selector, 1, source="batch_v1.JobSpec#selector"),
    ),
    unselectable='field label "{}" not supported for Job',
    selectable={"status.successful": lambda doc: str(at(doc, "status", "succeeded") or 0)},
    page={
        "spec": {"parallelism": True, "completions": True, "suspend": True, "completionMode": True},
        "status": {
            "active": True,
            "ready": True,
            "succeeded": True,
            "failed": True,
            "startTime": True,
            "completionTime": True,
            "conditions": CONDITIONS,
        },
    },
)

"""CronJobs: Jobs made at set times.

Source: pkg/registry/batch/cronjob/strategy.go, pkg/apis/batch/validation (validateCronJobSpec), v1.34.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from controllers.kinds.batch import jobspec, schedule
from controllers.kinds.batch.job import warns_of_spec
from controllers.kinds.columns import AGE, NAME, NONE, UNSET
from controllers.kinds.core.pod import warnings
from controllers.registry import fields
from controllers.registry.kind import Column, Kind
from controllers.registry.subresources import STATUS, selector_text
from scheduler_core.api.document import Document, at, child
from scheduler_core.api.errors import Cause

NAME_MAX: Final = 52
"""Letters of a CronJob's name: its Jobs' names have eleven more."""

_ZONE_PART: Final = re.compile(r"[A-Za-z._0-9+-]{1,14}")
_TZ_WARNING: Final = (
    "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
    "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
)


def _prepare(document: Document) -> None:
    document["status"] = {}


def _defaults(document: Document) -> None:
    spec = child(document, "spec")
    if not spec.get("concurrencyPolicy"):
        spec["concurrencyPolicy"] = "Allow"
    for name, value in (("suspend", False), ("successfulJobsHistoryLimit", 3), ("failedJobsHistoryLimit", 1)):
        if spec.get(name) is None:
            spec[name] = value
    template = child(spec, "jobTemplate")
    child(template, "metadata")
    jobspec.template_defaults(child(template, "spec"))


def _validate(document: Document) -> list[Cause]:
    name, spec = document["metadata"]["name"], document["spec"]
    causes = _schedule(spec.get("schedule") or "")
    causes += fields.non_negative("spec.startingDeadlineSeconds", spec.get("startingDeadlineSeconds"))
    causes += _zone(spec.get("timeZone"))
    policies = ("Allow", "Forbid", "Replace")
    causes += fields.one_of("spec.concurrencyPolicy", spec.get("concurrencyPolicy"), policies, needed=True)
    job = spec["jobTemplate"]["spec"]
    causes += jobspec.validate("spec.jobTemplate.spec", job)
    if job.get("selector") is not None:
        why = "`selector` will be auto-generated"
        causes.append(fields.bad("spec.jobTemplate.spec.selector", fields.shown_selector(job["selector"]), why))
    if job.get("manualSelector"):
        message = 'Unsupported value: true: supported values: "nil", "false"'
        causes.append(Cause("spec.jobTemplate.spec.manualSelector", message, "FieldValueNotSupported"))
    for limit in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        causes += fields.non_negative(f"spec.{limit}", spec.get(limit))
    if len(name) > NAME_MAX:
        causes.append(fields.bad("metadata.name", name, f"must be no more than {NAME_MAX} characters"))
    return causes


def _schedule(text: str) -> list[Cause]:
    if not text:
        return [fields.required("spec.schedule")]
    causes: list[Cause] = []
    try:
        schedule.read(text)
    except schedule.ScheduleError as error:
        causes.append(fields.bad("spec.schedule", text, str(error)))
    if "TZ" in text:
        why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        causes.append(fields.bad("spec.schedule", text, why))
    return causes


def _zone(name: str | None) -> list[Cause]:
    if name is None:
        return []
    if not name:
        return [fields.bad("spec.timeZone", name, "timeZone must be nil or non-empty string")]
    causes: list[Cause] = []
    parts = name.split("/")
    if any(part in (".", "..") or part.startswith("-") or not _ZONE_PART.fullmatch(part) for part in parts):
        return [fields.bad("spec.timeZone", name, f"unknown time zone {name}")]
    if name.lower() == "local":
        why = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        causes.append(fields.bad("spec.timeZone", name, why))
    if name != "Local":
        try:
            schedule.zone_of(name)
        except schedule.UnknownZone as error:
            causes.append(fields.bad("spec.timeZone", name, str(error)))
    return causes


def _warns(document: Mapping[str, Any]) -> list[str]:
    return [_TZ_WARNING] if "TZ" in (at(document, "spec", "schedule") or "") else []


def _last(document: Mapping[str, Any], age: Any) -> str:
    last = at(document, "status", "lastScheduleTime")
    return str(age(last)) if last else NONE


def _listed(name: str) -> Any:
    def cell(document: Mapping[str, Any], age: Any) -> str:
        found = at(document, "spec", "jobTemplate", "spec", "template", "spec", "containers") or ()
        return ",".join(one.get(name, "") for one in found)

    return cell


def _suspended(document: Mapping[str, Any], age: Any) -> str:
    suspend = at(document, "spec", "suspend")
    return UNSET if suspend is None else str(suspend)


def _selector(document: Mapping[str, Any], age: Any) -> str:
    selector = at(document, "spec", "jobTemplate", "spec", "selector")
    return NONE if selector is None else selector_text(selector)


KIND: Final = Kind(
    "CronJob",
    "cronjobs",
    group="batch",
    short_names=("cj",),
    categories=("all",),
    subresources=(replace(STATUS, metadata_looks=""),),
    keeper="cronjob",
    prepare=_prepare,
    whole_rules=True,
    defaults=_defaults,
    validate=_validate,
    warns_made=warnings.host_name,
    warns_spec=lambda document: warns_of_spec("spec.jobTemplate.spec", document["spec"]["jobTemplate"]["spec"]),
    warns=_warns,
    generation=True,
    metadata_looks="c",
    columns=(
        NAME,
        Column(
            "Schedule",
            "string",
            "When Jobs are made.",
            lambda doc, age: at(doc, "spec", "schedule") or "",
            source="batch_v1.CronJobSpec#schedule",
        ),
        Column(
            "Timezone",
            "string",
            "The time zone of it.",
            lambda doc, age: at(doc, "spec", "timeZone") or NONE,
            source="batch_v1.CronJobSpec#timeZone",
        ),
        Column("Suspend", "boolean", "Whether no Jobs are made.", _suspended, source="batch_v1.CronJobSpec#suspend"),
        Column(
            "Active",
            "integer",
            "Jobs that run.",
            lambda doc, age: len(at(doc, "status", "active") or ()),
            source="batch_v1.CronJobStatus#active",
        ),
        Column(
            "Last Schedule", "string", "The last of the times.", _last, source="batch_v1.CronJobStatus#lastScheduleTime"
        ),
        AGE,
        Column("Containers", "string", "Names of each container in the template.", _listed("name"), 1),
        Column("Images", "string", "Images referenced by each container in the template.", _listed("image"), 1),
        Column("Selector", "string", "Pods it counts.", _selector, 1, source="batch_v1.JobSpec#selector"),
    ),
)

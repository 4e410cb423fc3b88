"""The spec of a Job, which CronJobs have as a template too: defaults and rules.

Source: pkg/apis/batch/v1/defaults.go and pkg/apis/batch/validation/validation.go (validateJobSpec), v1.34.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from controllers.kinds.batch import indexes
from controllers.kinds.core.pod import annotations as marks
from controllers.kinds.core.pod import defaults
from controllers.kinds.core.pod import validation as pod
from controllers.registry import fields, internal
from scheduler_core.api import dns_names
from scheduler_core.api.document import Document, at, child
from scheduler_core.api.errors import Cause
from scheduler_core.api.label_names import qualified_name_errors

INDEXED: Final = "Indexed"
PARALLELISM_MAX: Final = 100_000
FAILED_INDEXES_MAX: Final = 100_000
MANY_COMPLETIONS: Final = 100_000
MANY_LIMIT: Final = 10_000
"""Most pods at once, and most failed indexes, of a Job of more than `MANY_COMPLETIONS` with a limit per index."""

RULES_MAX: Final = 20
VALUES_MAX: Final = 255
INDEXES_TEXT_MAX: Final = 64 * 1024

ACTIONS: Final = ("Count", "FailIndex", "FailJob", "Ignore")
REPLACEMENTS: Final = ("Failed", "TerminatingOrFailed")
_NUMBERS: Final = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)


def template_defaults(spec: Document) -> None:
    """Fill in what the spec of a Job or of a Job's template has in any place."""
    template = child(spec, "template")
    child(template, "metadata")
    defaults.pod_spec(child(template, "spec"))
    for rule in at(spec, "podFailurePolicy", "rules") or ():
        for pattern in rule.get("onPodConditions") or ():
            if not pattern.get("status"):
                pattern["status"] = "True"


def validate(where: str, spec: Mapping[str, Any]) -> list[Cause]:
    """Return what is wrong with a Job's spec at `where`, but for its selector."""
    causes: list[Cause] = []
    for name in _NUMBERS:
        causes += fields.non_negative(f"{where}.{name}", spec.get(name))
        if name == "maxFailedIndexes" and spec.get(name) is not None and spec.get("backoffLimitPerIndex") is None:
            causes.append(fields.required(f"{where}.backoffLimitPerIndex", "when maxFailedIndexes is specified"))
    causes += _managed_by(f"{where}.managedBy", spec.get("managedBy"))
    causes += _completion_mode(where, spec)
    if spec.get("podFailurePolicy") is not None:
        causes += _failure_policy(f"{where}.podFailurePolicy.rules", spec)
    if spec.get("successPolicy") is not None:
        causes += _success_policy(f"{where}.successPolicy", spec)
    replacement, has_policy = spec.get("podReplacementPolicy"), spec.get("podFailurePolicy") is not None
    allowed = ("Failed",) if has_policy else REPLACEMENTS
    if replacement is not None and replacement not in allowed:
        causes.append(fields.unsupported(f"{where}.podReplacementPolicy", replacement, allowed))
    return causes + _template(f"{where}.template", spec)


def _template(where: str, spec: Mapping[str, Any]) -> list[Cause]:
    template = spec.get("template") or {}
    causes = fields.labels(f"{where}.labels", at(template, "metadata", "labels"))
    causes += marks.validate(template, f"{where}.annotations")
    pod_spec = template.get("spec") or {}
    causes += pod.pod_spec(f"{where}.spec", pod_spec) + pod.no_ephemeral(where, pod_spec)
    restart = at(template, "spec", "restartPolicy")
    if restart in (None, "", "Always"):
        causes.append(fields.required(f"{where}.spec.restartPolicy", 'valid values: "OnFailure", "Never"'))
    elif restart not in ("OnFailure", "Never"):
        causes.append(fields.unsupported(f"{where}.spec.restartPolicy", restart, ("OnFailure", "Never"), ordered=False))
    elif spec.get("podFailurePolicy") is not None and restart != "Never":
        why = 'only "Never" is supported when podFailurePolicy is specified'
        causes.append(fields.bad(f"{where}.spec.restartPolicy", restart, why))
    return causes


def _managed_by(where: str, value: str | None) -> list[Cause]:
    if value is None:
        return []
    if not value:
        return [fields.required(where)]
    host, _, path = value.partition("/")
    if not host or not path:
        causes = [fields.bad(where, value, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    else:
        causes = [Cause(where, one.message, one.reason) for one in fields.subdomain(where, host)]
    if len(value) > dns_names.LABEL_LENGTH_MAX:
        causes.append(fields.too_long(where, dns_names.LABEL_LENGTH_MAX))
    return causes


def _completion_mode(where: str, spec: Mapping[str, Any]) -> list[Cause]:
    mode, most = spec.get("completionMode"), spec.get("maxFailedIndexes")
    causes: list[Cause] = []
    if mode is not None and mode not in ("NonIndexed", INDEXED):
        causes.append(fields.unsupported(f"{where}.completionMode", mode, ("NonIndexed", INDEXED), ordered=False))
    if mode in (None, "NonIndexed"):
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.get(name) is not None:
                causes.append(fields.bad(f"{where}.{name}", spec[name], "requires indexed completion mode"))
    if mode != INDEXED:
        return causes
    completions, parallelism = spec.get("completions"), spec.get("parallelism")
    if completions is None:
        causes.append(fields.required(f"{where}.completions", "when completion mode is Indexed"))
    if parallelism is not None and parallelism > PARALLELISM_MAX:
        why = f"must be less than or equal to {PARALLELISM_MAX} when completion mode is Indexed"
        causes.append(fields.bad(f"{where}.parallelism", parallelism, why))
    if completions is not None and most is not None and most > completions:
        causes.append(fields.bad(f"{where}.maxFailedIndexes", most, "must be less than or equal to completions"))
    if most is not None and most > FAILED_INDEXES_MAX:
        causes.append(fields.bad(f"{where}.maxFailedIndexes", most, f"must be less than or equal to {PARALLELISM_MAX}"))
    if completions is not None and completions > MANY_COMPLETIONS and spec.get("backoffLimitPerIndex") is not None:
        why = f"must be less than or equal to {MANY_LIMIT} when completions are above {MANY_COMPLETIONS}"
        why += " and used with backoff limit per index"
        if most is None:
            needed = f"must be specified when completions is above {MANY_COMPLETIONS}"
            causes.append(fields.required(f"{where}.maxFailedIndexes", needed))
        if parallelism is not None and parallelism > MANY_LIMIT:
            causes.append(fields.bad(f"{where}.parallelism", parallelism, why))
        if most is not None and most > MANY_LIMIT:
            causes.append(fields.bad(f"{where}.maxFailedIndexes", most, why))
    return causes


def _failure_policy(where: str, spec: Mapping[str, Any]) -> list[Cause]:
    rules = spec["podFailurePolicy"].get("rules") or ()
    pod_spec = at(spec, "template", "spec") or {}
    names = {one.get("name") for key in ("containers", "initContainers") for one in pod_spec.get(key) or ()}
    causes = [fields.too_many(where, len(rules), RULES_MAX)] if len(rules) > RULES_MAX else []
    for number, rule in enumerate(rules):
        causes += _failure_rule(f"{where}[{number}]", rule, spec, names)
    return causes


def _failure_rule(where: str, rule: Mapping[str, Any], spec: Mapping[str, Any], names: set[Any]) -> list[Cause]:
    causes = _word(f"{where}.action", rule.get("action"), ACTIONS)
    if rule.get("action") == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        causes.append(fields.bad(f"{where}.action", "FailIndex", "requires the backoffLimitPerIndex to be set"))
    codes, patterns = rule.get("onExitCodes"), rule.get("onPodConditions") or ()
    if codes is not None:
        causes += _exit_codes(f"{where}.onExitCodes", codes, names)
    if len(patterns) > RULES_MAX:
        causes.append(fields.too_many(f"{where}.onPodConditions", len(patterns), RULES_MAX))
    for number, pattern in enumerate(patterns):
        at_pattern = f"{where}.onPodConditions[{number}]"
        kind = pattern.get("type") or ""
        causes += [fields.bad(f"{at_pattern}.type", kind, why) for why in qualified_name_errors(kind)]
        causes += _word(f"{at_pattern}.status", pattern.get("status"), ("False", "True", "Unknown"))
    if codes is not None and patterns:
        causes.append(_whole(where, "specifying both OnExitCodes and OnPodConditions is not supported"))
    if codes is None and not patterns:
        causes.append(_whole(where, "specifying one of OnExitCodes and OnPodConditions is required"))
    return causes


def _exit_codes(where: str, codes: Mapping[str, Any], names: set[Any]) -> list[Cause]:
    operator, container = codes.get("operator"), codes.get("containerName")
    values: Sequence[int] = codes.get("values") or ()
    causes = _word(f"{where}.operator", operator, ("In", "NotIn"))
    if container is not None and container not in names:
        why = "must be one of the container or initContainer names in the pod template"
        causes.append(fields.bad(f"{where}.containerName", container, why))
    if not values:
        causes.append(fields.bad(f"{where}.values", codes.get("values"), "at least one value is required"))
    elif len(values) > VALUES_MAX:
        causes.append(fields.too_many(f"{where}.values", len(values), VALUES_MAX))
    seen: set[int] = set()
    for number, value in enumerate(values):
        if operator == "In" and value == 0:
            causes.append(fields.bad(f"{where}.values[{number}]", value, "must not be 0 for the In operator"))
        if value in seen:
            causes.append(fields.duplicate(f"{where}.values[{number}]", value))
        seen.add(value)
    if list(values) != sorted(values):
        causes.append(fields.bad(f"{where}.values", list(values), "must be ordered"))
    return causes


def _success_policy(where: str, spec: Mapping[str, Any]) -> list[Cause]:
    policy = spec["successPolicy"]
    if spec.get("completionMode") != INDEXED:
        return [fields.bad(where, internal.shown(policy, "batch.SuccessPolicy"), "requires indexed completion mode")]
    rules, completions = policy.get("rules") or (), spec.get("completions") or 0
    causes: list[Cause] = []
    if not rules:
        why = "at least one rules must be specified when the successPolicy is specified"
        causes.append(fields.required(f"{where}.rules", why))
    if len(rules) > RULES_MAX:
        causes.append(fields.too_many(f"{where}.rules", len(rules), RULES_MAX))
    for number, rule in enumerate(rules):
        causes += _success_rule(f"{where}.rules[{number}]", rule, completions)
    return causes


def _success_rule(where: str, rule: Mapping[str, Any], completions: int) -> list[Cause]:
    text, count = rule.get("succeededIndexes"), rule.get("succeededCount")
    if text is None and count is None:
        return [fields.required(where, "at least one of succeededCount or succeededIndexes must be specified")]
    causes: list[Cause] = []
    total = 0
    if text is not None:
        if len(text) > INDEXES_TEXT_MAX:
            causes.append(fields.too_long(f"{where}.succeededIndexes", INDEXES_TEXT_MAX))
        why, total = indexes.wrong(text, completions)
        if why:
            causes.append(fields.bad(f"{where}.succeededIndexes", text, f"error parsing succeededIndexes: {why}"))
    if count is not None:
        causes += fields.non_negative(f"{where}.succeededCount", count)
        if count > completions:
            why = f"must be less than or equal to {completions} (the number of specified completions)"
            causes.append(fields.bad(f"{where}.succeededCount", count, why))
        if text is not None and count > total:
            why = f"must be less than or equal to {total}"
            why += " (the number of indexes in the specified succeededIndexes field)"
            causes.append(fields.bad(f"{where}.succeededCount", count, why))
    return causes


def _word(where: str, value: str | None, allowed: Iterable[str]) -> list[Cause]:
    """Check a word that is needed; upstream names the words in this order."""
    allowed = tuple(allowed)
    if not value:
        listed = " ".join(f'"{one}"' for one in allowed)
        return [fields.required(where, f"valid values: [{listed}]")]
    return [] if value in allowed else [fields.unsupported(where, value, allowed)]


def _whole(where: str, why: str) -> Cause:
    """Return what is wrong with a struct as a whole: its value is not repeated."""
    return Cause(where, f"Invalid value: {why}", "FieldValueInvalid")

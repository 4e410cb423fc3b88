"""Validation of plugin arguments (pluginConfig), worded as upstream's `validation_pluginargs.go`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import inspect

from scheduler_core.api.errors import ApiError, Cause
from scheduler_core.api.label_names import qualified_name_errors
from scheduler_core.api.meta import view
from scheduler_core.api.pod import NodeAffinity, TopologySpreadConstraint
from scheduler_core.api.selectors import LabelSelector, SelectorError, compile_selector, compile_term, read_selector
from scheduler_core.cel.arguments import read_cel_arguments
from scheduler_core.framework.runtime import PERMIT_TIMEOUT_MS_MAX
from scheduler_core.preemption.evaluator import Limits

_STRATEGIES: Final = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")

_Errors = Iterator[Cause]


def argument_errors(plugin: str, arguments: Mapping[str, Any], path: str) -> list[Cause]:
    """Return what is wrong with a plugin's arguments; plugins without a check here check their own when built."""
    check = _CHECKS.get(plugin)
    if check is None:
        return []
    kind, version = arguments.get("kind"), arguments.get("apiVersion")
    group = "kubescheduler.config.k8s.io"
    if version is not None and not str(version).startswith(f"{group}/"):
        text = f'no kind "{kind or f"{plugin}Args"}" is registered for version "{version}"'
        return [Cause(f"{path}.apiVersion", f'Invalid value: "{version}": {text}')]
    if kind is not None and kind != f"{plugin}Args":
        text = f"args for plugin {plugin} were not of type {plugin}Args.{group}, got {kind}.{group}"
        return [Cause(f"{path}.kind", f'Invalid value: "{kind}": {text}')]
    try:
        return list(check(arguments, path))
    except (TypeError, AttributeError, KeyError):
        return [Cause(path, "Invalid value: a member has the wrong type", "FieldValueTypeInvalid")]


def _unknown(arguments: Mapping[str, Any], known: frozenset[str], path: str) -> _Errors:
    for field in arguments:
        if field not in known and field not in ("apiVersion", "kind"):
            yield Cause(f"{path}.{field}", f'unknown field "{field}"', "FieldValueNotSupported")


def _misspelt(written: object, shape: inspect.Type, path: str) -> _Errors:
    """Yield the members that an API type does not have, however deep: what is passed over would go unnoticed."""
    match shape:
        case inspect.StructType(fields=fields) if isinstance(written, Mapping):
            known = {field.encode_name: field.type for field in fields}
            yield from _unknown(written, frozenset(known), path)
            for name, value in written.items():
                if name in known:
                    yield from _misspelt(value, known[name], f"{path}.{name}")
        case inspect.VarTupleType(item_type=one) if isinstance(written, list):
            for index, value in enumerate(written):
                yield from _misspelt(value, one, f"{path}[{index}]")
        case inspect.UnionType(types=types):
            for one in types:
                yield from _misspelt(written, one, path)
        case _:
            return


_ADDED_AFFINITY: Final = inspect.type_info(NodeAffinity)
_CONSTRAINT: Final = inspect.type_info(TopologySpreadConstraint)


def _resources(resources: list[Mapping[str, Any]], path: str) -> _Errors:
    for index, one in enumerate(resources):
        where = f"{path}[{index}]"
        yield from _unknown(one, frozenset({"name", "weight"}), where)
        # Defaulting, which comes before, makes 1 of a 0.
        weight = one.get("weight") or 1
        if not isinstance(weight, int) or not 0 < weight <= 100:
            text = f"Invalid value: {weight}: resource weight of {one['name']} not in valid range (0, 100]"
            yield Cause(f"{where}.weight", text)


def _fit(arguments: Mapping[str, Any], path: str) -> _Errors:
    known = frozenset({"ignoredResources", "ignoredResourceGroups", "scoringStrategy"})
    yield from _unknown(arguments, known, path)
    for index, name in enumerate(arguments.get("ignoredResources") or ()):
        for text in qualified_name_errors(name):
            yield Cause(f"{path}.ignoredResources[{index}]", f'Invalid value: "{name}": {text}')
    for index, group in enumerate(arguments.get("ignoredResourceGroups") or ()):
        where = f"{path}.ignoredResourceGroups[{index}]"
        if "/" in group:
            yield Cause(where, f"Invalid value: \"{group}\": resource group name can't contain '/'")
        else:
            for text in qualified_name_errors(group):
                yield Cause(where, f'Invalid value: "{group}": {text}')
    strategy = arguments.get("scoringStrategy")
    if strategy is None:
        return
    where = f"{path}.scoringStrategy"
    yield from _unknown(strategy, frozenset({"type", "resources", "requestedToCapacityRatio"}), where)
    kind = strategy.get("type", _STRATEGIES[0])
    if kind not in _STRATEGIES:
        listed = ", ".join(f'"{one}"' for one in _STRATEGIES)
        yield Cause(
            f"{where}.type", f'Unsupported value: "{kind}": supported values: {listed}', "FieldValueNotSupported"
        )
    yield from _resources(strategy.get("resources") or [], f"{where}.resources")
    if kind == "RequestedToCapacityRatio":
        ratio = strategy.get("requestedToCapacityRatio") or {}
        yield from _unknown(ratio, frozenset({"shape"}), f"{where}.requestedToCapacityRatio")
        yield from _shape(ratio.get("shape") or [], f"{where}.requestedToCapacityRatio.shape")


def _shape(points: list[Mapping[str, Any]], path: str) -> _Errors:
    if not points:
        yield Cause(path, "Required value: at least one point must be specified", "FieldValueRequired")
    previous: int | None = None
    for index, point in enumerate(points):
        utilization, score = point.get("utilization", 0), point.get("score", 0)
        where = f"{path}[{index}]"
        yield from _unknown(point, frozenset({"utilization", "score"}), where)
        if not 0 <= utilization <= 100:
            yield Cause(f"{where}.utilization", f"Invalid value: {utilization}: not in valid range [0, 100]")
        if previous is not None and utilization <= previous:
            text = f"Invalid value: {utilization}: values must be sorted in increasing order"
            yield Cause(f"{where}.utilization", text)
        if not 0 <= score <= 10:
            yield Cause(f"{where}.score", f"Invalid value: {score}: not in valid range [0, 10]")
        previous = utilization


def _balanced(arguments: Mapping[str, Any], path: str) -> _Errors:
    yield from _unknown(arguments, frozenset({"resources"}), path)
    seen: set[str] = set()
    for index, one in enumerate(arguments.get("resources") or ()):
        yield from _unknown(one, frozenset({"name", "weight"}), f"{path}.resources[{index}]")
        if one["name"] in seen:
            yield Cause(f"{path}.resources[{index}].name", f'Duplicate value: "{one["name"]}"', "FieldValueDuplicate")
        seen.add(one["name"])
        if (one.get("weight") or 1) != 1:
            yield Cause(f"{path}.resources[{index}].weight", f"Invalid value: {one['weight']}: must be 1")


def _node_affinity(arguments: Mapping[str, Any], path: str) -> _Errors:
    yield from _unknown(arguments, frozenset({"addedAffinity"}), path)
    written = arguments.get("addedAffinity")
    if written is None:
        return
    where = f"{path}.addedAffinity"
    try:
        added = view(written, NodeAffinity)
    except ApiError as wrong:
        yield Cause(where, wrong.message)
        return
    yield from _misspelt(written, _ADDED_AFFINITY, where)
    if added.required is not None:
        field = f"{where}.requiredDuringSchedulingIgnoredDuringExecution"
        for term in compile_selector(added.required, f"{field}.nodeSelectorTerms"):
            yield from (_cause(error) for error in term.errors)
    for index, preferred in enumerate(added.preferred):
        field = f"{where}.preferredDuringSchedulingIgnoredDuringExecution[{index}]"
        yield from (_cause(error) for error in compile_term(preferred.preference, field).errors)


def _spread(arguments: Mapping[str, Any], path: str) -> _Errors:
    yield from _unknown(arguments, frozenset({"defaultConstraints", "defaultingType"}), path)
    kind = arguments.get("defaultingType") or "System"
    constraints = arguments.get("defaultConstraints") or []
    where = f"{path}.defaultingType"
    if kind not in ("System", "List"):
        yield Cause(where, f'Unsupported value: "{kind}": supported values: "List", "System"', "FieldValueNotSupported")
    elif kind == "System" and constraints:
        yield Cause(where, 'Invalid value: "System": when .defaultConstraints are not empty')
    seen: set[tuple[str, str]] = set()
    for index, one in enumerate(constraints):
        yield from _default_constraint(one, f"{path}.defaultConstraints[{index}]")
        pair = (one.get("topologyKey", ""), one.get("whenUnsatisfiable", ""))
        if pair in seen:
            text = f'Duplicate value: "{{{pair[0]}, {pair[1]}}}"'
            yield Cause(f"{path}.defaultConstraints[{index}]", text, "FieldValueDuplicate")
        seen.add(pair)


def _default_constraint(one: Mapping[str, Any], path: str) -> _Errors:
    yield from _misspelt(one, _CONSTRAINT, path)
    if one.get("maxSkew", 0) <= 0:
        yield Cause(f"{path}.maxSkew", f"Invalid value: {one.get('maxSkew', 0)}: not in valid range (0, inf)")
    key, action = one.get("topologyKey", ""), one.get("whenUnsatisfiable", "")
    if not key:
        yield Cause(f"{path}.topologyKey", "Required value: can not be empty", "FieldValueRequired")
    else:
        for text in qualified_name_errors(key):
            yield Cause(f"{path}.topologyKey", f'Invalid value: "{key}": {text}')
    if not action:
        yield Cause(f"{path}.whenUnsatisfiable", "Required value: can not be empty", "FieldValueRequired")
    elif action not in ("DoNotSchedule", "ScheduleAnyway"):
        text = f'Unsupported value: "{action}": supported values: "DoNotSchedule", "ScheduleAnyway"'
        yield Cause(f"{path}.whenUnsatisfiable", text, "FieldValueNotSupported")
    if one.get("labelSelector") is not None:
        text = "Forbidden: constraint must not define a selector, as they deduced for each pod"
        yield Cause(f"{path}.labelSelector", text, "FieldValueForbidden")


def _inter_pod_affinity(arguments: Mapping[str, Any], path: str) -> _Errors:
    known = frozenset({"hardPodAffinityWeight", "ignorePreferredTermsOfExistingPods"})
    yield from _unknown(arguments, known, path)
    weight = arguments.get("hardPodAffinityWeight")
    if weight is not None and not 0 <= weight <= 100:
        yield Cause(f"{path}.hardPodAffinityWeight", f"Invalid value: {weight}: not in valid range [0, 100]")


def _default_preemption(arguments: Mapping[str, Any], path: str) -> _Errors:
    known = ("minCandidateNodesPercentage", "minCandidateNodesAbsolute")
    yield from _unknown(arguments, frozenset(known), path)
    percentage, absolute = (
        default if arguments.get(name) is None else arguments[name]
        for name, default in zip(known, (Limits().percentage, Limits().absolute), strict=True)
    )
    if not 0 <= percentage <= 100:
        yield Cause(f"{path}.{known[0]}", f"Invalid value: {percentage}: not in valid range [0, 100]")
    if absolute < 0:
        yield Cause(f"{path}.{known[1]}", f"Invalid value: {absolute}: not in valid range [0, inf)")
    if percentage == absolute == 0:
        for one, other in (known, known[::-1]):
            yield Cause(f"{path}.{one}", f"Invalid value: 0: cannot be zero at the same time as {other}")


def _volume_binding(arguments: Mapping[str, Any], path: str) -> _Errors:
    yield from _unknown(arguments, frozenset({"bindTimeoutSeconds", "shape"}), path)
    timeout = arguments.get("bindTimeoutSeconds")
    if timeout is not None and timeout < 0:
        text = f"Invalid value: {timeout}: invalid BindTimeoutSeconds, should not be a negative value"
        yield Cause(f"{path}.bindTimeoutSeconds", text)
    if arguments.get("shape") is not None:
        text = "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"
        yield Cause(f"{path}.shape", f"Invalid value: {arguments['shape']}: {text}")


def _cel(arguments: Mapping[str, Any], path: str) -> _Errors:
    yield from read_cel_arguments(arguments, path)[1]


def _manual_approval(arguments: Mapping[str, Any], path: str) -> _Errors:
    yield from _unknown(arguments, frozenset({"timeoutSeconds", "namespaces", "podSelector"}), path)
    yield from _permit_seconds(arguments, "timeoutSeconds", path)
    namespaces = arguments.get("namespaces") or []
    if not isinstance(namespaces, list) or not all(isinstance(one, str) and one for one in namespaces):
        yield Cause(f"{path}.namespaces", "Invalid value: must be a list of names", "FieldValueTypeInvalid")
    written = arguments.get("podSelector")
    try:
        read_selector(None if written is None else view(written, LabelSelector))
    except (ApiError, SelectorError) as wrong:
        yield Cause(f"{path}.podSelector", f"Invalid value: {getattr(wrong, 'message', '') or wrong}")


def _coscheduling(arguments: Mapping[str, Any], path: str) -> _Errors:
    yield from _unknown(arguments, frozenset({"permitWaitingTimeSeconds"}), path)
    yield from _permit_seconds(arguments, "permitWaitingTimeSeconds", path)


def _permit_seconds(arguments: Mapping[str, Any], name: str, path: str) -> _Errors:
    seconds, longest = arguments.get(name, 1), PERMIT_TIMEOUT_MS_MAX // 1000
    if not isinstance(seconds, int) or isinstance(seconds, bool) or not 1 <= seconds <= longest:
        yield Cause(f"{path}.{name}", f"Invalid value: {seconds}: not in valid range [1-{longest}]")


def _cause(error: str) -> Cause:
    field, _, message = error.partition(": ")
    return Cause(field, message)


_CHECKS: Final[Mapping[str, Callable[[Mapping[str, Any], str], _Errors]]] = {
    "DefaultPreemption": _default_preemption,
    "NodeResourcesFit": _fit,
    "NodeResourcesBalancedAllocation": _balanced,
    "NodeAffinity": _node_affinity,
    "PodTopologySpread": _spread,
    "InterPodAffinity": _inter_pod_affinity,
    "VolumeBinding": _volume_binding,
    "CEL": _cel,
    "ManualApproval": _manual_approval,
    "Coscheduling": _coscheduling,
}

"""Era `framework-1.18`: the scheduler when the framework was new, as the documents on it and on preemption have it.

Eleven extension points: QueueSort, PreFilter, Filter, PostFilter, Score, Reserve, Permit, PreBind, Bind, PostBind,
Unreserve. Its PostFilter is informational after Filter and runs for a single feasible node too: today's PreScore. Its
Unreserve is a point of its own: today Reserve's second half, in reverse order. Preemption is outside the framework, in
the scheduler (`preemption118`), and stands in traces as the point Preemption; only a FitError triggers it, so a
PreFilter plugin's no does not. Scores are 0…100 already. There is no PreEnqueue, and nobody has heard of hints: every
event moves every pod, and so does a minute without any. Backoff is waited for even when nobody else is active.

Settings: `configuration` is a KubeSchedulerConfiguration of v1alpha2 or v1alpha1 with `profiles`, and beside upstream's
`disablePreemption` it takes `runAllFilters`: every filter is asked about a node although one has refused it, and the
FitError counts the reasons of all (upstream set it by a Policy's alwaysCheckAllPredicates). The default plugins and
their weights are those of `algorithmprovider/registry.go` with the feature gates of 1.18.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from scheduler_core.api.errors import ApiError, Cause
from scheduler_core.api.pod import Pod
from scheduler_core.framework.interface import EXTENSION_POINTS, UnreservePlugin
from scheduler_core.framework.profile import PluginSet, ProfileConfiguration
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.framework.rules import Rules
from scheduler_core.framework.status import Status
from scheduler_core.legacy.plugins118 import AZURE_DISK_LIMITS, EBS_LIMITS, GCE_PD_LIMITS, registry118
from scheduler_core.legacy.preemption118 import NAME as PREEMPTION
from scheduler_core.legacy.scores118 import BALANCED_ALLOCATION, DEFAULT_SPREAD, LEAST_ALLOCATED, PREFER_AVOID_PODS
from scheduler_core.plugins.default_binder import NAME as DEFAULT_BINDER
from scheduler_core.plugins.image_locality import NAME as IMAGE_LOCALITY
from scheduler_core.plugins.inter_pod_affinity.plugin import InterPodAffinity
from scheduler_core.plugins.node_affinity import NodeAffinity
from scheduler_core.plugins.node_name import NodeName
from scheduler_core.plugins.node_ports import NodePorts
from scheduler_core.plugins.node_resources_fit import NodeResourcesFit
from scheduler_core.plugins.node_unschedulable import NodeUnschedulable
from scheduler_core.plugins.node_volume_limits import NodeVolumeLimits
from scheduler_core.plugins.pod_topology_spread.plugin import PodTopologySpread
from scheduler_core.plugins.priority_sort import NAME as PRIORITY_SORT
from scheduler_core.plugins.taint_toleration import TaintToleration
from scheduler_core.plugins.volume_binding import VolumeBinding
from scheduler_core.plugins.volume_restrictions import VolumeRestrictions
from scheduler_core.plugins.volume_zone import VolumeZone
from scheduler_core.profiles.configuration import TOP_FIELDS, Dialect, SchedulerConfiguration, read_configuration
from scheduler_core.profiles.era import Era, Spec, below, refuse_fields, refused

NAME: Final = "framework-1.18"

POINTS: Final[Mapping[str, str]] = {
    "queueSort": "queueSort",
    "preFilter": "preFilter",
    "filter": "filter",
    "postFilter": "preScore",
    "score": "score",
    "reserve": "reserve",
    "permit": "permit",
    "preBind": "preBind",
    "bind": "bind",
    "postBind": "postBind",
    "unreserve": "unreserve",
}
"""The era's eleven points as configurations write them → today's."""

FILTERS: Final = (
    NodeUnschedulable.name,
    NodeResourcesFit.name,
    NodeName.name,
    NodePorts.name,
    NodeAffinity.name,
    VolumeRestrictions.name,
    TaintToleration.name,
    EBS_LIMITS,
    GCE_PD_LIMITS,
    NodeVolumeLimits.name,
    AZURE_DISK_LIMITS,
    VolumeBinding.name,
    VolumeZone.name,
    InterPodAffinity.name,
    PodTopologySpread.name,
)
"""The default filters, in order."""

SCORES: Final = (
    (BALANCED_ALLOCATION, 1),
    (IMAGE_LOCALITY, 1),
    (InterPodAffinity.name, 1),
    (LEAST_ALLOCATED, 1),
    (NodeAffinity.name, 1),
    (PREFER_AVOID_PODS, 10_000),
    (DEFAULT_SPREAD, 1),
    (TaintToleration.name, 1),
    (PodTopologySpread.name, 1),
)
"""The default priorities with their weights."""

_PRE_FILTERS: Final = (
    NodeResourcesFit.name,
    NodePorts.name,
    InterPodAffinity.name,
    PodTopologySpread.name,
    # That time's volume filters worked for themselves; today's prepare here.
    VolumeRestrictions.name,
    EBS_LIMITS,
    GCE_PD_LIMITS,
    NodeVolumeLimits.name,
    AZURE_DISK_LIMITS,
    VolumeBinding.name,
    VolumeZone.name,
)

_POST_FILTERS: Final = (
    InterPodAffinity.name,
    DEFAULT_SPREAD,
    TaintToleration.name,
    PodTopologySpread.name,
    # That time's read the pod for each node; today's prepare here.
    NodeAffinity.name,
    LEAST_ALLOCATED,
)

_ARGUMENTS: Final[Mapping[str, Mapping[str, Any]]] = {
    # Constraints for pods that have none came later.
    PodTopologySpread.name: {"defaultingType": "List", "defaultConstraints": []},
}


def fit_error(nodes: int, reasons: Mapping[str, int], *, pre_filter: str = "", post_filter: str = "") -> str:
    """Return the era's message: a PreFilter's no stands for itself, and preemption is not spoken of."""
    if pre_filter:
        return pre_filter
    listed = ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))
    return f"0/{nodes} nodes are available: {listed}."


_ERROR_POINTS: Final[Mapping[str, str]] = {"PreScore": "postfilter", "PreFilter": "prefilter", "PreBind": "prebind"}


def error_text(point: str, plugin: str, pod: Pod, message: str) -> str:
    """Return the era's text of a plugin's error, which names the pod."""
    match point:
        case "Filter":
            return f'running "{plugin}" filter plugin for pod "{pod.name}": {message}'
        case "Score":
            return f'error while running score plugin for pod "{pod.name}": {message}'
        case "NormalizeScore":
            failed = f'normalize score plugin "{plugin}" failed with error {message}'
            return f'error while running normalize score plugin for pod "{pod.name}": {failed}'
        case "Weight":
            failed = f'score plugin "{plugin}" {message}'
            return f'error while applying score defaultWeights for pod "{pod.name}": {failed}'
        case "Bind":
            return f'bind plugin "{plugin}" failed to bind pod "{pod.key}": {message}'
        case _:
            name = _ERROR_POINTS.get(point, point.lower())
            return f'error while running "{plugin}" {name} plugin for pod "{pod.name}": {message}'


def pre_filter_refusal(plugin: str, message: str) -> str:
    """Return the era's message of a pod that PreFilter turned away."""
    return f'rejected by "{plugin}" at prefilter: {message}'


def refusal(pod: str, status: Status, waited: bool) -> str:
    """Return the era's message of a pod that Permit turned away, at once or after it had waited."""
    if waited:
        return f'pod "{pod}" rejected while waiting at permit: {status.message}'
    return f'rejected by "{status.plugin}" at permit: {status.message}'


UNSCHEDULABLE_MS_MAX: Final = 60_000
"""A pod that no event helped is tried again after this long (unschedulableQTimeInterval); today after five minutes."""

RULES: Final = Rules(
    era=NAME,
    fit_error=fit_error,
    error_text=error_text,
    pre_filter_refusal=pre_filter_refusal,
    refusal=refusal,
    extension_points={
        **{point: protocol for point, protocol in EXTENSION_POINTS.items() if point != "preEnqueue"},
        "unreserve": UnreservePlugin,
    },
    point_names={"PreScore": "PostFilter", "PostFilter": "Preemption"},
    pre_filter_fits=False,
    pre_score_of_one=True,
    nominated_first=False,
    pops_backoff=False,
    change_activates=True,
    unschedulable_max_ms=UNSCHEDULABLE_MS_MAX,
)


def _names(*names: str) -> PluginSet:
    return PluginSet(tuple((name, 0) for name in names))


def default_profile(scheduler_name: str) -> ProfileConfiguration:
    """Return the era's default profile, preemption included."""
    sets = {
        "queueSort": _names(PRIORITY_SORT),
        "preFilter": _names(*_PRE_FILTERS),
        "filter": _names(*FILTERS),
        "postFilter": _names(PREEMPTION),
        "preScore": _names(*_POST_FILTERS),
        "score": PluginSet(SCORES),
        "bind": _names(DEFAULT_BINDER),
    }
    for point, method in (("reserve", "reserve"), ("unreserve", "unreserve"), ("preBind", "pre_bind")):
        # The scheduler itself bound volumes; today their plugin does.
        sets[point] = _names(VolumeBinding.name) if hasattr(VolumeBinding, method) else PluginSet()
    return ProfileConfiguration(scheduler_name, sets, _ARGUMENTS, rules=RULES)


_DIALECT: Final = Dialect(
    api_versions=("kubescheduler.config.k8s.io/v1alpha2", "kubescheduler.config.k8s.io/v1alpha1"),
    top_fields=TOP_FIELDS
    | {"bindTimeoutSeconds", "disablePreemption", "healthzBindAddress", "metricsBindAddress", "runAllFilters"},
    points=POINTS,
    default=default_profile,
)


def _read(spec: Spec, registry: PluginRegistry) -> SchedulerConfiguration:
    """Read the era's KubeSchedulerConfiguration, or nothing."""
    refuse_fields(spec, ("policy", "provider"))
    document = spec.get("configuration") or {}
    try:
        configuration = read_configuration(document, known_plugins=registry, dialect=_DIALECT)
    except ApiError as wrong:
        raise below(wrong, "configuration") from wrong
    causes = [
        Cause(f"configuration.{field}", f"Invalid value: {document[field]!r}: must be true or false")
        for field in ("disablePreemption", "runAllFilters")
        if not isinstance(document.get(field, False), bool)
    ]
    if causes:
        raise refused(*causes)
    rules = replace(RULES, run_all_filters=bool(document.get("runAllFilters")))
    profiles = tuple(replace(profile, rules=rules) for profile in configuration.profiles)
    if document.get("disablePreemption"):
        profiles = tuple(replace(one, sets={**one.sets, "postFilter": PluginSet()}) for one in profiles)
    return replace(configuration, profiles=profiles)


ERA: Final = Era(NAME, "framework of Kubernetes 1.18", registry118, _read)

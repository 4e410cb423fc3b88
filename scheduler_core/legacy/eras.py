"""The two eras before the framework: `algorithm-provider`, and `round-robin` before it."""

from __future__ import annotations

from typing import Final

from scheduler_core.api.errors import Cause
from scheduler_core.framework.profile import DEFAULT_SCHEDULER_NAME, MULTI_POINT, PluginSet, ProfileConfiguration
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.framework.rules import Rules
from scheduler_core.legacy import binder, fifo, node_lister
from scheduler_core.legacy.fit_error import fit_error, scheduled_note
from scheduler_core.legacy.policy import Policy, provider_policy, read_policy
from scheduler_core.legacy.providers import AROUND, DEFAULT_PROVIDER, PROVIDERS, era_registry
from scheduler_core.legacy.score_range import SCORE_MAX
from scheduler_core.profiles.configuration import SchedulerConfiguration
from scheduler_core.profiles.era import Era, Spec, refuse_fields, refused

ALGORITHM_PROVIDER: Final = "algorithm-provider"
ROUND_ROBIN: Final = "round-robin"

ASSUMED_EXPIRY_MS: Final = 30_000
"""Simulated milliseconds after its binding went out that the Modeler counts a pod which the watch does not show yet;
then the pod counts nowhere until it is shown."""

BACKOFF_MS_MIN: Final = 1_000
"""A pod's first wait after a failed attempt; each further one doubles it."""

BACKOFF_MS_MAX: Final = 60_000
"""A pod's longest wait after a failed attempt; then it is tried again, whatever has happened."""

_PROVIDER_RULES: Final = Rules(
    era=ALGORITHM_PROVIDER,
    score_max=SCORE_MAX,
    node_fit_error=fit_error,
    scheduled_note=scheduled_note,
    expiry_ms=ASSUMED_EXPIRY_MS,
    waits_for_events=False,
)

_ROUND_ROBIN_RULES: Final = Rules(
    era=ROUND_ROBIN,
    score_max=SCORE_MAX,
    node_fit_error=fit_error,
    scheduled_note=scheduled_note,
    expiry_ms=ASSUMED_EXPIRY_MS,
    # One node in turn: the search ends at the first, and the next one begins behind it.
    feasible_max=1,
    waits_for_events=False,
)


def _configuration(rules: Rules, policy: Policy) -> SchedulerConfiguration:
    """Return the one profile of the era's scheduler."""
    plugins = (
        (fifo.NAME, 0),
        (node_lister.NAME, 0),
        *((name, 0) for name in policy.predicates),
        *policy.priorities,
        (binder.NAME, 0),
    )
    sets = {MULTI_POINT: PluginSet(plugins)}
    profile = ProfileConfiguration(DEFAULT_SCHEDULER_NAME, sets, policy.arguments, rules=rules)
    return SchedulerConfiguration((profile,), 100, BACKOFF_MS_MIN, BACKOFF_MS_MAX, policy.extenders)


def _read_provider(spec: Spec, registry: PluginRegistry) -> SchedulerConfiguration:
    """Read a Policy, or the name of a provider; with neither it is the default provider."""
    refuse_fields(spec, ("configuration",))
    document, name = spec.get("policy"), spec.get("provider")
    if document is not None and name is not None:
        text = "Forbidden: a policy takes the provider's place; give one of the two"
        raise refused(Cause("provider", text, "FieldValueForbidden"))
    causes: list[Cause] = []
    policy: Policy | None
    if document is not None:
        policy = read_policy(document, causes)
        causes = [_below_policy(cause) for cause in causes]
    else:
        policy = provider_policy(DEFAULT_PROVIDER if name is None else str(name))
        if policy is None:
            listed = ", ".join(f'"{known}"' for known in PROVIDERS)
            text = f'Unsupported value: "{name}": supported values: {listed}'
            causes.append(Cause("provider", text, "FieldValueNotSupported"))
    if policy is None or causes:
        raise refused(*causes)
    return _configuration(_PROVIDER_RULES, policy)


def _below_policy(cause: Cause) -> Cause:
    return Cause(f"policy.{cause.field}", cause.message, cause.reason)


def _read_round_robin(spec: Spec, registry: PluginRegistry) -> SchedulerConfiguration:
    """Take no settings: there were none."""
    refuse_fields(spec, ("configuration", "policy", "provider"))
    return _configuration(_ROUND_ROBIN_RULES, Policy((), (), {}))


def _round_robin_registry() -> PluginRegistry:
    return PluginRegistry(AROUND)


ALGORITHM_PROVIDER_ERA: Final = Era(
    ALGORITHM_PROVIDER, "algorithm provider, Kubernetes 1.2", era_registry, _read_provider
)

ROUND_ROBIN_ERA: Final = Era(ROUND_ROBIN, "round robin, before predicates", _round_robin_registry, _read_round_robin)

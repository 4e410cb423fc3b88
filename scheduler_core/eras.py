"""The table of eras, and the one way from a session's scheduler spec to profiles that can run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scheduler_core.api.errors import ApiError, Cause
from scheduler_core.framework.profile import ProfileError
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.framework.rules import CURRENT_ERA
from scheduler_core.framework.runtime import Framework
from scheduler_core.legacy.eras import ALGORITHM_PROVIDER_ERA, ROUND_ROBIN_ERA
from scheduler_core.legacy.framework118 import ERA as FRAMEWORK_118_ERA
from scheduler_core.profiles.configuration import SchedulerConfiguration, read_configuration
from scheduler_core.profiles.defaults import in_tree_registry
from scheduler_core.profiles.era import Era, Spec, below, refuse_fields, refused

_FIELDS: Final = frozenset({"era", "configuration", "policy", "provider"})


def _read_current(spec: Spec, registry: PluginRegistry) -> SchedulerConfiguration:
    """Read the spec of today's scheduler: a KubeSchedulerConfiguration or nothing."""
    refuse_fields(spec, ("policy", "provider"))
    try:
        return read_configuration(spec.get("configuration") or {}, known_plugins=registry)
    except ApiError as wrong:
        raise below(wrong, "configuration") from wrong


ERAS: Final[Mapping[str, Era]] = {
    era.name: era
    for era in (
        # One line an era.
        Era(CURRENT_ERA, "kube-scheduler 1.34", in_tree_registry, _read_current),
        FRAMEWORK_118_ERA,
        ALGORITHM_PROVIDER_ERA,
        ROUND_ROBIN_ERA,
    )
}
"""Era by name."""


def era_of(spec: Spec) -> Era:
    """Return the era that a spec names; today's where it names none.

    Raises:
        ApiError: 422, there is no such era.
    """
    name = spec.get("era") or CURRENT_ERA
    era = ERAS.get(name) if isinstance(name, str) else None
    if era is None:
        listed = ", ".join(f'"{known}"' for known in sorted(ERAS))
        text = f'Unsupported value: "{name}": supported values: {listed}'
        raise refused(Cause("era", text, "FieldValueNotSupported"))
    return era


def registry_of(spec: Spec, extra: PluginRegistry | None = None) -> PluginRegistry:
    """Return the plugins of a spec's era, with those that are installed beside them.

    Raises:
        ApiError: 422, there is no such era.
        RegistryError: an installed plugin has the name of one of the era's.
    """
    registry = era_of(spec).registry()
    if extra is not None:
        registry.merge(extra)
    return registry


def read_spec(spec: Spec, extra: PluginRegistry | None = None) -> SchedulerConfiguration:
    """Return what a session's scheduler spec means, checked so far that every profile of it can be built.

    Args:
        spec: `{"era"?, "configuration"?: KubeSchedulerConfiguration, "policy"?: Policy, "provider"?: name}`.
        extra: plugins that are installed beside the era's own.

    Raises:
        ApiError: 422 with a cause for every wrong field; paths as in the spec.
        RegistryError: an installed plugin has the name of one of the era's.
    """
    unknown = [field for field in spec if field not in _FIELDS]
    if unknown:
        raise refused(*(Cause(field, f'unknown field "{field}"', "FieldValueNotSupported") for field in unknown))
    for field in ("configuration", "policy"):
        if spec.get(field) is not None and not isinstance(spec[field], Mapping):
            raise refused(Cause(field, "Invalid value: must be an object", "FieldValueTypeInvalid"))
    registry = registry_of(spec, extra)
    configuration = era_of(spec).read(spec, registry)
    causes: list[Cause] = []
    for index, profile in enumerate(configuration.profiles):
        try:
            Framework(profile, registry).events_to_register()
        except ProfileError as wrong:
            causes.append(Cause(_profile_path(spec, index), f"Invalid value: {wrong}"))
    if causes:
        raise refused(*causes)
    return configuration


def _profile_path(spec: Spec, index: int) -> str:
    """Return what in the spec the profile came from."""
    for field in ("policy", "provider"):
        if spec.get(field) is not None:
            return field
    return f"configuration.profiles[{index}]" if spec.get("configuration") is not None else "era"

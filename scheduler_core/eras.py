"""The table of eras, and the one way from a session's scheduler spec to profiles that can run."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from scheduler_core.api.errors import ApiError, Cause
from scheduler_core.framework.profile import ProfileError
from scheduler_core.framework.registry import PluginFactory, PluginRegistry
from scheduler_core.framework.rules import CURRENT_ERA
from scheduler_core.framework.runtime import Framework
from scheduler_core.legacy.eras import ALGORITHM_PROVIDER_ERA, ROUND_ROBIN_ERA
from scheduler_core.legacy.framework118 import ERA as FRAMEWORK_118_ERA
from scheduler_core.profiles.configuration import SchedulerConfiguration, read_configuration
from scheduler_core.profiles.defaults import in_tree_registry
from scheduler_core.profiles.era import Era, Spec, below, refuse_fields, refused

_FIELDS: Final = frozenset({"era", "configuration", "policy", "provider"})

READ_MAX: Final = 32
"""How many specs are kept as they were read: each session reads its own again and again, most the same one."""


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
    asked = _Asked(repr(spec), () if extra is None else extra.factories(), spec, extra)
    return _read(asked)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A spec and the plugins installed beside it, and what tells them from others."""

    text: str
    factories: tuple[tuple[str, PluginFactory], ...]
    spec: Spec = field(compare=False)
    extra: PluginRegistry | None = field(compare=False)


@lru_cache(maxsize=READ_MAX)
def _read(asked: _Asked) -> SchedulerConfiguration:
    # What is kept must not change with the document that it was read from.
    spec = deepcopy(dict(asked.spec))
    unknown = [name for name in spec if name not in _FIELDS]
    if unknown:
        raise refused(*(Cause(name, f'unknown field "{name}"', "FieldValueNotSupported") for name in unknown))
    for name in ("configuration", "policy"):
        if spec.get(name) is not None and not isinstance(spec[name], Mapping):
            raise refused(Cause(name, "Invalid value: must be an object", "FieldValueTypeInvalid"))
    registry = registry_of(spec, asked.extra)
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
    for name in ("policy", "provider"):
        if spec.get(name) is not None:
            return name
    return f"configuration.profiles[{index}]" if spec.get("configuration") is not None else "era"

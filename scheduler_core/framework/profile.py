"""Profiles: what a configuration asks for, and the running order that follows from it.

A configuration has plugin sets by extension point, and `multiPoint`, whose plugins run at every point that they
implement. What wins where is upstream's: a set of its own overrides `multiPoint` in weight and order, `disabled` takes
a plugin (`*`: all) out of what `multiPoint` would add.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from scheduler_core.api.quantity import int64
from scheduler_core.framework.extending import extends
from scheduler_core.framework.interface import Plugin
from scheduler_core.framework.rules import CURRENT_RULES, Rules

DEFAULT_SCHEDULER_NAME: Final = "default-scheduler"

MULTI_POINT: Final = "multiPoint"

TOTAL_SCORE_MAX: Final = 2**63 - 1
"""Largest sum of weighted scores; weights that could exceed it are refused."""


class ProfileError(ValueError):
    """A profile that cannot run; the text is upstream's where upstream has one."""


@dataclass(frozen=True, slots=True)
class PluginSet:
    """Plugins of one extension point as configured: (name, weight) enabled in order, names disabled."""

    enabled: tuple[tuple[str, int], ...] = ()
    disabled: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ProfileConfiguration:
    """One profile as configured, defaults merged in.

    Attributes:
        scheduler_name: pods with this `spec.schedulerName` use it.
        sets: extension point, or `multiPoint` → its plugins.
        arguments: plugin → its arguments as in pluginConfig.
        percentage_of_nodes_to_score: None means the configuration's.
        rules: the era's.
    """

    scheduler_name: str = DEFAULT_SCHEDULER_NAME
    sets: Mapping[str, PluginSet] = field(default_factory=dict)
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    percentage_of_nodes_to_score: int | None = None
    rules: Rules = CURRENT_RULES

    def names(self) -> tuple[str, ...]:
        """Return every enabled plugin once, in order of first appearance."""
        return tuple(dict.fromkeys(name for one in self.sets.values() for name, _ in one.enabled))


@dataclass(frozen=True, slots=True)
class Profile:
    """One profile as it runs.

    Attributes:
        scheduler_name: pods with this `spec.schedulerName` use it.
        plugins: extension point (`preFilter` …) → plugin names in running order.
        weights: score plugin → weight, positive.
        percentage_of_nodes_to_score: None means the configuration's.
    """

    scheduler_name: str
    plugins: Mapping[str, tuple[str, ...]]
    weights: Mapping[str, int]
    percentage_of_nodes_to_score: int | None = None

    def at(self, point: str) -> tuple[str, ...]:
        """Return the plugins of an extension point, in running order."""
        return self.plugins.get(point, ())


def resolve(configuration: ProfileConfiguration, plugins: Mapping[str, Plugin]) -> Profile:
    """Return the running order of a configuration, given its built plugins.

    Raises:
        ProfileError: a plugin does not implement its extension point, is listed twice, or the number of QueueSort or
            Bind plugins or the weights are wrong.
    """
    multi_point = configuration.sets.get(MULTI_POINT, PluginSet())
    order: dict[str, tuple[str, ...]] = {}
    for point, protocol in configuration.rules.extension_points.items():
        own = configuration.sets.get(point, PluginSet())
        order[point] = _expand(configuration.rules.set_name(point), protocol, own, multi_point, plugins)
    weights = _weights(configuration.sets.get("score", PluginSet()), multi_point, order["score"], configuration.rules)
    quoted = f'"{configuration.scheduler_name}"'
    if not order["queueSort"]:
        raise ProfileError(f"no queue sort plugin is enabled for profile with scheduler name {quoted}")
    if len(order["queueSort"]) > 1:
        count = len(order["queueSort"])
        raise ProfileError(
            f"only one queue sort plugin required for profile with scheduler name {quoted}, but got {count}"
        )
    if not order["bind"]:
        raise ProfileError(f"at least one bind plugin is needed for profile with scheduler name {quoted}")
    return Profile(configuration.scheduler_name, order, weights, configuration.percentage_of_nodes_to_score)


def _expand(
    point: str, protocol: type, own: PluginSet, multi_point: PluginSet, plugins: Mapping[str, Plugin]
) -> tuple[str, ...]:
    """Return a point's plugins: overrides of multiPoint first, then multiPoint's, then the point's own others."""
    enabled: list[str] = []
    for name, _ in own.enabled:
        if not extends(plugins[name], protocol):
            raise ProfileError(f'plugin "{name}" does not extend {_type_name(point)} plugin')
        if name in enabled:
            raise ProfileError(f'plugin "{name}" already registered as "{_type_name(point)}"')
        enabled.append(name)
    if "*" in own.disabled:
        return tuple(enabled)
    expanded: list[str] = []
    overriding: set[str] = set()
    for name, _ in multi_point.enabled:
        # A plugin disabled and enabled again at the point takes its place among the point's own.
        if not extends(plugins[name], protocol) or name in own.disabled:
            continue
        if name in enabled:
            overriding.add(name)
            continue
        if name in expanded:
            raise ProfileError(f'plugin "{name}" already registered as "{_type_name(point)}"')
        expanded.append(name)
    first = [name for name in enabled if name in overriding]
    rest = [name for name in enabled if name not in overriding]
    return (*first, *expanded, *rest)


def _type_name(point: str) -> str:
    """Return upstream's name of an extension point's interface, which its messages use: `FilterPlugin`."""
    return f"{point[0].upper()}{point[1:]}Plugin"


def _weights(own: PluginSet, multi_point: PluginSet, scoring: tuple[str, ...], rules: Rules) -> dict[str, int]:
    """Return the weights of the score plugins: the point's own before multiPoint's, 1 where none is given."""
    weights: dict[str, int] = {}
    total = 0
    for name, weight in (*own.enabled, *multi_point.enabled):
        if name in weights or name not in scoring:
            continue
        weights[name] = weight or 1
        # What is left of the largest sum is itself a sum of 64 bits: after a negative weight it wraps.
        if weights[name] * rules.score_max > int64(TOTAL_SCORE_MAX - total):
            raise ProfileError("total score of Score plugins could overflow")
        total += weights[name] * rules.score_max
    return weights

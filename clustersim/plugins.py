"""Scheduler plugins of installed Python packages: found by entry point, told apart, kept beside the in-tree ones.

A package names them in the group `clustersim.plugins`: plugin's name → factory `(arguments, handle) → plugin`, often
the plugin's class itself (docs/plugins.md). They run as part of the server, with all that it may do: whoever installs
packages decides, never who uses a session. CLUSTERSIM_PLUGINS=off leaves them all out.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from django.conf import settings

from controllers.rules import plugin as rules
from scheduler_core.eras import ERAS
from scheduler_core.framework.checked import CheckedPlugin
from scheduler_core.framework.interface import EXTENSION_POINTS, Plugin
from scheduler_core.framework.registry import Handle, PluginFactory, PluginRegistry, RegistryError

GROUP: Final = "clustersim.plugins"
"""The entry point group."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Found:
    """One entry point.

    Attributes:
        name: the plugin's.
        distribution: the package that has it.
        version: the package's.
        refused: why it cannot be used; empty where it can.
    """

    name: str
    distribution: str
    version: str
    refused: str = ""

    def as_dict(self) -> dict[str, str]:
        """Return it as the session API shows it."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Installed:
    """What was found: the plugins that can be used, ours among them that no package has, and a list of all that
    packages have, by name and distribution.
    """

    registry: PluginRegistry
    listed: tuple[Found, ...]


@cache
def installed() -> Installed:
    """Return the plugins of this installation, looked for once a process; no package's where the settings say so."""
    found = discover(entry_points(group=GROUP) if settings.PLUGINS else ())
    return Installed(rules.registry(found.registry), found.listed)


def discover(points: Iterable[EntryPoint]) -> Installed:
    """Load plugins; one that cannot be used is listed with the reason, and stops nothing else."""
    taken = PluginRegistry({name: _unbuildable for era in ERAS.values() for name in era.registry()})
    taken.merge(rules.registry())
    registry = PluginRegistry()
    listed: list[Found] = []
    for point in sorted(points, key=lambda one: (one.name, _distribution(one))):
        refused = ""
        try:
            taken.register(point.name, _unbuildable)
            registry.register(point.name, _guarded(point.name, _load(point)))
        except RegistryError as clash:
            refused = str(clash)
        except _NotAPluginError as wrong:
            refused = str(wrong)
            taken.unregister(point.name)
        found = Found(point.name, _distribution(point), point.dist.version if point.dist else "", refused)
        listed.append(found)
        if refused:
            _logger.warning("plugin %s of package %s is left out: %s", found.name, found.distribution, refused)
    return Installed(registry, tuple(listed))


class _NotAPluginError(Exception):
    pass


def _distribution(point: EntryPoint) -> str:
    return point.dist.name if point.dist else ""


def _load(point: EntryPoint) -> Any:
    try:
        loaded = point.load()
    except (Exception, SystemExit) as broken:
        raise _NotAPluginError(f"{point.value} cannot be imported: {type(broken).__name__}: {broken}") from broken
    if not callable(loaded):
        raise _NotAPluginError(f"{point.value} is no factory: it must take (arguments, handle) and return a plugin")
    return loaded


def _unbuildable(arguments: Mapping[str, Any], handle: Handle) -> Plugin:
    raise ValueError("stands for a name that is taken")


def _guarded(name: str, factory: Any) -> PluginFactory:
    """Return a factory whose errors are refusals of the configuration, and whose plugins are what they say."""

    def build(arguments: Mapping[str, Any], handle: Handle) -> Plugin:
        plugin: Any
        try:
            plugin = CheckedPlugin(factory(arguments, handle))
        except Exception as broken:
            raise ValueError(f"{type(broken).__name__}: {broken}") from broken
        if getattr(plugin, "name", None) != name:
            raise ValueError(f"the plugin calls itself {getattr(plugin, 'name', None)!r}, its entry point {name!r}")
        if not any(isinstance(plugin, protocol) for protocol in EXTENSION_POINTS.values()):
            raise ValueError("the plugin has no extension point")
        made: Plugin = plugin
        return made

    return build

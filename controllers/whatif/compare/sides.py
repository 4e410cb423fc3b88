"""The scheduler of one side of a comparison: what runs in the session, changed as a what-if changes it, as a spec."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import Any, Final

from controllers.scheduler.settings import Settings
from controllers.whatif.changes import Change, Disable, Reconfigure, Weight, refused
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause
from scheduler_core.api.said import said
from scheduler_core.eras import era_of
from scheduler_core.framework.profile import ProfileConfiguration
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.framework.rules import CURRENT_ERA
from scheduler_core.legacy.framework118 import NAME as FRAMEWORK_118
from scheduler_core.profiles.era import below

_CONFIGURED: Final = frozenset({CURRENT_ERA, FRAMEWORK_118})
"""Eras whose settings are a KubeSchedulerConfiguration."""

Edit = Callable[[Document, str, ProfileConfiguration], None]
"""Changes `plugins` of a written profile for one plugin, given what the profile means."""


def spec_of_side(
    spec: Mapping[str, Any], plugins: PluginRegistry | None, changes: Sequence[Change], path: str
) -> Document:
    """Return the spec that a side runs.

    Args:
        spec: what runs in the session.
        plugins: those that are installed.
        changes: of the sorts `weight`, `disable` and `scheduler`, made in order; to every profile that runs the plugin.
        path: how refusals call the list of changes, such as `a`.

    Raises:
        ApiError: 422, one cannot be; fields as `a[0].weight`.
    """
    made: Document = deepcopy(dict(spec))
    for index, change in enumerate(changes):
        where = f"{path}[{index}]"
        match change:
            case Reconfigure(other):
                made = deepcopy(dict(other))
            case Weight(plugin, weight):
                made = _edited(made, plugins, plugin, partial(_weigh, weight), f"{where}.weight")
            case Disable(plugin):
                made = _edited(made, plugins, plugin, _leave_out, f"{where}.disable")
            case _:
                raise refused(
                    Cause(
                        where,
                        said(
                            "compare.schedulerOnly",
                            "a comparison changes the scheduler: give weight, disable or scheduler",
                        ),
                    )
                )
        try:
            _ = Settings.of(made, plugins)
        except ApiError as wrong:
            raise below(wrong, f"{where}.scheduler" if isinstance(change, Reconfigure) else where) from wrong
    if Settings.of(made, plugins).configuration.extenders:
        raise refused(
            Cause(path, said("compare.noExtenders", "a comparison calls nobody: give a scheduler without extenders"))
        )
    return made


def _edited(spec: Document, plugins: PluginRegistry | None, plugin: str, edit: Edit, path: str) -> Document:
    """Return a spec in which every profile that runs the plugin is written otherwise."""
    era = era_of(spec).name
    if era not in _CONFIGURED:
        raise refused(
            Cause(
                path,
                said("compare.era", "era {era} has no KubeSchedulerConfiguration: give its scheduler whole", era=era),
            )
        )
    profiles = Settings.of(spec, plugins).configuration.profiles
    if all(plugin not in profile.names() for profile in profiles):
        known = ", ".join(sorted({name for profile in profiles for name in profile.names()}))
        raise refused(
            Cause(
                path, said("compare.plugin", "{plugin!r} does not run; these do: {known}", plugin=plugin, known=known)
            )
        )
    configuration: Document = deepcopy(dict(spec.get("configuration") or {}))
    written: list[Document] = configuration.get("profiles") or [{}]
    for document, profile in zip(written, profiles, strict=True):
        if plugin in profile.names():
            document["plugins"] = dict(document.get("plugins") or {})
            edit(document["plugins"], plugin, profile)
    return {**spec, "configuration": {**configuration, "profiles": written}}


def _weigh(weight: int, plugins: Document, plugin: str, _: ProfileConfiguration) -> None:
    held = plugins.get("score") or {}
    enabled, disabled = list(held.get("enabled") or ()), list(held.get("disabled") or ())
    if not weight:
        # A profile has no weight of 0: what counts nothing does not score.
        plugins["score"] = {
            "enabled": [one for one in enabled if one["name"] != plugin],
            "disabled": [*disabled, {"name": plugin}],
        }
        return
    known = any(one["name"] == plugin for one in enabled)
    changed = [{**one, "weight": weight} if one["name"] == plugin else one for one in enabled]
    plugins["score"] = {
        "enabled": changed if known else [*changed, {"name": plugin, "weight": weight}],
        "disabled": disabled,
    }


def _leave_out(plugins: Document, plugin: str, profile: ProfileConfiguration) -> None:
    for point, there in profile.sets.items():
        if all(name != plugin for name, _ in there.enabled):
            continue
        name = profile.rules.set_name(point)
        held = plugins.get(name) or {}
        plugins[name] = {
            "enabled": [one for one in held.get("enabled") or () if one["name"] != plugin],
            "disabled": [*(held.get("disabled") or ()), {"name": plugin}],
        }

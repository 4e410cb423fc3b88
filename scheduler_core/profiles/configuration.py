"""KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1): read, defaulted, merged with the default profile.

A configuration that is wrong is refused whole, with the path of every field in upstream's words.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from scheduler_core.api.errors import ApiError, Cause
from scheduler_core.extender.configuration import ExtenderConfiguration, read_extenders
from scheduler_core.framework.interface import EXTENSION_POINTS
from scheduler_core.framework.profile import DEFAULT_SCHEDULER_NAME, MULTI_POINT, PluginSet, ProfileConfiguration
from scheduler_core.profiles.arguments import argument_errors
from scheduler_core.profiles.component import component_errors
from scheduler_core.profiles.defaults import default_configuration

API_VERSION: Final = "kubescheduler.config.k8s.io/v1"
KIND: Final = "KubeSchedulerConfiguration"

TOP_FIELDS: Final = frozenset(
    {
        "apiVersion",
        "kind",
        "profiles",
        "percentageOfNodesToScore",
        "podInitialBackoffSeconds",
        "podMaxBackoffSeconds",
        "parallelism",
        "leaderElection",
        "clientConnection",
        "extenders",
        "delayCacheUntilActive",
        "enableProfiling",
        "enableContentionProfiling",
    }
)
_PROFILE_FIELDS: Final = frozenset({"schedulerName", "percentageOfNodesToScore", "plugins", "pluginConfig"})

_REMOVED: Final = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})
"""Plugins that upstream has taken out; it says so by name."""

DEFAULT_BACKOFF_SECONDS: Final = (1, 10)
"""Seconds of the first and of the longest backoff where the configuration says nothing."""


@dataclass(frozen=True, slots=True)
class SchedulerConfiguration:
    """A configuration as it runs.

    Attributes:
        profiles: at least one, each of another scheduler name.
        percentage_of_nodes_to_score: 0 means adaptive.
        initial_backoff_ms: a pod's first backoff.
        max_backoff_ms: the longest.
        extenders: in the order in which they are called.
    """

    profiles: tuple[ProfileConfiguration, ...]
    percentage_of_nodes_to_score: int
    initial_backoff_ms: int = DEFAULT_BACKOFF_SECONDS[0] * 1000
    max_backoff_ms: int = DEFAULT_BACKOFF_SECONDS[1] * 1000
    extenders: tuple[ExtenderConfiguration, ...] = ()


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one version of the document is written.

    Attributes:
        api_versions: what apiVersion may say.
        top_fields: fields that the document may have.
        points: point as written under `plugins` → point of a profile's sets.
        default: scheduler name → the profile that a written one is merged with.
    """

    api_versions: tuple[str, ...] = (API_VERSION,)
    top_fields: frozenset[str] = TOP_FIELDS
    points: Mapping[str, str] = dataclasses.field(
        default_factory=lambda: {name: name for name in (MULTI_POINT, *EXTENSION_POINTS)}
    )
    default: Callable[[str], ProfileConfiguration] = default_configuration


V1: Final = Dialect()


def read_configuration(
    document: Mapping[str, Any],
    *,
    known_plugins: Container[str] | None = None,
    default_percentage: int = 100,
    dialect: Dialect = V1,
) -> SchedulerConfiguration:
    """Return the configuration of a document.

    Args:
        document: a KubeSchedulerConfiguration; apiVersion and kind may be left out.
        known_plugins: the plugins that exist, to refuse others by their path; None: whoever builds the profiles will.
        default_percentage: percentageOfNodesToScore where the document names none. Upstream would be adaptive (0);
            here all nodes are scored unless asked otherwise.
        dialect: the version that the document is written in.

    Raises:
        ApiError: 422 with a cause for every wrong field.
    """
    reader = _Reader(known_plugins, dialect)
    configuration = reader.read(document, default_percentage)
    if reader.causes:
        listed = ", ".join(f"{cause.field}: {cause.message}" for cause in reader.causes)
        message = f"the scheduler configuration is invalid: {listed}; correct these fields, the old one stays in use"
        raise ApiError(422, "Invalid", message, causes=tuple(reader.causes), kind=KIND)
    return configuration


class _Reader:
    """Collects what is wrong while it reads."""

    def __init__(self, known_plugins: Container[str] | None, dialect: Dialect) -> None:
        self.causes: list[Cause] = []
        self._known = known_plugins
        self._dialect = dialect

    def wrong(self, field: str, message: str, reason: str = "FieldValueInvalid") -> None:
        self.causes.append(Cause(field, message, reason))

    def read(self, document: Mapping[str, Any], default_percentage: int) -> SchedulerConfiguration:
        self._fields(document, self._dialect.top_fields, "")
        for field, known in (("apiVersion", self._dialect.api_versions), ("kind", (KIND,))):
            if document.get(field, known[0]) not in known:
                listed = ", ".join(f'"{one}"' for one in known)
                self.wrong(field, f'Unsupported value: "{document[field]}": supported values: {listed}')
        self.causes.extend(component_errors(document))
        percentage = self._percentage(document, "percentageOfNodesToScore")
        initial = self._number(document, "podInitialBackoffSeconds", DEFAULT_BACKOFF_SECONDS[0])
        longest = self._number(document, "podMaxBackoffSeconds", DEFAULT_BACKOFF_SECONDS[1])
        if initial <= 0:
            self.wrong("podInitialBackoffSeconds", f"Invalid value: {initial}: must be greater than 0")
        if longest < initial:
            self.wrong(
                "podMaxBackoffSeconds",
                f"Invalid value: {longest}: must be greater than or equal to PodInitialBackoffSeconds",
            )
        if self._number(document, "parallelism", 16) <= 0:
            self.wrong(
                "parallelism", f"Invalid value: {document['parallelism']}: should be an integer value greater than zero"
            )
        profiles = self._profiles(self._list(document, "profiles", "profiles"))
        extenders, wrong = read_extenders(self._list(document, "extenders", "extenders"))
        self.causes.extend(wrong)
        return SchedulerConfiguration(
            profiles=profiles,
            percentage_of_nodes_to_score=default_percentage if percentage is None else percentage,
            initial_backoff_ms=initial * 1000,
            max_backoff_ms=longest * 1000,
            extenders=extenders,
        )

    def _fields(self, document: Mapping[str, Any], known: frozenset[str], path: str) -> None:
        for field in document:
            if field not in known:
                self.wrong(path + field, f'unknown field "{path}{field}"', "FieldValueNotSupported")

    def _number(self, document: Mapping[str, Any], field: str, default: int, path: str = "") -> int:
        value = document.get(field)
        if value is None:
            return default
        if not isinstance(value, int) or isinstance(value, bool):
            self.wrong(path + field, f"Invalid value: {value!r}: must be an integer", "FieldValueTypeInvalid")
            return default
        return value

    def _percentage(self, document: Mapping[str, Any], field: str, path: str = "") -> int | None:
        if document.get(field) is None:
            return None
        percentage = self._number(document, field, 0, path)
        if not 0 <= percentage <= 100:
            self.wrong(path + field, f"Invalid value: {percentage}: not in valid range [0-100]")
            return None
        return percentage

    def _list(self, document: Mapping[str, Any], field: str, path: str) -> Sequence[Mapping[str, Any]]:
        value = document.get(field)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
            self.wrong(path, "Invalid value: must be a list of objects", "FieldValueTypeInvalid")
            return ()
        return value

    def _mapping(self, document: Mapping[str, Any], field: str, path: str) -> Mapping[str, Any]:
        value = document.get(field)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            self.wrong(path, "Invalid value: must be an object", "FieldValueTypeInvalid")
            return {}
        return value

    def _profiles(self, written: Sequence[Mapping[str, Any]]) -> tuple[ProfileConfiguration, ...]:
        found: list[ProfileConfiguration] = []
        for index, one in enumerate(written or ({},)):
            path = f"profiles[{index}]"
            if len(written) > 1 and one.get("schedulerName") is None:
                # As upstream: only the one profile of a configuration may leave its name out.
                self.wrong(f"{path}.schedulerName", "Required value", "FieldValueRequired")
            profile = self._profile(one, path)
            first = next((i for i, other in enumerate(found) if other.scheduler_name == profile.scheduler_name), None)
            if first is not None:
                self.wrong(
                    f"{path}.schedulerName", f'Duplicate value: "{profile.scheduler_name}"', "FieldValueDuplicate"
                )
            found.append(profile)
        many = len(found[0].sets["queueSort"].enabled)
        if many > 1:
            text = f"Invalid value: {many}: only one queue sort plugin can be enabled"
            self.wrong("profiles[0].plugins.queueSort.enabled", text)
        sorts = [_queue_sort(profile) for profile in found]
        for index, sort in enumerate(sorts):
            if sort != sorts[0]:
                self.wrong(f"profiles[{index}].plugins.queueSort", "Invalid value: must be the same for all profiles")
        return tuple(found)

    def _profile(self, written: Mapping[str, Any], path: str) -> ProfileConfiguration:
        self._fields(written, _PROFILE_FIELDS, path + ".")
        name = written.get("schedulerName", DEFAULT_SCHEDULER_NAME)
        if not isinstance(name, str) or not name:
            self.wrong(f"{path}.schedulerName", "Required value", "FieldValueRequired")
            name = DEFAULT_SCHEDULER_NAME
        percentage = self._percentage(written, "percentageOfNodesToScore", path + ".")
        plugins = self._mapping(written, "plugins", f"{path}.plugins")
        points = self._dialect.points
        self._fields(plugins, frozenset(points), f"{path}.plugins.")
        default = self._dialect.default(name)
        written_sets = {
            point: self._set(self._mapping(plugins, shown, f"{path}.plugins.{shown}"), f"{path}.plugins.{shown}")
            for shown, point in points.items()
        }
        sets = dict(default.sets) | {
            point: merge(default.sets.get(point, PluginSet()), custom) for point, custom in written_sets.items()
        }
        arguments = self._arguments(self._list(written, "pluginConfig", f"{path}.pluginConfig"), path)
        return ProfileConfiguration(name, sets, {**default.arguments, **arguments}, percentage, default.rules)

    def _set(self, written: Mapping[str, Any], path: str) -> PluginSet:
        self._fields(written, frozenset({"enabled", "disabled"}), path + ".")
        lists = {which: self._list(written, which, f"{path}.{which}") for which in ("enabled", "disabled")}
        enabled: list[tuple[str, int]] = []
        for index, one in enumerate(lists["enabled"]):
            where = f"{path}.enabled[{index}]"
            self._fields(one, frozenset({"name", "weight"}), where + ".")
            enabled.append((self._plugin_name(one, where), self._number(one, "weight", 0, where + ".")))
        disabled: list[str] = []
        for index, one in enumerate(lists["disabled"]):
            where = f"{path}.disabled[{index}]"
            self._fields(one, frozenset({"name", "weight"}), where + ".")
            disabled.append(self._plugin_name(one, where))
        return PluginSet(tuple(enabled), frozenset(disabled))

    def _plugin_name(self, one: Mapping[str, Any], where: str) -> str:
        name = one.get("name")
        if not isinstance(name, str) or not name:
            self.wrong(f"{where}.name", "Required value", "FieldValueRequired")
            return ""
        if name in _REMOVED:
            text = f'was invalid in version "v1" ({KIND} is version "{API_VERSION}")'
            self.wrong(where, f'Invalid value: "{name}": {text}')
        elif self._known is not None and name not in self._known and not (name == "*" and ".disabled[" in where):
            self.wrong(f"{where}.name", f'Invalid value: "{name}": {name} does not exist')
        return name

    def _arguments(self, written: Sequence[Mapping[str, Any]], path: str) -> dict[str, Mapping[str, Any]]:
        found: dict[str, Mapping[str, Any]] = {}
        for index, one in enumerate(written):
            where = f"{path}.pluginConfig[{index}]"
            self._fields(one, frozenset({"name", "args"}), where + ".")
            name = self._plugin_name(one, where)
            if name in found:
                self.wrong(where, f'Duplicate value: "{name}"', "FieldValueDuplicate")
            arguments = self._mapping(one, "args", f"{where}.args")
            self.causes.extend(argument_errors(name, arguments, f"{where}.args"))
            found[name] = {key: value for key, value in arguments.items() if key not in ("apiVersion", "kind")}
        return found


def merge(default: PluginSet, custom: PluginSet) -> PluginSet:
    """Return the default set changed by a configured one: re-enabled plugins keep the default's place.

    One that is named twice takes that place once; what is left of it is refused as registered already.
    """
    disabled = custom.disabled | default.disabled
    last = {name: place for place, (name, _) in enumerate(custom.enabled)}
    kept: list[tuple[str, int]] = []
    placed: set[int] = set()
    if "*" not in disabled:
        for name, weight in default.enabled:
            if name in disabled:
                continue
            place = last.get(name)
            if place is None:
                kept.append((name, weight))
            else:
                placed.add(place)
                kept.append(custom.enabled[place])
    kept.extend(pair for place, pair in enumerate(custom.enabled) if place not in placed)
    return PluginSet(tuple(kept), disabled)


def _queue_sort(profile: ProfileConfiguration) -> tuple[tuple[str, ...], Mapping[str, Any]]:
    names = tuple(name for name, _ in profile.sets["queueSort"].enabled)
    return names, {name: profile.arguments.get(name, {}) for name in names}

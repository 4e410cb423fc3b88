"""Policy documents (`kind: Policy`, `apiVersion: v1`), which chose predicates and priorities before profiles did.

A key that is absent takes the default provider's part; an empty list means none. Every wrong field is refused with its
path. Source: `plugin/pkg/scheduler/api/v1`, `factory.CreateFromConfig`, `ValidatePolicy`, Kubernetes 1.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from scheduler_core.api.errors import Cause
from scheduler_core.extender.configuration import ExtenderConfiguration, read_extenders
from scheduler_core.framework.profile import TOTAL_SCORE_MAX
from scheduler_core.legacy import (
    host_ports,
    label_preference,
    labels_presence,
    service_affinity,
    service_anti_affinity,
)
from scheduler_core.legacy.providers import DEFAULT_PROVIDER, PREDICATES, PRIORITIES, PROVIDERS
from scheduler_core.legacy.score_range import SCORE_MAX

WEIGHT_MAX: Final = TOTAL_SCORE_MAX // SCORE_MAX - 1
"""Largest weight of a priority; from there on its scores could overflow, and the Policy is refused."""

ALIASES: Final[Mapping[str, str]] = {"PodFitsPorts": host_ports.NAME}
"""Name of version 1.0 → today's name in the era."""

_FIELDS: Final = ("kind", "apiVersion", "predicates", "priorities", "extenders")
_EXTENDER_FIELDS: Final = (
    "urlPrefix",
    "apiVersion",
    "filterVerb",
    "prioritizeVerb",
    "weight",
    "enableHttps",
    "tlsConfig",
    "httpTimeout",
)
_RENAMED: Final = {"enableHttps": "enableHTTPS"}


@dataclass(frozen=True, slots=True)
class _Custom:
    """A function that an argument makes: the argument's key, the plugin, and its members with their types."""

    key: str
    plugin: str
    members: Mapping[str, type]


_CUSTOM: Final = {
    "predicates": (
        _Custom("serviceAffinity", service_affinity.NAME, {"labels": list}),
        _Custom("labelsPresence", labels_presence.NAME, {"labels": list, "presence": bool}),
    ),
    "priorities": (
        _Custom("serviceAntiAffinity", service_anti_affinity.NAME, {"label": str}),
        _Custom("labelPreference", label_preference.NAME, {"label": str, "presence": bool}),
    ),
}


@dataclass(frozen=True, slots=True)
class Policy:
    """A Policy that was read.

    Attributes:
        predicates: plugins in the order of the document.
        priorities: (plugin, weight).
        arguments: of plugins that an `argument` made.
        extenders: in the order in which they are called.
    """

    predicates: tuple[str, ...]
    priorities: tuple[tuple[str, int], ...]
    arguments: Mapping[str, Mapping[str, Any]]
    extenders: tuple[ExtenderConfiguration, ...] = ()


def provider_policy(name: str = DEFAULT_PROVIDER) -> Policy | None:
    """Return what a provider stands for, None where there is none of that name."""
    provider = PROVIDERS.get(name)
    return None if provider is None else Policy(provider.predicates, provider.priorities, {})


def read_policy(document: Mapping[str, Any], causes: list[Cause]) -> Policy:
    """Return the Policy of a document; what is wrong with it is added to `causes`, with paths as in the document."""
    return _Reader(causes).read(document)


class _Reader:
    """Collects what is wrong while it reads."""

    def __init__(self, causes: list[Cause]) -> None:
        self._causes = causes
        self._arguments: dict[str, Mapping[str, Any]] = {}

    def _wrong(self, field: str, message: str, reason: str = "FieldValueInvalid") -> None:
        self._causes.append(Cause(field, message, reason))

    def _fields(self, document: Mapping[str, Any], known: Sequence[str], path: str = "") -> None:
        for field in document:
            if field not in known:
                self._wrong(f"{path}{field}", f'unknown field "{field}"', "FieldValueNotSupported")

    def read(self, document: Mapping[str, Any]) -> Policy:
        self._fields(document, _FIELDS)
        for field, known in (("kind", "Policy"), ("apiVersion", "v1")):
            if document.get(field, known) != known:
                self._wrong(
                    field,
                    f'Unsupported value: "{document[field]}": supported values: "{known}"',
                    "FieldValueNotSupported",
                )
        default = provider_policy()
        assert default is not None
        predicates = self._functions(document, "predicates")
        priorities = self._functions(document, "priorities")
        return Policy(
            default.predicates if predicates is None else tuple(name for name, _ in predicates),
            default.priorities if priorities is None else tuple(priorities),
            self._arguments,
            self._extenders(document),
        )

    def _entries(self, document: Mapping[str, Any], section: str) -> list[tuple[str, Mapping[str, Any]]] | None:
        """Return (path, entry) of a list's objects; None where it is absent."""
        listed = document.get(section)
        if listed is None:
            return None
        if not isinstance(listed, list):
            self._wrong(section, "Invalid value: must be a list", "FieldValueTypeInvalid")
            return []
        found: list[tuple[str, Mapping[str, Any]]] = []
        for index, entry in enumerate(listed):
            if isinstance(entry, Mapping):
                found.append((f"{section}[{index}]", entry))
            else:
                self._wrong(f"{section}[{index}]", "Invalid value: must be an object", "FieldValueTypeInvalid")
        return found

    def _functions(self, document: Mapping[str, Any], section: str) -> list[tuple[str, int]] | None:
        """Return (plugin, weight) of a list of predicates (of weight 0) or priorities."""
        entries = self._entries(document, section)
        if entries is None:
            return None
        weighted = section == "priorities"
        found: dict[str, int] = {}
        for path, entry in entries:
            self._fields(entry, ("name", "argument", *(("weight",) if weighted else ())), f"{path}.")
            weight = self._weight(f"{path}.weight", entry) if weighted else 0
            plugin, named_by = self._plugin(path, section, entry)
            if plugin in found:
                self._wrong(named_by, f'Duplicate value: "{plugin}"', "FieldValueDuplicate")
            elif plugin:
                found[plugin] = weight
        return list(found.items())

    def _plugin(self, path: str, section: str, entry: Mapping[str, Any]) -> tuple[str, str]:
        """Return the plugin that an entry means and the field that says so; no plugin where it is wrong."""
        name = entry.get("name")
        if not isinstance(name, str) or not name:
            self._wrong(f"{path}.name", "Required value: name the function", "FieldValueRequired")
            return "", path
        if entry.get("argument") is not None:
            return self._custom(f"{path}.argument", section, entry["argument"])
        name = ALIASES.get(name, name)
        known = PREDICATES if section == "predicates" else PRIORITIES
        if name not in known:
            listed = ", ".join(f'"{one}"' for one in known)
            self._wrong(
                f"{path}.name", f'Unsupported value: "{name}": supported values: {listed}', "FieldValueNotSupported"
            )
            return "", path
        return name, f"{path}.name"

    def _custom(self, path: str, section: str, argument: Any) -> tuple[str, str]:
        customs = {one.key: one for one in _CUSTOM[section]}
        if not isinstance(argument, Mapping) or len(argument) != 1 or next(iter(argument)) not in customs:
            self._wrong(path, f"Invalid value: exactly one of {' and '.join(customs)} is required")
            return "", path
        key, members = next(iter(argument.items()))
        custom = customs[key]
        path = f"{path}.{key}"
        if not isinstance(members, Mapping):
            self._wrong(path, "Invalid value: must be an object", "FieldValueTypeInvalid")
            return "", path
        self._fields(members, tuple(custom.members), f"{path}.")
        right = True
        for member, of in custom.members.items():
            value = members.get(member, False if of is bool else None)
            texts = isinstance(value, list) and bool(value) and all(isinstance(one, str) and one for one in value)
            if not (texts if of is list else isinstance(value, of) and value != ""):
                wanted = {list: "a list of labels", bool: "true or false", str: "a label"}[of]
                self._wrong(f"{path}.{member}", f"Invalid value: must be {wanted}", "FieldValueTypeInvalid")
                right = False
        if custom.plugin not in self._arguments and right:
            self._arguments[custom.plugin] = members
        return custom.plugin, path

    def _weight(self, path: str, entry: Mapping[str, Any]) -> int:
        weight = entry.get("weight", 0)
        if not isinstance(weight, int) or isinstance(weight, bool):
            self._wrong(path, "Invalid value: must be a whole number", "FieldValueTypeInvalid")
            return 1
        if not 0 < weight <= WEIGHT_MAX:
            self._wrong(
                path,
                f"Invalid value: {weight}: Priority {entry.get('name')} should have a positive weight applied to it "
                "or it has overflown",
            )
            return 1
        return weight

    def _extenders(self, document: Mapping[str, Any]) -> tuple[ExtenderConfiguration, ...]:
        """Return the extenders, read as today's are: two fields are written otherwise, one is gone."""
        written: list[Mapping[str, Any]] = []
        for path, entry in self._entries(document, "extenders") or ():
            self._fields(entry, _EXTENDER_FIELDS, f"{path}.")
            known = {_RENAMED.get(key, key): entry[key] for key in _EXTENDER_FIELDS if key in entry}
            known.pop("apiVersion", None)
            timeout = known.pop("httpTimeout", None)
            if isinstance(timeout, int):
                known["httpTimeout"] = f"{timeout}ns"
            elif timeout is not None:
                self._wrong(f"{path}.httpTimeout", "Invalid value: must be a number of nanoseconds")
            written.append(known)
        extenders, wrong = read_extenders(written)
        self._causes.extend(wrong)
        return extenders

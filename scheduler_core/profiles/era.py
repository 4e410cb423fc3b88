"""What an era of the scheduler is: its plugins, and how it reads what a session asks of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from scheduler_core.api.errors import ApiError, Cause, invalid
from scheduler_core.framework.registry import PluginRegistry
from scheduler_core.framework.rules import CURRENT_ERA
from scheduler_core.profiles.configuration import SchedulerConfiguration

Spec = Mapping[str, Any]
"""A session's scheduler spec."""


@dataclass(frozen=True, slots=True)
class Era:
    """One era.

    Attributes:
        name: as in the command object's `spec.era`.
        title: what a person reads.
        registry: makes a registry of its plugins.
        read: (spec, plugins that exist) → what the spec means. Raises ApiError 422 with a cause for every wrong field,
            paths as in the spec (`configuration.profiles[0].schedulerName`).
    """

    name: str
    title: str
    registry: Callable[[], PluginRegistry]
    read: Callable[[Spec, PluginRegistry], SchedulerConfiguration]


def refuse_fields(spec: Spec, fields: tuple[str, ...]) -> None:
    """Refuse fields of a spec that its era does not have.

    Raises:
        ApiError: 422.
    """
    era = spec.get("era") or CURRENT_ERA
    given = [field for field in fields if spec.get(field) is not None]
    if given:
        raise refused(*(Cause(field, f'Forbidden: era "{era}" has none', "FieldValueForbidden") for field in given))


def below(wrong: ApiError, path: str) -> ApiError:
    """Return a refusal whose causes lie below `path`: a document that stands in another."""
    return refused(*(replace(cause, field=f"{path}.{cause.field}") for cause in wrong.causes))


def refused(*causes: Cause) -> ApiError:
    """Return the refusal of a session's scheduler spec."""
    return invalid("SchedulerConfig", "clustersim.io", "default", causes)

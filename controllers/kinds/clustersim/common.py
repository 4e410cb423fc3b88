"""What the command objects have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from controllers.kinds.columns import AGE, NAME
from controllers.registry.kind import CLUSTERSIM_GROUP, Column, Kind, Mask
from controllers.registry.structs import beyond
from controllers.registry.subresources import STATUS_ONLY
from scheduler_core.api.document import at, child


def command(
    kind: str, plural: str, *columns: Column, spec: type[msgspec.Struct] | None = None, page: Mask, **rest: Any
) -> Kind:
    """Return the kind of a command object: asked for by the session API, kept by the session's owner.

    Args:
        kind: its name.
        plural: its resource without the group.
        columns: what is printed between name and age.
        spec: what may be asked for, with its limits; None: nothing is asked for, or admission says.
        page: what the page gets of it.
        rest: what else there is to a Kind.
    """
    if spec is not None:
        rest["validate"] = lambda document: beyond(document["spec"], spec, "spec")
    return Kind(
        kind,
        plural,
        group=CLUSTERSIM_GROUP,
        categories=("clustersim",),
        namespaced=False,
        subresources=(STATUS_ONLY,),
        keeper="session",
        generation=True,
        columns=(NAME, *columns, AGE),
        page=page,
        **rest,
    )


def with_spec(document: dict[str, Any]) -> None:
    """Give a command object its spec."""
    child(document, "spec")


def shown(*path: str) -> Callable[[Mapping[str, Any], Any], str]:
    """Return the cell of a value, as text."""

    def cell(document: Mapping[str, Any], age: Any) -> str:
        value = at(document, *path)
        if isinstance(value, bool):
            return "true" if value else "false"
        return "" if value is None else str(value)

    return cell

"""What expressions of policies and of webhooks' match conditions may name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scheduler_core.expressions.authorizing import AUTHORIZER, RESOURCE
from scheduler_core.expressions.language import CompileError, compiled
from scheduler_core.expressions.shapes import DYN, NAMESPACE, REQUEST, Shape, object_of

NAMES: Final[Mapping[str, Shape]] = {
    "object": DYN,
    "oldObject": DYN,
    "request": REQUEST,
    "namespaceObject": NAMESPACE,
    "authorizer": object_of(AUTHORIZER, requestResource=Shape(RESOURCE)),
}
"""Without parameters."""

PARAMETERIZED: Final[Mapping[str, Shape]] = {**NAMES, "params": DYN}
"""Where the policy names a kind of parameters."""


def in_messages(names: Mapping[str, Shape]) -> dict[str, Shape]:
    """Return what the expressions of messages may name of what others may."""
    return {name: shape for name, shape in names.items() if name != "authorizer"}


def shape_of(source: str, names: Mapping[str, Shape]) -> Shape:
    """Return what an expression comes to; nothing is known of what cannot be compiled."""
    try:
        return compiled(source, names).shape
    except CompileError:
        return DYN

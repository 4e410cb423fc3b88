"""What expressions of policies and of webhooks' match conditions may name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from controllers.expressions.language import CompileError, compiled
from controllers.expressions.shapes import DYN, NAMESPACE, REQUEST, Shape

NAMES: Final[Mapping[str, Shape]] = {
    "object": DYN,
    "oldObject": DYN,
    "request": REQUEST,
    "namespaceObject": NAMESPACE,
}
"""Without parameters."""

PARAMETERIZED: Final[Mapping[str, Shape]] = {**NAMES, "params": DYN}
"""Where the policy names a kind of parameters."""


def shape_of(source: str, names: Mapping[str, Shape]) -> Shape:
    """Return what an expression comes to; nothing is known of what cannot be compiled."""
    try:
        return compiled(source, names).shape
    except CompileError:
        return DYN

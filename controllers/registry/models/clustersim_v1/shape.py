"""What command objects are made of, and what has any members."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

Object = dict[str, Any]


class Shape(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of what command objects are made of: every field may be absent."""

    open_fields: ClassVar[bool] = False


class Anything(msgspec.Struct):
    """An object of which no struct says anything: its own schema does."""

    open_fields: ClassVar[bool] = True

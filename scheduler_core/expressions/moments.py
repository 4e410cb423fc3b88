"""Times and spans of time as the runtime takes them: protobuf's messages."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp


def moment(value: datetime) -> Any:
    """Return a time, which names its zone."""
    made = Timestamp()
    made.FromDatetime(value)
    return made


def span(value: timedelta) -> Any:
    """Return a span of time."""
    made = Duration()
    made.FromTimedelta(value)
    return made

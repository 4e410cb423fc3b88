"""Log lines: one line a record, `key=value` pairs after the message, and never a token."""

from __future__ import annotations

import logging
import re
import time
from typing import Final

_SECRET: Final = re.compile(
    r"(?i)(authorization:?\s*(?:bearer|basic)\s+|bearer\s+|(?:token|secret|password)\"?\s*[=:]\s*\"?|://[^/@\s:]+:)[A-Za-z0-9._~+/=-]+"
)
_FIELDS: Final = ("session", "worker", "epoch", "pid", "seconds", "revision")


class LineFormatter(logging.Formatter):
    """`2026-01-01T00:00:00Z INFO clustersim.runtime.worker[123] message session=7`."""

    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s[%(process)d] %(message)s")

    @staticmethod
    def converter(seconds: float | None = None) -> time.struct_time:
        """Return UTC, whatever the machine's zone."""
        return time.gmtime(seconds)

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, fields added and secrets blanked."""
        text = super().format(record)
        fields = " ".join(f"{name}={record.__dict__[name]}" for name in _FIELDS if name in record.__dict__)
        return _SECRET.sub(r"\1***", f"{text} {fields}" if fields else text)

"""Texts of a schema's formats as the language has them: times, spans of time, bytes.

Source: k8s.io/apiserver/pkg/cel/common (values.go), k8s.io/kube-openapi/pkg/validation/strfmt (duration.go), v1.34.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from scheduler_core.expressions.moments import moment, span

_SPAN: Final = re.compile(r"([0-9]*(?:\.[0-9]+)?)\s*([a-zµμ]+)")
_MICROS: Final[Mapping[str, float]] = {
    "n": 0.001, "u": 1, "µ": 1, "μ": 1, "mic": 1, "ms": 1e3, "mil": 1e3, "s": 1e6, "m": 6e7, "min": 6e7, "h": 3.6e9,
    "d": 8.64e10, "w": 6.048e11,
}  # fmt: skip
"""Beginnings of units, each in microseconds: the longest one counts."""


def _moment(text: str) -> Any:
    found = datetime.fromisoformat(text.upper())
    return moment(found if found.tzinfo else found.replace(tzinfo=UTC))


def _span(text: str) -> Any:
    sign = -1 if text.startswith("-") else 1
    micros = 0.0
    for number, unit in _SPAN.findall(text.lstrip("+-")):
        begun = max((one for one in _MICROS if unit.startswith(one)), key=len)
        micros += float(number) * _MICROS[begun]
    return span(sign * timedelta(microseconds=micros))


_READ: Final[Mapping[str, Callable[[str], Any]]] = {
    "date": _moment,
    "date-time": _moment,
    "duration": _span,
    "byte": lambda text: b64decode(text, validate=True),
}


def read_text(text: str, form: str) -> Any:
    """Return what a text of a format is to the language; a text that is not of it stays one."""
    read = _READ.get(form)
    try:
        return text if read is None else read(text)
    except (ValueError, OverflowError):
        return text

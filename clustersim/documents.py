"""The one reader of YAML and JSON that people send: files, bodies of requests, scenarios.

YAML is read as kubectl reads it (sigs.k8s.io/yaml: what go-yaml v2 makes of it, written as JSON): `yes` is true,
`12:30` and `2024-01-01` are texts, `1e3` is 1000, keys are texts, a tag that is not known says nothing. A text is read
event by event and never by recursion, so no nesting can end the process; an alias costs what it stands for, so a few
lines cannot become gigabytes.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec
import yaml

from scheduler_core.api.errors import ApiError, Cause, bad_request
from scheduler_core.api.said import said

try:
    from yaml import CSafeDumper as _Dumper
    from yaml import CSafeLoader as _Loader
except ImportError:  # PyYAML was built without libyaml
    from yaml import SafeDumper as _Dumper  # type: ignore[assignment]
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

DEPTH_MAX: Final = 64
"""Nesting of one document; deeper is refused with 400. The deepest field of a Pod lies 12 deep."""

PRICE_MAX: Final = 16 * 1024 * 1024
"""What the values of one YAML text may cost, with every alias counted as what it stands for; more is refused with 400.
A value costs PRICE_OF_VALUE and its characters: this is a million values, or 16 MB of text."""

PRICE_OF_VALUE: Final = 16

DIRECTIVES_MAX: Final = 16
"""Lines that begin with `%` in one YAML text; more are refused with 400: libyaml compares each with every other."""

_TAG: Final = "tag:yaml.org,2002:"
_WORDS: Final[dict[str, Any]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_INTEGER: Final = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)", re.ASCII)
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_INTEGER_DIGITS_MAX: Final = 66
_WHOLE_BELOW: Final = 1e21
"""Below this Go writes a whole float without an exponent, and it is read again as an integer."""

WIDTH: Final = 4_096
"""Characters of a line of YAML that is written, before it is folded."""

GO_WIDTH: Final = 80
"""The same of an API server's YAML."""

_MERGE: Final = object()
_UNTAGGED: Final = (None, "!")


class _Writer(_Dumper):
    """Writes texts that a reader would take for something else in quotes, those of several lines as they stand."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write everything out: an alias is read at the price of what it stands for."""
        return True


def _write_text(writer: _Writer, text: str) -> yaml.ScalarNode:
    style = None
    if text in _WORDS or _INTEGER.fullmatch(text) or _FLOAT.fullmatch(text):
        style = '"'
    elif "\n" in text:
        style = "|"
    return writer.represent_scalar(f"{_TAG}str", text, style=style)


_Writer.add_representer(str, _write_text)


def yaml_text(document: Any) -> str:
    """Return a document as YAML that is read back as the same, by this reader and by kubectl's."""
    return str(yaml.dump(document, Dumper=_Writer, sort_keys=False, allow_unicode=True, width=WIDTH))


_TIMESTAMP: Final = re.compile(r"\d{4}-\d\d?-\d\d?([Tt ].*)?", re.ASCII)
_BASE_60: Final = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?", re.ASCII)


class _KubernetesWriter(_Writer):
    """Writes what upstream's own YAML has in double quotes: texts that once stood for something else."""


def _write_quoted(writer: _KubernetesWriter, text: str) -> yaml.ScalarNode:
    if _TIMESTAMP.fullmatch(text) or _BASE_60.fullmatch(text):
        return writer.represent_scalar(f"{_TAG}str", text, style='"')
    return _write_text(writer, text)


_KubernetesWriter.add_representer(str, _write_quoted)


def kubernetes_yaml(document: Any) -> str:
    """Return a document as an API server writes YAML (sigs.k8s.io/yaml): keys in go-yaml's order."""
    return str(
        yaml.dump(_ordered(document), Dumper=_KubernetesWriter, sort_keys=False, allow_unicode=True, width=GO_WIDTH)
    )


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value, key=_place)}
    return [_ordered(member) for member in value] if isinstance(value, list) else value


def _place(key: str) -> list[tuple[int, int, str]]:
    """Return where a key stands: signs before numbers before letters, numbers by their value (go-yaml's keyList)."""
    parts = re.findall(r"\d+|\D", key)
    return [(1, int(part), part) if part.isdigit() else (2 if part.isalpha() else 0, 0, part) for part in parts]


def text_of(data: bytes) -> str:
    """Return the text of a file.

    Raises:
        ApiError: 400, it is not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise bad_request(
            said("file.notUtf8At", "the file is not UTF-8 text (byte {start}); save it as UTF-8", start=error.start)
        ) from error


def json_values(text: str) -> list[Any] | None:
    """Return the one JSON value, or those of the array that it is; None when it is not JSON."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None  # YAML may begin with a brace too
    return value if isinstance(value, list) else [value]


def one_yaml(data: bytes) -> Any:
    """Return the one document of a YAML text, None for an empty one.

    Raises:
        ApiError: 400 with the line, or for several documents.
    """
    found = list(yaml_values(text_of(data)))
    if len(found) > 1:
        raise bad_request(said("yaml.several", "the YAML holds several documents; send them one by one"))
    return found[0] if found else None


def first_yaml(data: bytes) -> Any:
    """Return the first document of a YAML text, None for one that holds nothing: what comes after it is not looked at.

    Raises:
        ApiError: 400 with the line.
    """
    return next(_yaml_documents(text_of(data)), None)


def yaml_values(text: str) -> Iterator[Any]:
    """Yield the documents of a YAML text as JSON has them, those that hold nothing left out.

    Raises:
        ApiError: 400 with the line.
    """
    return (value for value in _yaml_documents(text) if value is not None)


def _yaml_documents(text: str) -> Iterator[Any]:
    if text.count("\n%") > DIRECTIVES_MAX:
        raise bad_request(
            said(
                "yaml.directives",
                "the YAML has more than {directives_max} directives (lines that begin with %); leave them out",
                directives_max=DIRECTIVES_MAX,
            )
        )
    builder = _Builder()
    try:
        for event in yaml.parse(text, Loader=_Loader):
            if builder.take(event):
                yield builder.value
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
        raise bad_request(
            said(
                "yaml.unreadAt",
                "the YAML cannot be read: {place}{problem}",
                place=place,
                problem=error.problem or error.context,
            ),
            [Cause(f"line {mark.line + 1}", str(error.problem))] if mark is not None else (),
        ) from error
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        raise bad_request(said("yaml.unread", "the YAML cannot be read: {error}", error=error)) from error


class _Open:
    """A list or mapping whose end has not come: its value and height so far, and where its price began."""

    __slots__ = ("anchor", "before", "height", "key", "value")

    def __init__(self, value: Any, anchor: str | None, before: int) -> None:
        self.value = value
        self.anchor = anchor
        self.before = before
        self.height = 1
        self.key: Any = None
        """Of a mapping: (key,) while its value is awaited."""


class _Builder:
    """Makes values of events, without recursion, and counts what they cost before they are made."""

    def __init__(self) -> None:
        self.value: Any = None
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int, int]] = {}
        """Value, price and height (nesting, 0 for a scalar) of what an alias may stand for."""
        self._price = 0

    def take(self, event: yaml.Event) -> bool:
        """Take one event; return whether it ended a document, whose value is then `value`."""
        match event:
            case yaml.ScalarEvent():
                price = PRICE_OF_VALUE + len(event.value)
                self._pay(event, price)
                self._put(event, _scalar(event), event.anchor, price, 0)
            case yaml.AliasEvent():
                if event.anchor not in self._anchors:
                    raise _refusal(
                        event, said("yaml.anchor", "unknown anchor {anchor!r}, or it holds itself", anchor=event.anchor)
                    )
                value, price, height = self._anchors[event.anchor]
                self._pay(event, price)
                self._check_depth(event, height)
                self._put(event, _copy(value), None, price, height)
            case yaml.CollectionStartEvent():
                self._check_depth(event, 1)
                before = self._price
                self._pay(event, PRICE_OF_VALUE)
                # An alias to what is still open would hold itself.
                self._anchors.pop(event.anchor or "", None)
                self._open.append(_Open([] if isinstance(event, yaml.SequenceStartEvent) else {}, event.anchor, before))
            case yaml.CollectionEndEvent():
                closed = self._open.pop()
                self._put(event, closed.value, closed.anchor, self._price - closed.before, closed.height)
            case yaml.DocumentStartEvent():
                self.value = None
                self._anchors.clear()
            case yaml.DocumentEndEvent():
                return True
            case _:
                pass
        return False

    def _pay(self, event: yaml.Event, price: int) -> None:
        self._price += price
        if self._price > PRICE_MAX:
            raise _refusal(event, said("yaml.aliases", "too large when its aliases are expanded"))

    def _check_depth(self, event: yaml.Event, height: int) -> None:
        if len(self._open) + height > DEPTH_MAX:
            raise _refusal(event, said("yaml.deep", "nested deeper than {depth_max}", depth_max=DEPTH_MAX))

    def _put(self, event: yaml.Event, value: Any, anchor: str | None, price: int, height: int) -> None:
        """Put a finished value where it belongs."""
        if anchor:
            self._anchors[anchor] = (value, price, height)
        if not self._open:
            self.value = _json_value(event, value)
            return
        holder = self._open[-1]
        holder.height = max(holder.height, height + 1)
        if isinstance(holder.value, list):
            holder.value.append(_json_value(event, value))
        elif holder.key is None:
            holder.key = (value if value is _MERGE else _key(event, value),)
        else:
            (key,), holder.key = holder.key, None
            if key is _MERGE:
                _merge(event, holder.value, value)
            else:
                holder.value[key] = _json_value(event, value)


def _refusal(event: yaml.Event, why: str) -> ApiError:
    line = event.start_mark.line + 1 if event.start_mark is not None else 0
    column = event.start_mark.column + 1 if event.start_mark is not None else 0
    return bad_request(
        said(
            "yaml.line",
            "the YAML cannot be read: line {line}, column {column}: {why}",
            line=line,
            column=column,
            why=why,
        ),
        [Cause(f"line {line}", why)],
    )


def _scalar(event: yaml.ScalarEvent) -> Any:
    text, tag = event.value, event.tag
    if tag in _UNTAGGED and not event.implicit[0]:
        return text
    if tag in _UNTAGGED:
        return _MERGE if text == "<<" else _resolved(text)
    short = tag.removeprefix(_TAG)
    if short == "binary":
        try:
            return base64.b64decode(text.replace("\n", ""), validate=True).decode("utf-8", "replace")
        except (binascii.Error, ValueError) as error:
            raise _refusal(event, "!!binary value contains invalid base64 data") from error
    if short == "merge":
        return _MERGE
    if short not in ("bool", "int", "float", "null", "timestamp"):
        return text
    value = _resolved(text)
    fits = {
        "bool": isinstance(value, bool),
        "int": isinstance(value, int) and not isinstance(value, bool),
        "float": isinstance(value, int | float) and not isinstance(value, bool),
        "null": value is None,
        "timestamp": isinstance(value, str),
    }
    if not fits[short]:
        raise _refusal(event, f"cannot decode `{text[:40]}` as a !!{short}")
    return value


def _resolved(text: str) -> Any:
    """Return what a plain scalar stands for."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    plain = text.replace("_", "") if text[0] != "." else text
    if len(plain) <= _INTEGER_DIGITS_MAX and _INTEGER.fullmatch(plain):
        number = _integer(plain)
        if -(2**63) <= number < 2**64:
            return number
    if _FLOAT.fullmatch(plain):
        value = float(plain)
        return text if math.isinf(value) else value
    return text


def _integer(plain: str) -> int:
    digits = plain.lstrip("+-")
    if len(digits) > 1 and digits[0] == "0" and digits[1] in "01234567":
        return int(plain[: -len(digits)] + digits, 8)
    return int(plain, 0)


def _json_value(event: yaml.Event, value: Any) -> Any:
    """Return a value as it comes back from JSON that Go wrote: a whole float is an integer."""
    if value is _MERGE:
        return "<<"
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        raise _refusal(event, said("yaml.number", "JSON has no such number; write it as text"))
    return int(value) if value.is_integer() and abs(value) < _WHOLE_BELOW else value


def _key(event: yaml.Event, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return f"{value:.7g}"
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    raise _refusal(event, said("yaml.key", "a key is not text"))


def _merge(event: yaml.Event, into: dict[str, Any], value: Any) -> None:
    """Take over the members of one mapping, or of several, of which the first counts."""
    sources = value if isinstance(value, list) else [value]
    if not all(isinstance(source, dict) for source in sources):
        raise _refusal(event, "map merge requires map or sequence of maps as the value")
    for source in reversed(sources):
        into.update(source)


def _copy(value: Any) -> Any:
    """Return a copy that shares no list or mapping; at most DEPTH_MAX deep."""
    if isinstance(value, dict):
        return {key: _copy(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_copy(member) for member in value]
    return value

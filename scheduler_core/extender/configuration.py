"""`extenders` of a KubeSchedulerConfiguration: read, defaulted, checked, in the order in which they are called.

Source: k8s.io/kube-scheduler/config/v1 (type Extender), its validation, and the scheduler's factory.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlsplit

from scheduler_core.api.errors import Cause
from scheduler_core.api.label_names import qualified_name_errors
from scheduler_core.api.requests import is_extended
from scheduler_core.snapshot.node_info import PodInfo

TIMEOUT_MS: Final = 5_000
"""Real milliseconds that a call may take where `httpTimeout` says nothing."""

EXTENDER_TIMEOUT_MS_MAX: Final = 30_000
"""Real milliseconds that `httpTimeout` may ask for; more is refused with 422."""

EXTENDERS_MAX: Final = 5
"""Extenders of one configuration; more are refused with 422: every pod waits for each of them in turn."""

MANAGED_RESOURCES_MAX: Final = 50
"""Managed resources of one extender; more are refused with 422."""

EXTENDER_WEIGHT_MAX: Final = 1_000_000
"""Largest weight of an extender's scores; more is refused with 422, so that no total overflows."""

CA_BYTES_MAX: Final = 65_536
"""Bytes of `tlsConfig.caData`; more are refused with 422."""

_TEXTS: Final = ("urlPrefix", "filterVerb", "preemptVerb", "prioritizeVerb", "bindVerb", "httpTimeout")
_FLAGS: Final = ("enableHTTPS", "nodeCacheCapable", "ignorable")
_FIELDS: Final = frozenset({*_TEXTS, *_FLAGS, "weight", "tlsConfig", "managedResources"})
_TLS_FIELDS: Final = ("insecure", "serverName", "certFile", "keyFile", "caFile", "certData", "keyData", "caData")
_TLS_REFUSED: Final = ("certFile", "keyFile", "caFile", "certData", "keyData")
_RESOURCE_FIELDS: Final = frozenset({"name", "ignoredByScheduler"})

_VERBS: Final = ("filterVerb", "preemptVerb", "prioritizeVerb", "bindVerb")
_PATH: Final = re.compile(r"[!-~]*")
"""Printable ASCII: anything else would have to be written otherwise in a request, or could end its first line."""

_DURATION: Final = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h)")
_UNIT_MS: Final = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4, "h": 3.6e6}


@dataclass(frozen=True, slots=True)
class ManagedResource:
    """An extended resource that the extender looks after; `ignored`: NodeResourcesFit leaves it alone."""

    name: str
    ignored: bool = False


@dataclass(frozen=True, slots=True)
class Tls:
    """How an https extender is trusted.

    Attributes:
        insecure: take any certificate.
        server_name: the name that the certificate must carry, where it is not the URL's.
        ca: PEM of the authorities trusted; empty: the system's.
    """

    insecure: bool = False
    server_name: str = ""
    ca: str = ""


@dataclass(frozen=True, slots=True)
class ExtenderConfiguration:
    """One extender.

    Attributes:
        url_prefix: where it answers; a call goes to `<url_prefix>/<verb>`.
        filter_verb: empty: it does not filter.
        preempt_verb: empty: preemption does not ask it.
        prioritize_verb: empty: it does not score.
        bind_verb: empty: it does not bind.
        weight: multiplies its scores.
        tls: how it is trusted.
        timeout_ms: real milliseconds that one call may take.
        node_cache_capable: it knows the nodes: it is sent names alone.
        managed_resources: it is asked about pods that name one of these; about all pods where there is none.
        ignorable: its failures do not fail the pod.
        name: what traces call it: its URL prefix, numbered where two extenders share one.
    """

    url_prefix: str
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    bind_verb: str = ""
    weight: int = 0
    tls: Tls = Tls()
    timeout_ms: int = TIMEOUT_MS
    node_cache_capable: bool = False
    managed_resources: tuple[ManagedResource, ...] = ()
    ignorable: bool = False
    name: str = ""

    def url(self, verb: str) -> str:
        """Return the address of a verb."""
        return f"{self.url_prefix.rstrip('/')}/{verb}"

    @property
    def origin(self) -> str:
        """Return scheme, host and port of its address, as an operator allows them."""
        return origin_of(self.url_prefix)

    def is_interested(self, pod: PodInfo) -> bool:
        """Return whether a container of the pod names a managed resource, or none is managed."""
        if not self.managed_resources:
            return True
        managed = {resource.name for resource in self.managed_resources}
        spec = pod.pod.spec
        return any(
            not managed.isdisjoint(container.resources.requests) or not managed.isdisjoint(container.resources.limits)
            for container in (*spec.containers, *spec.init_containers)
        )


def origin_of(url: str) -> str:
    """Return `scheme://host:port` of an http or https URL, the port always named.

    Raises:
        ValueError: it is no such URL; the text says what is missing.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be http://host:port or https://host:port, with a path where there is one")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}:{port}"


def in_order(extenders: Sequence[ExtenderConfiguration]) -> tuple[ExtenderConfiguration, ...]:
    """Return extenders as they are called: ignorable ones last, each under a name of its own."""
    ordered = sorted(extenders, key=lambda extender: extender.ignorable)
    seen: Counter[str] = Counter()
    named: list[ExtenderConfiguration] = []
    for extender in ordered:
        prefix = extender.url_prefix
        seen[prefix] += 1
        named.append(replace(extender, name=prefix if seen[prefix] == 1 else f"{prefix} ({seen[prefix]})"))
    return tuple(named)


def ignored_resources(extenders: Sequence[ExtenderConfiguration]) -> list[str]:
    """Return the resources that NodeResourcesFit must leave alone."""
    return [resource.name for extender in extenders for resource in extender.managed_resources if resource.ignored]


def read_extenders(
    written: Sequence[Mapping[str, Any]], path: str = "extenders"
) -> tuple[tuple[ExtenderConfiguration, ...], list[Cause]]:
    """Return the extenders in the order in which they are called, and what is wrong with them.

    Args:
        written: the documents.
        path: where they stand, for the causes.
    """
    reader = _Reader()
    if len(written) > EXTENDERS_MAX:
        reader.wrong(path, f"Too many: {len(written)}: must have at most {EXTENDERS_MAX} items", "FieldValueTooMany")
        return (), reader.causes
    found = [reader.extender(document, f"{path}[{index}]") for index, document in enumerate(written)]
    binders = sum(bool(extender.bind_verb) for extender in found)
    if binders > 1:
        reader.wrong(
            path, f"Invalid value: found {binders} extenders implementing bind: only one extender can implement bind"
        )
    return in_order(found), reader.causes


class _Reader:
    def __init__(self) -> None:
        self.causes: list[Cause] = []
        self._managed: set[str] = set()

    def wrong(self, field: str, message: str, reason: str = "FieldValueInvalid") -> None:
        self.causes.append(Cause(field, message, reason))

    def extender(self, document: Mapping[str, Any], path: str) -> ExtenderConfiguration:
        self._unknown(document, _FIELDS, path)
        text = {name: self._typed(document, name, str, "", path) for name in _TEXTS}
        flag = {name: self._typed(document, name, bool, False, path) for name in _FLAGS}
        for verb in _VERBS:
            if not _PATH.fullmatch(text[verb]) or "?" in text[verb] or "#" in text[verb]:
                self.wrong(f"{path}.{verb}", f"Invalid value: {text[verb]!r}: must be a path as it stands in a URL")
        weight = self._typed(document, "weight", int, 0, path)
        if text["prioritizeVerb"] and weight <= 0:
            self.wrong(f"{path}.weight", f"Invalid value: {weight}: must have a positive weight applied to it")
        elif weight > EXTENDER_WEIGHT_MAX:
            self.wrong(f"{path}.weight", f"Invalid value: {weight}: must be at most {EXTENDER_WEIGHT_MAX}")
        self._address(text["urlPrefix"], f"{path}.urlPrefix")
        return ExtenderConfiguration(
            url_prefix=text["urlPrefix"],
            filter_verb=text["filterVerb"],
            preempt_verb=text["preemptVerb"],
            prioritize_verb=text["prioritizeVerb"],
            bind_verb=text["bindVerb"],
            weight=weight,
            tls=self._tls(document, path),
            timeout_ms=self._timeout(text["httpTimeout"], f"{path}.httpTimeout"),
            node_cache_capable=flag["nodeCacheCapable"],
            managed_resources=self._resources(document, path),
            ignorable=flag["ignorable"],
        )

    def _unknown(self, document: Mapping[str, Any], known: Sequence[str] | frozenset[str], path: str) -> None:
        for field in document:
            if field not in known:
                self.wrong(f"{path}.{field}", f'unknown field "{path}.{field}"', "FieldValueNotSupported")

    def _typed(self, document: Mapping[str, Any], field: str, of: type, default: Any, path: str) -> Any:
        value = document.get(field)
        if value is None:
            return default
        if not isinstance(value, of) or (of is int and isinstance(value, bool)):
            said = {str: "a text", bool: "true or false", int: "an integer"}[of]
            self.wrong(f"{path}.{field}", f"Invalid value: {value!r}: must be {said}", "FieldValueTypeInvalid")
            return default
        return value

    def _address(self, url: str, path: str) -> None:
        if not url:
            self.wrong(path, "Required value", "FieldValueRequired")
            return
        try:
            if not _PATH.fullmatch(url):
                raise ValueError("must be written as it stands in a request, without spaces and other letters")
            origin_of(url)
            parts = urlsplit(url)
        except ValueError as wrong:
            self.wrong(path, f'Invalid value: "{url}": {wrong}')
            return
        if parts.username is not None or parts.password is not None:
            self.wrong(path, "Invalid value: must not carry a user name or a password: everybody can read it")
        elif parts.query or parts.fragment:
            self.wrong(path, f'Invalid value: "{url}": must end with the path')

    def _timeout(self, text: str, path: str) -> int:
        if not text:
            return TIMEOUT_MS
        parts = _DURATION.findall(text)
        if "".join(parts) != text:
            self.wrong(path, f'Invalid value: "{text}": must be a duration such as 500ms or 5s')
            return TIMEOUT_MS
        total = sum(_part_ms(part) for part in parts)
        if total > EXTENDER_TIMEOUT_MS_MAX:
            self.wrong(path, f'Invalid value: "{text}": must be at most {EXTENDER_TIMEOUT_MS_MAX // 1000}s')
        return round(total) or (TIMEOUT_MS if total == 0 else 1)

    def _tls(self, document: Mapping[str, Any], path: str) -> Tls:
        written, path = self._typed_mapping(document, "tlsConfig", path), f"{path}.tlsConfig"
        self._unknown(written, _TLS_FIELDS, path)
        for field in _TLS_REFUSED:
            if written.get(field):
                self.wrong(
                    f"{path}.{field}",
                    "files of the server and client certificates cannot be used here; give caData, or insecure",
                    "FieldValueNotSupported",
                )
        return Tls(
            self._typed(written, "insecure", bool, False, path),
            self._typed(written, "serverName", str, "", path),
            self._authority(self._typed(written, "caData", str, "", path), f"{path}.caData"),
        )

    def _authority(self, encoded: str, path: str) -> str:
        try:
            if len(encoded) > CA_BYTES_MAX:
                raise ValueError(f"must have at most {CA_BYTES_MAX} bytes")
            pem = base64.b64decode(encoded, validate=True).decode("ascii")
        except (binascii.Error, UnicodeDecodeError):
            self.wrong(path, "Invalid value: must be a PEM bundle in base64")
        except ValueError as wrong:
            self.wrong(path, f"Invalid value: {wrong}")
        else:
            return pem
        return ""

    def _typed_mapping(self, document: Mapping[str, Any], field: str, path: str) -> Mapping[str, Any]:
        value = document.get(field)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            self.wrong(f"{path}.{field}", "Invalid value: must be an object", "FieldValueTypeInvalid")
            return {}
        return value

    def _resources(self, document: Mapping[str, Any], path: str) -> tuple[ManagedResource, ...]:
        path = f"{path}.managedResources"
        value = document.get("managedResources") or []
        if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
            self.wrong(path, "Invalid value: must be a list of objects", "FieldValueTypeInvalid")
            return ()
        if len(value) > MANAGED_RESOURCES_MAX:
            self.wrong(
                path, f"Too many: {len(value)}: must have at most {MANAGED_RESOURCES_MAX} items", "FieldValueTooMany"
            )
            return ()
        return tuple(self._resource(one, f"{path}[{index}]") for index, one in enumerate(value))

    def _resource(self, document: Mapping[str, Any], path: str) -> ManagedResource:
        self._unknown(document, _RESOURCE_FIELDS, path)
        name = self._typed(document, "name", str, "", path)
        if not is_extended(name) or qualified_name_errors(name):
            self.wrong(f"{path}.name", f'Invalid value: "{name}": is an invalid extended resource name')
        elif name in self._managed:
            self.wrong(f"{path}.name", f'Invalid value: "{name}": duplicate extender managed resource name')
        self._managed.add(name)
        return ManagedResource(name, self._typed(document, "ignoredByScheduler", bool, False, path))


def _part_ms(part: str) -> float:
    number = part.rstrip("nuµmsh")
    return float(number) * _UNIT_MS[part[len(number) :]]

"""Secrets: like ConfigMaps, in bytes, and each of a type that says which keys it has.

Source: pkg/apis/core (conversion of stringData, defaults, ValidateSecret), v1.34.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from controllers.kinds.columns import AGE, NAME, text_of
from controllers.registry import fields
from controllers.registry.kind import Column, Kind
from scheduler_core.api.errors import Cause

DATA_BYTES_MAX: Final = 1_048_576
"""Bytes of all values together, as upstream."""

ACCOUNT_TOKEN: Final = "kubernetes.io/service-account-token"
ACCOUNT_NAME: Final = "kubernetes.io/service-account.name"
_DOCKER: Final = {
    "kubernetes.io/dockercfg": ".dockercfg",
    "kubernetes.io/dockerconfigjson": ".dockerconfigjson",
}
"""Type → the key that holds JSON."""


def _defaults(document: dict[str, Any]) -> None:
    written = document.pop("stringData", None)
    if written:
        encoded = {key: b64encode(value.encode()).decode() for key, value in written.items()}
        document["data"] = {**document.get("data", {}), **encoded}
    if not document.get("type"):
        document["type"] = "Opaque"


def _validate(document: dict[str, Any]) -> list[Cause]:
    data = document.get("data") or {}
    causes = [cause for key in sorted(data) for cause in fields.config_key(f"data[{key}]", key)]
    if sum(len(b64decode(value)) for value in data.values()) > DATA_BYTES_MAX:
        causes.append(fields.too_long("data", DATA_BYTES_MAX))
    return causes + _of_type(document, data)


def _of_type(document: Mapping[str, Any], data: Mapping[str, str]) -> list[Cause]:
    of = document["type"]
    if of == ACCOUNT_TOKEN:
        annotations = document["metadata"].get("annotations") or {}
        return [] if annotations.get(ACCOUNT_NAME) else [fields.required(f"metadata.annotations[{ACCOUNT_NAME}]")]
    if of in _DOCKER:
        key = _DOCKER[of]
        return _json(f"data[{key}]", data[key]) if key in data else [fields.required(f"data[{key}]")]
    if of == "kubernetes.io/basic-auth" and not data.keys() & {"username", "password"}:
        return [fields.required("data[username]"), fields.required("data[password]")]
    if of == "kubernetes.io/ssh-auth" and not data.get("ssh-privatekey"):
        return [fields.required("data[ssh-privatekey]")]
    if of == "kubernetes.io/tls":
        return [fields.required(f"data[{key}]") for key in ("tls.crt", "tls.key") if key not in data]
    return []


_PEM: Final = re.compile(r"-----BEGIN ([^\n-]+)-----\n[^-]*-----END \1-----")


def _warns(document: Mapping[str, Any]) -> list[str]:
    """Tell of a certificate or a key that holds nothing of the kind (tls.X509KeyPair)."""
    if document.get("type") != "kubernetes.io/tls":
        return []
    data = document.get("data") or {}
    for key, what in (("tls.crt", "certificate"), ("tls.key", "key")):
        if not _PEM.search(b64decode(data.get(key, "")).decode("latin-1")):
            return [f"tls: failed to find any PEM data in {what} input"]
    return []


def _json(field: str, value: str) -> list[Cause]:
    """Check that a value is a JSON object; what it is is never told."""
    text = b64decode(value)
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        first = text.decode(errors="replace").strip()[:1]
        why = (
            f"invalid character '{first}' looking for beginning of value"
            if first and first not in '{["'
            else "unexpected end of JSON input"
        )
    else:
        if found is None or isinstance(found, dict):
            return []
        of = {str: "string", bool: "bool", list: "array"}.get(type(found), "number")
        why = f"json: cannot unmarshal {of} into Go value of type map[string]interface {{}}"
    return [fields.bad(field, "<secret contents redacted>", why)]


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    causes = fields.immutable("type", new.get("type"), old.get("type"))
    if old.get("immutable"):
        if not new.get("immutable"):
            causes.append(fields.not_allowed("immutable", "field is immutable when `immutable` is set"))
        if new.get("data") != old.get("data"):
            causes.append(fields.not_allowed("data", "field is immutable when `immutable` is set"))
    return causes + _validate(new)


KIND: Final = Kind(
    "Secret",
    "secrets",
    rank=4,
    whole_rules=True,
    secret=True,
    defaults=_defaults,
    validate=_validate,
    validate_update=_validate_update,
    compares_empty=("data",),
    ratchets=True,
    warns=_warns,
    columns=(
        NAME,
        Column("Type", "string", "What it is for.", text_of("type"), source="core_v1.Secret#type"),
        Column(
            "Data",
            "string",
            "How many keys.",
            lambda doc, age: len(doc.get("data") or ()),
            source="core_v1.Secret#data",
        ),
        AGE,
    ),
    selectable={"type": lambda doc: str(doc.get("type") or "")},
)

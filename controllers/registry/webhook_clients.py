"""Where webhooks are found: an address, or a Service.

Source: k8s.io/apiserver/pkg/util/webhook/validation.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from controllers.registry import fields
from scheduler_core.api.errors import Cause

_HTTPS: Final = "; desired format: https://host[/path]"


def client_causes(where: str, client: Mapping[str, Any]) -> list[Cause]:
    """Return what is wrong with where a webhook is found (`url`, or `service` with its defaults)."""
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        return [fields.required(where, "exactly one of url or service is required")]
    return _url(f"{where}.url", url) if url is not None else _service(f"{where}.service", service or {})


def _url(where: str, url: str) -> list[Cause]:
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError as error:
        return [fields.required(where, f"url must be a valid URL: {error}{_HTTPS}")]
    causes = []
    if parts.scheme != "https":
        causes.append(fields.bad(where, parts.scheme, f"'https' is the only allowed URL scheme{_HTTPS}"))
    if not host:
        causes.append(fields.bad(where, host, f"host must be specified{_HTTPS}"))
    for value, what in (
        (parts.netloc.rpartition("@")[0], "user information is"),
        (parts.fragment, "fragments are"),
        (parts.query, "query parameters are"),
    ):
        if value:
            causes.append(fields.bad(where, value, f"{what} not permitted in the URL"))
    return causes


def _service(where: str, service: Mapping[str, Any]) -> list[Cause]:
    # Upstream takes the one for the other.
    told = (("name", "namespace"), ("namespace", "name"))
    causes = [fields.required(f"{where}.{told_as}") for told_as, key in told if not service.get(key)]
    port = service["port"]
    if not 1 <= port <= 65535:
        causes.append(fields.bad(f"{where}.port", port, "port is not valid: must be between 1 and 65535, inclusive"))
    path = service.get("path")
    if path in (None, "", "/"):
        return causes
    where = f"{where}.path"
    if path == "//":
        return [*causes, fields.bad(where, path, "segment[0] may not be empty")]
    if not path.startswith("/"):
        causes.append(fields.bad(where, path, "must start with a '/'"))
    for index, segment in enumerate(path[1:].removesuffix("/").split("/")):
        if not segment:
            causes.append(fields.bad(where, path, f"segment[{index}] may not be empty"))
            continue
        for cause in fields.subdomain("", segment):
            why = cause.message.removeprefix(f"Invalid value: {fields.shown(segment)}: ")
            causes.append(fields.bad(where, path, f"segment[{index}]: {why}"))
    return causes

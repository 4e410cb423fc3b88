"""The HTTP client of a replica in a process of its own: requests, and watches as lines."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Callable, Iterator
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import msgspec

from controllers.kinds.table import find_resource
from controllers.log.operations import Bind, Create, Delete, Operation, Patch, Result, Update, resource_of
from controllers.loop.link import unreachable
from controllers.registry.kind import Kind
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, unknown_resource

REQUEST_SECONDS: Final = 10
"""Longest wait for an answer; an elector asks again sooner."""

WATCH_SECONDS: Final = 600
"""How long one watch lasts; then another goes on from where it stood."""

_CONTENT_TYPES: Final = {
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "json": "application/json-patch+json",
    "apply": "application/apply-patch+yaml",
}


class ApiClient:
    """Speaks with one session's API server. One value a thread: it keeps a connection."""

    def __init__(
        self,
        server: str,
        token: str,
        context: ssl.SSLContext | None = None,
        find: Callable[[str], Kind | None] = find_resource,
    ) -> None:
        """Name the session.

        Args:
            server: `http(s)://host:port/clusters/<code>`, as in its kubeconfig.
            token: of a component or a teacher.
            context: for https; None: the system's authorities.
            find: group resource → its kind, None where there is none.

        Raises:
            ValueError: that is no address of a session.
        """
        parts = urlsplit(server.rstrip("/"))
        prefix, found, code = parts.path.rpartition("/clusters/")
        if parts.scheme not in ("http", "https") or not parts.hostname or not found or not code or "/" in code:
            raise ValueError(f"{server!r} is no session's API server: give http://HOST:PORT/clusters/CODE")
        self._scheme, self._host, self._port = parts.scheme, parts.hostname, parts.port
        self._cluster = parts.path
        self._session = f"{prefix}/api/sessions/{code}"
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._context = context
        self._find = find
        self._connection: http.client.HTTPConnection | None = None

    def clock(self) -> Document:
        """Return the body of `GET …/clock`.

        Raises:
            ApiError: it cannot be had.
        """
        return self._ask("GET", f"{self._session}/clock")

    def get(self, resource: str, namespace: str, name: str) -> Document | None:
        """Return an object, None where there is none.

        Raises:
            ApiError: it cannot be had.
        """
        try:
            return self._ask("GET", f"{self._path(resource, namespace)}/{name}")
        except ApiError as refused:
            if refused.code == 404:
                return None
            raise

    def list(self, resource: str) -> Document:
        """Return the list of all objects of a resource, each with its kind, which a list says once for all.

        Raises:
            ApiError: it cannot be had.
        """
        found = self._ask("GET", self._path(resource, ""))
        kind = {"apiVersion": found["apiVersion"], "kind": found["kind"].removesuffix("List")}
        return found | {"items": [kind | item for item in found.get("items") or []]}

    def watch(self, resource: str, version: str) -> Iterator[Document]:
        """Yield watch events from a resourceVersion on, until the watch ends.

        Raises:
            ApiError: the watch was refused or broke off; 410 where the version is compacted.
        """
        query = urlencode(
            {"watch": "1", "resourceVersion": version, "timeoutSeconds": WATCH_SECONDS, "allowWatchBookmarks": "true"}
        )
        connection = self._open(WATCH_SECONDS)
        try:
            connection.request("GET", f"{self._path(resource, '')}?{query}", headers=self._headers)
            answer = connection.getresponse()
            if answer.status != 200:
                raise _refusal(answer.status, answer.read())
            while line := answer.readline():
                event = msgspec.json.decode(line)
                if event["type"] == "ERROR":
                    raise _refusal(int(event["object"].get("code") or 500), msgspec.json.encode(event["object"]))
                yield event
        except (OSError, http.client.HTTPException, msgspec.DecodeError) as wrong:
            raise unreachable() from wrong
        finally:
            connection.close()

    def write(self, operation: Operation) -> Result:
        """Carry an operation out; a refusal is a result."""
        try:
            return Result(operation, self._ask(*self._request(operation)), None, 0)
        except ApiError as refused:
            return Result(operation, None, refused, 0)

    # -- requests -----------------------------------------------------------------------------------------------

    def _request(self, operation: Operation) -> tuple[str, str, Any, str]:
        """Return method, path, body and content type of an operation."""
        where, plain = self._path(resource_of(operation), operation.namespace), "application/json"
        match operation:
            case Bind():
                target = {"apiVersion": "v1", "kind": "Node", "name": operation.node_name}
                metadata = {"name": operation.name, "namespace": operation.namespace, "uid": operation.uid}
                body: Any = {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": target}
                return "POST", f"{where}/{operation.name}/binding", body, plain
            case Create():
                if not operation.subresource:
                    return "POST", where, operation.object, plain
                name = operation.object["metadata"]["name"]
                return "POST", f"{where}/{name}/{operation.subresource}", operation.object, plain
            case Update():
                return "PUT", _part(where, operation), operation.object, plain
            case Patch():
                return "PATCH", _part(where, operation), operation.patch, _CONTENT_TYPES[operation.patch_type]
            case Delete():
                return "DELETE", f"{where}/{operation.name}", _options(operation), plain

    def _path(self, resource: str, namespace: str) -> str:
        kind = self._find(resource)
        if kind is None:
            # A definition may go while somebody still asks for what it defined.
            raise unknown_resource()
        group = f"apis/{kind.group}/{kind.version}" if kind.group else f"api/{kind.version}"
        place = f"namespaces/{namespace}/" if namespace and kind.namespaced else ""
        return f"{self._cluster}/{group}/{place}{kind.plural}"

    def _open(self, seconds: float) -> http.client.HTTPConnection:
        if self._scheme == "https":
            return http.client.HTTPSConnection(self._host, self._port, timeout=seconds, context=self._context)
        return http.client.HTTPConnection(self._host, self._port, timeout=seconds)

    def _ask(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Document:
        data = None if body is None else msgspec.json.encode(body)
        headers = self._headers if data is None else {**self._headers, "Content-Type": content_type}
        if method != "GET":
            # A kept connection may have been closed meanwhile, and what changes something must not be sent twice.
            self._close()
            return self._exchange(method, path, data, headers)
        try:
            return self._exchange(method, path, data, headers)
        except ApiError as refused:
            if refused.code != unreachable().code:
                raise
            return self._exchange(method, path, data, headers)

    def _exchange(self, method: str, path: str, data: bytes | None, headers: dict[str, str]) -> Document:
        connection = self._connection = self._connection or self._open(REQUEST_SECONDS)
        try:
            connection.request(method, path, data, headers)
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as wrong:
            self._close()
            raise unreachable() from wrong
        if answer.status >= 400:
            raise _refusal(answer.status, text)
        document: Document = msgspec.json.decode(text)
        return document

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _part(where: str, operation: Update | Patch) -> str:
    return f"{where}/{operation.name}" + (f"/{operation.subresource}" if operation.subresource else "")


def _options(operation: Delete) -> Document:
    options: Document = {"apiVersion": "v1", "kind": "DeleteOptions"}
    if operation.grace_period_seconds is not None:
        options["gracePeriodSeconds"] = operation.grace_period_seconds
    if operation.propagation:
        options["propagationPolicy"] = operation.propagation
    conditions = {"uid": operation.uid, "resourceVersion": operation.resource_version}
    preconditions = {key: value for key, value in conditions.items() if value is not None}
    if preconditions:
        options["preconditions"] = preconditions
    return options


def _refusal(code: int, text: bytes) -> ApiError:
    """Return a Status as the error that it is; another body is told by its code."""
    try:
        status = msgspec.json.decode(text)
        return ApiError(code, str(status.get("reason") or ""), str(status.get("message") or ""))
    except (msgspec.DecodeError, AttributeError):
        return ApiError(code, "Unknown", f"the API server answered {code}")

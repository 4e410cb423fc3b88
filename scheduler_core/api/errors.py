"""One refusal shape for everything: a Kubernetes `Status` with field causes and the next step in the message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from scheduler_core.api.said import Said, said


@dataclass(frozen=True, slots=True)
class Cause:
    """One field that is wrong: `field` is a path such as `spec.containers[0].name`."""

    field: str
    message: str
    reason: str = "FieldValueInvalid"
    said: Said | None = None
    """The message where it is a named sentence; found out from it."""

    def __post_init__(self) -> None:
        if isinstance(self.message, Said):
            object.__setattr__(self, "said", self.message)
            object.__setattr__(self, "message", str(self.message))

    def as_dict(self) -> dict[str, Any]:
        """Return the wire form (metav1.StatusCause), with `said` beside where the house's own sentence is known."""
        told: dict[str, Any] = {"reason": self.reason, "message": self.message, "field": self.field}
        return {key: text for key, text in told.items() if text or key == "message"} | _said(self.said)


@dataclass(slots=True)
class ApiError(Exception):
    """A refusal, as metav1.Status.

    `code` is the HTTP status, `reason` the machine word (`NotFound`, `Conflict` …), `message` what a person reads,
    the next step in it.
    """

    code: int
    reason: str
    message: str
    causes: Sequence[Cause] = ()
    kind: str = ""
    group: str = ""
    name: str = ""
    retry_after_seconds: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    """What whoever asked is warned of beside the refusal."""
    said: Said | None = None
    """The message where it is a named sentence; found out from it."""

    def __post_init__(self) -> None:
        if isinstance(self.message, Said):
            self.said, self.message = self.message, str(self.message)

    def __str__(self) -> str:
        return f"{self.code} {self.reason}: {self.message}"

    def status(self) -> dict[str, Any]:
        """Return the metav1.Status document."""
        details: dict[str, Any] = {}
        for key, value in (("name", self.name), ("group", self.group), ("kind", self.kind)):
            if value:
                details[key] = value
        if self.causes:
            details["causes"] = [cause.as_dict() for cause in self.causes]
        if self.retry_after_seconds:
            details["retryAfterSeconds"] = self.retry_after_seconds
        body: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
        }
        if not self.reason:
            del body["reason"]
        # Clients look into the details of these without asking whether there are any.
        if details or self.code in (404, 405):
            body["details"] = details
        body["code"] = self.code
        body.update(_said(self.said))
        body.update(self.extra)
        return body


def _said(sentence: Said | None) -> dict[str, Any]:
    return {} if sentence is None else {"said": sentence.document()}


def one_of(known: Iterable[str]) -> Said:
    """Return what is asked for where only some words will do."""
    return said("give.oneOf", "give one of {known}", known=", ".join(known))


def _headed(head: str, message: str) -> str:
    return message.after(head) if isinstance(message, Said) else head + message


def split_resource(resource: str) -> tuple[str, str]:
    """Return (plural, group) of a group resource such as `deployments.apps`; the core group is empty.

    A version between them (`horizontalpodautoscalers.v1.autoscaling`, `widgets@v2.example.com`) is passed over.
    """
    plural, _, group = resource.partition(".")
    if "@" in plural:
        return plural.partition("@")[0], group
    if _VERSION.match(group):
        group = group.partition(".")[2]
    return plural, group


_VERSION: Final = re.compile(r"v[0-9]+((alpha|beta)[0-9]+)?\.")


def shown_resource(resource: str) -> str:
    """Return a group resource as messages name it: `deployments.apps`."""
    return ".".join(filter(None, split_resource(resource)))


def not_found(resource: str, name: str) -> ApiError:
    """Return the 404 that kubectl prints as `Error from server (NotFound)`."""
    plural, group = split_resource(resource)
    return ApiError(
        404, "NotFound", f'{shown_resource(resource)} "{name}" not found', kind=plural, group=group, name=name
    )


def missing(resource: str, name: str) -> ApiError:
    """Return the same 404 to a page, which says it in its own words: for what is no answer of the Kubernetes API."""
    sentence = said("object.missing", '{resource} "{name}" not found', resource=resource, name=name)
    return replace(not_found(resource, name), said=sentence)


def unknown_resource() -> ApiError:
    """Return the 404 of a path below a served group that names nothing."""
    return ApiError(404, "NotFound", "the server could not find the requested resource")


def method_not_allowed() -> ApiError:
    """Return the 405 of a verb that a resource has not."""
    return ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")


def not_supported(resource: str, verb: str) -> ApiError:
    """Return the 405 of a verb that a subresource of a custom resource, or a kind that is listed, has not."""
    plural, group = split_resource(resource)
    why = f'{verb} is not supported on resources of kind "{resource}"'
    return ApiError(405, "MethodNotAllowed", why, kind=plural, group=group)


def already_exists(resource: str, name: str, *, leaving: bool = False, drawn: bool = False) -> ApiError:
    """Return the 409 of a create whose name is taken.

    `leaving`: by an object that is being deleted. `drawn`: what is made says from what its name may be made.
    """
    plural, group = split_resource(resource)
    message = f'{shown_resource(resource)} "{name}" already exists'
    if drawn:
        message = f"{message}, the server was not able to generate a unique name for the object"
    if leaving:
        message = f"object is being deleted: {message}"
    return ApiError(
        409, "AlreadyExists", message, kind=plural, group=group, name=name, retry_after_seconds=1 if drawn else 0
    )


def renamed(error: ApiError, resource: str, asked: str) -> ApiError:
    """Return a refusal that names a group resource (`events`) by its other name (`events.events.k8s.io`)."""
    plural, group = split_resource(resource)
    if error.reason not in ("NotFound", "AlreadyExists", "Conflict") or (error.kind, error.group) != (plural, group):
        return error
    said, says = (f'{shown_resource(one)} "{error.name}"' for one in (resource, asked))
    kind, group = split_resource(asked)
    return replace(error, message=error.message.replace(said, says, 1), kind=kind, group=group)


def conflict(resource: str, name: str, why: str = "") -> ApiError:
    """Return the 409 of a write based on a stale resourceVersion."""
    plural, group = split_resource(resource)
    why = why or ("the object has been modified; please apply your changes to the latest version and try again")
    message = _headed(f'Operation cannot be fulfilled on {shown_resource(resource)} "{name}": ', why)
    return ApiError(409, "Conflict", message, kind=plural, group=group, name=name)


def invalid(kind: str, group: str, name: str, causes: Sequence[Cause]) -> ApiError:
    """Return the 422 that lists every wrong field, worded as upstream's `NewInvalid`."""
    texts = list(dict.fromkeys(f"{cause.field}: {cause.message}" for cause in causes))
    listed = texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"
    title = f"{kind}.{group}" if group else kind
    return ApiError(
        422, "Invalid", f'{title} "{name}" is invalid: {listed}', causes=causes, kind=kind, group=group, name=name
    )


def bad_request(message: str, causes: Sequence[Cause] = ()) -> ApiError:
    """Return the 400 of a body or parameter that cannot be read."""
    return ApiError(400, "BadRequest", message, causes=causes)


def forbidden(resource: str, name: str, why: str) -> ApiError:
    """Return the 403 of a person or replica who may not do this."""
    plural, group = split_resource(resource)
    quoted = f' "{name}"' if name else ""
    message = _headed(f"{shown_resource(resource)}{quoted} is forbidden: ", why)
    return ApiError(403, "Forbidden", message, kind=plural, group=group, name=name)


def unauthorized(advice: str = "") -> ApiError:
    """Return the 401 of a request without a good token."""
    return ApiError(401, "Unauthorized", _headed("Unauthorized: ", advice) if advice else "Unauthorized")


def gone(message: str = "The resourceVersion for the provided watch is too old.") -> ApiError:
    """Return the 410 of a revision that is compacted: list again."""
    return ApiError(410, "Expired", message)

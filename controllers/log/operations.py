"""What components ask for. A component never calls the store: it emits operations, the loop commits them and hands
the results back as events (a 409 is an event like any other). The REST surface uses the same operations. Treat them as
frozen: dataclasses that are take three times as long to make, and there are several for every pod.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from controllers.log.store import Stored
from scheduler_core.api.errors import ApiError

PatchType = Literal["merge", "strategic", "json", "apply"]
Propagation = Literal["", "Background", "Foreground", "Orphan"]


class Form(NamedTuple):
    """What a body was made of: bodies of one form differ in their values, at the places where these stand, alone.

    Attributes:
        key: equal for bodies of one form.
        values: texts, well formed where they stand; the first one is the object's name.
    """

    key: Hashable
    values: tuple[str, ...]


@dataclass(slots=True)
class Create:
    """Create an object. `resource` is a group resource: `pods`, `deployments.apps`.

    `form`: what the body was made of, where many are made alike; None: it stands alone. `replaces`: it was asked for
    as a change of what may be there, by a PUT or an applied configuration.
    """

    resource: str
    namespace: str
    object: dict[str, Any]
    subresource: str = ""
    form: Form | None = None
    replaces: bool = False


@dataclass(slots=True)
class Update:
    """Replace an object (or its `status`, `scale`); `metadata.resourceVersion` in it is the precondition, if given."""

    resource: str
    namespace: str
    name: str
    object: dict[str, Any]
    subresource: str = ""


@dataclass(slots=True)
class Patch:
    """Patch an object. A `metadata.resourceVersion` or `metadata.uid` inside the patch is a precondition."""

    resource: str
    namespace: str
    name: str
    patch: Any
    patch_type: PatchType = "merge"
    subresource: str = ""
    force: bool = False


@dataclass(slots=True)
class Delete:
    """Delete an object, with DeleteOptions; `uid` and `resource_version` None: any."""

    resource: str
    namespace: str
    name: str
    uid: str | None = None
    resource_version: str | None = None
    grace_period_seconds: int | None = None
    propagation: Propagation = ""


@dataclass(slots=True)
class Bind:
    """Write `spec.nodeName` through the binding subresource; a pod that has one already is a conflict."""

    namespace: str
    name: str
    uid: str
    node_name: str
    resource_version: str = ""
    annotations: Mapping[str, str] | None = None
    """What the pod gets besides."""
    resource: ClassVar[str] = "pods"
    subresource: ClassVar[str] = "binding"


Operation = Create | Update | Patch | Delete | Bind


def resource_of(operation: Operation) -> str:
    """Return the group resource that an operation writes."""
    return "pods" if isinstance(operation, Bind) else operation.resource


@dataclass(slots=True)
class Result:
    """The answer to one operation: what is stored now, or the refusal; to a call outside, what came of it."""

    operation: Operation | None
    answer: Stored | dict[str, Any] | None
    """What is stored (`Stored`), the record of a call, or None."""
    error: ApiError | None
    revision: int

    @property
    def object(self) -> dict[str, Any] | None:
        """Return the document that is stored now, or the record."""
        return self.answer.object if isinstance(self.answer, Stored) else self.answer

"""The subresource binding: what a scheduler writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from controllers.log.draft import Draft
from controllers.log.operations import Bind, Create
from controllers.log.stamps import wire_time
from controllers.log.store import Stored
from controllers.registry.kind import Subresource, Writing
from controllers.registry.reading import body_of, check_type
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, bad_request, conflict


def _bind_of(operation: Create) -> Bind:
    """Return what a Binding asks for.

    Raises:
        ApiError: 400, or 500 for a target that nothing can be bound to, as upstream answers (ValidatePodBinding).
    """
    check_type("v1", "Binding", operation.object)
    body = body_of(operation, "core_v1.Binding", "Binding")
    name = body["metadata"].get("name") or ""
    if body["metadata"].get("namespace") not in (None, "", operation.namespace):
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    target = body.get("target") or {}
    wrong = []
    if target.get("kind", "Node") not in ("", "Node"):
        wrong.append(f'target.kind: Unsupported value: "{target["kind"]}": supported values: "Node", "<empty>"')
    if not target.get("name"):
        wrong.append("target.name: Required value")
    if wrong:
        raise ApiError(500, "", wrong[0] if len(wrong) == 1 else f"[{', '.join(wrong)}]")
    if not name:
        raise bad_request("Name parameter required.")
    metadata = body["metadata"]
    return Bind(
        operation.namespace,
        name,
        metadata.get("uid") or "",
        target["name"],
        metadata.get("resourceVersion") or "",
        metadata.get("annotations") or {},
    )


def _sent(operation: Create | Bind) -> Document:
    if isinstance(operation, Create):
        return operation.object
    metadata = {"name": operation.name, "namespace": operation.namespace, "uid": operation.uid}
    target = {"kind": "Node", "name": operation.node_name}
    return {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": target}


def _post(writing: Writing, operation: Create | Bind) -> Stored:
    asked = operation if isinstance(operation, Bind) else _bind_of(operation)
    stored = writing.existing(asked.resource, asked.namespace, asked.name)
    draft = Draft(bound(stored.object, asked, writing.context.unix_ms))
    writing.context.check(asked, stored, draft)
    return writing.put(asked.resource, draft, expected=stored.revision)


def bound(old: Mapping[str, Any], operation: Bind, now_unix_ms: int) -> Document:
    """Return the pod with its node and the PodScheduled condition.

    Raises:
        ApiError: 409, it has a node, is going away, is gated, or is another incarnation.
    """
    metadata = old["metadata"]
    spec = old["spec"]
    name = operation.name
    version = metadata.get("resourceVersion", "")
    for what, asked, held in (
        ("UID", operation.uid, metadata["uid"]),
        ("ResourceVersion", operation.resource_version, version),
    ):
        if asked and asked != held:
            why = f"Precondition failed: {what} in precondition: {asked}, {what} in object meta: {held}"
            key = f"/registry/pods/{operation.namespace}/{name}"
            failed = f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {why}"
            raise conflict("pods", name, failed)
    if "deletionTimestamp" in metadata:
        raise conflict("pods/binding", name, f"pod {name} is being deleted, cannot be assigned to a host")
    if spec.get("nodeName"):
        raise conflict("pods/binding", name, f'pod {name} is already assigned to node "{spec["nodeName"]}"')
    if spec.get("schedulingGates"):
        raise conflict("pods/binding", name, f"pod {name} has non-empty .spec.schedulingGates")
    status = dict(old.get("status", {}))
    condition = {
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": wire_time(now_unix_ms),
    }
    status["conditions"] = with_condition(status.get("conditions") or (), condition)
    if operation.annotations:
        metadata = {**metadata, "annotations": {**(metadata.get("annotations") or {}), **operation.annotations}}
    return {**old, "metadata": metadata, "spec": {**spec, "nodeName": operation.node_name}, "status": status}


def with_condition(conditions: Iterable[Mapping[str, Any]], fresh: Document) -> list[Mapping[str, Any]]:
    """Return the conditions with one in the place that its type had, or at the end (UpdatePodCondition)."""
    known = list(conditions)
    at = next((index for index, one in enumerate(known) if one.get("type") == fresh["type"]), len(known))
    return [*known[:at], fresh, *known[at + 1 :]]


BINDING: Final = Subresource(
    "binding",
    verbs=("create",),
    body=("", "v1", "Binding"),
    collection="bindings",
    post=_post,
    sent=_sent,
    components=True,
)

"""Subresources that are more than a part of the object: scale, binding, eviction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from controllers.log.operations import Bind, Create, Delete, Operation
from controllers.log.stamps import wire_time
from controllers.log.store import Stored, copy_object
from controllers.registry.fields import REPLICAS_MAX
from controllers.registry.schema import check
from scheduler_core.api.errors import ApiError, Cause, bad_request, conflict, invalid
from scheduler_core.api.kinds import Kind


def operation_of(operation: Create) -> Operation:
    """Return what a POST to a subresource asks for.

    Raises:
        ApiError: the subresource is unknown, or its body is wrong.
    """
    body = copy_object(operation.object)
    metadata = body.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise bad_request("metadata is not an object")
    name = metadata.get("name") or ""
    if operation.subresource == "binding":
        _decode(body, "core_v1.Binding", "Binding")
        target = body.get("target") or {}
        if target.get("kind", "Node") not in ("", "Node"):
            cause = Cause(
                "target.kind",
                f'Unsupported value: "{target["kind"]}": supported values: "Node"',
                "FieldValueNotSupported",
            )
            raise invalid("Binding", "", name, [cause])
        if not target.get("name"):
            raise invalid("Binding", "", name, [Cause("target.name", "Required value", "FieldValueRequired")])
        return Bind(operation.namespace, name, metadata.get("uid") or "", target["name"])
    if operation.subresource == "eviction":
        _decode(body, "policy_v1.Eviction", "Eviction")
        options = body.get("deleteOptions") or {}
        preconditions = options.get("preconditions") or {}
        return Delete(
            operation.resource,
            operation.namespace,
            name,
            uid=preconditions.get("uid") or "",
            resource_version=preconditions.get("resourceVersion") or "",
            grace_period_seconds=options.get("gracePeriodSeconds"),
        )
    raise ApiError(405, "MethodNotAllowed", f"create is not supported on {operation.resource}/{operation.subresource}")


def _decode(body: dict[str, Any], schema: str, title: str) -> None:
    report = check(body, schema, require=False)
    if report.wrong:
        raise bad_request(f"{title} cannot be read: {report.wrong[0].message}", report.wrong)


def bound(old: Mapping[str, Any], operation: Bind, now_unix_ms: int) -> dict[str, Any]:
    """Return the pod with its node and the PodScheduled condition.

    Raises:
        ApiError: 409, it has a node, is going away, is gated, or is another incarnation.
    """
    metadata = old["metadata"]
    spec = old["spec"]
    name = operation.name
    if operation.uid and operation.uid != metadata["uid"]:
        why = f"Precondition failed: UID in precondition: {operation.uid}, UID in object meta: {metadata['uid']}"
        raise conflict("pods", name, why)
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
        "observedGeneration": metadata.get("generation", 1),
    }
    del condition["lastProbeTime"]
    others = [entry for entry in status.get("conditions", []) if entry.get("type") != "PodScheduled"]
    status["conditions"] = [*others, condition]
    return {**old, "spec": {**spec, "nodeName": operation.node_name}, "status": status}


def scale_of(kind: Kind, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the autoscaling/v1 Scale of an object."""
    metadata = document["metadata"]
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    selector = document["spec"].get("selector", {})
    # A ReplicationController's selector is plain labels.
    labels = {"matchLabels": selector} if kind.resource == "replicationcontrollers" else selector
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: metadata[key] for key in kept if key in metadata},
        "spec": {"replicas": document["spec"].get("replicas", 1)},
        "status": {
            "replicas": document.get("status", {}).get("replicas", 0),
            "selector": selector_text(labels),
        },
    }


def selector_text(selector: Mapping[str, Any]) -> str:
    """Return a label selector as query text: `app=web,tier in (a,b)`."""
    parts = [f"{key}={value}" for key, value in sorted(selector.get("matchLabels", {}).items())]
    for expression in selector.get("matchExpressions", []):
        key, operator = expression.get("key", ""), expression.get("operator")
        values = ",".join(sorted(expression.get("values", [])))
        parts.append(
            {"In": f"{key} in ({values})", "NotIn": f"{key} notin ({values})", "Exists": key}.get(
                str(operator), f"!{key}"
            )
        )
    return ",".join(parts)


def scale_replicas(scale: Mapping[str, Any]) -> int:
    """Return the replicas that a Scale asks for.

    Raises:
        ApiError: 422, not a number of replicas.
    """
    spec = scale.get("spec")
    replicas = spec.get("replicas", 0) if isinstance(spec, Mapping) else None
    if isinstance(replicas, bool) or not isinstance(replicas, int) or not 0 <= replicas <= REPLICAS_MAX:
        message = f"Invalid value: {replicas!r}: must be an integer from 0 to {REPLICAS_MAX}"
        raise invalid("Scale", "autoscaling", "", [Cause("spec.replicas", message)])
    return replicas


def check_scale_precondition(kind: Kind, stored: Stored, scale: Mapping[str, Any]) -> None:
    """Refuse a Scale read from another version of the object.

    Raises:
        ApiError: 409.
    """
    metadata = scale.get("metadata")
    version = metadata.get("resourceVersion") if isinstance(metadata, Mapping) else None
    if version not in (None, "", str(stored.revision)):
        raise conflict(kind.resource, stored.name)

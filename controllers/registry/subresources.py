"""The subresources that many kinds have: status and scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from controllers.log.store import Stored, copy_object
from controllers.registry import metadata as metadata_rules
from controllers.registry.checking import check
from controllers.registry.fields import non_negative
from controllers.registry.gotext import quoted
from controllers.registry.kind import Column, Subresource
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, bad_request, conflict, invalid

_VERSION_MAX: Final = 2**64 - 1
"""The highest version that upstream's storage reads."""

STATUS: Final = Subresource(
    "status",
    part="status",
    carries=("labels", "annotations", "finalizers", "ownerReferences", "generateName"),
    components=True,
)
"""Upstream's strategies for it restore the spec and leave the metadata as it was sent."""

STATUS_ONLY: Final = Subresource("status", part="status", components=True)
"""Of the kinds whose strategies restore the metadata too (ResetObjectMetaForStatus)."""


SCALE_COLUMNS: Final = (
    Column("Name", "string", "", lambda scale, age: scale["metadata"]["name"], source="meta_v1.ObjectMeta#name"),
    Column(
        "Desired",
        "integer",
        "",
        lambda scale, age: scale["spec"].get("replicas", 0),
        source="autoscaling_v1.ScaleSpec#replicas",
    ),
    Column(
        "Available",
        "integer",
        "",
        lambda scale, age: scale["status"]["replicas"],
        source="autoscaling_v1.ScaleStatus#replicas",
    ),
    Column(
        "Age",
        "string",
        "",
        lambda scale, age: age(scale["metadata"].get("creationTimestamp")),
        source="meta_v1.ObjectMeta#creationTimestamp",
    ),
)


def scale(labels_of: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Subresource:
    """Return the subresource `scale` of a kind; `labels_of` gets the spec and returns a label selector."""

    def view(document: Mapping[str, Any]) -> Document:
        metadata = document["metadata"]
        kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
        return {
            "kind": "Scale",
            "apiVersion": "autoscaling/v1",
            "metadata": {key: metadata[key] for key in kept if key in metadata},
            "spec": {"replicas": replicas} if (replicas := document["spec"].get("replicas", 1)) else {},
            "status": {
                "replicas": document.get("status", {}).get("replicas", 0),
                "selector": selector_text(labels_of(document["spec"])),
            },
        }

    return Subresource(
        "scale",
        body=("autoscaling", "v1", "Scale"),
        schema="autoscaling_v1.Scale",
        view=view,
        change=_scaled,
        students=True,
        columns=SCALE_COLUMNS,
    )


def _scaled(stored: Stored, body: Mapping[str, Any]) -> Document:
    """Return the object with the replicas that a Scale asks for; raises as `replicas_asked`."""
    replicas = replicas_asked(stored, body)
    asked = (body.get("metadata") or {}).get("uid")
    metadata = {**stored.object["metadata"], "uid": asked} if asked else stored.object["metadata"]
    return {**stored.object, "metadata": metadata, "spec": {**stored.object["spec"], "replicas": replicas}}


def replicas_asked(stored: Stored, body: Mapping[str, Any], *, unset: tuple[int, str] | None = None) -> int:
    """Return the replicas that a Scale asks for.

    Args:
        stored: the object.
        body: the Scale.
        unset: of a kind whose own rules say how many there may be: the number that stands for none, and their field.

    Raises:
        ApiError: 400, the Scale is of another object, or has no replicas; 422, no number of replicas; 409, it was
            read from another version of the object.
    """
    read = copy_object(dict(body))
    kind, version = read.get("kind") or "Scale", read.get("apiVersion") or "v1"
    title = 'Scale in version "v1" cannot be handled as a Scale'
    if kind != "Scale":
        version = version.rpartition("/")[2]
        why = f"converting ({version}.{kind}) to (autoscaling.Scale): unknown conversion"
        raise bad_request(f'{kind} in version "{version}" cannot be handled as a Scale: {why}')
    wrong = check(read, "autoscaling_v1.Scale", require=False).wrong
    if wrong:
        raise bad_request(f"{title}: {wrong[0].message}", wrong)
    metadata = read.get("metadata") or {}
    name = metadata.get("name")
    if not name:
        why = f"the name of the object ({stored.name} based on URL) was undeterminable: name must be provided"
        raise bad_request(why)
    if name != stored.name:
        raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({stored.name})")
    replicas = (read.get("spec") or {}).get("replicas", 0)
    if unset is not None and replicas == unset[0]:
        raise bad_request(f"the spec replicas field {quoted(unset[1])} cannot be empty")
    causes = metadata_rules.validate(metadata, "subdomain")
    causes += [] if unset is not None else non_negative("spec.replicas", replicas)
    if causes:
        raise invalid("Scale", "autoscaling", stored.name, causes)
    version = metadata.get("resourceVersion")
    if version not in (None, "", str(stored.revision)):
        check_version(version)
        raise conflict(stored.resource, stored.name)
    return int(replicas)


def check_version(version: Any) -> None:
    """Refuse what is no number, as upstream's storage does: with no reason.

    Raises:
        ApiError: 500.
    """
    text = str(version)[:80]
    is_number = text.isascii() and text.isdigit()
    if not is_number or int(text) > _VERSION_MAX:
        why = "value out of range" if is_number else "invalid syntax"
        raise ApiError(500, "", f'strconv.ParseUint: parsing "{text}": {why}')


def names_version(version: Any) -> bool:
    """Return whether upstream's storage reads a version in this, other than that of what was never stored."""
    text = str(version)[:80]
    return text.isascii() and text.isdigit() and 0 < int(text) <= _VERSION_MAX


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


def replicas_of(document: Mapping[str, Any]) -> int:
    """Return the pods that a workload asks for: what its scale says (`Kind.replicas`)."""
    replicas = (document.get("spec") or {}).get("replicas", 1)
    return replicas if isinstance(replicas, int) else 1


SCALE: Final = scale(lambda spec: spec.get("selector", {}))
"""Of kinds that have a label selector."""

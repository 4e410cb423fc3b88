"""What a patch changes, and what it makes of it before that comes in as any change does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.log.operations import Patch
from controllers.log.store import Stored
from controllers.registry import fields, owning, reading
from controllers.registry.context import Context
from controllers.registry.incoming import nameless
from controllers.registry.kind import Kind, Subresource
from controllers.registry.patch import NO_KIND, json_patch, merge, undecodable
from controllers.registry.reading import Unreadable
from controllers.registry.strategic import strategic_merge
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause, bad_request, invalid

UNSUPPORTED_PATCH: Final = (
    "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, "
    "application/merge-patch+json, application/apply-patch+yaml"
)


_SCALES: Final = "k8s.io/client-go/scale/util.go:146"
"""Where upstream makes the scheme by which it reads scales of custom resources."""


def target_of(asked: Kind, stored: Stored, subresource: Subresource | None) -> Mapping[str, Any]:
    """Return what a patch changes."""
    if subresource is not None and subresource.body is not None:
        return subresource.to_patch(stored.object, owning.with_owners(subresource, stored.object))
    if subresource is not None and subresource.view is not None:
        return subresource.view(stored.object)
    return asked.outward(stored.object) if asked.stored_as is not None else stored.object


def check_version(kind: Kind, changed: Document, name: str, context: Context) -> None:
    """Refuse what a patch left without a version: upstream reads it as its internal one, which knows no field.

    Raises:
        ApiError: 422, of another kind, or with fields that nobody knows where the client is strict; 400, it has no
            name then.
    """
    if kind.kept_in:
        _check_same(kind, changed, name)
        return
    if changed.get("apiVersion") not in (None, ""):
        return
    of = changed.get("kind") or kind.kind
    if of != kind.kind and isinstance(of, str):
        why = (
            f'no kind "{of}" is registered for the internal version of group "{kind.group}" in scheme '
            f'"{reading.SCHEME}"'
        )
        raise Unreadable(400, "BadRequest", why)
    unknown = sorted(key for key in changed if key not in ("apiVersion", "kind"))
    reading.report_unknown(kind, unknown, context)
    raise nameless(name)


def _check_same(kind: Kind, changed: Document, name: str) -> None:
    """Refuse what a patch made of a custom object where it names another kind or version (schemaCoercingDecoder), or
    none.

    Raises:
        ApiError: 422, 500.
    """
    if not changed.get("kind"):
        raise Unreadable(400, "BadRequest", NO_KIND)
    if not changed.get("apiVersion"):
        why = "Object 'apiVersion' is missing in 'object has no apiVersion field'"
        raise ApiError(500, "InternalError", f"Internal error occurred: {why}", [Cause("", why, "")])
    for key, wanted in (("apiVersion", kind.api_version), ("kind", kind.kind)):
        said = changed.get(key)
        if isinstance(said, str) and said and said != wanted:
            group = str(changed.get("apiVersion")).rpartition("/")[0]
            raise invalid(str(changed.get("kind")), group, name, [fields.bad(key, said, f"must be {wanted}")])


def part_of(kind: Kind, subresource: Subresource) -> str:
    """Return the group resource of a part of an object: `deployments/scale.apps`."""
    return ".".join(filter(None, (f"{kind.plural}/{subresource.name}", kind.group)))


def check_form(kind: Kind, subresource: Subresource, changed: Document, operation: Patch, context: Context) -> Document:
    """Refuse what a patch made of a form of an object's own (a Scale) where it does not fit; return what is taken.

    Raises:
        ApiError: 400, it is of another object, or of no version; 422.
    """
    assert subresource.body is not None
    if not changed.get("apiVersion") and not kind.kept_in:
        # It is read as upstream's internal version, which knows no field.
        reading.report_unknown(kind, sorted(key for key in changed if key not in ("apiVersion", "kind")), context)
        raise nameless(operation.name)
    scheme = _SCALES if kind.kept_in else reading.SCHEME
    home = operation.namespace if kind.namespaced else None
    reading.check_body(changed, subresource.body, context, home, scheme)
    if not kind.kept_in:
        return changed
    # There nobody asks of which object it was read.
    metadata = changed.get("metadata") or {}
    return {**changed, "metadata": {key: value for key, value in metadata.items() if key != "uid"}}


def patched(target: Mapping[str, Any], operation: Patch, schema: str) -> Document:
    """Return what a patch makes of its target; `schema`: the struct that says how lists are merged.

    Raises:
        ApiError: 400 or 422, it cannot be read or does not fit.
    """
    if operation.patch_type == "json":
        return json_patch(dict(target), operation.patch)
    if operation.patch_type == "strategic" and operation.patch is None:
        return dict(target)
    if operation.patch is None:
        raise bad_request("Invalid JSON Patch")
    if not isinstance(operation.patch, dict):
        refusal = undecodable(operation.patch, "Go value of type map[string]interface {}")
        if operation.patch_type == "strategic":
            refusal.message = refusal.message.removeprefix("error decoding patch: ")
        raise refusal
    if operation.patch_type == "strategic":
        # It is read into the struct of the kind: what it says of the kind itself is nothing, as long as it is text.
        texts = [key for key in ("apiVersion", "kind") if isinstance(operation.patch.get(key, ""), (str, type(None)))]
        kept = {key: target[key] for key in texts if key in target}
        return strategic_merge(dict(target), operation.patch, schema) | kept
    merged: Document = merge(dict(target), operation.patch)
    return merged

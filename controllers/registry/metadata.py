"""Rules of metadata, common to all kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from controllers.registry import addresses, fields
from scheduler_core.api import dns_names
from scheduler_core.api.errors import Cause
from scheduler_core.api.label_names import qualified_name_errors

ANNOTATIONS_BYTES_MAX: Final = 262_144
"""Bytes of all annotations together, as upstream; every watcher carries them."""

FINALIZERS_MAX: Final = 64
"""Finalizers of one object: each keeps it alive, so a handful is the use."""

OWNERS_MAX: Final = 64
"""Owner references of one object: the garbage collector looks up each."""

MANAGER_BYTES_MAX: Final = 128
"""Bytes of a manager's name, as upstream's FieldManagerMaxLength."""

SUBRESOURCE_BYTES_MAX: Final = 256
"""Bytes of a subresource's name in managed fields, as upstream's MaxSubresourceNameLength."""

CREATED_BY: Final = "clustersim.io/created-by"
"""Annotation with the participant who made the object; nobody can claim another's."""


PATH_NAME_MAX: Final = 1024
"""Letters of a name that only has to fit into a URL; more are refused (upstream's path ends it elsewhere)."""


def _path_name(field: str, value: str) -> list[Cause]:
    """Check a name that only has to fit into a URL, and into the store."""
    causes = fields.path_segment(field, value)
    if not causes and len(value) > PATH_NAME_MAX:
        causes.append(fields.bad(field, value, f"must be no more than {PATH_NAME_MAX} characters"))
    return causes


_NAMES: Final = {
    "subdomain": fields.subdomain,
    "label": fields.label_name,
    "service": fields.service_name,
    "path": _path_name,
    "address": addresses.strict,
}


def drop_empty(metadata: dict[str, Any]) -> None:
    """Remove empty maps and lists, which upstream does not store either."""
    for key in ("labels", "annotations", "finalizers", "ownerReferences", "generateName"):
        if not metadata.get(key, True):
            del metadata[key]


def without_creator(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document without the annotation that the server puts to it, which nobody owns."""
    annotations = document["metadata"].get("annotations")
    # What a patch makes of them need not be a map: what is told of that is what it is.
    if not isinstance(annotations, dict) or CREATED_BY not in annotations:
        return document
    left = {key: text for key, text in annotations.items() if key != CREATED_BY}
    metadata = {key: value for key, value in document["metadata"].items() if key != "annotations"}
    return {**document, "metadata": {**metadata, "annotations": left} if left else metadata}


Names = Literal["subdomain", "label", "service", "path", "address"]
"""Which names the objects of a kind may have."""

_STANDARD_FINALIZERS: Final = ("kubernetes", "orphan", "foregroundDeletion")


def validate(metadata: Mapping[str, Any], names: Names, *, any_finalizers: bool = False) -> list[Cause]:
    """Check metadata by the rules of upstream's own kinds (apis/core/validation, ValidateObjectMeta).

    `any_finalizers`: by those of custom resources (apimachinery's own).
    """
    if any_finalizers:
        return _common(metadata, names)
    return _common(metadata, names) + _kubernetes_finalizers(metadata.get("finalizers") or ())


def _common(metadata: Mapping[str, Any], names: Names) -> list[Cause]:
    """Check what every kind's metadata has to keep to (apimachinery, ValidateObjectMetaAccessor)."""
    causes = _prefix(metadata.get("generateName") or "", names)
    if metadata["name"]:
        causes += _NAMES[names]("metadata.name", metadata["name"])
    else:
        causes.append(fields.required("metadata.name", "name or generateName is required"))
    generation = metadata.get("generation") or 0
    if generation < 0:
        causes.append(fields.bad("metadata.generation", generation, "must be greater than or equal to 0"))
    return causes + _texts(metadata) + _finalizers(metadata.get("finalizers") or ())


_GO_NAMES: Final = {
    "name": "name", "generateName": "generateName", "namespace": "namespace", "selfLink": "selfLink", "uid": "uID",
    "resourceVersion": "resourceVersion", "generation": "generation", "creationTimestamp": "creationTimestamp",
    "deletionTimestamp": "deletionTimestamp", "deletionGracePeriodSeconds": "deletionGracePeriodSeconds",
    "ownerReferences": "ownerReferences", "finalizers": "finalizers", "managedFields": "managedFields",
}  # fmt: skip
"""Metadata that templates may not carry, in upstream's order, and how it is called where it is refused."""


def of_template(field: str, metadata: Mapping[str, Any]) -> list[Cause]:
    """Check the metadata that a template gives to what is made of it: labels and annotations alone."""
    causes = annotation_causes(f"{field}.annotations", metadata.get("annotations") or {})
    causes += fields.labels(f"{field}.labels", metadata.get("labels"))
    told = [name for key, name in _GO_NAMES.items() if metadata.get(key)]
    return causes + [fields.not_allowed(f"{field}.{name}", "cannot be set") for name in told]


def _prefix(prefix: str, names: Names) -> list[Cause]:
    """Check what names are made from; it may end with a hyphen (NameIsDNSSubdomain with `prefix`)."""
    if not prefix:
        return []
    whole = prefix if names == "path" else dns_names.masked(prefix)
    wrong = _NAMES[names]("metadata.generateName", whole)
    if names == "path":
        wrong = [cause for cause in wrong if "may not contain" in cause.message]
    told = fields.shown(whole), fields.shown(prefix)
    return [Cause(cause.field, cause.message.replace(*told, 1), cause.reason) for cause in wrong]


def _texts(metadata: Mapping[str, Any]) -> list[Cause]:
    """Check labels, annotations and owners."""
    causes = fields.labels("metadata.labels", metadata.get("labels"))
    causes += annotation_causes("metadata.annotations", metadata.get("annotations") or {})
    return causes + _owners(metadata.get("ownerReferences") or [])


def annotation_causes(field: str, texts: Mapping[str, str]) -> list[Cause]:
    """Check annotations: their keys, and how much they are together."""
    causes: list[Cause] = []
    for key in texts:
        # Only annotations may have capitals in the prefix; upstream lowers the key before it looks.
        causes += [fields.bad(field, key, why) for why in qualified_name_errors(key.lower())]
    if sum(len(key.encode()) + len(value.encode()) for key, value in texts.items()) > ANNOTATIONS_BYTES_MAX:
        causes.append(fields.too_long(field, ANNOTATIONS_BYTES_MAX))
    return causes


def _finalizers(names: Sequence[str]) -> list[Cause]:
    causes: list[Cause] = []
    if len(names) > FINALIZERS_MAX:
        causes.append(fields.not_allowed("metadata.finalizers", f"must have at most {FINALIZERS_MAX} items"))
    for name in names:
        causes += fields.qualified_name("metadata.finalizers", name)
    if "orphan" in names and "foregroundDeletion" in names:
        why = "finalizer orphan and foregroundDeletion cannot be both set"
        causes.append(fields.bad("metadata.finalizers", list(names), why))
    return causes


def _kubernetes_finalizers(names: Sequence[str]) -> list[Cause]:
    """Refuse short names that nobody knows (validateKubeFinalizerName)."""
    why = "name is neither a standard finalizer name nor is it fully qualified"
    return [
        fields.bad(f"metadata.finalizers[{index}]", name, why)
        for index, name in enumerate(names)
        if "/" not in name and name not in _STANDARD_FINALIZERS
    ]


def _owners(owners: list[dict[str, Any]]) -> list[Cause]:
    causes: list[Cause] = []
    where = "metadata.ownerReferences"
    if len(owners) > OWNERS_MAX:
        causes.append(fields.not_allowed(where, f"must have at most {OWNERS_MAX} items"))
    controller = ""
    for owner in owners:
        version = str(owner.get("apiVersion") or "")
        if not version.strip("/") or version.endswith("/") or version.count("/") > 1:
            causes.append(fields.bad(f"{where}.apiVersion", version, "version must not be empty"))
        for key in ("kind", "name", "uid"):
            if not owner.get(key):
                causes.append(fields.bad(f"{where}.{key}", "", "must not be empty"))
        if version == "v1" and owner.get("kind") == "Event":
            told = fields.written(_owner(owner))
            causes.append(fields.bad(where, told, "/v1, Kind=Event is disallowed from being an owner"))
        if owner.get("controller"):
            name = f"{owner.get('kind')}/{owner.get('name')}"
            if controller:
                why = (
                    'Only one reference can have Controller set to true. Found "true" in references for '
                    f"{controller} and {name}"
                )
                causes.append(fields.bad(where, fields.written([_owner(one) for one in owners]), why))
            controller = controller or name
    return causes


def _owner(owner: Mapping[str, Any]) -> dict[str, Any]:
    """Return an owner with its fields in upstream's order."""
    keys = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")
    return {key: owner[key] for key in keys if key in owner}


def without_repeated_owners(metadata: dict[str, Any], *, late: bool = False) -> str:
    """Take out owners that are named twice; return the warning about them, empty: there are none.

    Source: apiserver's endpoints/handlers/rest.go, dedupOwnerReferences. `late`: in a patch, which is looked at after
    what mutates.
    """
    owners = metadata.get("ownerReferences")
    if not owners or len(owners) < 2:
        return ""
    kept: list[Any] = []
    twice: list[str] = []
    for owner in owners:
        if owner in kept:
            twice.append(str(owner.get("uid", "")))
        else:
            kept.append(owner)
    if not twice:
        return ""
    metadata["ownerReferences"] = kept
    when = " after mutating admission happens" if late else ""
    return (
        f".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, and "
        "may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
        + ", ".join(twice)
    )


def validate_change(
    metadata: Mapping[str, Any],
    old: Mapping[str, Any],
    names: Names,
    looks: str,
    *,
    any_finalizers: bool = False,
    fixed: Sequence[Cause] = (),
) -> list[list[Cause]]:
    """Check changed metadata as often as upstream does, which tells each cause once a look: for every kind, then a look
    of the kind's own rules after the other.

    `looks`: as `Kind.metadata_looks`. `fixed`: what `unchanged` said of what was sent.
    Source: rest/update.go, validateCommonFields, and what a kind's ValidateUpdate calls.
    """
    changes = _changes(metadata, old, fixed)
    found = [_common(metadata, "path") + changes]
    for look in looks:
        if look == "w":
            found.append(validate(metadata, names, any_finalizers=any_finalizers))
        else:
            kube = [] if any_finalizers else _kubernetes_finalizers(metadata.get("finalizers") or ())
            found.append(changes + kube)
    return found


def _changes(metadata: Mapping[str, Any], old: Mapping[str, Any], fixed: Sequence[Cause]) -> list[Cause]:
    """Check changed metadata once (apimachinery, ValidateObjectMetaAccessorUpdate)."""
    return [*validate_update(metadata, old), *fixed, *_texts(metadata), *_managed(metadata.get("managedFields") or ())]


def _managed(entries: Sequence[Mapping[str, Any]]) -> list[Cause]:
    """Check what managed fields say of who owns them; entries that cannot be read are none here."""
    causes: list[Cause] = []
    for index, entry in enumerate(entries):
        where = f"metadata.managedFields[{index}]"
        causes += manager_causes(f"{where}.manager", entry.get("manager", ""))
        if len(entry.get("subresource", "").encode()) > SUBRESOURCE_BYTES_MAX:
            causes.append(fields.too_long(f"{where}.subresource", SUBRESOURCE_BYTES_MAX))
    return causes


def manager_causes(field: str, name: str) -> list[Cause]:
    """Check a manager's name (apimachinery, ValidateFieldManager)."""
    causes = [fields.too_long(field, MANAGER_BYTES_MAX)] if len(name.encode()) > MANAGER_BYTES_MAX else []
    place = 0
    for letter in name:
        if not letter.isprintable():
            causes.append(fields.bad(field, name, f"invalid character U+{ord(letter):04X} (at position {place})"))
        place += len(letter.encode())
    return causes


def unchanged(metadata: Mapping[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    """Refuse another uid, and what a change says of an object's end: a delete alone does."""
    told = [] if "deletionTimestamp" in old else ["deletionTimestamp"]
    return [
        fields.bad(f"metadata.{key}", metadata[key], "field is immutable")
        for key in ("uid", *told, "deletionGracePeriodSeconds")
        if metadata.get(key) is not None and metadata[key] != old.get(key) and (key != "uid" or metadata[key])
    ]


def validate_update(metadata: Mapping[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    """Refuse new finalizers on an object that is going away: it would never go."""
    if "deletionTimestamp" not in old:
        return []
    added = [name for name in metadata.get("finalizers", []) if name not in old.get("finalizers", [])]
    if not added:
        return []
    why = (
        "no new finalizers can be added if the object is being deleted, found new finalizers "
        f"[]string{{{', '.join(fields.shown(name) for name in sorted(set(added)))}}}"
    )
    return [fields.not_allowed("metadata.finalizers", why)]

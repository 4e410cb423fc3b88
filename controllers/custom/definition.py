"""What is wrong with a definition: its names, versions, columns and subresources. Its schemas: `structural`.

Source: k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.custom.naming import APPROVED, approval, is_protected
from controllers.custom.node import Node, read
from controllers.custom.schemas import schema_causes
from controllers.custom.structural import foreign
from controllers.custom.walking import has
from controllers.registry import fields
from controllers.registry.webhook_clients import client_causes
from scheduler_core.api.document import Document, condition
from scheduler_core.api.errors import Cause

COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
COLUMN_FORMATS: Final = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
REVIEW_VERSIONS: Final = ("v1", "v1beta1")
SELECTABLE_MAX: Final = 8
"""Fields of one version by which objects are selected, as upstream."""

_SELECTABLE_TYPES: Final = ("string", "boolean", "integer")


def validate(document: Document) -> list[Cause]:
    """Check a new definition."""
    return _name(document) + _whole(document)


def _whole(document: Document) -> list[Cause]:
    spec = document["spec"]
    causes = _spec(spec) + _status(document)
    if is_protected(spec.get("group") or ""):
        causes += _approval(document["metadata"].get("annotations") or {})
    if spec.get("preserveUnknownFields"):
        why = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        causes.append(fields.bad("spec.preserveUnknownFields", True, why))
    return causes


def validate_update(document: Document, old: Mapping[str, Any]) -> list[Cause]:
    """Check what of a definition cannot change: what stands in paths, and in what is stored."""
    spec, before = document["spec"], old["spec"]
    causes = _whole(document)
    established = condition(old, "Established")
    if established is not None and established.get("status") == "True":
        causes += _fixed("spec.scope", spec, before, "scope")
        causes += _fixed("spec.names.kind", spec["names"], before["names"], "kind")
    causes += _fixed("spec.group", spec, before, "group")
    return causes + _fixed("spec.names.plural", spec["names"], before["names"], "plural")


def _fixed(where: str, new: Mapping[str, Any], old: Mapping[str, Any], key: str) -> list[Cause]:
    """Check that a text stays as it was; one that is not there is an empty one."""
    return fields.immutable(where, new.get(key) or "", old.get(key) or "")


def _name(document: Document) -> list[Cause]:
    spec = document["spec"]
    wanted = f"{(spec.get('names') or {}).get('plural') or ''}.{spec.get('group') or ''}"
    told = ((f"metadata.{key}", document["metadata"].get(key) or "") for key in ("generateName", "name"))
    why = 'must be spec.names.plural+"."+spec.group'
    return [fields.bad(field, name, why) for field, name in told if name not in ("", wanted)]


def _spec(spec: Mapping[str, Any]) -> list[Cause]:
    group = spec.get("group") or ""
    causes: list[Cause] = []
    if not group:
        causes.append(fields.required("spec.group"))
    elif wrong := fields.subdomain("spec.group", group):
        causes += wrong
    elif "." not in group:
        causes.append(fields.bad("spec.group", group, "should be a domain with at least one dot"))
    causes += fields.one_of("spec.scope", spec.get("scope"), ("Cluster", "Namespaced"), needed=True, ordered=False)
    versions: Sequence[Mapping[str, Any]] = spec.get("versions") or ()
    for index, version in enumerate(versions):
        if (version.get("schema") or {}).get("openAPIV3Schema") is None:
            causes.append(fields.required(f"spec.versions[{index}].schema.openAPIV3Schema"))
    schemas = [(version.get("schema") or {}).get("openAPIV3Schema") for version in versions]
    if spec.get("preserveUnknownFields") and any(has(one, lambda node: "default" in node) for one in schemas):
        why = "must be false in order to use defaults in the schema"
        causes.append(fields.bad("spec.preserveUnknownFields", True, why))
    shared = _shared(versions)
    for index, version in enumerate(versions):
        where = f"spec.versions[{index}]"
        own = {key: value for key, value in version.items() if key not in shared}
        causes += _joined(f"{where}.name", version.get("name") or "")
        causes += _deprecation(version, where) + _version(own, where, f"{where}.schema", shared)
    causes += _versions(spec.get("versions"), shared)
    if versions and versions[0].get("name"):
        # The first one's name is told of the definition itself, too.
        causes += _joined("spec.version", versions[0]["name"])
    names = spec.get("names") or {}
    for key in ("plural", "singular", "kind", "listKind"):
        if not names.get(key):
            causes.append(fields.required(f"spec.names.{key}"))
    causes += _names(names, "spec.names") + _version(shared, "spec", "spec.validation", shared)
    return causes + _conversion(spec.get("conversion") or {})


def _shared(versions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what all versions have alike: upstream looks at it, and tells of it, as of the definition itself."""
    if not versions:
        return {}
    first, *others = versions
    keys = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")
    return {key: first[key] for key in keys if key in first and all(one.get(key) == first[key] for one in others)}


def _joined(field: str, value: str) -> list[Cause]:
    """Check a DNS-1035 label; all that is wrong is one cause."""
    wrong = fields.service_name(field, value)
    if len(wrong) < 2:
        return wrong
    return [fields.bad(field, value, ",".join(one.message.partition(": ")[2].partition(": ")[2] for one in wrong))]


_SHOWN: Final[Mapping[str, Any]] = {
    "name": "",
    "served": False,
    "storage": False,
    "deprecated": False,
    "deprecationWarning": None,
    "schema": None,
    "subresources": None,
    "additionalPrinterColumns": None,
    "selectableFields": None,
}
"""Fields of upstream's internal version, and what they are where nobody says them."""


def _shown(version: Mapping[str, Any], shared: Mapping[str, Any]) -> dict[str, Any]:
    """Return a version as upstream shows it in a message."""
    return {
        key[0].upper() + key[1:]: usual if key in shared else version.get(key, usual) for key, usual in _SHOWN.items()
    }


def _versions(listed: Sequence[Mapping[str, Any]] | None, shared: Mapping[str, Any]) -> list[Cause]:
    versions = listed or ()
    names = [version.get("name") for version in versions]
    shown = fields.written(None if listed is None else [_shown(version, shared) for version in listed])
    causes: list[Cause] = []
    if len(set(names)) != len(names):
        causes.append(fields.bad("spec.versions", shown, "must contain unique version names"))
    if sum(bool(version.get("storage")) for version in versions) != 1:
        causes.append(fields.bad("spec.versions", shown, "must have exactly one version marked as storage version"))
    return causes


def _version(version: Mapping[str, Any], where: str, of_schema: str, shared: Mapping[str, Any]) -> list[Cause]:
    """Check what a version has for itself, or all versions together; `of_schema` is where its schema stands."""
    causes: list[Cause] = []
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    subresources = version.get("subresources") or {}
    if schema is not None:
        status = "status" in (subresources or shared.get("subresources") or {})
        causes += schema_causes(schema, f"{of_schema}.openAPIV3Schema", status=status)
    causes += _scale(subresources.get("scale"), f"{where}.subresources.scale")
    for index, column in enumerate(version.get("additionalPrinterColumns") or ()):
        causes += _column(column, f"{where}.additionalPrinterColumns[{index}]")
    if version.get("selectableFields"):
        schema = schema if schema is not None else (shared.get("schema") or {}).get("openAPIV3Schema")
        if schema is None:
            why = "may only be set when `version.schema.openAPIV3Schema` is not included"
            causes.append(fields.bad(f"{where}.selectableFields", "", why))
        else:
            if why := foreign(schema):
                causes.append(fields.bad(f"{where}.schema.openAPIV3Schema", "", why))
            causes += _selectable(version["selectableFields"], read(schema), f"{where}.selectableFields")
    return causes


def _deprecation(version: Mapping[str, Any], where: str) -> list[Cause]:
    warning = version.get("deprecationWarning")
    field = f"{where}.deprecationWarning"
    if warning is None:
        return []
    if not version.get("deprecated"):
        return [fields.bad(field, warning, "can only be set for deprecated versions")]
    causes = []
    if len(warning.encode()) > 256:
        causes.append(fields.bad(field, warning, "must be <= 256 characters long"))
    if not warning:
        causes.append(fields.bad(field, warning, "must not be an empty string"))
    wrong = next((index for index, letter in enumerate(warning) if not letter.isprintable()), None)
    if wrong is not None:
        why = (
            "must only contain printable UTF-8 characters; non-printable character found at index "
            f"{len(warning[:wrong].encode())}"
        )
        causes.append(fields.bad(field, warning, why))
    return causes


def _simple_path(field: str, path: str) -> list[Cause]:
    return [] if path.startswith(".") else [fields.bad(field, path, "must be a simple json path starting with .")]


def _scale(scale: Mapping[str, Any] | None, where: str) -> list[Cause]:
    causes: list[Cause] = []
    if scale is None:
        return causes
    for key, part in (("specReplicasPath", "spec"), ("statusReplicasPath", "status")):
        path, field = scale.get(key) or "", f"{where}.{key}"
        if not path:
            causes.append(fields.required(field))
        elif wrong := _simple_path(field, path):
            causes += wrong
        elif not path.startswith(f".{part}."):
            causes.append(fields.bad(field, path, f"should be a json path under .{part}"))
    path, field = scale.get("labelSelectorPath") or "", f"{where}.labelSelectorPath"
    if path:
        if wrong := _simple_path(field, path):
            causes += wrong
        elif not path.startswith((".spec.", ".status.")):
            causes.append(fields.bad(field, path, "should be a json path under either .spec or .status"))
    return causes


def _column(column: Mapping[str, Any], where: str) -> list[Cause]:
    causes: list[Cause] = [] if column.get("name") else [fields.required(f"{where}.name")]
    kind, form = column.get("type") or "", column.get("format") or ""
    types, forms = f"must be one of {','.join(COLUMN_TYPES)}", f"must be one of {','.join(COLUMN_FORMATS)}"
    if not kind:
        causes.append(fields.required(f"{where}.type", types))
    elif kind not in COLUMN_TYPES:
        causes.append(fields.bad(f"{where}.type", kind, types))
    if form and form not in COLUMN_FORMATS:
        causes.append(fields.bad(f"{where}.format", form, forms))
    path = column.get("jsonPath") or ""
    return causes + (_simple_path(f"{where}.JSONPath", path) if path else [fields.required(f"{where}.JSONPath")])


def _selectable(wanted: Sequence[Mapping[str, Any]], node: Node, where: str) -> list[Cause]:
    causes: list[Cause] = []
    seen: set[str] = set()
    for index, one in enumerate(wanted):
        field, path = f"{where}[{index}].jsonPath", one.get("jsonPath") or ""
        if not path:
            causes.append(fields.required(field))
            continue
        found = _at(node, path)
        if isinstance(found, str):
            causes.append(fields.bad(field, path, f"is an invalid path: {found}"))
            continue
        if path.split(".")[1] == "metadata":
            causes.append(fields.bad(field, path, "must not point to fields in metadata"))
        if found.type not in _SELECTABLE_TYPES:
            why = "must point to a field of type string, boolean or integer. Enum string fields and strings with "
            causes.append(fields.bad(field, path, f"{why}formats are allowed."))
        if path in seen:
            causes.append(fields.duplicate(field, path))
        seen.add(path)
    if len(seen) > SELECTABLE_MAX:
        causes.append(fields.too_many(where, len(seen), SELECTABLE_MAX))
    return causes


def _at(node: Node, path: str) -> Node | str:
    """Return what lies at a simple path, or what is wrong with the path."""
    if not path.startswith("."):
        return "expected [ or . but got: " + path.partition(".")[0]
    plain, bracket, _ = path.partition("[")
    for name in plain[1:].split("."):
        found = node.step(name)
        if found is None:
            return "does not refer to a valid field"
        node = found
    return "array notation is not allowed" if bracket else node


def _names(names: Mapping[str, Any], where: str) -> list[Cause]:
    causes: list[Cause] = []
    for key in ("plural", "singular"):
        if names.get(key):
            causes += _joined(f"{where}.{key}", names[key])
    for key in ("kind", "listKind"):
        wrong = _joined("", names[key].lower()) if names.get(key) else []
        if wrong:
            why = wrong[0].message.partition(": ")[2].partition(": ")[2]
            told = f"may have mixed case, but should otherwise match: {why}"
            causes.append(fields.bad(f"{where}.{key}", names[key], told))
    for index, name in enumerate(names.get("shortNames") or ()):
        causes += _joined(f"{where}.shortNames[{index}]", name)
    if names.get("kind") and names["kind"] == names.get("listKind"):
        causes.append(fields.bad(f"{where}.listKind", names["listKind"], "kind and listKind may not be the same"))
    for index, name in enumerate(names.get("categories") or ()):
        causes += _joined(f"{where}.categories[{index}]", name)
    return causes


def _conversion(conversion: Mapping[str, Any]) -> list[Cause]:
    strategy, where = conversion.get("strategy") or "", "spec.conversion"
    causes = fields.one_of(f"{where}.strategy", strategy, ("None", "Webhook"), needed=True, ordered=False)
    webhook = conversion.get("webhook") or {}
    client, versions = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    if strategy != "Webhook":
        if client is not None:
            why = "should not be set when strategy is not set to Webhook"
            causes.append(fields.not_allowed(f"{where}.webhookClientConfig", why))
        if versions:
            why = "should not be set when strategy is not set to Webhook"
            causes.append(fields.not_allowed(f"{where}.conversionReviewVersions", why))
        return causes
    if client is None:
        causes.append(fields.required(f"{where}.webhookClientConfig", "required when strategy is set to Webhook"))
    else:
        causes += client_causes(f"{where}.webhookClientConfig", client)
    field = f"{where}.conversionReviewVersions"
    if not versions:
        return [*causes, fields.required(field)]
    for index, version in enumerate(versions):
        if version in versions[:index]:
            causes.append(fields.bad(f"{field}[{index}]", version, "duplicate version"))
        else:
            causes += fields.service_name(f"{field}[{index}]", version)
    if not set(versions) & set(REVIEW_VERSIONS):
        causes.append(fields.bad(field, versions, f"must include at least one of {', '.join(REVIEW_VERSIONS)}"))
    return causes


def _status(document: Mapping[str, Any]) -> list[Cause]:
    status = document.get("status") or {}
    causes = _names(status.get("acceptedNames") or {}, "status.acceptedNames")
    stored: Sequence[str] = status.get("storedVersions") or []
    where = "status.storedVersions"
    if not stored:
        return [*causes, fields.bad(where, fields.Written("null"), "must have at least one stored version")]
    versions = document["spec"].get("versions") or ()
    for version in versions:
        if version.get("storage") and (version.get("name") or "") not in stored:
            causes.append(fields.bad(where, stored, f"must have the storage version {version.get('name')}"))
    known = {version.get("name") or "" for version in versions}
    for index, name in enumerate(stored):
        if name not in known:
            why = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in "
                f"spec.versions until a storage migration ensures no data remains persisted in {name} and removes "
                f"{name} from status.storedVersions"
            )
            causes.append(fields.bad(f"{where}[{index}]", name, why))
    return causes


def _approval(annotations: Mapping[str, str]) -> list[Cause]:
    state, why = approval(annotations)
    field = f"metadata.annotations[{APPROVED}]"
    if state == "invalid":
        return [fields.bad(field, annotations[APPROVED], why)]
    return [fields.required(field, why)] if state == "missing" else []

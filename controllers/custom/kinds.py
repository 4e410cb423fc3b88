"""Kinds out of definitions: a CustomResourceDefinition makes one value a version, as the table of kinds has them.

Source: k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go, pkg/registry/customresource, v1.34.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from controllers.custom import lists, shaping
from controllers.custom import rules as cel
from controllers.custom.columns import columns_of, text
from controllers.custom.embedded import embedded_causes, has_embedded
from controllers.custom.naming import version_order
from controllers.custom.node import Node, read
from controllers.custom.ownership import type_from
from controllers.custom.paths import PathError, parse
from controllers.custom.scaling import scale_causes, scale_of
from controllers.custom.values import below, validate
from controllers.log.store import Stored, copy_object
from controllers.registry import fields
from controllers.registry.checking import Report
from controllers.registry.kind import Kind, Subresource
from scheduler_core.api.document import Document, FrozenDocument, condition
from scheduler_core.api.errors import Cause

RESOURCE: Final = "customresourcedefinitions.apiextensions.k8s.io"
FINALIZER: Final = "customresourcecleanup.apiextensions.k8s.io"
"""What a delete puts to a definition, so that its instances go first."""

REMEMBERED_BYTES_MAX: Final = 8 * 1024 * 1024
"""Bytes of the definitions whose kinds a process remembers; the oldest go first. In memory they take some ten times as
much."""

_STANDARD_FINALIZERS: Final = ("kubernetes", "orphan", "foregroundDeletion")
_VERBS: Final = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
"""In the order in which upstream's controller of discovery lists them."""

_ENDING: Final = tuple(verb for verb in _VERBS if verb != "create")
"""What may be done to instances while their definition is being deleted: finalizers have to go."""


class Definitions:
    """Makes kinds of definitions, and remembers them by what is written there."""

    resource: str = RESOURCE

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, tuple[Kind, ...]] = OrderedDict()
        self._size = 0

    def kinds_of(self, stored: Stored) -> Sequence[Kind]:
        """Return the kinds that a definition makes, that as which instances are stored first; none before it is
        established.
        """
        known = self._known.get(stored.data)
        if known is None:
            known = tuple(kinds_of(stored.object))
            self._known[stored.data] = known
            self._size += stored.size
            while self._size > REMEMBERED_BYTES_MAX and len(self._known) > 1:
                self._size -= len(self._known.popitem(last=False)[0])
        return known


def kinds_of(definition: FrozenDocument) -> list[Kind]:
    """Return the kinds of a definition's versions, that as which instances are stored first."""
    if not established(definition):
        return []
    versions = sorted(definition["spec"]["versions"], key=lambda version: not version["storage"])
    rules = [_rules(definition, version) for version in versions]
    kept = rules[0]
    return [_kind(definition, version, own, kept) for version, own in zip(versions, rules, strict=True)]


def _names(definition: FrozenDocument) -> Mapping[str, Any]:
    found: Mapping[str, Any] = (definition.get("status") or {}).get("acceptedNames") or definition["spec"]["names"]
    return found


def _rules(definition: FrozenDocument, version: Mapping[str, Any]) -> Rules:
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    group, kind = definition["spec"]["group"], _names(definition)["kind"]
    return Rules(schema, version.get("subresources") or {}, f"{group}/{version['name']}", kind)


def established(definition: FrozenDocument) -> bool:
    """Return whether a definition's instances are served."""
    found = condition(definition, "Established")
    return found is not None and found.get("status") == "True"


def is_ending(definition: FrozenDocument) -> bool:
    """Return whether a definition is being deleted, with its instances."""
    found = condition(definition, "Terminating")
    return found is not None and found.get("status") == "True"


def _kind(definition: FrozenDocument, version: Mapping[str, Any], rules: Rules, kept: Rules) -> Kind:
    spec, names = definition["spec"], _names(definition)
    kept_as = kept.api_version.rpartition("/")[2]
    verbs = _ENDING if is_ending(definition) else _VERBS
    deprecated = ""
    if version.get("deprecated"):
        told = version.get("deprecationWarning")
        deprecated = _deprecation(spec, version["name"], names["kind"]) if told is None else told
    return Kind(
        names["kind"],
        names["plural"],
        group=spec["group"],
        version=version["name"],
        singular=names.get("singular") or "",
        list_kind=names.get("listKind") or "",
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        namespaced=spec["scope"] == "Namespaced",
        verbs=verbs if version["served"] else (),
        kept_in=f"{names['plural']}.{spec['group']}",
        kept_as=kept_as,
        inward=kept.inward,
        outward=rules.outward,
        schema="clustersim_v1.Anything",
        check=rules.check,
        check_applied=rules.check_applied,
        owned=type_from(rules.node),
        strategic=False,
        published=rules.schema or {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        subresources=tuple(rules.subresources()),
        prepare=rules.prepare,
        defaults=rules.defaults,
        validate=rules.validate,
        validate_update=rules.validate_update,
        ratchets=True,
        warns=finalizer_warnings,
        warns_changed=rules.warnings_of_change,
        whole_rules=True,
        any_finalizers=True,
        metadata_looks="c",
        unconditional=False,
        generation=True,
        columns=columns_of(version.get("additionalPrinterColumns") or ()),
        selectable=_selectable(version.get("selectableFields") or ()),
        deprecated=deprecated,
        key=f"{spec['group']}/{names['plural']}",
        asks=False,
        rank=60,
    )


def _deprecation(spec: Mapping[str, Any], version: str, kind: str) -> str:
    """Return what is said of a deprecated version: which one is to be used, where a newer one is served."""
    said = f"{spec['group']}/{version} {kind} is deprecated"
    own = version_order(version)
    newer = [one["name"] for one in spec["versions"] if one["served"] and not one.get("deprecated")]
    newer = sorted((one for one in newer if version_order(one) < own), key=version_order)
    return f"{said}; use {spec['group']}/{newer[0]} {kind}" if newer else said


class Rules:
    """What a version says of its instances."""

    def __init__(
        self, schema: Mapping[str, Any] | None, subresources: Mapping[str, Any], api_version: str, kind: str
    ) -> None:
        """Read a version's schema and subresources."""
        self.schema = schema or {}
        self.node: Node = read(schema)
        self.api_version = api_version
        self._kind = kind
        self._ruled = cel.has_rules(self.node)
        self._embeds = has_embedded(self.node)
        self._status = "status" in subresources
        self._scale: Mapping[str, Any] | None = subresources.get("scale")

    def check(self, document: Document) -> Report:
        """Normalise what was sent (`Kind.check`)."""
        return shaping.checked(document, self.node)

    def check_applied(self, document: Document) -> Report:
        """Normalise what came of applying a configuration: nulls stay, and are refused where none may be."""
        return shaping.checked(document, self.node, keeps_nulls=True)

    def prepare(self, document: Document) -> None:
        """Take away what a create may not say."""
        if self._status:
            document.pop("status", None)

    def defaults(self, document: Document) -> None:
        """Fill in what is left out."""
        shaping.fill(document, self.node)

    def inward(self, document: Document) -> Document:
        """Return an object of any version as this one stores it."""
        if document["apiVersion"] == self.api_version:
            return document
        stored = copy_object({**document, "apiVersion": self.api_version})
        shaping.pruned(stored, self.node)
        return stored

    def outward(self, document: Mapping[str, Any]) -> Document:
        """Return a stored object as this version shows it: defaults are filled in when it is read, too."""
        same = document["apiVersion"] == self.api_version and document["kind"] == self._kind
        if same and not shaping.lacks_defaults(document, self.node):
            return document if isinstance(document, dict) else dict(document)
        shown = copy_object({**document, "apiVersion": self.api_version, "kind": self._kind})
        if not same:
            shaping.pruned(shown, self.node)
        shaping.fill(shown, self.node)
        return shown

    def validate(self, document: Document) -> list[Cause]:
        """Check an object that is made."""
        causes = validate(document, self.schema) + scale_causes(document, self._scale) + self._inner(document)
        causes += lists.repeated(document, self.node)
        nameless = [] if document["metadata"].get("name") else [fields.required("metadata.name")]
        return causes + self._broken(document, None, nameless + causes)

    def validate_update(self, document: Document, old: Mapping[str, Any]) -> list[Cause]:
        """Check a change: nothing is asked of what it leaves as it was."""
        causes = validate(document, self.schema, "", old) + scale_causes(document, self._scale) + self._inner(document)
        causes += self._repeated(document, old)
        return causes + self._broken(document, old, causes)

    def _inner(self, document: Document) -> list[Cause]:
        return embedded_causes(document, self.node) if self._embeds else []

    def status_rules(self, document: Document, old: Mapping[str, Any]) -> list[Cause]:
        """Check a change of the status."""
        causes: list[Cause] = []
        schema = (self.schema.get("properties") or {}).get("status")
        if "status" in document and schema is not None:
            before = {"old": old["status"]} if "status" in old else {}
            # Its sentences say where something lies in the status alone.
            found = validate(document["status"], schema, **before)
            causes += [replace(one, field=below("status", one.field)) for one in found]
        causes += scale_causes(document, self._scale, parts=("status",)) + self._repeated(document, old)
        return causes + self._broken(document, old, causes)

    def warnings_of_change(self, document: Mapping[str, Any], old: Mapping[str, Any]) -> list[str]:
        """Return what whoever changes an object is warned of: what was broken before, and stays as it was, too."""
        kept = cel.still_broken(document, self.node, old) if self._ruled else []
        return [f"{cause.field}: {cause.message}" for cause in kept] + list(finalizer_warnings(document))

    def _broken(self, document: Document, old: Mapping[str, Any] | None, causes: Sequence[Cause]) -> list[Cause]:
        return cel.broken(document, self.node, old, causes) if self._ruled else []

    def _repeated(self, document: Document, old: Mapping[str, Any]) -> list[Cause]:
        causes = lists.repeated(document, self.node)
        return [] if causes and lists.repeated(dict(old), self.node) else causes

    def subresources(self) -> list[Subresource]:
        """Return what lies under an object's path."""
        found = []
        if self._status:
            found.append(
                Subresource(
                    "status",
                    part="status",
                    complete=lambda document, old, now: self._complete(document),
                    part_rules=self.status_rules,
                    students=True,
                    components=True,
                )
            )
        if self._scale is not None:
            found.append(scale_of(self._scale))
        return found

    def _complete(self, document: Document) -> None:
        status = self.node.properties.get("status")
        if "status" in document:
            shaping.fill(document["status"], status)


def finalizer_warnings(document: Mapping[str, Any]) -> list[str]:
    """Return what upstream says of short names of finalizers (registry/customresource/validator.go)."""
    return [
        f'metadata.finalizers: "{name}": prefer a domain-qualified finalizer name '
        f"{'including a path (/) ' if '.' in name else ''}to avoid accidental conflicts with other finalizer writers"
        for name in sorted(document["metadata"].get("finalizers") or ())
        if "/" not in name and name not in _STANDARD_FINALIZERS
    ]


def _selectable(wanted: Sequence[Mapping[str, Any]]) -> dict[str, Callable[[Mapping[str, Any]], str]]:
    found: dict[str, Callable[[Mapping[str, Any]], str]] = {}
    for one in wanted:
        try:
            path = parse(one["jsonPath"])
        except PathError:
            continue

        def value(document: Mapping[str, Any], path: Any = path) -> str:
            values = path.find(document)
            return text(values[0]) if values else ""

        found[one["jsonPath"].lstrip(".")] = value
    return found

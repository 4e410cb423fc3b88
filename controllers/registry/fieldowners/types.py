"""What fields are to those who own them: structs and lists whose parts have owners, or values owned as a whole.

Made from the schema (`controllers.registry.schema`) and the tables of `merging`. Upstream makes the same from its
OpenAPI (k8s.io/kube-openapi, schemaconv).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

from controllers.registry.checking import NULLS
from controllers.registry.merging import ATOMIC_MAPS, ATOMIC_STRUCTS, GRANULAR, LIST_KEYS
from controllers.registry.published import DEFAULTS, UNSAID, ZEROS
from controllers.registry.schema import FieldType, Model, model
from controllers.registry.zerotimes import ZERO_TIMES

Scalar = Literal["string", "numeric", "boolean", "untyped"]

_SCALARS: Final[dict[str, Scalar]] = {
    "string": "string",
    "bytes": "string",
    "integer": "numeric",
    "number": "numeric",
    "boolean": "boolean",
}
"""What a schema's scalars are here; all others may be any scalar."""

_HELD: Final = frozenset(
    {
        ("apps_v1.DaemonSetSpec", "updateStrategy"),
        ("apps_v1.DeploymentSpec", "strategy"),
        ("apps_v1.ReplicaSetSpec", "template"),
        ("apps_v1.StatefulSetSpec", "updateStrategy"),
        ("authentication_v1.SelfSubjectReviewStatus", "userInfo"),
        ("authentication_v1.TokenReviewStatus", "user"),
        ("apiextensions_v1.CustomResourceDefinitionStatus", "acceptedNames"),
        ("core_v1.Container", "resources"),
        ("core_v1.ContainerStatus", "lastState"),
        ("core_v1.ContainerStatus", "state"),
        ("core_v1.EphemeralContainer", "resources"),
        ("core_v1.Event", "source"),
        ("core_v1.NodeDaemonEndpoints", "kubeletEndpoint"),
        ("core_v1.NodeStatus", "daemonEndpoints"),
        ("core_v1.NodeStatus", "nodeInfo"),
        ("core_v1.PersistentVolumeClaimSpec", "resources"),
        ("core_v1.PodTemplate", "template"),
        ("core_v1.ServiceStatus", "loadBalancer"),
        ("discovery_v1.Endpoint", "conditions"),
        ("events_v1.Event", "deprecatedSource"),
        ("events_v1.Event", "regarding"),
        ("flowcontrol_v1.LimitedPriorityLevelConfiguration", "limitResponse"),
        ("networking_v1.IngressServiceBackend", "port"),
        ("networking_v1.IngressStatus", "loadBalancer"),
        ("networking_v1.NetworkPolicySpec", "podSelector"),
        ("resource_v1.AllocationResult", "devices"),
        ("resource_v1.ResourceClaimSpec", "devices"),
    }
)
"""(struct, optional field) of structs that upstream's Go types hold by value: they are always there, empty perhaps."""

_POINTERS: Final = frozenset(
    {
        ("apiextensions_v1.CustomResourceSubresources", "status"),
        ("apps_v1.DaemonSetSpec", "selector"),
        ("apps_v1.DeploymentSpec", "selector"),
        ("apps_v1.ReplicaSetSpec", "selector"),
        ("apps_v1.StatefulSetSpec", "selector"),
        ("admissionregistration_v1.MutatingWebhook", "sideEffects"),
        ("admissionregistration_v1.ValidatingWebhook", "sideEffects"),
        ("core_v1.ScaleIOPersistentVolumeSource", "secretRef"),
        ("core_v1.ScaleIOVolumeSource", "secretRef"),
        ("networking_v1.HTTPIngressPath", "pathType"),
        ("networking_v1.IPAddressSpec", "parentRef"),
    }
)
"""(struct, required field) that upstream's Go types point to: they may be absent all the same."""

_WRITTEN: Final[dict[tuple[str, str], Any]] = {
    ("apps_v1.StatefulSetSpec", "serviceName"): "",
    ("apps_v1.StatefulSetStatus", "availableReplicas"): 0,
    ("core_v1.Event", "eventTime"): None,
    ("core_v1.Event", "firstTimestamp"): None,
    ("core_v1.Event", "lastTimestamp"): None,
    ("core_v1.Event", "reportingComponent"): "",
    ("core_v1.Event", "reportingInstance"): "",
    ("events_v1.Event", "deprecatedFirstTimestamp"): None,
    ("events_v1.Event", "deprecatedLastTimestamp"): None,
    ("events_v1.Event", "eventTime"): None,
    ("flowcontrol_v1.FlowSchemaSpec", "matchingPrecedence"): 0,
}
"""(struct, optional field) → what Go writes of it while nobody has set it."""

_ALWAYS: Final = ("metadata", "spec", "status")


@dataclass(frozen=True, slots=True)
class Type:
    """What a value may be. `element` is what a list or map holds, `keys` tell the items of a list apart.

    `form` `any` is a value of any shape, which is owned as a whole.
    """

    form: Literal["scalar", "struct", "map", "list", "any"]
    atomic: bool = False
    scalar: Scalar = "untyped"
    struct: str = ""
    element: Type | None = None
    keys: tuple[str, ...] = ()
    members: Mapping[str, Type] | None = None
    """The fields of a struct that is none of the models."""
    rest: Type | None = None
    """What the fields are that `members` has not; None: there are none."""
    key_defaults: Mapping[str, Any] | None = None
    """What stands for the fields of such a struct where they are keys of a list."""

    def field(self, name: str) -> Type | None:
        """Return what a field of a struct or a value of a map is; None: the struct has no such field."""
        if self.members is not None:
            return self.members.get(name) or self.rest
        if self.form == "struct":
            return struct_fields(self.struct).get(name)
        return self if self.form == "any" else self.element

    def names(self, name: str) -> bool:
        """Return whether this is a struct that declares a field, not a map that may hold anything."""
        if self.members is not None:
            return name in self.members
        return self.form == "struct" and name in struct_fields(self.struct)


SCALARS: Final = {name: Type("scalar", scalar=name) for name in ("string", "numeric", "boolean", "untyped")}
ANY: Final = Type("any", True)


@cache
def type_of(struct: str) -> Type:
    """Return what a struct of the schema is (`core_v1.Pod`)."""
    known = model(struct)
    return ANY if known.open and not known.fields else Type("struct", struct in ATOMIC_STRUCTS, struct=struct)


@cache
def struct_fields(struct: str) -> Mapping[str, Type]:
    """Return what the fields of a struct are."""
    return {name: _field(struct, entry) for name, entry in model(struct).fields.items()}


@cache
def blank_fields(struct: str) -> Mapping[str, Any]:
    """Return what stands for the fields that an empty struct has all the same, as Go writes it.

    A struct that is held by value is an empty one, a list or map that is never left out null, a scalar its zero.
    """
    if not struct:
        return {}
    known: Model = model(struct)
    found: dict[str, Any] = dict.fromkeys((*ZERO_TIMES.get(struct, ()), *NULLS.get(struct, ())))
    for name, entry in known.fields.items():
        place = (struct, name)
        if place in _WRITTEN:
            found[name] = _WRITTEN[place]
            continue
        always = entry.required or (entry.model and not entry.container and name in _ALWAYS) or place in _HELD
        if not always or place in _POINTERS:
            continue
        if entry.container:
            found[name] = None
        elif entry.model:
            found[name] = {}
        elif entry.scalar in ZEROS:
            found[name] = ZEROS[entry.scalar]
    return found


def published_default(struct: str, name: str) -> Any:
    """Return what is published to stand for a field that is left out; None: nothing is."""
    place = struct, name
    if place in DEFAULTS:
        return DEFAULTS[place]
    return None if place in UNSAID else blank_fields(struct).get(name)


def key_default(element: Type, name: str) -> Any:
    """Return what stands for a key that an item of a list leaves out; None: nothing does."""
    if element.form != "struct":
        return None
    if element.members is not None:
        return (element.key_defaults or {}).get(name)
    found = DEFAULTS.get((element.struct, name))
    if found is not None:
        return found
    entry = model(element.struct).fields.get(name)
    required = entry is not None and entry.required and (element.struct, name) not in _POINTERS
    return ZEROS.get(entry.scalar or "") if required and entry is not None else None


def _field(struct: str, entry: FieldType) -> Type:
    inner = type_of(entry.model) if entry.model else _inner(entry)
    place = (struct, entry.name)
    if entry.container == "list":
        keys = LIST_KEYS.get(place)
        return Type("list", keys is None, element=inner, keys=keys or ())
    if entry.container == "map":
        return Type("map", place in ATOMIC_MAPS, element=inner)
    if inner.form == "struct" and place in ATOMIC_MAPS | GRANULAR:
        return Type("struct", place in ATOMIC_MAPS, struct=inner.struct)
    return inner


def _inner(entry: FieldType) -> Type:
    if entry.scalar == "texts":
        return Type("list", True, element=SCALARS["string"])
    return ANY if entry.scalar in ("any", "nothing") else SCALARS[_SCALARS.get(entry.scalar or "", "untyped")]

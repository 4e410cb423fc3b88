"""A session as of one revision, changed in thought: what an attempt is replayed on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, TypeVar, cast

from controllers.admission import priority
from controllers.admission.table import CHAIN
from controllers.kinds.table import KINDS, TABLE
from controllers.log.operations import Create
from controllers.log.store import Stored, Transaction, copy_object
from controllers.registry.admission import Chain
from controllers.registry.context import SESSION, Context
from controllers.registry.kind import Kind
from controllers.registry.patch import merge
from controllers.registry.registry import Registry
from controllers.scheduler.past import Past
from controllers.scheduler.settings import RESOURCE, Settings
from controllers.scheduler.watching import WATCHED
from controllers.whatif.changes import (
    Add,
    Change,
    Disable,
    Patch,
    Place,
    Reconfigure,
    Remove,
    Request,
    Weight,
    refused,
)
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause
from scheduler_core.api.meta import view
from scheduler_core.api.node import Node
from scheduler_core.api.quantity import QuantityError
from scheduler_core.api.requests import amounts
from scheduler_core.api.said import said
from scheduler_core.framework.profile import PluginSet, ProfileConfiguration, ProfileError
from scheduler_core.framework.runtime import Framework
from scheduler_core.profiles.configuration import SchedulerConfiguration
from scheduler_core.profiles.era import below
from scheduler_core.scheduler.replay import Seen
from scheduler_core.snapshot.node_info import PodInfo
from scheduler_core.volumes.assumed import VOLUMES

PODS: Final = "pods"
NODES: Final = "nodes"

_READ: Final[Mapping[str, Kind]] = {kind.kind: kind for kind in KINDS if kind.resource in WATCHED - {RESOURCE}}
"""Kinds that a scheduler reads, by name: no other can change a decision."""

_ADDING: Final = Registry(TABLE, CHAIN)
_PATCHING: Final = Registry(TABLE, Chain())
_PROMOTING: Final = Registry(TABLE, Chain((priority.PLUGIN,)))

_View = TypeVar("_View")
Spot = tuple[str, str]
"""(namespace, name)."""


class Documents:
    """The objects of one revision by place, each kind read once; the worlds of one decision share it."""

    def __init__(self, past: Past) -> None:
        """Read nothing yet."""
        self.past = past
        self._read: dict[str, Mapping[Spot, Stored]] = {}

    def of(self, resource: str) -> Mapping[Spot, Stored]:
        """Return the objects of a resource, in order of place.

        Raises:
            Gone: the revision is compacted.
        """
        found = self._read.get(resource)
        if found is None:
            stored = self.past.store.list_at(resource, self.past.revision)
            found = self._read[resource] = {(one.namespace, one.name): one for one in stored}
        return found


class World:
    """`framework.Listers`, nodes, pods and the scheduler's configuration, each as of the revision until changed."""

    def __init__(self, kept: Documents, uid: str, profile: str) -> None:
        """Change nothing yet.

        Args:
            kept: the session at the revision that the attempt saw.
            uid: the pod in hand.
            profile: the scheduler name that the attempt ran under.

        Raises:
            ApiError: 422, the plugins that are installed now cannot run its configuration.
            Gone: the revision is compacted.
        """
        past = self.past = kept.past
        self.kept = kept
        self.settings = past.settings
        self.configuration = self.settings.configuration
        self._profile = profile
        self._changed: dict[str, dict[Spot, Document | None]] = {}
        self._pod: Spot = next(((info.pod.namespace, info.pod.name) for info in past.pods if info.uid == uid), ("", ""))

    def apply(self, change: Change, path: str) -> None:
        """Change the world.

        Args:
            change: what to change.
            path: how refusals call it, such as `changes[0]`.

        Raises:
            ApiError: 422, it cannot be.
        """
        match change:
            case Weight(plugin, weight):
                self._reprofile(plugin, f"{path}.weight", lambda one: _weighted(one, plugin, weight))
            case Disable(plugin):
                self._reprofile(plugin, f"{path}.disable", lambda one: _without(one, plugin))
            case Reconfigure(spec):
                self._reconfigure(spec, f"{path}.scheduler")
            case Request(asked):
                with _below(f"{path}.request"):
                    self._put(_READ["Pod"], self._pod, _asking(self._document(PODS, self._pod), asked))
            case Add(document):
                with _below(f"{path}.add"):
                    self._add(document)
            case Remove(place):
                self._remove(place, f"{path}.remove")
            case Patch(place, patch):
                self._patch(place, patch, f"{path}.patch")

    def changed(self, resource: str) -> Mapping[Spot, Document | None]:
        """Return the objects of a resource that are others, None where one is not there."""
        return self._changed.get(resource, {})

    @property
    def has_another_pod(self) -> bool:
        """Return whether the pod in hand was changed."""
        return self._pod in self._changed.get(PODS, {})

    # -- what a replay reads ------------------------------------------------------------------------------------

    @property
    def seen(self) -> Seen:
        """Return the nodes and pods."""
        changed = self._changed.keys() & {NODES, PODS}
        return Seen(self.nodes, self.pods) if changed else self.past.seen

    @property
    def nodes(self) -> Sequence[Node]:
        """Return the nodes, in order of name."""
        return _overlaid(self.past.nodes, self._changed.get(NODES, {}), lambda node: ("", node.name), _node)

    @property
    def pods(self) -> Sequence[PodInfo]:
        """Return the pods, in order of namespace and name."""
        changed = self._changed.get(PODS, {})
        return _overlaid(self.past.pods, changed, lambda info: (info.pod.namespace, info.pod.name), PodInfo.of)

    def list(self, resource: str) -> Sequence[Mapping[str, Any]]:
        """Return all documents of a kind that plugins read."""
        changed = self._changed.get(resource, {})
        if not changed:
            return self.past.list(resource)
        kept = [one for one in self.past.list(resource) if _spot(one) not in changed]
        return [*kept, *(one for one in changed.values() if one is not None)]

    def get(self, resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """Return one document."""
        changed = self._changed.get(resource, {})
        return changed[namespace, name] if (namespace, name) in changed else self.past.get(resource, namespace, name)

    # -- objects ------------------------------------------------------------------------------------------------

    def _document(self, resource: str, spot: Spot) -> Document | None:
        changed = self._changed.get(resource, {})
        if spot in changed:
            return changed[spot]
        found = self.kept.of(resource).get(spot)
        return None if found is None else copy_object(found.object)

    def _put(self, kind: Kind, spot: Spot, document: Document | None) -> None:
        if document is None:
            raise refused(Cause("", said("whatif.podGone", "the pod in hand is no longer there")))
        if kind.resource == NODES:
            _node(document)
        elif kind.resource == PODS:
            _readable(document)
        self._changed.setdefault(kind.resource, {})[spot] = document

    def _add(self, document: Document) -> None:
        kind = _kind(str(document.get("kind")), "kind")
        metadata = document.get("metadata")
        namespace = str((metadata.get("namespace") if isinstance(metadata, dict) else "") or "default")
        made = self._written(_ADDING, kind, namespace if kind.namespaced else "", document)
        if kind.resource == NODES:
            status = made.setdefault("status", {})
            # What a kubelet would register.
            status.setdefault("allocatable", dict(status.get("capacity") or {}))
        elif kind.resource == VOLUMES:
            # What its controller would say of a volume that no claim holds.
            made["status"] = {**(made.get("status") or {}), "phase": "Available"}
        self._put(kind, _spot(made), made)

    def _remove(self, place: Place, path: str) -> None:
        kind, spot = self._place(place, path)
        if kind.resource == PODS and spot == self._pod:
            raise refused(
                Cause(path, said("whatif.ownPod", "this is the pod whose decision is asked about; remove another"))
            )
        self._changed.setdefault(kind.resource, {})[spot] = None

    def _patch(self, place: Place, patch: Document, path: str) -> None:
        kind, spot = self._place(place, path)
        with _below(f"{path}.patch"):
            old = self._document(kind.resource, spot)
            assert old is not None
            merged = merge(old, {**patch, **({"metadata": _labels_of(patch)} if "metadata" in patch else {})})
            promoted = kind.resource == PODS and "priorityClassName" in (patch.get("spec") or {})
            if promoted:
                for computed in ("priority", "preemptionPolicy"):
                    if computed not in patch["spec"]:
                        merged["spec"].pop(computed, None)
            # Looked at as if it were made so: what may not be changed later may be thought of.
            self._changed.setdefault(kind.resource, {})[spot] = None
            sent = {**merged, "metadata": {key: value for key, value in merged["metadata"].items() if key not in _OWN}}
            made = self._written(_PROMOTING if promoted else _PATCHING, kind, spot[0], sent)
            made["metadata"] |= {key: old["metadata"][key] for key in _OWN if key in old["metadata"]}
            if "status" in merged:
                made["status"] = merged["status"]
            self._put(kind, spot, made)

    def _place(self, place: Place, path: str) -> tuple[Kind, Spot]:
        kind = _kind(place.kind, f"{path}.kind")
        spot = (place.namespace or "default" if kind.namespaced else "", place.name)
        if self._document(kind.resource, spot) is None:
            where = f"{spot[0]}/{spot[1]}" if spot[0] else spot[1]
            text = said("whatif.unseen", "the attempt saw no {kind} {where}", kind=kind.kind, where=where)
            raise refused(Cause(f"{path}.name", text, "FieldValueNotFound"))
        return kind, spot

    def _written(self, registry: Registry, kind: Kind, namespace: str, document: Document) -> Document:
        """Return a document as the API would store it."""
        count = sum(map(len, self._changed.values()))
        context = Context(
            SESSION,
            self.past.store.epoch_ms,
            new_uid=lambda: f"what-if-{count}",
            new_suffix=lambda: f"if{count:03}",
            field_validation="Strict",
            dry_run=True,
        )
        stored = registry.apply(cast(Transaction, _Reading(self)), Create(kind.resource, namespace, document), context)
        return copy_object(stored.object)

    # -- the scheduler ------------------------------------------------------------------------------------------

    def _reprofile(
        self, plugin: str, path: str, change: Callable[[ProfileConfiguration], ProfileConfiguration]
    ) -> None:
        profiles = self.configuration.profiles
        index = next((i for i, one in enumerate(profiles) if one.scheduler_name == self._profile), None)
        if index is None:
            raise refused(Cause(path, said("profile.none", "no profile is named {profile!r}", profile=self._profile)))
        if plugin not in profiles[index].names():
            known = ", ".join(sorted(profiles[index].names()))
            raise refused(
                Cause(
                    path,
                    said(
                        "whatif.pluginOff",
                        "{plugin!r} does not run in profile {profile}; these do: {known}",
                        plugin=plugin,
                        profile=self._profile,
                        known=known,
                    ),
                )
            )
        changed = change(profiles[index])
        self._run_with(replace(self.configuration, profiles=(*profiles[:index], changed, *profiles[index + 1 :])), path)

    def _reconfigure(self, spec: Document, path: str) -> None:
        with _below(path):
            self.settings = Settings.of(spec, self.past.store.plugins)
        if self.settings.configuration.extenders:
            raise refused(Cause(path, said("whatif.noExtenders", "a what-if calls nobody: leave the extenders out")))
        if self._profile not in {one.scheduler_name for one in self.settings.configuration.profiles}:
            raise refused(
                Cause(
                    path,
                    said(
                        "whatif.needsProfile",
                        "it needs a profile with schedulerName {profile}, the pod's",
                        profile=self._profile,
                    ),
                )
            )
        self._run_with(self.settings.configuration, path)

    def _run_with(self, configuration: SchedulerConfiguration, path: str) -> None:
        for profile in configuration.profiles:
            try:
                Framework(profile, self.settings.registry()).events_to_register()
            except ProfileError as wrong:
                raise refused(Cause(path, f"Invalid value: {wrong}")) from wrong
        self.configuration = configuration


_OWN: Final = ("uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
               "deletionGracePeriodSeconds")  # fmt: skip
"""Metadata that the server owns."""


class _Reading:
    """What the registry reads of a transaction, over a world; nothing is ever written."""

    def __init__(self, world: World) -> None:
        self._world = world
        store = world.past.store
        self.now_ms = store.ms_at(world.past.revision)
        self.plugins = store.plugins
        self.actor = SESSION
        self.revision = world.past.revision
        self.read = 0

    def get(self, resource: str, namespace: str, name: str) -> Stored | None:
        spot = namespace, name
        return None if spot in self._world.changed(resource) else self._world.kept.of(resource).get(spot)

    def list(self, resource: str, namespace: str | None = None) -> Sequence[Stored]:
        changed = self._world.changed(resource)
        return [
            one
            for spot, one in self._world.kept.of(resource).items()
            if spot not in changed and namespace in (None, "", spot[0])
        ]

    def holds(self, resource: str) -> bool:
        return bool(self.list(resource))


@contextmanager
def _below(path: str) -> Iterator[None]:
    """Say where in the request a refusal lies; whatever it was, the request is wrong."""
    try:
        yield
    except ApiError as wrong:
        if wrong.causes:
            raise refused(*below(wrong, path).causes) from wrong
        raise refused(Cause(path, wrong.said or wrong.message)) from wrong
    except QuantityError as wrong:
        raise refused(Cause(path, str(wrong))) from wrong


def _kind(name: str, path: str) -> Kind:
    kind = _READ.get(name)
    if kind is None:
        known = ", ".join(sorted(_READ))
        raise refused(
            Cause(
                path,
                said(
                    "whatif.notRead", "a scheduler does not read {name!r}; give one of {known}", name=name, known=known
                ),
                "FieldValueNotSupported",
            )
        )
    return kind


def _spot(document: Mapping[str, Any]) -> Spot:
    metadata = document["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def _labels_of(patch: Document) -> Document:
    """Return what a patch may say of metadata: not who the object is."""
    metadata = patch["metadata"]
    if not isinstance(metadata, dict):
        raise refused(Cause("metadata", said("give.object", "give an object"), "FieldValueTypeInvalid"))
    wrong = sorted(metadata.keys() - {"labels", "annotations", "finalizers", "ownerReferences", "deletionTimestamp"})
    if wrong:
        raise refused(
            *(
                Cause(f"metadata.{name}", said("whatif.fixed", "a what-if does not change it; leave it out"))
                for name in wrong
            )
        )
    return metadata


def _node(document: Mapping[str, Any]) -> Node:
    node = view(document, Node)
    amounts(node.status.allocatable)
    return node


def _readable(document: Mapping[str, Any]) -> None:
    _ = PodInfo.of(document).requests


def _overlaid(
    kept: Sequence[_View],
    changed: Mapping[Spot, Document | None],
    spot: Callable[[_View], Spot],
    read: Callable[[Document], _View],
) -> Sequence[_View]:
    if not changed:
        return kept
    found = [one for one in kept if spot(one) not in changed]
    found += [read(document) for document in changed.values() if document is not None]
    return sorted(found, key=spot)


def _asking(pod: Document | None, asked: Mapping[str, str]) -> Document | None:
    """Return the pod with the asked amounts as a whole: its first container has them, the others nothing of these."""
    if pod is None:
        return None
    spec = pod["spec"]
    holders = [*spec["containers"], *(spec.get("initContainers") or [])]
    for holder in [*holders, *([spec] if spec.get("resources") else [])]:
        for part in ("requests", "limits"):
            amounts_held = (holder.get("resources") or {}).get(part) or {}
            for resource in asked:
                amounts_held.pop(resource, None)
    first = spec["containers"][0].setdefault("resources", {})
    first["requests"] = {**(first.get("requests") or {}), **asked}
    return pod


def _weighted(profile: ProfileConfiguration, plugin: str, weight: int) -> ProfileConfiguration:
    own = profile.sets.get("score", PluginSet())
    if not weight:
        # A profile has no weight of 0: what counts nothing does not score.
        kept = tuple(one for one in own.enabled if one[0] != plugin)
        return replace(profile, sets={**profile.sets, "score": PluginSet(kept, own.disabled | {plugin})})
    held = any(name == plugin for name, _ in own.enabled)
    enabled = [(name, weight if name == plugin else old) for name, old in own.enabled]
    changed = PluginSet(tuple(enabled if held else [*enabled, (plugin, weight)]), own.disabled)
    return replace(profile, sets={**profile.sets, "score": changed})


def _without(profile: ProfileConfiguration, plugin: str) -> ProfileConfiguration:
    return replace(
        profile,
        sets={
            point: PluginSet(tuple(one for one in held.enabled if one[0] != plugin), held.disabled)
            for point, held in profile.sets.items()
        },
    )

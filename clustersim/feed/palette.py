"""Which hue an owner, a priority, a namespace or a plugin has: given once by the server, the same for everybody.

A page cannot give them: it would count what it happens to see first. Names that are new in the log get the next number
of their scope, before the rows that bring them are handed out (`Palette.learn`, in a database thread).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from django.db import DatabaseError

from clustersim.store import hues
from clustersim.store.hues import KEY_LENGTH_MAX, SCOPE_LENGTH_MAX, Key
from controllers.log.store import Stored

OWNERS_MAX: Final = 2_000
"""Owners of a session that are given numbers; later ones are drawn by their name alone."""

PLUGIN_ORDER: Final = (
    "TaintToleration",
    "PodTopologySpread",
    "InterPodAffinity",
    "NodeResourcesFit",
    "NodeResourcesBalancedAllocation",
    "ImageLocality",
    "NodeAffinity",
    "VolumeBinding",
)
"""The scoring plugins of today by how often they score together: the first six never share a hue."""

PLUGINS: Final = "plugin"
"""Begins the scopes of plugins: each era counts its own, because they never score beside another era's."""

CONFIGURATIONS: Final = "schedulerconfigs.clustersim.io"

_SERIAL: Final = re.compile(r"-[a-z0-9]{1,6}$")
_logger = logging.getLogger(__name__)


def owner_of(pod: Mapping[str, Any]) -> str:
    """Return the name of the group that a pod is drawn with; `lib/hues.js` says the same (tests/golden/groups.json).

    Its controller; the Deployment above, where the controller is a ReplicaSet named after the pod template's hash.
    Pods that nobody owns share the first part of their name, so that ten clicks on the palette are one hue.
    """
    metadata = pod["metadata"]
    labels = metadata.get("labels") or {}
    for reference in metadata.get("ownerReferences") or ():
        if not reference.get("controller"):
            continue
        kind, name = reference["kind"], reference["name"]
        template = labels.get("pod-template-hash")
        if kind == "ReplicaSet" and template and name.endswith(f"-{template}"):
            kind, name = "Deployment", name[: -len(template) - 1]
        return f"{kind} {metadata.get('namespace', '')}/{name}"
    return f"Pod {_SERIAL.sub('', labels.get('app') or metadata['name'])}"


def priority_of(pod: Mapping[str, Any]) -> str:
    """Return the priority of a pod as a name."""
    return str((pod.get("spec") or {}).get("priority") or 0)


def namespace_of(pod: Mapping[str, Any]) -> str:
    """Return the namespace of a pod."""
    return str(pod["metadata"].get("namespace") or "")


class Palette:
    """The numbers of one session, as this process knows them."""

    def __init__(self, session_id: int) -> None:
        self._session_id = session_id
        self._numbers: dict[Key, int] | None = None

    def learn(self, objects: Iterable[Stored]) -> None:
        """Give numbers to the names among stored objects that have none. Call it in a database thread."""
        if self._numbers is None:
            self._numbers = hues.load(self._session_id)
        wanted = [key for key in self._named(objects) if key not in self._numbers and len(key[1]) <= KEY_LENGTH_MAX]
        if not wanted or len(self._numbers) > OWNERS_MAX:
            return
        try:
            self._numbers = hues.assign(self._session_id, wanted)
        except DatabaseError as error:
            # Colours must not keep the log from anybody: these are drawn by their name until the database takes them.
            _logger.warning("hues of session %d are not kept: %s", self._session_id, error)

    def told(self, resource: str, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is added to the page's form of an object: `{"hues": …}`, or nothing."""
        numbers = self._numbers
        if numbers is None or resource not in ("pods", CONFIGURATIONS):
            return {}
        if resource == CONFIGURATIONS:
            own = _plugin_scope(document)
            told = {name: number for (scope, name), number in numbers.items() if scope.startswith(PLUGINS)}
            return {"hues": told | {name: number for (scope, name), number in numbers.items() if scope == own}}
        named = {"owner": numbers.get(("owner", owner_of(document))),
                 "priority": numbers.get(("priority", priority_of(document))),
                 "namespace": numbers.get(("namespace", namespace_of(document)))}  # fmt: skip
        return {"hues": {scope: number for scope, number in named.items() if number is not None}}

    @staticmethod
    def _named(objects: Iterable[Stored]) -> Iterable[Key]:
        for stored in objects:
            if stored.resource == "pods":
                yield "owner", owner_of(stored.object)
                yield "priority", priority_of(stored.object)
                yield "namespace", namespace_of(stored.object)
            elif stored.resource == CONFIGURATIONS:
                yield from ((_plugin_scope(stored.object), name) for name in _scoring(stored.object))


def _plugin_scope(configuration: Mapping[str, Any]) -> str:
    era = (configuration.get("status") or {}).get("era") or ""
    return f"{PLUGINS} {era}"[:SCOPE_LENGTH_MAX]


def _scoring(configuration: Mapping[str, Any]) -> list[str]:
    """Return the plugins that score in some profile, those that score together often first."""
    profiles = (configuration.get("status") or {}).get("profiles") or ()
    found = [
        plugin["name"] for profile in profiles for plugin in profile["plugins"] if "score" in plugin.get("points", ())
    ]
    known = [name for name in PLUGIN_ORDER if name in found]
    return [*known, *(name for name in found if name not in PLUGIN_ORDER)]

"""Plugins that are off by default: AlwaysPullImages, ExtendedResourceToleration, LimitPodHardAntiAffinityTopology.

Source: plugin/pkg/admission/alwayspullimages, extendedresourcetoleration, antiaffinity.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from controllers.admission.common import on
from controllers.registry.admission import Attempt, Plugin
from scheduler_core.api.document import Document, at, child
from scheduler_core.api.requests import is_extended

_HOSTNAME: Final = "kubernetes.io/hostname"


def _containers(attempt: Attempt) -> Iterator[Document]:
    for part in ("initContainers", "containers", "ephemeralContainers"):
        yield from at(attempt.document, "spec", part) or ()


def _pull(attempt: Attempt) -> str:
    changed = [one["name"] for one in _containers(attempt) if one.get("imagePullPolicy") != "Always"]
    for container in _containers(attempt):
        container["imagePullPolicy"] = "Always"
    return f"imagePullPolicy Always of {', '.join(changed)}" if changed else ""


def _tolerate(attempt: Attempt) -> str:
    spec = child(attempt.document, "spec")
    names = {
        name for one in _containers(attempt) for name in at(one, "resources", "requests") or {} if is_extended(name)
    }
    present = spec.get("tolerations") or []
    added = [{"key": name, "operator": "Exists"} for name in sorted(names)]
    added = [one for one in added if one not in present]
    if added:
        spec["tolerations"] = [*present, *added]
    return ", ".join(f"tolerates {one['key']}" for one in added)


def _limit(attempt: Attempt) -> None:
    for term in (
        at(attempt.document, "spec", "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
        or ()
    ):
        key = term.get("topologyKey")
        if key != _HOSTNAME:
            raise attempt.refuse(
                "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey "
                f"{key} but only key {_HOSTNAME} is allowed"
            )


ALWAYS_PULL_IMAGES: Final = Plugin(
    "AlwaysPullImages",
    "Lets every container's image be pulled at each start.",
    watches=on("pods", verbs=("create", "update")),
    mutate=_pull,
    by_default=False,
)
EXTENDED_RESOURCE_TOLERATION: Final = Plugin(
    "ExtendedResourceToleration",
    "Lets pods that ask for a device tolerate the taint that keeps others off its nodes.",
    watches=on("pods", verbs=("create", "update")),
    mutate=_tolerate,
    by_default=False,
)
LIMIT_HARD_ANTI_AFFINITY: Final = Plugin(
    "LimitPodHardAntiAffinityTopology",
    "Refuses required anti-affinity over more than a node.",
    watches=on("pods"),
    validate=_limit,
    by_default=False,
)

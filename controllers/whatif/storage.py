"""The volumes and claims that would let a pod in which is turned away before any node is looked at.

Source: pkg/scheduler/framework/plugins/volumebinding (what is missing, or unbound, ends PreFilter), v1.34.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from controllers.admission.storage import default_class
from controllers.persistentvolume.documents import is_delayed
from controllers.whatif.wishes import Change, Stuck, Wish
from scheduler_core.api.document import Document
from scheduler_core.api.storage import BIND_COMPLETED, FILESYSTEM, PersistentVolumeClaim
from scheduler_core.volumes.assumed import VOLUMES
from scheduler_core.volumes.match import NO_PROVISIONER
from scheduler_core.volumes.objects import CLASSES, MissingError, StorageObjects, claim_names

SIZE: Final = "1Gi"
"""What a claim that nobody has written asks for: a pod does not say how much it needs."""

MODES: Final = ["ReadWriteOnce"]


def claims_met(stuck: Stuck) -> Iterator[Wish]:
    """Make the claims that are missing, and a volume for each that is bound to none."""
    objects = StorageObjects(stuck.world)
    changes: list[Change] = []
    english: list[str] = []
    chinese: list[str] = []
    for name, ephemeral in claim_names(stuck.pod.pod):
        try:
            claim = objects.claim(stuck.pod.pod.namespace, name)
        except MissingError:
            if ephemeral:
                # A controller makes it, under a name that is the pod's own.
                return
            more, waits = _claim(stuck, name)
            changes += more
            english.append(f"claim {name} of {SIZE}" + ("" if waits else " and a volume for it"))
            chinese.append(f"{SIZE} 的声明 {name}" + ("" if waits else "和供它使用的卷"))
            continue
        given = stuck.world.get(CLASSES, "", claim.class_name)
        if claim.spec.volume_name or _made_later(given):
            continue
        changes += _volume(stuck, claim, is_delayed(given))
        english.append(f"a volume of {_asked(claim)} ({_sort(claim, 'class')}) for claim {name}")
        chinese.append(f"供声明 {name} 使用的 {_asked(claim)} 的卷（{_sort(claim, '类')}）")
    if changes:
        yield Wish(changes, {"en": f"make {'; '.join(english)}", "zh": f"创建{'；'.join(chinese)}"}, ())


def _made_later(storage_class: Mapping[str, Any] | None) -> bool:
    """Return whether a provisioner makes the volumes of a class, once a pod that uses them has a node."""
    return is_delayed(storage_class) and (storage_class or {}).get("provisioner") != NO_PROVISIONER


def _sort(claim: PersistentVolumeClaim, word: str) -> str:
    """Return which volumes a claim takes, in words: its class, where it has one, and its access modes."""
    return ", ".join([*([f"{word} {claim.class_name}"] if claim.class_name else []), *claim.spec.access_modes])


def _claim(stuck: Stuck, name: str) -> tuple[list[Change], bool]:
    """Return what makes a claim that is not there, and whether its class makes the volume later."""
    given = default_class(stuck.world.list(CLASSES))
    waits = _made_later(given)
    class_name = given["metadata"]["name"] if given is not None and waits else ""
    volume = _free_name(stuck, name)
    spec = {"accessModes": MODES, "resources": {"requests": {"storage": SIZE}}, "storageClassName": class_name}
    claim = _document("PersistentVolumeClaim", name, spec)
    claim["metadata"]["namespace"] = stuck.pod.pod.namespace
    if waits:
        return [{"add": claim}], True
    claim["metadata"]["annotations"] = {BIND_COMPLETED: "yes"}
    spec["volumeName"] = volume
    return [_added(volume, SIZE, MODES, class_name), {"add": claim}], False


def _volume(stuck: Stuck, claim: PersistentVolumeClaim, waits: bool) -> list[Change]:
    name = _free_name(stuck, claim.metadata.name)
    made = _added(name, _asked(claim), claim.spec.access_modes, claim.class_name, claim.spec.volume_mode)
    if waits:
        # The scheduler itself binds them, once the pod has its node.
        return [made]
    bound = {"metadata": {"annotations": {BIND_COMPLETED: "yes"}}, "spec": {"volumeName": name}}
    place = {"kind": "PersistentVolumeClaim", "namespace": stuck.pod.pod.namespace, "name": claim.metadata.name}
    return [made, {"patch": {**place, "patch": bound}}]


def _added(name: str, size: str, modes: Iterable[str], class_name: str, mode: str = FILESYSTEM) -> Change:
    spec = {
        "capacity": {"storage": size},
        "accessModes": list(modes),
        "storageClassName": class_name,
        "volumeMode": mode,
        "hostPath": {"path": f"/data/{name}"},
    }
    return {"add": _document("PersistentVolume", name, spec)}


def _document(kind: str, name: str, spec: Mapping[str, Any]) -> Document:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def _asked(claim: PersistentVolumeClaim) -> str:
    return str(claim.requested or SIZE)


def _free_name(stuck: Stuck, claim: str) -> str:
    number = 1
    while stuck.world.get(VOLUMES, "", f"{claim}-{number}") is not None:
        number += 1
    return f"{claim}-{number}"

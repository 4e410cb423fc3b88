"""StatefulSets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.kinds.columns import AGE, NAME, READY, TEMPLATE
from controllers.kinds.core import volumes as storage
from controllers.kinds.core.pod import defaults
from controllers.kinds.core.pod import validation as pod
from controllers.registry import fields
from controllers.registry.kind import Kind
from controllers.registry.subresources import SCALE, STATUS, replicas_of
from scheduler_core.api.document import at, child
from scheduler_core.api.errors import Cause

_CHANGEABLE: Final = frozenset(
    {
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
    }
)
_FIXED: Final = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)
_WORDS: Final = ("Delete", "Retain")


def _prepare(document: dict[str, Any]) -> None:
    document["status"] = {"replicas": 0, "availableReplicas": 0}


def _defaults(document: dict[str, Any]) -> None:
    spec = child(document, "spec")
    spec.setdefault("replicas", 1)
    defaults.drop_zeroes(spec, "minReadySeconds")
    spec.setdefault("podManagementPolicy", "OrderedReady")
    spec.setdefault("revisionHistoryLimit", 10)
    strategy = child(spec, "updateStrategy")
    strategy.setdefault("type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        child(strategy, "rollingUpdate").setdefault("partition", 0)
    retention = child(spec, "persistentVolumeClaimRetentionPolicy")
    retention.setdefault("whenDeleted", "Retain")
    retention.setdefault("whenScaled", "Retain")
    for claim in spec.get("volumeClaimTemplates") or ():
        claim.setdefault("apiVersion", "v1")
        claim.setdefault("kind", "PersistentVolumeClaim")
        child(claim, "spec").setdefault("volumeMode", "Filesystem")
        child(claim, "status").setdefault("phase", "Pending")
    defaults.pod_spec(child(child(spec, "template"), "spec"))


def _validate(document: dict[str, Any]) -> list[Cause]:
    spec = document["spec"]
    causes = fields.replicas("spec.replicas", spec.get("replicas"))
    for key in ("minReadySeconds", "revisionHistoryLimit"):
        causes += fields.non_negative(f"spec.{key}", spec.get(key))
    causes += fields.one_of("spec.podManagementPolicy", spec.get("podManagementPolicy"), ("OrderedReady", "Parallel"))
    kind = at(spec, "updateStrategy", "type")
    causes += fields.one_of("spec.updateStrategy.type", kind, ("OnDelete", "RollingUpdate"), needed=True)
    partition = at(spec, "updateStrategy", "rollingUpdate", "partition")
    causes += fields.non_negative("spec.updateStrategy.rollingUpdate.partition", partition)
    for key, word in (spec.get("persistentVolumeClaimRetentionPolicy") or {}).items():
        causes += fields.one_of(f"spec.persistentVolumeClaimRetentionPolicy.{key}", word, _WORDS)
    for index, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
        causes += storage.claim_spec(f"spec.volumeClaimTemplates[{index}].spec", claim.get("spec") or {})
    causes += pod.selector_and_template(document, "statefulset")
    return causes + pod.template("spec.template", spec.get("template"), "StatefulSet")


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    changed = {key for key in new["spec"].keys() | old["spec"].keys() if new["spec"].get(key) != old["spec"].get(key)}
    return [fields.not_allowed("spec", _FIXED)] if changed - _CHANGEABLE else []


KIND: Final = Kind(
    "StatefulSet",
    "statefulsets",
    group="apps",
    short_names=("sts",),
    categories=("all",),
    subresources=(STATUS, SCALE),
    keeper="statefulset",
    replicas=replicas_of,
    prepare=_prepare,
    defaults=_defaults,
    validate=_validate,
    validate_update=_validate_update,
    generation=True,
    columns=(
        NAME,
        READY,
        AGE,
        *TEMPLATE,
    ),
)

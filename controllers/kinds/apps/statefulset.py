"""StatefulSets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from controllers.kinds import counts
from controllers.kinds.columns import AGE, NAME, READY, TEMPLATE
from controllers.kinds.core import volumes as storage
from controllers.kinds.core.pod import defaults, warnings
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
_WORDS: Final = ("Retain", "Delete")


def _prepare(document: dict[str, Any]) -> None:
    document["status"] = {"replicas": 0, "availableReplicas": 0}


def _defaults(document: dict[str, Any]) -> None:
    spec = child(document, "spec")
    spec.setdefault("replicas", 1)
    defaults.drop_zeroes(spec, "minReadySeconds")
    spec.setdefault("podManagementPolicy", "OrderedReady")
    spec.setdefault("revisionHistoryLimit", 10)
    strategy = child(spec, "updateStrategy")
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
        child(strategy, "rollingUpdate")
    if strategy["type"] == "RollingUpdate" and strategy.get("rollingUpdate") is not None:
        strategy["rollingUpdate"].setdefault("partition", 0)
    spec.setdefault("serviceName", "")
    if spec.get("ordinals") is not None:
        spec["ordinals"].setdefault("start", 0)
    retention = child(spec, "persistentVolumeClaimRetentionPolicy")
    retention.setdefault("whenDeleted", "Retain")
    retention.setdefault("whenScaled", "Retain")
    for claim in spec.get("volumeClaimTemplates") or ():
        claim["apiVersion"], claim["kind"] = "v1", "PersistentVolumeClaim"
        child(claim, "spec").setdefault("volumeMode", "Filesystem")
        defaults.round_requirements(at(claim, "spec", "resources"))
        child(claim, "status").setdefault("phase", "Pending")
    defaults.pod_spec(child(child(spec, "template"), "spec"))


def _strategy(spec: Mapping[str, Any]) -> list[Cause]:
    where, strategy = "spec.updateStrategy", spec.get("updateStrategy") or {}
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    # Upstream shows its own struct here, under the names that Go has for the fields.
    written = "null" if rolling is None else f'{{"Partition":{rolling.get("partition", 0)},"MaxUnavailable":null}}'
    if kind == "RollingUpdate":
        return fields.non_negative(f"{where}.rollingUpdate.partition", (rolling or {}).get("partition"))
    if kind == "OnDelete":
        if rolling is None:
            return []
        why = f"Invalid value: {written}: only allowed for updateStrategy 'RollingUpdate'"
        return [Cause(f"{where}.rollingUpdate", why, "FieldValueInvalid")]
    shown = f'{{"Type":{fields.shown(kind)},"RollingUpdate":{written}}}'
    return [Cause(where, f"Invalid value: {shown}: must be 'RollingUpdate' or 'OnDelete'", "FieldValueInvalid")]


def _validate(document: dict[str, Any]) -> list[Cause]:
    return _rules(document["spec"], new=True)


def _rules(spec: Mapping[str, Any], *, new: bool) -> list[Cause]:
    """Check a spec; of a changed one what may not change any more is left as it is."""
    causes: list[Cause] = []
    if spec.get("podManagementPolicy") not in ("OrderedReady", "Parallel"):
        why = "must be 'OrderedReady' or 'Parallel'"
        causes.append(fields.bad("spec.podManagementPolicy", spec.get("podManagementPolicy"), why))
    causes += _strategy(spec)
    retention = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    for key in ("whenDeleted", "whenScaled"):
        if retention.get(key) not in _WORDS:
            where = f"spec.persistentVolumeClaimRetentionPolicy.{key}"
            causes.append(fields.unsupported(where, retention.get(key), _WORDS, ordered=False))
    claims = spec.get("volumeClaimTemplates") or ()
    for index, claim in enumerate(claims if new else ()):
        causes += storage.claim_spec(f"spec.volumeClaimTemplates[{index}].spec", claim.get("spec") or {})
    causes += fields.non_negative("spec.replicas", spec.get("replicas"))
    causes += fields.non_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
    causes += fields.non_negative("spec.ordinals.start", at(spec, "ordinals", "start"))
    if spec.get("serviceName") and new:
        causes += fields.label_name("spec.serviceName", spec["serviceName"])
    causes += pod.selector({"spec": spec}, "statefulset")
    if not pod.selects(spec):
        return causes + pod.runs_for_ever("spec.template", at(spec, "template", "spec") or {}, "StatefulSet")
    causes += pod.template("spec.template", _with_claims(spec), "StatefulSet")
    # Upstream checks these labels and annotations twice.
    causes += fields.labels("spec.template.labels", at(spec, "template", "metadata", "labels"))
    return causes + pod.annotations_of("spec.template", spec.get("template") or {})


def _with_claims(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the template as pods will have it: a volume for each claim, before its own (volumesToAddForTemplates)."""
    template = spec.get("template") or {}
    of_pods = {**(template.get("spec") or {})}
    names = dict.fromkeys(at(claim, "metadata", "name") or "" for claim in spec.get("volumeClaimTemplates") or ())
    for key in ("hostname", "subdomain"):
        # The controller writes its own there.
        of_pods.pop(key, None)
    if names:
        own = [one for one in of_pods.get("volumes") or () if (one.get("name") or "") not in names]
        of_pods["volumes"] = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names] + own
    return {**template, "spec": of_pods}


def _warns_of_template(document: Mapping[str, Any]) -> list[str]:
    return warnings.of_template("spec.template.", at(document, "spec", "template"))


def _warns(document: Mapping[str, Any], inner: str = "") -> list[str]:
    told: list[str] = []
    for index, claim in enumerate(at(document, "spec", "volumeClaimTemplates") or ()):
        told += storage.claimed(f"spec.volumeClaimTemplates[{index}]{inner}", claim.get("spec") or {})
    if (at(document, "spec", "revisionHistoryLimit") or 0) < 0:
        why = "a negative value retains all historical revisions; a value >= 0 is recommended"
        told.append(f"spec.revisionHistoryLimit: {why}")
    return told


def _warns_changed(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[str]:
    """As upstream, whose path to a claim's sizes is another one in changes."""
    differs = new["metadata"].get("generation") != old["metadata"].get("generation")
    return (_warns_of_template(new) if differs else []) + _warns(new, ".Spec")


def _validate_update(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    causes = _rules(new["spec"], new=False)
    changed = {key for key in new["spec"].keys() | old["spec"].keys() if new["spec"].get(key) != old["spec"].get(key)}
    return [*causes, fields.not_allowed("spec", _FIXED)] if changed - _CHANGEABLE else causes


_COUNTS: Final = counts.rules(
    (
        "replicas",
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
        "observedGeneration",
        "collisionCount",
    ),
    ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"),
    "status.readyReplicas",
)


def _complete_status(document: dict[str, Any], old: Mapping[str, Any], now: str) -> None:
    document["status"].setdefault("availableReplicas", 0)


_STATUS: Final = replace(STATUS, complete=_complete_status, part_rules=_COUNTS)

KIND: Final = Kind(
    "StatefulSet",
    "statefulsets",
    group="apps",
    short_names=("sts",),
    categories=("all",),
    subresources=(_STATUS, SCALE),
    keeper="statefulset",
    replicas=replicas_of,
    prepare=_prepare,
    whole_rules=True,
    metadata_looks="c",
    defaults=_defaults,
    validate=_validate,
    warns_spec=_warns_of_template,
    warns=_warns,
    warns_changed=_warns_changed,
    names="label",
    validate_update=_validate_update,
    ratchets=True,
    generation=True,
    columns=(
        NAME,
        READY,
        AGE,
        *TEMPLATE,
    ),
    page={"spec": {"replicas": True}, "status": {"replicas": True, "readyReplicas": True, "updateRevision": True}},
)

"""What the API server says of a definition by itself: the names that it got, and whether its instances are served.

Source: k8s.io/apiextensions-apiserver/pkg/controller (status/naming_controller.go, establish, apiapproval), v1.34.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from scheduler_core.api.document import Document, condition

APPROVED: Final = "api-approved.kubernetes.io"
_PROTECTED: Final = ("k8s.io", "kubernetes.io")

Told = tuple[str, str, str, str]
"""(type, status, reason, message) of a condition."""


_KUBE_VERSION: Final = re.compile(r"v(\d{1,9})(?:(alpha|beta)(\d{1,9}))?", re.ASCII)


def version_order(version: str) -> tuple[object, ...]:
    """Return what versions are sorted by, the preferred first (apimachinery, CompareKubeAwareVersionStrings)."""
    found = _KUBE_VERSION.fullmatch(version)
    if found is None:
        return (3, 0, 0, version)
    stage = {None: 0, "beta": 1, "alpha": 2}[found[2]]
    return (stage, -int(found[1]), -int(found[3] or 0), version)


def is_protected(group: str) -> bool:
    """Return whether a group is the community's, which asks for its approval."""
    return group in _PROTECTED or group.endswith((".k8s.io", ".kubernetes.io"))


def approval(annotations: Mapping[str, str] | None) -> tuple[str, str]:
    """Return (missing, approved, bypassed or invalid, why) of the annotation about the approval."""
    text = (annotations or {}).get(APPROVED, "")
    if not text:
        why = (
            f'protected groups must have approval annotation "{APPROVED}", '
            "see https://github.com/kubernetes/enhancements/pull/1111"
        )
        return "missing", why
    if text.startswith("unapproved"):
        return "bypassed", f'not approved: "{text}"'
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = urlsplit("")
    if parts.netloc and parts.scheme:
        return "approved", f"approved in {text}"
    why = f'protected groups must have approval annotation "{APPROVED}" with either a URL or a reason starting with '
    return "invalid", f'{why}"unapproved", see https://github.com/kubernetes/enhancements/pull/1111'


def with_condition(status: Mapping[str, Any], told: Told, now: str) -> Document:
    """Return a status with a condition, whose time changes with its status alone."""
    kind, state = told[:2]
    conditions = []
    found = False
    for one in status.get("conditions") or ():
        if one["type"] != kind:
            conditions.append(one)
            continue
        found = True
        since = one.get("lastTransitionTime") if one["status"] == state else now
        conditions.append(_condition(told, since))
    if not found:
        conditions.append(_condition(told, now))
    return {**status, "conditions": conditions}


def _condition(told: Told, since: Any) -> Document:
    kind, state, reason, message = told
    return {"type": kind, "status": state, "lastTransitionTime": since, "reason": reason, "message": message}


def settled(document: Mapping[str, Any], others: Iterable[Mapping[str, Any]], now: str) -> Document | None:
    """Return a definition as the API server leaves it; None: as it is.

    Args:
        document: the definition.
        others: all definitions.
        now: the wire time.
    """
    spec = document["spec"]
    status = dict(document.get("status") or {})
    names = {key: value for key, value in spec["names"].items() if value}
    accepted, told = _names(names, status.get("acceptedNames") or {}, _taken(document, others))
    status["acceptedNames"] = accepted
    status = with_condition(status, told, now)
    known = condition({"status": status}, "Established")
    if told[1] == "True" and (known is None or known["status"] != "True"):
        reason = ("Established", "True", "InitialNamesAccepted", "the initial names have been accepted")
        status = with_condition(status, reason, now)
    elif known is None:
        status = with_condition(status, ("Established", "False", "NotAccepted", "not all names are accepted"), now)
    if is_protected(spec["group"]):
        status = with_condition(status, _approved(document["metadata"].get("annotations")), now)
    return None if status == document.get("status") else {**document, "status": status}


def _approved(annotations: Mapping[str, str] | None) -> Told:
    state, why = approval(annotations)
    status = "True" if state == "approved" else "False"
    reasons = {
        "missing": "MissingAnnotation",
        "invalid": "InvalidAnnotation",
        "bypassed": "UnapprovedAnnotation",
        "approved": "ApprovedAnnotation",
    }
    return ("KubernetesAPIApprovalPolicyConformant", status, reasons[state], why)


def _taken(document: Mapping[str, Any], others: Iterable[Mapping[str, Any]]) -> tuple[frozenset[str], frozenset[str]]:
    """Return (resources, kinds) that other definitions of the group have got."""
    resources: set[str] = set()
    kinds: set[str] = set()
    for other in others:
        if other["spec"]["group"] != document["spec"]["group"]:
            continue
        if other["metadata"]["name"] == document["metadata"]["name"]:
            continue
        got = (other.get("status") or {}).get("acceptedNames") or {}
        resources |= {got.get("plural", ""), got.get("singular", ""), *(got.get("shortNames") or ())}
        kinds |= {got.get("kind", ""), got.get("listKind", "")}
    return frozenset(resources - {""}), frozenset(kinds - {""})


def _names(
    wanted: Mapping[str, Any], got: Mapping[str, Any], taken: tuple[frozenset[str], frozenset[str]]
) -> tuple[Document, Told]:
    """Return (the names that it has now, what is told of them)."""
    resources, kinds = taken
    names: Document = {"plural": "", "kind": "", **got}
    wrong: tuple[str, str] | None = None
    for key, used, reason in (
        ("plural", resources, "PluralConflict"),
        ("singular", resources, "SingularConflict"),
        ("shortNames", resources, "ShortNamesConflict"),
        ("kind", kinds, "KindConflict"),
        ("listKind", kinds, "ListKindConflict"),
    ):
        asked, had = wanted.get(key), got.get(key)
        if asked == had:
            continue
        fresh = [asked] if isinstance(asked, str) else [one for one in asked or () if one not in (had or ())]
        clashes = [f'"{one}" is already in use' for one in fresh if one in used]
        if clashes:
            wrong = (reason, clashes[0] if len(clashes) == 1 else f"[{', '.join(clashes)}]")
        elif asked:
            names[key] = asked
        else:
            names.pop(key, None)
    names.pop("categories", None)
    if wanted.get("categories"):
        names["categories"] = wanted["categories"]
    if wrong is None:
        return names, ("NamesAccepted", "True", "NoConflicts", "no conflicts found")
    return names, ("NamesAccepted", "False", *wrong)

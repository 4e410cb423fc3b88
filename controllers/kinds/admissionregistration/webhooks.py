"""Configurations of admission webhooks: this server calls nobody outside of itself (`controllers.admission.webhooks`).

Source: pkg/apis/admissionregistration (defaults, validation), apiserver/pkg/util/webhook, pkg/printers, v1.34.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.kinds.admissionregistration.matching import GROUP, conditions, rule_causes, word
from controllers.kinds.columns import AGE, NAME
from controllers.registry import fields
from controllers.registry.kind import Column, Kind
from controllers.registry.webhook_clients import client_causes
from scheduler_core.api.errors import Cause
from scheduler_core.expressions.policies import NAMES

TIMEOUT_MAX: Final = 30
"""Seconds that a webhook may take at most."""

_SIDE_EFFECTS: Final = ("None", "NoneOnDryRun")
_VERSIONS: Final = ("v1", "v1beta1")
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "failurePolicy": ("Fail", "Ignore"),
    "matchPolicy": ("Equivalent", "Exact"),
}


def kind(name: str, plural: str, *, mutating: bool) -> Kind:
    """Return the kind of one of the two configurations."""

    def defaults(document: dict[str, Any]) -> None:
        for hook in document.get("webhooks") or ():
            _defaults(hook)
            if mutating:
                hook.setdefault("reinvocationPolicy", "Never")

    def validate(document: dict[str, Any]) -> list[Cause]:
        causes: list[Cause] = []
        seen: set[str] = set()
        for index, hook in enumerate(document.get("webhooks") or ()):
            where = f"webhooks[{index}]"
            causes += _webhook(where, hook, mutating=mutating)
            causes += _review_versions(f"{where}.admissionReviewVersions", hook.get("admissionReviewVersions") or ())
            called = hook.get("name") or ""
            if called in seen:
                causes.append(fields.duplicate(f"{where}.name", called))
            elif called:
                seen.add(called)
        return causes

    return Kind(
        name,
        plural,
        group=GROUP,
        categories=("api-extensions",),
        namespaced=False,
        rank=9,
        generation=True,
        generation_counts_empty=True,
        unconditional=False,
        any_finalizers=True,
        metadata_looks="w",
        asks=False,
        whole_rules=True,
        prepare=_prepare,
        defaults=defaults,
        validate=validate,
        explains=_explained,
        columns=(
            NAME,
            Column(
                "Webhooks",
                "integer",
                "Webhooks indicates the number of webhooks registered in this configuration",
                lambda document, age: len(document.get("webhooks") or ()),
            ),
            AGE,
        ),
    )


def _prepare(document: dict[str, Any]) -> None:
    if not document.get("webhooks"):
        document.pop("webhooks", None)


def _explained(document: Mapping[str, Any]) -> list[str]:
    return [
        f"webhooks[{index}]: this cluster calls nobody outside of itself: what it asks to be called for "
        + ("passes" if hook.get("failurePolicy") == "Ignore" else "is refused (failurePolicy Fail)")
        for index, hook in enumerate(document.get("webhooks") or ())
    ]


def _defaults(hook: dict[str, Any]) -> None:
    hook.setdefault("failurePolicy", "Fail")
    hook.setdefault("matchPolicy", "Equivalent")
    hook.setdefault("namespaceSelector", {})
    hook.setdefault("objectSelector", {})
    hook.setdefault("timeoutSeconds", 10)
    for rule in hook.get("rules") or ():
        rule.setdefault("scope", "*")
    service = (hook.get("clientConfig") or {}).get("service")
    if service is not None:
        service.setdefault("port", 443)


def _webhook(where: str, hook: Mapping[str, Any], *, mutating: bool) -> list[Cause]:
    causes = _qualified(f"{where}.name", hook.get("name") or "")
    for index, rule in enumerate(hook.get("rules") or ()):
        causes += rule_causes(f"{where}.rules[{index}]", rule)
    for key, allowed in _WORDS.items():
        causes += word(f"{where}.{key}", hook[key], allowed)
    effects = hook.get("sideEffects")
    if effects is None:
        causes.append(fields.required(f"{where}.sideEffects", f"must specify one of {', '.join(_SIDE_EFFECTS)}"))
    else:
        causes += word(f"{where}.sideEffects", effects, _SIDE_EFFECTS)
    seconds = hook["timeoutSeconds"]
    if not 1 <= seconds <= TIMEOUT_MAX:
        why = f"the timeout value must be between 1 and {TIMEOUT_MAX} seconds"
        causes.append(fields.bad(f"{where}.timeoutSeconds", seconds, why))
    for key in ("namespaceSelector", "objectSelector"):
        causes += fields.label_selector(f"{where}.{key}", hook[key])
    if mutating:
        causes += word(f"{where}.reinvocationPolicy", hook["reinvocationPolicy"], ("IfNeeded", "Never"))
    causes += client_causes(f"{where}.clientConfig", hook.get("clientConfig") or {})
    return causes + conditions(f"{where}.matchConditions", hook.get("matchConditions") or (), NAMES)


def _qualified(where: str, name: str) -> list[Cause]:
    if not name:
        return [fields.required(where)]
    if causes := fields.subdomain(where, name):
        return causes
    if name.count(".") < 2:
        return [fields.bad(where, name, "should be a domain with at least three segments separated by dots")]
    return []


def _review_versions(where: str, versions: Sequence[str]) -> list[Cause]:
    if not versions:
        return [fields.required(where, f"must specify one of {', '.join(_VERSIONS)}")]
    causes = []
    for index, version in enumerate(versions):
        if version in versions[:index]:
            causes.append(fields.bad(f"{where}[{index}]", version, "duplicate version"))
            continue
        causes += fields.service_name(f"{where}[{index}]", version)
    if not set(versions) & set(_VERSIONS):
        why = f"must include at least one of {', '.join(_VERSIONS)}"
        causes.append(fields.bad(where, list(versions), why))
    return causes

"""MutatingAdmissionWebhook and ValidatingAdmissionWebhook: nobody outside is called, and a call fails as it would.

Source: k8s.io/apiserver/pkg/admission/plugin/webhook (mutating, validating, errors), v1.34: what a failed call means
follows from the webhook's failurePolicy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from controllers.admission.evaluating import Evaluation
from controllers.admission.matching import GROUP, match, watches
from controllers.registry.admission import Attempt, Plugin
from scheduler_core.api.errors import ApiError, Cause
from scheduler_core.expressions.language import Failed

_MUTATING: Final = f"mutatingwebhookconfigurations.{GROUP}"
_VALIDATING: Final = f"validatingwebhookconfigurations.{GROUP}"
_WHY: Final = "this cluster is simulated and calls nobody outside of itself"


def _asking(resource: str, kind: str) -> Callable[[Attempt], str]:
    def ask(attempt: Attempt) -> str:
        configurations = attempt.lookup.list(resource)
        if not configurations:
            return ""
        evaluation, notes = Evaluation(attempt), []
        for configuration in configurations:
            for index, hook in enumerate(configuration.get("webhooks") or ()):
                if _called(attempt, evaluation, hook):
                    notes.append(_failed(hook, kind, index))
        return "; ".join(notes)

    return ask


def _called(attempt: Attempt, evaluation: Evaluation, hook: Mapping[str, Any]) -> bool:
    kind = match(attempt, {**hook, "rules": hook.get("rules") or ()})
    if kind is None:
        return False
    try:
        return evaluation.conditions(hook, kind)
    except Failed as wrong:
        raise attempt.refuse(str(wrong)) from wrong


def _failed(hook: Mapping[str, Any], kind: str, index: int) -> str:
    """Return the note of a call that failed and may.

    Raises:
        ApiError: 500, it may not.
    """
    why = f'failed calling webhook "{hook["name"]}": failed to call webhook: Post "{_address(hook)}": {_WHY}'
    if hook.get("failurePolicy") == "Ignore":
        return f"failed-open.{kind}.webhook.admission.k8s.io/round_0_index_{index}: {why}"
    raise ApiError(500, "InternalError", f"Internal error occurred: {why}", causes=[Cause("", why, "")])


def _address(hook: Mapping[str, Any]) -> str:
    client = hook.get("clientConfig") or {}
    service = client.get("service")
    if service is None:
        address = str(client.get("url"))
    else:
        path = str(service.get("path") or "/").lstrip("/")
        address = f"https://{service['name']}.{service['namespace']}.svc:{service.get('port', 443)}/{path}"
    return f"{address}?timeout={hook.get('timeoutSeconds', 10)}s"


MUTATING: Final = Plugin(
    "MutatingAdmissionWebhook",
    "Fails the call of a webhook that may change a write, as its failurePolicy says: nobody outside is called.",
    watches=watches,
    mutate=_asking(_MUTATING, "mutating"),
    rules=_MUTATING,
)
VALIDATING: Final = Plugin(
    "ValidatingAdmissionWebhook",
    "Fails the call of a webhook that may refuse a write, as its failurePolicy says: nobody outside is called.",
    watches=watches,
    validate=_asking(_VALIDATING, "validating"),
    rules=_VALIDATING,
)

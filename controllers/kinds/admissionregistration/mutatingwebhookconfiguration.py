"""MutatingWebhookConfigurations: who outside of the server may change what is written. See `webhooks`."""

from __future__ import annotations

from typing import Final

from controllers.kinds.admissionregistration import webhooks
from controllers.registry.kind import Kind

KIND: Final[Kind] = webhooks.kind("MutatingWebhookConfiguration", "mutatingwebhookconfigurations", mutating=True)

"""The subresource `proxy`: a way through the API server to what listens behind an object. Here nothing does."""

from __future__ import annotations

from controllers.registry.kind import Subresource


def proxy(options: str) -> Subresource:
    """Return it; `options` is the kind that upstream says it takes."""
    verbs = ("create", "delete", "get", "patch", "update")
    return Subresource("proxy", verbs=verbs, body=("", "v1", options), simulated=True, below=True)

"""The keys of a session, as its controllers use them."""

from __future__ import annotations

from clustersim.classroom import accounttokens, clientcertificates
from controllers.kit.manager import Keys


def keys_of(session_id: int) -> Keys:
    """Return what signs a session's tokens and certificates: those of another session, a fork too, are others."""
    return Keys(accounttokens.signer(session_id), clientcertificates.issuer(session_id))

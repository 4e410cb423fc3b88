"""Issues certificates of clients, as whom the API server knows who asked: CertificateSigningRequests that are approved.

Source: pkg/controller/certificates/signer/signer.go, pkg/controller/certificates/authority/policies.go, v1.34. The
signers of kubelets sign nothing: simulated ones open no connection.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from controllers.admission.certificates import CLIENT_SIGNER
from controllers.kit.manager import Asked, Keys, Reconcile, Setup, Work, key_of, split_key
from controllers.log.operations import Update
from controllers.log.stamps import wire_time
from scheduler_core.api.document import Document, condition

REQUESTS: Final = "certificatesigningrequests.certificates.k8s.io"
SECONDS_MAX: Final = 365 * 24 * 3600
"""How long a certificate is good at most: upstream's --cluster-signing-duration."""

SECONDS_MIN: Final = 600
BACKDATED_SECONDS: Final = 300
"""By how much a certificate is good before it is issued: clocks differ."""

SHORT_SECONDS: Final = 8 * 3600
"""A certificate that is good for less ends as long after it was issued as was asked for."""

_AUTHENTICATES: Final = "client auth"
_MAY: Final = ("digital signature", "key encipherment", _AUTHENTICATES)


class CertificateSigning:
    """Reconciles CertificateSigningRequests, by key."""

    NAME: ClassVar[str] = "certificatesigningrequest-signing"
    RESOURCES: ClassVar[tuple[str, ...]] = (REQUESTS,)

    def __init__(self, setup: Setup) -> None:
        """Listen to requests."""
        self._requests = setup.informers[REQUESTS]
        self._queue = setup.queue
        self._keys = setup.keys
        self._requests.add_handler(self._changed)

    def _changed(self, old: Document | None, new: Document | None) -> None:
        if new is not None and new["spec"].get("signerName") == CLIENT_SIGNER:
            self._queue.add(key_of(new))

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Issue one certificate, or say why not."""
        request = self._requests.get(*split_key(key))
        if request is None:
            return
        status: Mapping[str, Any] = request.get("status") or {}
        waits = _waits(request)
        work.tell(
            waits or "approved: a certificate is issued",
            desired={"certificate": not waits or bool(status.get("certificate"))},
            actual={"certificate": bool(status.get("certificate"))},
        )
        if waits or self._keys is None:
            return
        told = self._settled(request, self._keys, work.unix_ms)
        metadata = {field: request["metadata"][field] for field in ("uid", "resourceVersion")}
        body = {"metadata": metadata, "spec": request["spec"], "status": told}
        (result,) = yield [Update(REQUESTS, "", request["metadata"]["name"], body, "status")]
        if result.error is not None and result.error.code != 404:
            raise result.error

    def _settled(self, request: Document, keys: Keys, unix_ms: int) -> Document:
        """Return the status with a certificate, or with why there is none."""
        status: Mapping[str, Any] = request.get("status") or {}
        wrong = _wrong(request["spec"].get("usages") or ())
        if not wrong:
            try:
                issued = keys.issue(_asked(request, unix_ms // 1000))
                return {**status, "certificate": b64encode(issued.encode()).decode()}
            except ValueError as error:
                wrong = str(error)
        failed = {
            "type": "Failed",
            "status": "True",
            "reason": "SignerValidationFailure",
            "message": wrong,
            "lastUpdateTime": wire_time(unix_ms),
        }
        return {**status, "conditions": [*(status.get("conditions") or ()), failed]}


def _waits(request: Document) -> str:
    """Return why there is nothing to do; empty: a certificate is due."""
    for kind in ("Denied", "Failed"):
        found = condition(request, kind)
        if found is not None and found.get("status") == "True":
            return kind.lower()
    approved = condition(request, "Approved")
    if approved is None or approved.get("status") != "True":
        return "not approved yet"
    return "issued" if (request.get("status") or {}).get("certificate") else ""


def _wrong(usages: Any) -> str:
    """Return what is wrong with what a client's certificate is to be used for (validAPIServerClientUsages)."""
    for usage in usages:
        if usage not in _MAY:
            return f"invalid usage for client certificate: {usage}"
    return "" if _AUTHENTICATES in usages else f"missing required usage for client certificate: {_AUTHENTICATES}"


def _asked(request: Document, now: int) -> Asked:
    """Return what is asked for, by Unix seconds of now."""
    spec = request["spec"]
    seconds = spec.get("expirationSeconds")
    lasts = SECONDS_MAX if seconds is None else min(max(seconds, SECONDS_MIN), SECONDS_MAX)
    ends = now + lasts - (0 if lasts < SHORT_SECONDS else BACKDATED_SECONDS)
    uid = request["metadata"]["uid"]
    return Asked(spec["request"], tuple(spec["usages"]), uid, now - BACKDATED_SECONDS, ends)

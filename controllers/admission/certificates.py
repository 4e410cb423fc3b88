"""CertificateSubjectRestriction: nobody becomes one who may everything by a certificate.

Source: plugin/pkg/admission/certificates/subjectrestriction.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from typing import Final

from cryptography import x509
from cryptography.x509.oid import NameOID

from controllers.admission.common import on
from controllers.registry.admission import Attempt, Plugin

CLIENT_SIGNER: Final = "kubernetes.io/kube-apiserver-client"
"""Who issues certificates with which clients are known to the API server."""

_MASTERS: Final = "system:masters"


def _validate(attempt: Attempt) -> None:
    spec = attempt.document.get("spec") or {}
    if spec.get("signerName") != CLIENT_SIGNER:
        return
    try:
        subject = x509.load_pem_x509_csr(b64decode(spec.get("request") or "")).subject
        groups = [one.value for one in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
    except (ValueError, TypeError, binascii.Error) as error:
        raise attempt.refuse("failed to parse CSR: PEM block type must be CERTIFICATE REQUEST") from error
    if _MASTERS in groups:
        raise attempt.refuse(f"use of {CLIENT_SIGNER} signer with {_MASTERS} group is not allowed")


SUBJECT_RESTRICTION: Final = Plugin(
    "CertificateSubjectRestriction",
    "Refuses requests for certificates of clients in the group that may everything.",
    watches=on("certificatesigningrequests.certificates.k8s.io"),
    validate=_validate,
)

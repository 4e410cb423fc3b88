"""Certificates of clients: issued with a key of the session's own, and known again on the API's TLS port.

Who shows one is its common name, in the groups that it names as organizations. Source:
k8s.io/apiserver/pkg/authentication/request/x509, v1.34.
"""

from __future__ import annotations

import hashlib
from base64 import b64decode
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from django.conf import settings

from clustersim.classroom.accounttokens import account_principal
from clustersim.classroom.auth import Principal
from clustersim.store import SqlStore
from controllers.kit.manager import Asked

AUTHORITY: Final = x509.Name(
    [
        x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Clustersim"),
        x509.NameAttribute(NameOID.COMMON_NAME, "Clustersim clients"),
    ]
)
"""Who issues: of this name every session has a key of its own. A server that asks for certificates names it."""

_ORDER: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""Of the curve P-256: keys are numbers below it."""

_PEM_BYTES_MAX: Final = 16_384


@lru_cache(256)
def _key(session_id: int) -> ec.EllipticCurvePrivateKey:
    drawn = hashlib.sha512(f"client-certificates:{session_id}:{settings.SECRET_KEY}".encode()).digest()
    return ec.derive_private_key(1 + int.from_bytes(drawn) % (_ORDER - 1), ec.SECP256R1())


def bearer_of_the_name() -> x509.Certificate:
    """Return a certificate of that name alone, with a key of its own: it signs and proves nothing."""
    key, begin = ec.generate_private_key(ec.SECP256R1()), datetime(2025, 1, 1, tzinfo=UTC)
    builder = x509.CertificateBuilder().subject_name(AUTHORITY).issuer_name(AUTHORITY).public_key(key.public_key())
    dated = builder.serial_number(1).not_valid_before(begin).not_valid_after(begin.replace(year=2100))
    return dated.sign(key, hashes.SHA256())


def issuer(session_id: int) -> Callable[[Asked], str]:
    """Return what issues certificates in a session: the same one for the same request."""

    def issue(asked: Asked) -> str:
        try:
            request = x509.load_pem_x509_csr(b64decode(asked.request))
            subject, public = request.subject, request.public_key()
        except (TypeError, UnsupportedAlgorithm) as error:
            raise ValueError(f"the request cannot be read: {error}") from error
        serial = int.from_bytes(hashlib.sha256(asked.serial.encode()).digest()[:16]) or 1
        usages = [ExtendedKeyUsageOID.CLIENT_AUTH]
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(AUTHORITY)
            .public_key(public)
            .serial_number(serial)
            .not_valid_before(datetime.fromtimestamp(asked.not_before, UTC))
            .not_valid_after(datetime.fromtimestamp(asked.not_after, UTC))
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(asked.usages), critical=True)
            .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        )
        made = builder.sign(_key(session_id), hashes.SHA256(), ecdsa_deterministic=True)
        return made.public_bytes(serialization.Encoding.PEM).decode()

    return issue


def _usage(usages: tuple[str, ...]) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature="digital signature" in usages,
        content_commitment=False,
        key_encipherment="key encipherment" in usages,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def principal_of(code: str, store: SqlStore, pem: str) -> Principal | None:
    """Return as whom the session knows the holder of a certificate; None: it has not issued it, or it is over."""
    if len(pem) > _PEM_BYTES_MAX:
        return None
    try:
        shown = x509.load_pem_x509_certificate(pem.encode())
        _key(store.session_id).public_key().verify(
            shown.signature, shown.tbs_certificate_bytes, ec.ECDSA(hashes.SHA256())
        )
    except (ValueError, TypeError, InvalidSignature):
        return None
    now = datetime.fromtimestamp((store.epoch_ms + store.session_ms()) / 1000, UTC)
    if shown.issuer != AUTHORITY or not shown.not_valid_before_utc <= now <= shown.not_valid_after_utc:
        return None
    name = _named(shown, NameOID.COMMON_NAME)
    if not name or not name[0]:
        return None
    groups = list(dict.fromkeys([*_named(shown, NameOID.ORGANIZATION_NAME), "system:authenticated"]))
    digest = shown.fingerprint(hashes.SHA256()).hex()
    extra = {"authentication.kubernetes.io/credential-id": [f"X509SHA256={digest}"]}
    return account_principal(code, store.session_id, {"username": name[0], "groups": groups, "extra": extra})


def _named(shown: x509.Certificate, oid: x509.ObjectIdentifier) -> list[str]:
    return [str(one.value) for one in shown.subject.get_attributes_for_oid(oid)]

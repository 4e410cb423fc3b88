"""Requests for certificates, as clients make them."""

from __future__ import annotations

from base64 import b64encode

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def asking(name: str = "tester-csr", *groups: str, key: ec.EllipticCurvePrivateKey | None = None) -> str:
    """Return a request for a certificate of a name in groups, as base64 of its PEM."""
    named = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    subject = x509.Name([*named, *([x509.NameAttribute(NameOID.COMMON_NAME, name)] if name else [])])
    builder = x509.CertificateSigningRequestBuilder().subject_name(subject)
    made = builder.sign(key or ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    return b64encode(made.public_bytes(serialization.Encoding.PEM)).decode()

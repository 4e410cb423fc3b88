"""An own certificate authority, kept in the data folder, and a leaf made anew at each start.

kubectl sends no token over plain HTTP, so the API also listens with TLS. The kubeconfig carries the authority and asks
for the name `clustersim.internal`, which every leaf has; so an address that changes between two starts breaks nothing.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from django.utils import timezone

SERVER_NAME: Final = "clustersim.internal"
"""The name on every leaf; the kubeconfig sets it as tls-server-name."""

AUTHORITY_DAYS: Final = 3650
LEAF_DAYS: Final = 365
"""A leaf lives longer than any run of one process; clients refuse more than 825 days."""


def authority_path(data: Path) -> Path:
    """Return where the authority's certificate (PEM) lies: what a kubeconfig embeds."""
    return data / "tls" / "authority.pem"


def ensure(data: Path, names: Sequence[str]) -> tuple[Path, Path]:
    """Return (key, certificate) files of a fresh leaf for `names` and this machine's addresses.

    The authority is made at the first call and stays; private keys have mode 0600.
    """
    folder = data / "tls"
    folder.mkdir(mode=0o700, exist_ok=True)
    key_file, certificate_file = folder / "authority.key", authority_path(data)
    if not (key_file.exists() and certificate_file.exists()):
        _make_authority(key_file, certificate_file)
    authority_key = serialization.load_pem_private_key(key_file.read_bytes(), password=None)
    if not isinstance(authority_key, ec.EllipticCurvePrivateKey):
        raise ValueError(f"{key_file} holds no elliptic-curve key: remove the folder {folder} to make a new authority")
    authority = x509.load_pem_x509_certificate(certificate_file.read_bytes())
    return _make_leaf(folder, authority_key, authority, names)


def local_addresses() -> list[str]:
    """Return this machine's addresses, the one that reaches the network first, loopback last."""
    found: list[str] = []
    # Connecting a datagram socket sends nothing; it asks the kernel which source address the route has.
    for family, target in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((target, 9))
                found.append(probe.getsockname()[0])
        except OSError:
            continue
    with contextlib.suppress(OSError):
        found += [str(info[4][0]).partition("%")[0] for info in socket.getaddrinfo(socket.gethostname(), None)]
    found += ["127.0.0.1", "::1"]
    return list(dict.fromkeys(found))


def lan_address() -> str | None:
    """Return the IPv4 address that others on the network reach this machine at, if there is one."""
    for address in local_addresses():
        parsed = ipaddress.ip_address(address)
        if parsed.version == 4 and not parsed.is_loopback and not parsed.is_link_local:
            return address
    return None


def _name(common: str) -> x509.Name:
    return x509.Name(
        [x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Clustersim"), x509.NameAttribute(NameOID.COMMON_NAME, common)]
    )


def _write_private(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    text = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(text)


def _make_authority(key_file: Path, certificate_file: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name("Clustersim classroom authority")
    now = timezone.now()
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=AUTHORITY_DAYS))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(_usage(sign_certificates=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    _write_private(key_file, key)
    certificate_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))


def _usage(*, sign_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=sign_certificates,
        crl_sign=sign_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _make_leaf(
    folder: Path, authority_key: ec.EllipticCurvePrivateKey, authority: x509.Certificate, names: Sequence[str]
) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    now = timezone.now()
    alternatives: list[x509.GeneralName] = [x509.DNSName(name) for name in dict.fromkeys([SERVER_NAME, *names])]
    alternatives += [x509.IPAddress(ipaddress.ip_address(address)) for address in local_addresses()]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(_name(SERVER_NAME))
        .issuer_name(authority.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=LEAF_DAYS))
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(sign_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    key_file, certificate_file = folder / "server.key", folder / "server.pem"
    _write_private(key_file, key)
    certificate_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return key_file, certificate_file

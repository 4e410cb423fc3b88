"""CertificateSigningRequests: who asks, what approves, what may be written where; ServiceCIDRs."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.registry.registry_tool import Cluster, refusal

CSR = "certificatesigningrequests.certificates.k8s.io"
GOLDEN = Path(__file__).parents[1] / "golden" / "kinds" / "certificatesigningrequests.json"
SPEC: dict[str, Any] = json.loads(GOLDEN.read_text())["sent"]["spec"]
APPROVED = {"type": "Approved", "status": "True", "reason": "E2E"}


def asked() -> tuple[Cluster, dict[str, Any]]:
    cluster = Cluster()
    return cluster, cluster.create(CSR, "web", {"spec": {**SPEC, "username": "somebody", "uid": "1"}})


def certificate() -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "e2e.example.com")])
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, datetime(2026, 1, 1, tzinfo=UTC),
                                      datetime(2027, 1, 1, tzinfo=UTC))  # fmt: skip
    made = builder.sign(key, hashes.SHA256())
    return b64encode(made.public_bytes(serialization.Encoding.PEM)).decode()


def test_a_request_tells_who_asks_and_keeps_what_was_asked() -> None:
    cluster, made = asked()
    assert made["spec"]["username"] == "test"
    assert made["spec"]["groups"] == ["system:authenticated"]
    assert "uid" not in made["spec"]
    assert made["status"] == {}
    changed = cluster.patch(
        CSR, "web", {"spec": {"signerName": "other.example/a"}, "status": {"conditions": [APPROVED]}}
    )
    assert (changed["spec"], changed["status"]) == (made["spec"], {})


@pytest.mark.parametrize(
    ("changes", "field", "why"),
    [
        ({"request": b64encode(b"no").decode()}, "request", "PEM block type must be CERTIFICATE REQUEST"),
        ({"usages": []}, "usages", "Required value"),
        ({"usages": ["flying"]}, "usages[0]", "Unsupported value"),
        ({"usages": ["any", "any"]}, "usages[1]", "Duplicate value"),
        ({"signerName": ""}, "signerName", "Required value"),
        ({"signerName": "web"}, "signerName", "must be a fully qualified domain and path of the form"),
        ({"signerName": "web/a"}, "signerName", "should be a domain with at least two segments separated by dots"),
        (
            {"signerName": "A.b/c"},
            "signerName",
            'Invalid value: "A.b": validating label "A": a lowercase RFC 1123 label',
        ),
        (
            {"signerName": "a.b/"},
            "signerName",
            'Invalid value: "": validating label "": a lowercase RFC 1123 subdomain',
        ),
        ({"signerName": "a.b/c.D"}, "signerName", 'Invalid value: "c.D": validating label "D": a lowercase'),
        ({"signerName": "kubernetes.io/legacy-unknown"}, "signerName", "the legacy signerName is not allowed"),
        ({"expirationSeconds": 599}, "expirationSeconds", "may not specify a duration less than 600 seconds"),
    ],
)
def test_what_a_request_may_not_say(changes: dict[str, Any], field: str, why: str) -> None:
    (cause,) = refusal(Cluster().create, CSR, "web", {"spec": {**SPEC, **changes}}).causes
    assert cause.field == f"spec.{field}"
    assert why in cause.message


def test_a_request_whose_signature_is_not_its_own_is_refused() -> None:
    text = SPEC["request"]
    blocks = x509.load_pem_x509_csr(b64decode(text))
    der = bytearray(blocks.public_bytes(serialization.Encoding.DER))
    der[-1] ^= 1
    pem = b"-----BEGIN CERTIFICATE REQUEST-----\n" + b64encode(bytes(der)) + b"\n-----END CERTIFICATE REQUEST-----\n"
    refused = refusal(Cluster().create, CSR, "web", {"spec": {**SPEC, "request": b64encode(pem).decode()}})
    assert [cause.field for cause in refused.causes] == ["spec.request"]


def test_approval_writes_conditions_alone_and_status_does_not_approve() -> None:
    cluster, _ = asked()
    denied = refusal(cluster.patch, CSR, "web", {"status": {"conditions": [APPROVED]}}, subresource="status")
    assert 'updates may not add a condition of type "Approved"' in denied.message
    approved = cluster.patch(
        CSR,
        "web",
        {"metadata": {"annotations": {"a": "b"}}, "status": {"conditions": [APPROVED], "certificate": certificate()}},
        subresource="approval",
    )
    (condition,) = approved["status"]["conditions"]
    assert {key: condition[key] for key in APPROVED} == APPROVED
    assert condition["lastUpdateTime"] == condition["lastTransitionTime"]
    assert "certificate" not in approved["status"]
    assert approved["metadata"]["annotations"] == {"a": "b"}
    both = [APPROVED, {"type": "Denied", "status": "True"}]
    refused = refusal(cluster.patch, CSR, "web", {"status": {"conditions": both}}, subresource="approval")
    assert "Approved and Denied conditions are mutually exclusive" in refused.message
    removed = refusal(cluster.patch, CSR, "web", {"status": {"conditions": []}}, subresource="approval")
    assert 'updates may not remove a condition of type "Approved"' in removed.message


def test_a_certificate_is_written_once_through_the_status() -> None:
    cluster, _ = asked()
    wrong = {"status": {"certificate": b64encode(b"no").decode()}}
    refused = refusal(cluster.patch, CSR, "web", wrong, subresource="status")
    assert "must contain at least one CERTIFICATE PEM block" in refused.message
    issued = cluster.patch(CSR, "web", {"status": {"certificate": certificate()}}, subresource="status")
    assert issued["status"]["certificate"]
    again = refusal(cluster.patch, CSR, "web", {"status": {"certificate": certificate()}}, subresource="status")
    assert "updates may not modify existing certificate content" in again.message


CIDRS = "servicecidrs.networking.k8s.io"


@pytest.mark.parametrize(
    ("cidrs", "field", "why"),
    [
        ([], "spec.cidrs", "at least one CIDR required"),
        (["10.1.0.0/24", "10.2.0.0/24"], "spec.cidrs", "no more than one IP for each IP family"),
        (["10.1.0.0/24", "fd00::/64", "fd01::/64"], "spec.cidrs", "may only hold up to 2 values"),
        (["web"], "spec.cidrs[0]", "Invalid value"),
    ],
)
def test_what_a_range_of_services_may_not_be(cidrs: list[str], field: str, why: str) -> None:
    (cause,) = refusal(Cluster().create, CIDRS, "more", {"spec": {"cidrs": cidrs}}).causes
    assert cause.field == field
    assert why in cause.message


def test_a_range_gets_a_second_family_and_nothing_else_of_it_changes() -> None:
    cluster = Cluster()
    cluster.create(CIDRS, "more", {"spec": {"cidrs": ["10.1.0.0/24"]}})
    refused = refusal(cluster.patch, CIDRS, "more", {"spec": {"cidrs": ["10.2.0.0/24"]}})
    assert "field is immutable" in refused.message
    both = ["10.1.0.0/24", "fd00::/64"]
    assert cluster.patch(CIDRS, "more", {"spec": {"cidrs": both}})["spec"]["cidrs"] == both
    assert "field is immutable" in refusal(cluster.patch, CIDRS, "more", {"spec": {"cidrs": both[:1]}}).message

"""CertificateSigningRequests: somebody asks for a certificate. Approved and denied by people; `controllers.csrsigning`
signs those of clients.

Source: pkg/apis/certificates (validation, helpers), pkg/registry/certificates/certificates/strategy.go, pkg/printers,
v1.34.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm

from controllers.kinds.columns import AGE, NAME, NONE
from controllers.log.stamps import human_duration
from controllers.registry import fields
from controllers.registry.gotext import quoted
from controllers.registry.kind import Column, Kind, Lookup, Subresource
from scheduler_core.api import dns_names
from scheduler_core.api.dns_names import SUBDOMAIN_LENGTH_MAX
from scheduler_core.api.document import at
from scheduler_core.api.errors import Cause

EXPIRATION_MIN: Final = 600
"""Seconds for which a certificate may be asked at least."""

_SIGNER_LETTERS_MAX: Final = 571
"""Letters of a signer's name: a domain, and a path with room for a label and a domain."""
_CONDITIONS: Final = "status.conditions"
_LEGACY: Final = "kubernetes.io/legacy-unknown"
_SETTLED: Final = ("Approved", "Denied")
_TRUE_ALONE: Final = (*_SETTLED, "Failed")
_STATUSES: Final = ("False", "True", "Unknown")
_EXCLUSIVE: Final = "Approved and Denied conditions are mutually exclusive"
_BLOCK: Final = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----\s+(.*?)-----END \1-----", re.DOTALL)
_USAGES: Final = (
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
)


def _blocks(text: str) -> list[tuple[str, bytes]]:
    """Return (type, content) of the PEM blocks in a base64 text."""
    try:
        data = b64decode(text, validate=True)
        return [(kind.decode(), b64decode(b"".join(body.split()))) for kind, body in _BLOCK.findall(data)]
    except (binascii.Error, ValueError):
        return []


def _request(text: str) -> str:
    """Return what is wrong with a request; empty: nothing."""
    blocks = _blocks(text)
    if not blocks or blocks[0][0] != "CERTIFICATE REQUEST":
        return "PEM block type must be CERTIFICATE REQUEST"
    try:
        if not x509.load_der_x509_csr(blocks[0][1]).is_signature_valid:
            return "x509: signature verification error"
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return "asn1: structure error: tags don't match"
    return ""


def _certificate(text: str) -> str:
    """Return what is wrong with certificates; empty: nothing."""
    if not text:
        return ""
    blocks = _blocks(text)
    if not blocks:
        return "must contain at least one CERTIFICATE PEM block"
    for kind, body in blocks:
        if kind != "CERTIFICATE":
            return f'only CERTIFICATE PEM blocks are allowed, found "{kind}"'
        try:
            x509.load_der_x509_certificate(body)
        except (ValueError, TypeError):
            return "x509: malformed certificate"
    return ""


def _signer(where: str, name: str) -> list[Cause]:
    """Check a signer's name, `<domain>/<path>` (ValidateSignerName)."""
    if not name:
        return [fields.required(where)]
    parts = name.split("/")
    if len(parts) != 2:
        return [
            fields.bad(where, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")
        ]
    domain, path = parts
    causes = [fields.too_long(where, SUBDOMAIN_LENGTH_MAX)] if len(domain) > SUBDOMAIN_LENGTH_MAX else []
    causes += _first_wrong(where, domain, dns_names.label_errors)
    if "." not in domain:
        causes.append(fields.bad(where, domain, "should be a domain with at least two segments separated by dots"))
    causes += _first_wrong(where, path, dns_names.subdomain_errors)
    return causes + ([fields.too_long(where, _SIGNER_LETTERS_MAX)] if len(name) > _SIGNER_LETTERS_MAX else [])


def _first_wrong(where: str, text: str, errors_of: Callable[[str], Iterable[str]]) -> list[Cause]:
    """Return what is wrong with the first part of a dotted text that is no name."""
    for part in text.split("."):
        if wrong := [fields.bad(where, text, f"validating label {quoted(part)}: {why}") for why in errors_of(part)]:
            return wrong
    return []


def _validate(document: dict[str, Any]) -> list[Cause]:
    spec = document.get("spec") or {}
    causes = []
    if why := _request(spec.get("request") or ""):
        causes.append(fields.bad("spec.request", spec.get("request"), why))
    usages = spec.get("usages") or []
    if not usages:
        causes.append(fields.required("spec.usages"))
    causes += [
        fields.unsupported(f"spec.usages[{index}]", usage, _USAGES)
        for index, usage in enumerate(usages)
        if usage not in _USAGES
    ]
    causes += [
        fields.duplicate(f"spec.usages[{index}]", usage)
        for index, usage in enumerate(usages)
        if usage in usages[:index]
    ]
    signer = spec.get("signerName") or ""
    if signer == _LEGACY:
        why = "the legacy signerName is not allowed via this API version"
        causes.append(fields.bad("spec.signerName", signer, why))
    else:
        causes += _signer("spec.signerName", signer)
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < EXPIRATION_MIN:
        why = "may not specify a duration less than 600 seconds (10 minutes)"
        causes.append(fields.bad("spec.expirationSeconds", seconds, why))
    return causes + _status(document)


def _status(document: Mapping[str, Any]) -> list[Cause]:
    """Check conditions and certificates."""
    causes: list[Cause] = []
    types: list[str] = []
    for index, condition in enumerate(_conditions(document)):
        where, kind, status = f"{_CONDITIONS}[{index}]", condition.get("type") or "", condition.get("status") or ""
        if not kind:
            causes.append(fields.required(f"{where}.type"))
        allowed = ("True",) if kind in _TRUE_ALONE else _STATUSES
        if not status:
            causes.append(fields.required(f"{where}.status"))
        elif status not in allowed:
            causes.append(fields.unsupported(f"{where}.status", status, allowed))
        if kind in _SETTLED and set(_SETTLED) - {kind} <= set(types):
            causes.append(fields.bad(_CONDITIONS, kind, _EXCLUSIVE))
        if kind in types:
            causes.append(fields.duplicate(f"{where}.type", kind))
        types.append(kind)
    if why := _certificate(at(document, "status", "certificate") or ""):
        causes.append(fields.bad("status.certificate", "<certificate data>", why))
    return causes


def _conditions(document: Mapping[str, Any], kind: str = "") -> list[Mapping[str, Any]]:
    found = at(document, "status", "conditions") or ()
    return [one for one in found if not kind or one.get("type") == kind]


def _admit(document: dict[str, Any], lookup: Lookup) -> list[Cause]:
    """Say who asks."""
    spec = document.setdefault("spec", {})
    user = lookup.user
    for key in ("uid", "extra"):
        spec.pop(key, None)
    spec.update(username=user["username"], groups=list(user["groups"]))
    return []


def _admit_update(new: dict[str, Any], old: Mapping[str, Any], lookup: Lookup) -> list[Cause]:
    """Keep what was asked for."""
    new["spec"] = old["spec"]
    return []


def _prepare(document: dict[str, Any]) -> None:
    document["status"] = {}


def _dated(document: dict[str, Any], old: Mapping[str, Any], now: str) -> None:
    """Say when conditions came, and since when they are as they are."""
    for condition in at(document, "status", "conditions") or ():
        condition.setdefault("lastUpdateTime", now)
        if not condition.get("lastTransitionTime"):
            same = (one for one in _conditions(old, condition.get("type", "")) if _alike(one, condition))
            condition["lastTransitionTime"] = next((one["lastTransitionTime"] for one in same), now)


def _alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return one.get("status") == other.get("status") and bool(one.get("lastTransitionTime"))


def _kept(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    return [
        fields.not_allowed(_CONDITIONS, f'updates may not remove a condition of type "{kind}"')
        for kind in _TRUE_ALONE
        if len(_conditions(new, kind)) < len(_conditions(old, kind))
    ]


def _status_rules(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    causes = _status(new) + _kept(new, old)
    for kind in _SETTLED:
        if len(_conditions(new, kind)) > len(_conditions(old, kind)):
            causes.append(fields.not_allowed(_CONDITIONS, f'updates may not add a condition of type "{kind}"'))
    before = at(old, "status", "certificate") or ""
    if before and (at(new, "status", "certificate") or "") != before:
        causes.append(fields.not_allowed("status.certificate", "updates may not modify existing certificate content"))
    return causes


def _approval_rules(new: dict[str, Any], old: Mapping[str, Any]) -> list[Cause]:
    return _status(new) + _kept(new, old)


def _merged_status(old: Any, new: Any) -> Any:
    """Return the status that is asked for, with what approves and denies as it was."""
    if not isinstance(new, dict):
        return new
    kept = {one.get("type"): one for one in (old or {}).get("conditions") or () if one.get("type") in _SETTLED}
    conditions = [kept.get(one.get("type"), one) for one in new.get("conditions") or ()]
    return {**new, "conditions": conditions} if conditions else new


def _merged_approval(old: Any, new: Any) -> Any:
    """Return the status with the conditions that are asked for, and nothing else of it changed."""
    before = {key: value for key, value in (old or {}).items() if key != "conditions"}
    asked = new.get("conditions") if isinstance(new, dict) else None
    return {**before, "conditions": asked} if asked else before


_CARRIED: Final = ("labels", "annotations", "finalizers", "ownerReferences")
_APPROVAL: Final = Subresource(
    "approval", part="status", carries=_CARRIED, merged=_merged_approval, complete=_dated, part_rules=_approval_rules
)
_STATUS: Final = Subresource(
    "status", part="status", carries=_CARRIED, merged=_merged_status, complete=_dated, part_rules=_status_rules
)


def _duration(document: Mapping[str, Any], age: Any) -> str:
    seconds = at(document, "spec", "expirationSeconds")
    return NONE if seconds is None else human_duration(seconds)


def _condition(document: Mapping[str, Any], age: Any) -> str:
    types: Sequence[str] = [one.get("type", "") for one in _conditions(document)]
    told = ["Denied" if "Denied" in types else "Approved" if "Approved" in types else "Pending"]
    if "Failed" in types:
        told.append("Failed")
    if at(document, "status", "certificate"):
        told.append("Issued")
    return ",".join(told)


_SIGNER: Final = """\
Requested signer for the request. It is a qualified name in the form: `scope-hostname.io/name`. If empty, it will be \
defaulted:
 1. If it's a kubelet client certificate, it is assigned
    "kubernetes.io/kube-apiserver-client-kubelet".
 2. If it's a kubelet serving certificate, it is assigned
    "kubernetes.io/kubelet-serving".
 3. Otherwise, it is assigned "kubernetes.io/legacy-unknown".
Distribution of trust for signers happens out of band. You can select on this field using `spec.signerName`."""
"""What upstream says of a column in the words of an older version, as of those below that say it themselves."""


KIND: Final = Kind(
    "CertificateSigningRequest",
    "certificatesigningrequests",
    group="certificates.k8s.io",
    metadata_looks="wc",
    short_names=("csr",),
    namespaced=False,
    names="path",
    whole_rules=True,
    subresources=(_APPROVAL, _STATUS),
    prepare=_prepare,
    admit=_admit,
    admit_update=_admit_update,
    validate=_validate,
    selectable={"spec.signerName": lambda document: str(at(document, "spec", "signerName") or "")},
    columns=(
        NAME,
        AGE,
        Column("SignerName", "string", _SIGNER, lambda doc, age: at(doc, "spec", "signerName") or NONE),
        Column(
            "Requestor", "string", "Base64-encoded PKCS#10 CSR data", lambda doc, age: at(doc, "spec", "username") or ""
        ),
        Column(
            "RequestedDuration",
            "string",
            "",
            _duration,
            source="certificates_v1.CertificateSigningRequestSpec#expirationSeconds",
        ),
        Column("Condition", "string", "Conditions applied to the request, such as approval or denial.", _condition),
    ),
)

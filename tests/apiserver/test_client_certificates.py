"""Certificates of clients: what is approved is signed with a key of the session, and who shows one is known by it."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
from base64 import b64decode
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from clustersim.apiserver.handling import handle
from clustersim.apiserver.messages import Request, Response
from scheduler_core.api.errors import ApiError
from tests.tools.certificates import asking
from tests.tools.room import RBAC, Room
from tests.tools.server import Server, wait_for
from tests.tools.session import Session
from tests.tools.upstreamapi import does

CSR = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
CLIENT = "kubernetes.io/kube-apiserver-client"
SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
USAGES = ["digital signature", "key encipherment", "client auth"]


def request_of(room: Room, request: str, name: str = "a", **spec: Any) -> Any:
    given = {"request": request, "usages": USAGES, "signerName": CLIENT, "expirationSeconds": 3600, **spec}
    return room.made(CSR, {"metadata": {"name": name}, "spec": given})


def approved(room: Room, made: Any) -> Any:
    """Approve a request, let its signer work, and return it."""
    made["status"]["conditions"] = [{"type": "Approved", "status": "True", "reason": "T", "message": "t"}]
    path = f"{CSR}/{made['metadata']['name']}"
    assert room.ask("PUT", f"{path}/approval", made)[0] == 200
    room.run(2)
    return room.ask("GET", path)[1]


def certificate(found: Any) -> str:
    return b64decode(found["status"]["certificate"]).decode()


def shown(room: Room, pem: str, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    """Send a request without a token, over a connection on which the client showed a certificate."""
    data = b"" if body is None else json.dumps(body).encode()
    told = {"content-type": "application/json", **headers}
    request = Request(method, room.code, path, {}, told, data, certificate=pem)
    try:
        answer = handle(request)
    except ApiError as error:
        return error.code, error.message
    assert isinstance(answer, Response)
    return answer.status, json.loads(answer.body)


@does("[sig-auth] Certificates API [Privileged:ClusterAdmin] should support building a client with a CSR")
def test_an_approved_request_makes_a_client(room: Room) -> None:
    role = {"metadata": {"name": "asks"}, "rules": [
        {"verbs": ["create"], "apiGroups": ["certificates.k8s.io"], "resources": ["certificatesigningrequests"]},
    ]}  # fmt: skip
    room.made(f"{RBAC}/clusterroles", role)
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "tester-csr"}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "asks"}
    room.made(f"{RBAC}/clusterrolebindings", {"metadata": {"name": "a"}, "roleRef": reference, "subjects": [subject]})
    request = asking("tester-csr", "team")
    made = request_of(room, request)
    room.run(2)
    assert "certificate" not in room.ask("GET", f"{CSR}/a")[1]["status"], "nobody has approved it yet"
    pem = certificate(approved(room, made))
    issued = x509.load_pem_x509_certificate(pem.encode())
    assert issued.not_valid_after_utc - issued.not_valid_before_utc == timedelta(hours=1, minutes=5)
    usages = issued.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usages) == [ExtendedKeyUsageOID.CLIENT_AUTH]
    spec = {"request": request, "usages": USAGES, "signerName": CLIENT}
    status, second = shown(room, pem, "POST", CSR, {"metadata": {"name": "b"}, "spec": spec})
    assert (status, second["spec"]["username"]) == (201, "tester-csr")
    assert second["spec"]["groups"] == ["team", "system:authenticated"]
    status, me = shown(room, pem, "POST", SELF, {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"})
    assert (status, me["status"]["userInfo"]["username"]) == (201, "tester-csr")
    assert shown(room, pem, "GET", "/api/v1/nodes")[0] == 403, "bindings give it no more"


def test_a_certificate_is_good_in_its_session_and_for_its_time(room: Room) -> None:
    pem = certificate(approved(room, request_of(room, asking(), expirationSeconds=600)))
    me = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}
    assert shown(room, pem, "POST", SELF, me)[0] == 201
    other = Room("empty")
    assert shown(other, pem, "POST", SELF, me)[0] == 401, "another session has another key"
    assert shown(room, pem[:-60] + pem[-40:], "POST", SELF, me)[0] == 401
    assert shown(room, "", "POST", SELF, me)[0] == 403, "who shows nothing is nobody"
    wrong = {"authorization": "Bearer nobody"}
    assert shown(room, pem, "POST", SELF, me, **wrong)[0] == 401, "who sends a token is known by that"
    room.run(700)
    assert shown(room, pem, "POST", SELF, me)[0] == 401, "it is over"


def test_nobody_becomes_a_person_of_the_session(room: Room) -> None:
    """A name is a name for bindings: it opens no seat, whoever has the same."""
    slug = room.ask("POST", SELF, {"kind": "SelfSubjectReview"})[1]["status"]["userInfo"]["username"]
    pem = certificate(approved(room, request_of(room, asking(slug, "clustersim:teacher"))))
    assert shown(room, pem, "GET", "/api/v1/nodes")[0] == 403
    nameless = certificate(approved(room, request_of(room, asking("", "team"), "nameless")))
    assert shown(room, nameless, "POST", SELF, {"kind": "SelfSubjectReview"})[0] == 401


def test_the_group_that_may_everything_is_refused(room: Room) -> None:
    spec = {"request": asking("boss", "system:masters"), "usages": USAGES, "signerName": CLIENT}
    status, told = room.ask("POST", CSR, {"metadata": {"name": "boss"}, "spec": spec})
    said = f"use of {CLIENT} signer with system:masters group is not allowed"
    assert (status, told["message"]) == (
        403,
        f'certificatesigningrequests.certificates.k8s.io "boss" is forbidden: {said}',
    )
    other = {**spec, "signerName": "example.com/web"}
    assert room.ask("POST", CSR, {"metadata": {"name": "boss"}, "spec": other})[0] == 201


@pytest.mark.parametrize(
    ("usages", "why"),
    [
        (["digital signature"], "missing required usage for client certificate: client auth"),
        (["client auth", "server auth"], "invalid usage for client certificate: server auth"),
    ],
)
def test_what_is_no_client_fails(room: Room, usages: list[str], why: str) -> None:
    found = approved(room, request_of(room, asking(), usages=usages))
    failed = found["status"]["conditions"][-1]
    assert (failed["type"], failed["reason"], failed["message"]) == ("Failed", "SignerValidationFailure", why)
    assert "certificate" not in found["status"]


def test_others_sign_what_is_theirs(room: Room) -> None:
    found = approved(room, request_of(room, asking(), signerName="example.com/web"))
    assert "certificate" not in found["status"]


def test_a_client_shows_its_certificate_by_tls(live_server_up: Server, tmp_path: Path) -> None:
    """As kubectl with `client-certificate-data`; a connection that is taken up again is known, too."""
    session = Session(live_server_up, "empty")
    session.clock(paused=False)

    def ask(method: str, path: str, body: Any = None) -> Any:
        return live_server_up.request(method, f"/clusters/{session.code}{path}", body, session.token)[1]

    private = ec.generate_private_key(ec.SECP256R1())
    made = ask("POST", CSR, {
        "metadata": {"name": "mine"},
        "spec": {"request": asking("mei", key=private), "usages": USAGES, "signerName": CLIENT},
    })  # fmt: skip
    made["status"]["conditions"] = [{"type": "Approved", "status": "True"}]
    ask("PUT", f"{CSR}/mine/approval", made)
    wait_for(lambda: "certificate" in ask("GET", f"{CSR}/mine")["status"], what="a certificate")
    files = tmp_path / "mei.pem", tmp_path / "mei.key"
    files[0].write_text(certificate(ask("GET", f"{CSR}/mine")))
    secret = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    files[1].write_bytes(private.private_bytes(*secret))
    known = ssl.create_default_context(cafile=str(live_server_up.data / "tls" / "authority.pem"))
    known.load_cert_chain(*map(str, files))
    nobody = ssl.create_default_context(cafile=str(live_server_up.data / "tls" / "authority.pem"))
    path = f"/clusters/{session.code}{SELF}"
    body = json.dumps({"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"})

    def review(context: ssl.SSLContext, taken_up: ssl.SSLSession | None = None) -> tuple[int, Any, Any]:
        plain = socket.create_connection(("127.0.0.1", live_server_up.tls_port), 20)
        with context.wrap_socket(plain, server_hostname="127.0.0.1", session=taken_up) as secured:
            connection = http.client.HTTPConnection("127.0.0.1")
            connection.sock = secured
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read()), secured.session

    status, told, again = review(known)
    assert (status, told["status"]["userInfo"]["username"]) == (201, "mei")
    assert review(known, again)[0] == 201
    assert review(nobody)[0] == 403

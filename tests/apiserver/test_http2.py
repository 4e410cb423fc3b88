"""HTTP/2 on the TLS port of a started server: who speaks it, and that everything is as by HTTP/1.1."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from h2.errors import ErrorCodes
from websockets.sync.client import connect

from clustersim.apiserver.limits import WATCHES_MAX
from clustersim.runtime.http2.rules import STREAMS_MAX
from tests.apiserver.test_client_certificates import CLIENT, CSR, SELF, USAGES, certificate
from tests.tools.apiserver import Api
from tests.tools.certificates import asking
from tests.tools.http2 import Line, secure
from tests.tools.server import Server, running, wait_for
from tests.tools.session import Session

WATCH = "?watch=true&allowWatchBookmarks=true&timeoutSeconds=600"


@pytest.fixture(scope="module")
def session(live_server_up: Server) -> Session:
    made = Session(live_server_up, "empty")
    made.clock(paused=True)
    return made


def at(session: Session, path: str) -> str:
    return f"/clusters/{session.code}{path}"


@pytest.mark.parametrize(
    ("offers", "spoken"),
    [(("h2", "http/1.1"), "h2"), (("http/1.1", "h2"), "h2"), (("http/1.1",), "http/1.1"), ((), None)],
)
def test_who_offers_it_speaks_it_and_the_others_speak_http_1(
    live_server_up: Server, offers: tuple[str, ...], spoken: str | None
) -> None:
    authority = live_server_up.data / "tls" / "authority.pem"
    plain = socket.create_connection(("127.0.0.1", live_server_up.tls_port), 20)
    with secure(authority, offers).wrap_socket(plain, server_hostname="127.0.0.1") as connection:
        assert connection.selected_alpn_protocol() == spoken
        if spoken != "h2":
            client = http.client.HTTPConnection("127.0.0.1")
            client.sock = connection
            client.request("GET", "/healthz")
            assert client.getresponse().status == 200


def test_a_connection_answers_many_requests_as_http_1_does(live_server_up: Server, session: Session) -> None:
    for number in range(30):
        session.create("/api/v1/namespaces/default/configmaps", {
            "metadata": {"name": f"big-{number}"}, "data": {"a": "x" * 300_000},
        })  # fmt: skip
    path = "/api/v1/namespaces/default/configmaps"
    with Line(live_server_up.tls_port) as line:
        asked = [line.ask(at(session, path), token=session.token) for _ in range(3)]
        small = line.ask(at(session, "/version"), token=session.token)
        line.until(lambda: all(line.answers[number].ended for number in (*asked, small)))
        for number in asked:
            assert json.loads(line.answers[number].body) == session.api(path)
        assert json.loads(line.answers[small].body) == session.api("/version")
        head = line.answers[asked[0]].headers
        assert head["content-type"] == "application/json"
        assert int(head["content-length"]) == len(line.answers[asked[0]].body)
        missing = line.whole(at(session, f"{path}/none"), session.token)
        assert (missing.status, json.loads(missing.body)["reason"]) == (404, "NotFound")
        assert line.whole(at(session, path)).status == 403
        head_only = line.whole(at(session, path), session.token, method="HEAD")
        assert head_only.body == b""


def test_an_object_is_made_and_changed(live_server_up: Server, session: Session) -> None:
    path = at(session, "/api/v1/namespaces/default/configmaps")
    with Line(live_server_up.tls_port) as line:
        body = json.dumps({"metadata": {"name": "made"}, "data": {"a": "y" * 200_000}}).encode()
        number = line.ask(path, "POST", ends=False, headers={"content-type": "application/json"}, token=session.token)
        for start in range(0, len(body), 10_000):
            line.until(lambda: line.rules.local_flow_control_window(number) >= 10_000)
            piece = body[start : start + 10_000]
            line.rules.send_data(number, piece, end_stream=start + 10_000 >= len(body))
        line.until(lambda: line.answers[number].ended)
        assert line.answers[number].status == 201
        kind = {"content-type": "application/merge-patch+json"}
        patched = line.whole(f"{path}/made", session.token, method="PATCH", body=b'{"data":{"a":"z"}}', headers=kind)
        assert json.loads(patched.body)["data"] == {"a": "z"}


def test_watches_share_a_connection_and_each_ends_by_itself(live_server_up: Server, session: Session) -> None:
    path = "/api/v1/namespaces/default/secrets"
    with Line(live_server_up.tls_port) as line:
        watches = [line.ask(at(session, path + WATCH), token=session.token) for _ in range(15)]
        line.until(lambda: all(line.answers[number].status == 200 for number in watches))
        line.rules.reset_stream(watches[0], ErrorCodes.CANCEL)
        session.create(path, {"metadata": {"name": "told"}})
        line.until(lambda: all(b'"told"' in line.answers[number].body for number in watches[1:]))
        assert b'"told"' not in line.answers[watches[0]].body
        assert line.whole(at(session, "/version"), session.token).status == 200
        assert not any(line.answers[number].ended for number in watches[1:])


def test_a_watch_that_its_client_resets_is_over_at_once(live_server_up: Server) -> None:
    """One person has so many at once; who closes them may open as many again."""
    session = Session(live_server_up, "empty")
    lines = [Line(live_server_up.tls_port) for _ in range(WATCHES_MAX // STREAMS_MAX + 1)]

    def stands(line: Line) -> bool:
        number = line.ask(at(session, "/api/v1/pods" + WATCH), token=session.token)
        line.until(lambda: bool(line.answers[number].status))
        if line.answers[number].status == 200:
            return True
        assert line.answers[number].status == 429
        line.until(lambda: line.answers[number].ended)
        return False

    def close(line: Line) -> None:
        for number, answer in line.answers.items():
            if not answer.ended and answer.reset is None:
                line.rules.reset_stream(number, ErrorCodes.CANCEL)
                answer.reset = ErrorCodes.CANCEL
        # What was said before this has been heard.
        assert line.whole(at(session, "/version"), session.token).status == 200

    try:
        for _ in range(2):
            wait_for(lambda: stands(lines[0]), what="a watch")
            assert all(stands(lines[number // STREAMS_MAX]) for number in range(1, WATCHES_MAX))
            assert not stands(lines[-1])
            for line in lines:
                close(line)
    finally:
        for line in lines:
            line.socket.close()


def test_a_client_is_known_by_its_certificate(live_server_up: Server, tmp_path: Path) -> None:
    session = Session(live_server_up, "empty")
    session.clock(paused=False)

    def ask(method: str, path: str, body: Any = None) -> Any:
        return live_server_up.request(method, f"/clusters/{session.code}{path}", body, session.token)[1]

    private = ec.generate_private_key(ec.SECP256R1())
    spec = {"request": asking("mei", key=private), "usages": USAGES, "signerName": CLIENT}
    made = ask("POST", CSR, {"metadata": {"name": "mine"}, "spec": spec})
    made["status"]["conditions"] = [{"type": "Approved", "status": "True"}]
    ask("PUT", f"{CSR}/mine/approval", made)
    wait_for(lambda: "certificate" in ask("GET", f"{CSR}/mine")["status"], what="a certificate")
    files = tmp_path / "mei.pem", tmp_path / "mei.key"
    files[0].write_text(certificate(ask("GET", f"{CSR}/mine")))
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    files[1].write_bytes(private.private_bytes(*form))
    known = secure()
    known.load_cert_chain(*map(str, files))
    body = json.dumps({"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}).encode()

    def review(context: ssl.SSLContext) -> tuple[int, Any]:
        with Line(live_server_up.tls_port, context) as line:
            kind = {"content-type": "application/json"}
            answer = line.whole(at(session, SELF), method="POST", body=body, headers=kind)
            return answer.status, json.loads(answer.body)

    status, told = review(known)
    assert (status, told["status"]["userInfo"]["username"]) == (201, "mei")
    assert review(secure())[0] == 403


def test_kubectl_speaks_it_and_watches_with_it(api: Api, namespace: str) -> None:
    environment = {**api.kubectl_environment(tls=True), "GODEBUG": "http2debug=1"}
    command = [api.kubectl_binary, "-n", namespace, "get", "configmaps"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "http2: Transport received HEADERS" in done.stderr
    watch = subprocess.Popen([*command, "--watch", "-o", "name"], env=api.kubectl_environment(tls=True),
                             stdout=subprocess.PIPE, text=True)  # fmt: skip
    assert watch.stdout is not None
    try:
        for name in ("one", "two"):
            api.request("POST", f"/api/v1/namespaces/{namespace}/configmaps", {"metadata": {"name": name}})
            while watch.stdout.readline() != f"configmap/{name}\n":
                assert watch.poll() is None
    finally:
        watch.kill()
        watch.wait()
        watch.stdout.close()


def test_a_websocket_over_tls_is_one_of_http_1(live_server_up: Server, session: Session) -> None:
    address = f"wss://127.0.0.1:{live_server_up.tls_port}/ws/sessions/{session.code}"
    context = secure(offers=("http/1.1",))
    with connect(address, ssl=context, additional_headers={"Authorization": f"Bearer {session.token}"}) as opened:
        assert opened.protocol.state.name == "OPEN"


def test_a_server_that_ends_says_goodbye() -> None:
    with running() as server:
        line = Line(server.tls_port)
        assert line.whole("/healthz").status == 200
        (web,) = server.pids("web")
        os.kill(web, signal.SIGTERM)
        while not line.closed:
            line.turn()
        assert line.goodbye == ErrorCodes.NO_ERROR
        line.socket.close()

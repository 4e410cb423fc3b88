"""`manage.py up` as a person meets it: real processes on free ports."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import redis

from clustersim.feed import hints
from tests.tools.patience import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parent.parent.parent


def get(url: str, **headers: str):
    request = urllib.request.Request(url, headers={name.replace("_", "-"): value for name, value in headers.items()})
    try:
        return urllib.request.urlopen(request, timeout=PATIENCE_SECONDS)
    except urllib.error.HTTPError as error:
        return error


def test_ready_banner_and_clean_stop(server_tool):
    with server_tool.running(collected=False) as server:
        status, body = server.request("GET", "/readyz")
        assert (status, body) == (200, {"database": "ok", "redis": "ok", "worker": "ok"})
        banner = server_tool.wait_for(lambda: "ready after" in server.tail() and server.tail(), what="the banner")
        assert f"http://127.0.0.1:{server.port}/" in banner
        assert "█" in banner or "▀" in banner
        assert len(server.pids("web")) == 1
        assert len(server.pids("worker")) == 2
        children = server_tool.child_pids(server.process.pid)
        assert len(children) == 4
        (release,) = (server.data / "static").iterdir()
        assert get(f"{server.url}/static/{release.name}/page/main.js").status == 200, "the page's files were collected"
        assert server.stop() == 0
        assert not any(server_tool.is_alive(pid) for pid in children)
        assert "Traceback" not in server.tail(1000)
        assert "is killed" not in server.tail(1000), "a child did not stop by itself"


def test_each_process_hears_the_others_by_a_channel_of_its_own(server_tool):
    """A name that two of them had in common would have each miss half of what is told."""
    with server_tool.running() as server, redis.Redis(unix_socket_path=str(server.data / "redis.sock")) as layer:
        assert server.request("POST", "/api/sessions", {"title": "x", "template": "empty"})[0] == 201
        key = f"clustersim:group:{hints.GROUP}"
        server_tool.wait_for(lambda: layer.zcard(key) == 3, what="the web process and two workers in the group")


def test_what_dies_is_started_again(server_tool):
    with server_tool.running({"WORKERS": "1"}) as server:
        for name in ("worker", "web"):
            (before,) = server.pids(name)
            os.kill(before, signal.SIGKILL)
            server_tool.wait_for(lambda old=before, what=name: server.pids(what) not in ([], [old]), what=name)
        server_tool.wait_for(server.ready, what="ready again")
        redis = server.redis_pids()
        os.kill(redis[0], signal.SIGKILL)
        server_tool.wait_for(lambda: server.redis_pids() not in ([], redis), what="another Redis")
        server_tool.wait_for(server.ready, what="ready with the new Redis")


def test_children_end_when_the_supervisor_is_killed_and_a_new_one_takes_over(server_tool, tmp_path):
    server = server_tool.start(tmp_path / "data")
    try:
        server_tool.wait_for(server.ready, what="ready")
        children = server_tool.child_pids(server.process.pid)
        redis = server.redis_pids()
        server.process.kill()
        server.process.wait()
        others = [pid for pid in children if pid not in redis]
        server_tool.wait_for(lambda: not any(server_tool.is_alive(pid) for pid in others), what="their end")
        with server_tool.running(data=tmp_path / "data") as again:
            assert again.request("GET", "/readyz")[0] == 200
            assert not any(server_tool.is_alive(pid) for pid in redis), "the Redis left behind was ended"
    finally:
        server.process.kill()


def test_requests_leave_no_files_open(live_server_up):
    (web,) = live_server_up.pids("web")
    body = live_server_up.request("POST", "/api/sessions", {"title": "x", "template": "empty"})[1]

    def open_files_after(requests: int) -> int:
        for _ in range(requests):
            answer = live_server_up.request("POST", f"/api/sessions/{body['code']}/join", {"name": "x"})
            assert answer[0] == 201
        return len(list(Path(f"/proc/{web}/fd").iterdir()))

    before = open_files_after(25)
    assert open_files_after(50) < before + 20


def test_a_second_up_on_the_same_folder_says_so(live_server_up):
    run = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "up"],
        env={**os.environ, "CLUSTERSIM_DATA": str(live_server_up.data), "PORT": "1", "TLS_PORT": "0"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert run.returncode == 1
    assert "already runs on" in run.stderr
    assert "Traceback" not in run.stderr


def test_a_taken_port_is_refused_with_the_way_out(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        run = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), "up"],
            env={**os.environ, "CLUSTERSIM_DATA": str(tmp_path), "PORT": str(port), "TLS_PORT": "0"},
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    assert run.returncode == 1
    assert f"PORT={port + 1}" in run.stderr


@pytest.mark.parametrize(
    ("variable", "value"), [("PORT", "http"), ("WORKERS", "0"), ("TLS_PORT", "99999"), ("DATABASE_URL", "mysql://x/y")]
)
def test_a_wrong_variable_is_named_in_one_line(tmp_path, variable, value):
    run = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "up"],
        env={**os.environ, "CLUSTERSIM_DATA": str(tmp_path), variable: value},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert run.returncode == 1
    assert run.stderr.startswith("Clustersim cannot start:")
    assert variable in run.stderr
    assert run.stderr.count("\n") == 1


def test_tls_with_the_own_authority(live_server_up):
    authority = live_server_up.data / "tls" / "authority.pem"
    context = ssl.create_default_context(cafile=str(authority))
    with urllib.request.urlopen(
        live_server_up.tls_url + "/healthz", context=context, timeout=PATIENCE_SECONDS
    ) as answer:
        assert answer.read() == b"ok"
    # By the name that every leaf has, whatever the address.
    with (
        socket.create_connection(("127.0.0.1", live_server_up.tls_port)) as plain,
        context.wrap_socket(plain, server_hostname="clustersim.internal") as wrapped,
    ):
        names = {value for _, value in wrapped.getpeercert()["subjectAltName"]}
    assert {"clustersim.internal", "localhost", "127.0.0.1"} <= names
    with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
        urllib.request.urlopen(live_server_up.tls_url + "/healthz", timeout=PATIENCE_SECONDS)


def test_metrics_of_web_and_workers(live_server_up):
    answer = get(live_server_up.url + "/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert "clustersim_sessions_owned" in answer.read().decode()


def test_headers_of_a_page(live_server_up):
    answer = get(live_server_up.url + "/")
    policy = answer.headers["Content-Security-Policy"]
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "same-origin"


def test_a_foreign_host_name_is_refused_everywhere(live_server_up):
    for path in ("/", "/healthz", "/api/sessions", "/clusters/AAAAAA/version"):
        answer = get(live_server_up.url + path, Host="evil.example")
        assert answer.status == 400, path
        assert b'"kind": "Status"' in answer.read()


def test_static_files_lie_under_their_release_for_good(live_server_up):
    (folder,) = [path for path in (live_server_up.data / "static").iterdir() if path.is_dir()]
    answer = get(f"{live_server_up.url}/static/{folder.name}/vendor/plotly.min.js", Accept_Encoding="gzip")
    assert answer.status == 200
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.headers["Content-Type"].startswith("text/javascript")
    assert "immutable" in answer.headers["Cache-Control"]
    assert len(answer.read()) < 2_000_000
    plain = get(f"{live_server_up.url}/static/{folder.name}/vendor/plotly.min.js")
    assert len(plain.read()) > 4_000_000
    assert get(f"{live_server_up.url}/static/{folder.name}/missing.js").status == 404

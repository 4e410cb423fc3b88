"""`manage.py up` as a person meets it: real processes on free ports."""


def test_ready_banner_and_clean_stop(server_tool):
    with server_tool.running() as server:
        status, body = server.request("GET", "/readyz")
        assert (status, body) == (200, {"database": "ok", "redis": "ok", "worker": "ok"})
        banner = server_tool.wait_for(lambda: "ready after" in server.tail() and server.tail(), what="the banner")
        assert f"http://127.0.0.1:{server.port}/" in banner
        assert "█" in banner or "▀" in banner
        assert len(server.pids("web")) == 1
        assert len(server.pids("worker")) == 2
        assert server.stop() == 0
        assert server_tool.child_pids(server.process.pid) == {}

"""An installation with plugin packages: the page names them, a broken one stops nothing, a good one decides."""

from __future__ import annotations

import os
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.e2e.conftest import Classroom, picture, wait_state
from tests.tools.packages import EXAMPLE, install, install_example
from tests.tools.server import running, wait_for

CONFIGURATION = """profiles:
- plugins:
    multiPoint:
      enabled:
      - name: Together
"""


def test_packages_are_named_and_one_of_them_decides(chromium: Browser, tmp_path: Path) -> None:
    install_example(tmp_path)
    install(tmp_path, "broken", "0.1", {"Broken": "nowhere_at_all:Broken"})
    with running({"PYTHONPATH": os.pathsep.join((str(tmp_path), str(EXAMPLE / "src")))}) as server:
        classroom = Classroom(server, chromium, "three-nodes")
        teacher = classroom.teacher()
        classroom.session("PATCH", "/clock", {"pace": 0})
        wait_state(
            teacher, lambda now: all(pod["nodeName"] for pod in now["pods"]), "what the template brought is placed"
        )
        teacher.get_by_test_id("dock-scheduler").click()
        teacher.get_by_test_id("scheduler-change").click()
        installed = teacher.get_by_test_id("installed-plugins")
        installed.locator("summary").click()
        rows = installed.locator("li")
        expect(rows).to_have_count(2)
        expect(rows.nth(0)).to_contain_text("Broken broken 0.1 nowhere_at_all:Broken cannot be imported")
        expect(rows.nth(1)).to_have_text("Together clustersim-together 1.0.0")
        picture(teacher, "installed-plugins")
        teacher.get_by_test_id("yaml-editor").fill(CONFIGURATION)
        teacher.get_by_test_id("dialog-submit").click()
        expect(teacher.locator(".scheduler-points li[data-point='permit']")).to_contain_text("Together")
        pod = {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "alone", "labels": {"tier": "none"}},
            "spec": {"containers": [{"name": "c", "image": "nginx"}]},
        }  # fmt: skip
        classroom.cluster("POST", "/api/v1/namespaces/default/pods", pod)
        found = wait_for(lambda: classroom.session("GET", "/decisions?pod=default/alone"), what="the decision")
        assert "3 node(s) were in another tier than the pod asks for" in str(found[0]["result"]["fitError"])
        classroom.close()
        assert classroom.problems == []

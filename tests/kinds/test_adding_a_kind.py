"""docs/adding-a-kind.md, tried: a copy of the project gets the page's example and no more, and serves it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.patience import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "adding-a-kind.md").read_text()

USE = '''
"""What the added kind can do, over HTTP and through the registry."""

from tests.registry.registry_tool import Cluster, refusal
from tests.apiserver.conftest import *  # the process and the namespace

TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "nginx:1"}]}}


def test_through_the_registry():
    cluster = Cluster()
    stored = cluster.create("podtemplates", "web", {"template": TEMPLATE})
    assert stored["template"]["spec"]["restartPolicy"] == "Always"
    wrong = {"template": {**TEMPLATE, "spec": {"containers": []}}}
    refused = refusal(cluster.create, "podtemplates", "bad", wrong)
    assert refused.code == 422
    assert [cause.field for cause in refused.causes] == ["template.spec.containers"]
    assert cluster.get("podtemplates", "bad") is None


def test_over_http(sqlite_api):
    api, path = sqlite_api, "/api/v1/namespaces/default/podtemplates"
    _, found, _ = api.request("GET", "/api/v1")
    assert "podtemplates" in {entry["name"] for entry in found["resources"]}
    status, made, _ = api.request("POST", path, {"metadata": {"name": "web"}, "template": TEMPLATE})
    assert (status, made["kind"]) == (201, "PodTemplate")
    wrong = {"metadata": {"name": "bad"}, "template": {"spec": {"containers": 3}}}
    status, refused, _ = api.request("POST", path, wrong)
    assert (status, refused["reason"]) == (400, "BadRequest")
    patch = {"template": {"spec": {"containers": [{"name": "c", "image": "nginx:2"}]}}}
    kind = "application/strategic-merge-patch+json"
    status, _, _ = api.request("PATCH", f"{path}/web", patch, content_type=kind)
    assert status == 200
    status, read, _ = api.request("GET", f"{path}/web")
    assert (status, read["template"]["spec"]["containers"][0]["image"]) == (200, "nginx:2")
    table = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    _, shown, _ = api.request("GET", path, headers=table)
    assert [column["name"] for column in shown["columnDefinitions"]] == ["Name", "Images", "Age"]
    assert shown["rows"][0]["cells"][:2] == ["web", "nginx:2"]
    status, _, _ = api.request("DELETE", f"{path}/web")
    assert status == 200
'''


def block(language: str, after: str) -> str:
    """Return the first block of code of a language after a heading of the page."""
    found = re.search(rf"```{language}\n(.*?)```", PAGE[PAGE.index(after) :], re.DOTALL)
    assert found is not None
    return found[1]


def copy_of_the_project(folder: Path) -> Path:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def add_the_kind(project: Path) -> None:
    """Do what the page says."""
    path = re.search(r"^`(controllers/kinds/\S+\.py)`:", PAGE, re.MULTILINE)
    assert path is not None
    (project / path[1]).write_text(block("python", "## 1. The file"))
    table = project / "controllers" / "kinds" / "table.py"
    text = table.read_text()
    line = block("text", "## 2. The line")
    assert line.strip() not in text
    text = text.replace("        event.KIND,\n", "        event.KIND,\n" + line)
    text = text.replace("    persistentvolumeclaim,\n", "    persistentvolumeclaim,\n    podtemplate,\n")
    table.write_text(text)
    golden = re.search(r"^`(tests/golden/kinds/\S+\.json)`", PAGE, re.MULTILINE)
    assert golden is not None
    (project / golden[1]).write_text(block("json", "## 3. The test"))


@pytest.mark.timeout(4 * PATIENCE_SECONDS)
def test_the_page_is_enough(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    project = copy_of_the_project(tmp_path / "project")
    add_the_kind(project)
    (project / "tests" / "kinds" / "test_use.py").write_text(USE)
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    pytest_run = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist"]
    for arguments in (
        ["tests/kinds/test_kinds_golden.py", "tests/docs/test_kinds.py", "--update-golden"],
        ["tests/kinds/test_kinds_golden.py", "tests/docs/test_kinds.py", "tests/kinds/test_keepers.py"],
        ["tests/kinds/test_use.py", "tests/registry/test_schema.py", "tests/registry/test_merging.py"],
    ):
        ran = subprocess.run(
            [*pytest_run, *arguments], cwd=project, capture_output=True, text=True, timeout=PATIENCE_SECONDS
        )
        assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-1000:]

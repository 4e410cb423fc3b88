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

RESOURCE = "storageversionmigrations.storagemigration.k8s.io"
SPEC = {"resource": {"resource": "pods"}}


def test_through_the_registry():
    cluster = Cluster()
    stored = cluster.create(RESOURCE, "web", {"spec": SPEC})
    assert stored["spec"]["resource"] == {"resource": "pods", "version": "v1"}
    refused = refusal(cluster.create, RESOURCE, "bad", {"spec": {"resource": {"resource": "Pods!"}}})
    assert refused.code == 422
    assert [cause.field for cause in refused.causes] == ["spec.resource.resource"]
    assert cluster.store.get(RESOURCE, "", "bad") is None


def test_over_http(sqlite_api):
    api, path = sqlite_api, "/apis/storagemigration.k8s.io/v1alpha1/storageversionmigrations"
    _, found, _ = api.request("GET", "/apis/storagemigration.k8s.io/v1alpha1")
    assert "storageversionmigrations" in {entry["name"] for entry in found["resources"]}
    status, made, _ = api.request("POST", path, {"metadata": {"name": "web"}, "spec": SPEC})
    assert (status, made["kind"]) == (201, "StorageVersionMigration")
    wrong = {"metadata": {"name": "bad"}, "spec": {"resource": 3}}
    status, refused, _ = api.request("POST", path, wrong)
    assert (status, refused["reason"]) == (400, "BadRequest")
    kind = "application/strategic-merge-patch+json"
    status, _, _ = api.request("PATCH", f"{path}/web", {"spec": {"continueToken": "a"}}, content_type=kind)
    assert status == 200
    status, read, _ = api.request("GET", f"{path}/web")
    assert (status, read["spec"]["continueToken"]) == (200, "a")
    table = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    _, shown, _ = api.request("GET", path, headers=table)
    assert [column["name"] for column in shown["columnDefinitions"]] == ["Name", "Age", "Resource"]
    assert shown["rows"][0]["cells"][2] == "pods"
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
    file = project / path[1]
    file.parent.mkdir()
    (file.parent / "__init__.py").write_text('"""Kinds of a new group."""\n')
    file.write_text(block("python", "## 1. The file"))
    table = project / "controllers" / "kinds" / "table.py"
    text = table.read_text()
    line = block("text", "## 2. The line")
    assert line.strip() not in text
    text = text.replace("        event.KIND,\n", "        event.KIND,\n" + line)
    first = "from controllers.kinds.clustersim import"
    group, module = re.search(r"kinds/(\w+)/(\w+)\.py", path[1]).groups()
    text = text.replace(first, f"from controllers.kinds.{group} import {module}\n{first}")
    table.write_text(text)
    golden = re.search(r"^`(tests/golden/kinds/\S+\.json)`", PAGE, re.MULTILINE)
    assert golden is not None
    (project / golden[1]).write_text(block("json", "## 3. The test"))


@pytest.mark.timeout(12 * PATIENCE_SECONDS)
def test_the_page_is_enough(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    project = copy_of_the_project(tmp_path / "project")
    add_the_kind(project)
    (project / "tests" / "kinds" / "test_use.py").write_text(USE)
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    pytest_run = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist"]
    written = ["tests/kinds/test_kinds_golden.py", "tests/docs/test_kinds.py"]
    others = ["kinds/test_keepers.py", "kinds/test_use.py", "registry/test_schema.py", "registry/test_merging.py"]
    for arguments in ([*written, "--update-golden"], [*written, *(f"tests/{name}" for name in others)]):
        # Each is a run of hundreds of tests: patience for one is not enough where others work on the machine, too.
        ran = subprocess.run(
            [*pytest_run, *arguments], cwd=project, capture_output=True, text=True, timeout=4 * PATIENCE_SECONDS
        )
        assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-1000:]

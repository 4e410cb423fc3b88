"""docs/plugins.md and its example: the package is installed, found, enabled and decides; the rules agree."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from clustersim.plugins import Found, Installed, discover
from clustersim.runtime import extenders
from controllers.scenario import Start, read, run
from controllers.scheduler.decisions import whole
from controllers.scheduler.past import Past
from scheduler_core.cel.check import _LIGHT, _TEXTS
from scheduler_core.cel.kinds import VARIABLES
from scheduler_core.eras import read_spec
from scheduler_core.framework.registry import Handle
from tests.tools.packages import EXAMPLE, install_example, points_in

ROOT = Path(__file__).parents[2]
EXTENDER = ROOT / "docs" / "examples" / "extender" / "extender.py"
PAGE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
CONFIGURATIONS = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]
STARTS = {"empty": Start((), 1, 0)}


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return what is found once the example's package is installed, as an installer would lay it down."""
    folder = tmp_path_factory.mktemp("site")
    install_example(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EXAMPLE / "src"))
        yield discover(points_in(folder))


def test_the_example_is_found(example: Installed) -> None:
    assert example.listed == (Found("Together", "clustersim-together", "1.0.0"),)


def test_every_configuration_of_the_page_is_taken(example: Installed) -> None:
    assert len(CONFIGURATIONS) == 5
    for configuration in CONFIGURATIONS:
        assert read_spec({"configuration": configuration}, example.registry).profiles


def placed(configuration: dict[str, Any], example: Installed, pods: list[dict[str, Any]]) -> tuple[dict[str, str], str]:
    """Return pod → node in a cluster of two tiers, and the message of the pod that has none.

    Every decision on the way is made again from its input, and comes out the same.
    """
    scenario = {
        "nodes": [
            {"name": "left", "count": 2, "cpu": 1, "labels": {"tier": "r1"}},
            {"name": "right", "cpu": 4, "labels": {"tier": "r2"}},
            {"name": "loose", "cpu": 2},
        ],
        "objects": pods,
        "scheduler": {"era": "v1.34", "configuration": configuration},
        "until": 32,
    }
    store, _ = run(
        read(scenario, STARTS, example.registry),
        seed=7,
        plugins=example.registry,
        call=lambda number, asked: extenders.call(asked),
    )
    found, message = {}, ""
    for stored in store.list("pods")[0]:
        for envelope, blob in store.traces(stored.uid):
            assert blob
            assert whole(Past(store), envelope, b"") == whole(Past(store), envelope, blob)
        found[stored.name] = stored.object["spec"].get("nodeName", "")
        if not found[stored.name]:
            message = stored.object["status"]["conditions"][0]["message"]
    return found, message


def pod(name: str, **labels: str) -> dict[str, Any]:
    meta = {"name": name, "labels": {key.replace("_", "-"): value for key, value in labels.items()}}
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "200m"}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [container]}}


@pytest.fixture
def served(settings: Any) -> Iterator[str]:
    """Yield the address of the example extender, in a process of its own."""
    command = [sys.executable, str(EXTENDER), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().split()[-1]
            settings.EXTENDER_ORIGINS = frozenset({address})
            yield address
        finally:
            process.terminate()


def test_the_same_rule_decides_the_same(example: Installed, served: str) -> None:
    pods = [pod(f"p{index}", **({"tier": ("r1", "r2", "r9")[index % 3]} if index % 4 else {})) for index in range(9)]
    *local, remote = CONFIGURATIONS[2:]
    extender = {"extenders": [{**remote["extenders"][0], "urlPrefix": served}]}
    (nodes, message), package, (remotely, other) = (placed(one, example, pods) for one in (*local, extender))
    assert package == (nodes, message)
    assert remotely == nodes
    assert {nodes[name] for name in ("p1", "p7")} <= {"right"}
    assert {nodes[name] for name in ("p3", "p6")} <= {"left-1", "left-2"}
    assert nodes["p2"] == nodes["p5"] == ""
    assert message.startswith("0/4 nodes are available: 4 node(s) were in another tier than the pod asks for.")
    assert other.startswith("0/4 nodes are available: 1 node has no tier yet, 1 node is of tier r2, 2 node is of tier")


def test_a_group_is_bound_together_or_not_at_all(example: Installed) -> None:
    whole = [pod(f"w{index}", group="whole", group_size="3") for index in range(3)]
    part = [pod(f"h{index}", group="half", group_size="3") for index in range(2)]
    nodes, message = placed(CONFIGURATIONS[1], example, whole + part)
    assert all(nodes[name] for name in ("w0", "w1", "w2"))
    assert (nodes["h0"], nodes["h1"]) == ("", "")
    assert "rejected due to timeout after waiting 30s at plugin Together" in message


def test_its_own_tests_pass() -> None:
    paths = os.pathsep.join((str(EXAMPLE / "src"), str(ROOT)))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:django"]
    done = subprocess.run(
        command, cwd=EXAMPLE, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert re.search(r"\d+ passed", done.stdout)


def test_the_page_names_variables_functions_and_members_of_the_handle() -> None:
    rows = re.findall(r"^\| `(\w+)`", PAGE.partition("## A Python package")[0], re.MULTILINE)
    assert rows == list(VARIABLES)
    members = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?`) \|", PAGE, re.MULTILINE)))) - set(rows)
    assert members == {name for name in vars(Handle) if not name.startswith("_")}
    functions = {name.rpartition(".")[2] for name in _LIGHT | _TEXTS if re.fullmatch(r"[\w.]+", name)}
    unnamed = {name for name in functions if f"`{name}`" not in PAGE and name not in ("of", "none")}
    assert not unnamed

"""Scheduler plugins of installed packages: found, told apart, refused with the reason."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import pytest

from clustersim.plugins import GROUP, Found, discover, installed
from controllers.cluster import found as founded
from controllers.log.memory import MemoryStore
from scheduler_core.api.errors import ApiError
from scheduler_core.eras import read_spec, registry_of
from tests.tools.packages import install, points_in

PLUGIN = """
class {name}:
    name = "{name}"
    def __init__(self, arguments, handle):
        {body}
    def pre_enqueue(self, pod):
        raise RuntimeError("asked")
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what installs a package: (distribution, entry points, modules) → the entry points found so far."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def install_it(distribution: str, points: dict[str, str], **modules: str) -> list[EntryPoint]:
        install(tmp_path, distribution, "1.5", points)
        for name, source in modules.items():
            (tmp_path / f"{name}.py").write_text(source)
        return points_in(tmp_path)

    return install_it


def spec(*names: str) -> dict[str, Any]:
    enabled = [{"name": name} for name in names]
    return {"configuration": {"profiles": [{"plugins": {"multiPoint": {"enabled": enabled}}}]}}


def test_a_plugin_is_used_like_one_of_the_tree(package: Any) -> None:
    found = discover(package("gates", {"Gate": "gate_one:Gate"}, gate_one=PLUGIN.format(name="Gate", body="pass")))
    assert found.listed == (Found("Gate", "gates", "1.5"),)
    assert read_spec(spec("Gate"), found.registry).profiles[0].names()[-1] == "Gate"
    assert "Gate" in registry_of({}, found.registry)
    with pytest.raises(ApiError, match="Gate does not exist"):
        read_spec(spec("Gate"))


def test_what_cannot_be_used_is_listed_with_the_reason(package: Any) -> None:
    package("broken", {"Broken": "broken_one:Broken"}, broken_one="import nowhere_at_all")
    package("leaves", {"Leaves": "leaves_one:Leaves"}, leaves_one="raise SystemExit(3)")
    package("value", {"Value": "value_one:Value"}, value_one="Value = 7")
    package("lost", {"Lost": "lost_one:Other"}, lost_one="")
    package("thief", {"NodeName": "thief_one:Thief"}, thief_one="class Thief: pass")
    package("older", {"PodFitsResources": "thief_one:Thief"})
    package("good", {"Good": "good_one:Good"}, good_one=PLUGIN.format(name="Good", body="pass"))
    found = discover(package("twin", {"Good": "good_one:Good"}))
    refused = {(one.name, one.distribution): one.refused for one in found.listed}
    assert list(found.registry) == ["Good"]
    assert refused["Good", "good"] == ""
    assert refused["Good", "twin"] == "a plugin named Good already exists"
    assert refused["NodeName", "thief"] == "a plugin named NodeName already exists"
    assert refused["PodFitsResources", "older"] == "a plugin named PodFitsResources already exists"
    assert "cannot be imported: ModuleNotFoundError: No module named 'nowhere_at_all'" in refused["Broken", "broken"]
    assert "cannot be imported: SystemExit: 3" in refused["Leaves", "leaves"]
    assert "cannot be imported: AttributeError" in refused["Lost", "lost"]
    assert "is no factory" in refused["Value", "value"]
    assert found.listed[0].as_dict() == {
        "name": "Broken", "distribution": "broken", "version": "1.5", "refused": refused["Broken", "broken"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "source", "text"),
    [
        ("A", PLUGIN.format(name="A", body="raise ZeroDivisionError('arguments')"), "ZeroDivisionError: arguments"),
        ("B", PLUGIN.format(name="C", body="pass").replace("class C", "class B"), "the plugin calls itself 'C'"),
        ("D", "def D(arguments, handle):\n    return None", "calls itself None"),
        ("E", "class E:\n    name = 'E'\n    def __init__(self, a, h): pass", "has no extension point"),
        ("F", "class F:\n    name = 'F'", "TypeError"),
    ],
)
def test_one_that_cannot_be_built_refuses_the_configuration(package: Any, name: str, source: str, text: str) -> None:
    registry = discover(package(f"p{name}", {name: f"built_{name}:{name}"}, **{f"built_{name}": source})).registry
    with pytest.raises(ApiError) as refused:
        read_spec(spec(name), registry)
    (cause,) = refused.value.causes
    assert cause.field == "configuration.profiles[0]"
    assert f'initializing plugin "{name}": ' in cause.message
    assert text in cause.message


def test_the_api_takes_a_configuration_that_names_it(package: Any) -> None:
    registry = discover(package("api", {"Api": "api_one:Api"}, api_one=PLUGIN.format(name="Api", body="pass"))).registry
    command = {
        "apiVersion": "clustersim.io/v1", "kind": "SchedulerConfig", "metadata": {"name": "default"},
        "spec": {"era": "v1.34", **spec("Api")},
    }  # fmt: skip
    (made,) = founded(MemoryStore(plugins=registry), [command])
    assert made.error is None
    (refused,) = founded(MemoryStore(), [command])
    assert refused.error is not None
    assert refused.error.causes[0].message == 'Invalid value: "Api": Api does not exist'


def test_off_means_none(settings: Any) -> None:
    settings.PLUGINS = False
    installed.cache_clear()
    try:
        assert installed().listed == ()
    finally:
        installed.cache_clear()
    settings.PLUGINS = True
    assert {one.name for one in installed().listed} == {point.name for point in entry_points(group=GROUP)}

"""The example extender does what the same rule does as a plugin, at a price that can be told."""

from __future__ import annotations

from tests.bench import extender


def test_one_rule_decides_alike_as_a_plugin_and_as_an_extender() -> None:
    local, *remote = extender.run()
    assert [row["rule"] for row in remote] == ["extender, names", "extender, whole nodes"]
    assert all(row["same"] for row in remote)
    assert all(row["msPerPod"] > local["msPerPod"] for row in remote)

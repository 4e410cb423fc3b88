"""docs/eras.md against the code: `--update-golden` writes its tables anew, what is written by hand is checked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.eras import ERAS, read_spec, registry_of
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.runtime import Framework
from scheduler_core.legacy import resources, volume_counts
from scheduler_core.legacy.affinity import ANNOTATION
from scheduler_core.legacy.providers import DEFAULT_PROVIDER, PREDICATES, PRIORITIES, PROVIDERS
from scheduler_core.oracle import CaseListers
from scheduler_core.snapshot.snapshot import Snapshot
from tests.core.objects import info, node, pod

FILE = Path(__file__).parents[2] / "docs" / "eras.md"
BLOCK = re.compile(r"(<!-- made: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
ZONE = "failure-domain.beta.kubernetes.io/zone"


def seconds(milliseconds: int) -> str:
    return f"{milliseconds // 1000} s"


def eras_table() -> str:
    lines = [
        "| era | what it is | scores | pods that found no node | assumed pods | plugins |",
        "|---|---|---|---|---|---|",
    ]
    for name, era in ERAS.items():
        spec = {"era": name}
        configuration = read_spec(spec)
        profile = configuration.profiles[0]
        rules = profile.rules
        waits = f"{seconds(configuration.initial_backoff_ms)} to {seconds(configuration.max_backoff_ms)}"
        waits = f"wait for an event, {waits}" if rules.waits_for_events else f"tried again after {waits}"
        expiry = "stay" if rules.expiry_ms is None else f"expire after {seconds(rules.expiry_ms)}"
        count = len(Framework(profile, registry_of(spec)).plugins)
        scored = f"0…{rules.score_max}" if Framework(profile, registry_of(spec)).profile.at("score") else "none"
        lines.append(f"| `{name}` | {era.title} | {scored} | {waits} | {expiry} | {count} |")
    return "\n".join(lines) + "\n"


def example_table() -> str:
    service = {"metadata": {"name": "web", "namespace": "default"}, "spec": {"selector": {"app": "web"}}}
    preference = '{"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}'
    affinity = (
        '{"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": '
        f'[{{"weight": 7, "preference": {preference}}}]}}}}'
    )
    one = pod(
        "p",
        requests={"cpu": "1", "memory": "2Gi"},
        labels={"app": "web"},
        metadata={"annotations": {ANNOTATION: affinity}},
    )
    peers = [pod(f"w{number}", labels={"app": "web"}, requests={"cpu": "500m", "memory": "1Gi"}) for number in "12"]
    other = pod("o", requests={"cpu": "2", "memory": "1Gi"})
    image = {"names": ["i:1"], "sizeBytes": 500 * 1024 * 1024}
    nodes = [
        info(node("a", labels={ZONE: "1"}, images=[image]), *peers),
        info(node("b", labels={ZONE: "1"})),
        info(node("c", labels={ZONE: "2", "disk": "ssd"}), other),
    ]
    priorities = [{"name": name, "weight": 1} for name in PRIORITIES]
    spec: dict[str, Any] = {"era": "algorithm-provider", "policy": {"priorities": priorities}}
    framework = Framework(read_spec(spec).profiles[0], registry_of(spec), listers=CaseListers({"services": [service]}))
    state, snapshot = CycleState(), Snapshot(nodes)
    outcome = framework.run_filter(state, one, snapshot)
    assert framework.run_pre_score(state, one, snapshot, outcome.feasible).ok
    scores, _ = framework.run_score(state, one, snapshot, outcome)
    assert scores is not None
    default = PROVIDERS.get(DEFAULT_PROVIDER)
    assert default is not None
    weights = dict(default.priorities)
    totals = [0, 0, 0]
    lines = ["| priority | a | b | c |", "|---|---|---|---|"]
    for name, part in scores.detail().items():
        row = part.normalized.tolist()
        totals = [total + weights.get(name, 0) * score for total, score in zip(totals, row, strict=True)]
        lines.append(f"| {name} | {' | '.join(map(str, row))} |")
    lines.append(f"| total of the default provider | {' | '.join(map(str, totals))} |")
    return "\n".join(lines) + "\n"


def plugins118_table() -> str:
    spec = {"era": "framework-1.18"}
    framework = Framework(read_spec(spec).profiles[0], registry_of(spec))
    lines = ["| plugin | weight | points |", "|---|---|---|"]
    for name in framework.plugins:
        points = [framework.rules.point(point[:1].upper() + point[1:]) for point in framework.profile.plugins
                  if name in framework.profile.at(point)]  # fmt: skip
        lines.append(f"| {name} | {framework.profile.weights.get(name, '')} | {', '.join(points)} |")
    return "\n".join(lines) + "\n"


def test_the_tables_are_the_code_s(pytestconfig: pytest.Config) -> None:
    made = {"eras": eras_table(), "example": example_table(), "plugins118": plugins118_table()}
    page = FILE.read_text(encoding="utf-8")
    fresh = BLOCK.sub(lambda block: block[1] + made[block[2]] + block[4], page)
    if pytestconfig.getoption("--update-golden"):
        FILE.write_text(fresh, encoding="utf-8")
    assert {block[2] for block in BLOCK.finditer(page)} == made.keys()
    assert FILE.read_text(encoding="utf-8") == fresh


def rows_of(heading: str) -> list[list[str]]:
    page = FILE.read_text(encoding="utf-8")
    table = page.split(f"| {heading} |", 1)[1].split("\n\n", 1)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def test_the_table_of_predicates_has_each_with_its_reasons() -> None:
    reasons = {name: [name] for name in PREDICATES}
    reasons[resources.NAME] = list(resources.REASONS[1:])
    reasons[volume_counts.MAX_EBS] = reasons[volume_counts.MAX_GCE_PD] = [volume_counts.REASON]
    rows = rows_of("predicate")
    assert [(row[0], re.findall(r"`([\w ]+)`", row[2])) for row in rows] == list(reasons.items())
    limits = {
        volume_counts.MAX_EBS: volume_counts.EBS_VOLUMES_MAX,
        volume_counts.MAX_GCE_PD: volume_counts.GCE_PD_VOLUMES_MAX,
    }
    assert all(f"at most {limits[row[0]]} " in row[1] for row in rows if row[0] in limits)


def test_the_table_of_priorities_has_each_with_the_default_provider_s_weight() -> None:
    default = PROVIDERS.get(DEFAULT_PROVIDER)
    assert default is not None
    weights = dict(default.priorities)
    assert [(row[0], int(row[1] or 0)) for row in rows_of("priority")] == [
        (name, weights.get(name, 0)) for name in PRIORITIES
    ]


def test_every_era_of_this_page_has_its_heading() -> None:
    headings = re.findall(r"^## ([\w.-]+)$", FILE.read_text(encoding="utf-8"), re.MULTILINE)
    assert headings == ["framework-1.18", "algorithm-provider", "round-robin"]
    assert set(headings) < set(ERAS)

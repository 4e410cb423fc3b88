"""Each rule's formula, written once more and plainly, against the engine's decisions on clusters drawn at random."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.api.document import Document
from scheduler_core.oracle import answer

GIBI, MEBI = 2**30, 2**20
ZONE, HOST = "zone", "kubernetes.io/hostname"
APPS = ("web", "db")
TAINTS = ("red", "blue")
IMAGES = ("big:1", "small:1")

drawn = settings(max_examples=60, deadline=None, derandomize=True)


@st.composite
def nodes(draw: st.DrawFn) -> list[Document]:
    found = []
    for index in range(draw(st.integers(2, 4))):
        name = f"n{index}"
        labels = {HOST: name}
        zone = draw(st.sampled_from(("a", "b", "")))
        if zone:
            labels[ZONE] = zone
        taints = draw(
            st.lists(
                st.tuples(st.sampled_from(TAINTS), st.sampled_from(("NoSchedule", "PreferNoSchedule"))),
                max_size=2,
                unique=True,
            )
        )
        size = {"cpu": str(draw(st.integers(1, 8))), "memory": f"{draw(st.integers(1, 8))}Gi", "pods": "20"}
        images = [
            {"names": [name], "sizeBytes": size * MEBI}
            for name, size in draw(
                st.dictionaries(st.sampled_from(IMAGES), st.sampled_from((10, 200, 700)), max_size=2)
            ).items()
        ]
        found.append({
            "metadata": {"name": name, "uid": name, "labels": labels},
            "spec": {"taints": [{"key": key, "effect": effect} for key, effect in taints]},
            "status": {"allocatable": size, "images": images},
        })  # fmt: skip
    return found


@st.composite
def pods(draw: st.DrawFn, names: list[str]) -> list[Document]:
    return [pod(f"p{index}", draw, nodeName=draw(st.sampled_from(names))) for index in range(draw(st.integers(0, 8)))]


def pod(name: str, draw: st.DrawFn, **spec: Any) -> Document:
    requests = {}
    if draw(st.booleans()):
        requests["cpu"] = f"{draw(st.integers(0, 2500))}m"
    if draw(st.booleans()):
        requests["memory"] = f"{draw(st.integers(0, 3000))}Mi"
    return {
        "metadata": {"name": name, "namespace": "default", "uid": name, "labels": {"app": draw(st.sampled_from(APPS))}},
        "spec": {
            "schedulerName": "default-scheduler",
            "priority": draw(st.integers(0, 3)),
            "containers": [{"name": "c", "image": draw(st.sampled_from(IMAGES)), "resources": {"requests": requests}}],
            **spec,
        },
        "status": {"startTime": f"2026-01-01T00:00:{draw(st.integers(0, 59)):02}Z"} if "nodeName" in spec else {},
    }


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[Document], list[Document], Document]:
    """Return nodes, pods on them, and the pod to place."""
    found = draw(nodes())
    return found, draw(pods([one["metadata"]["name"] for one in found])), pod("me", draw)


def decide(
    cluster: tuple[list[Document], list[Document], Document],
    *,
    others: Document | None = None,
    config: Document | None = None,
) -> Document:
    found, there, target = cluster
    return answer(
        {"id": "x", "objects": {"nodes": found, "pods": there, **(others or {})}, "config": config or {}, "pod": target}
    )


def asked(one: Document, *, cpu: int = 0, memory: int = 0) -> tuple[int, int]:
    """Return (millicores, bytes) that a pod asks for, with defaults for what it leaves unsaid."""
    requests = one["spec"]["containers"][0]["resources"]["requests"]
    own_cpu = int(requests["cpu"][:-1]) if "cpu" in requests else cpu
    return own_cpu, int(requests["memory"][:-2]) * MEBI if "memory" in requests else memory


def size_of(node: Document) -> tuple[int, int]:
    size = node["status"]["allocatable"]
    return int(size["cpu"]) * 1000, int(size["memory"][:-2]) * GIBI


def on(node: Document, there: list[Document]) -> list[Document]:
    return [one for one in there if one["spec"]["nodeName"] == node["metadata"]["name"]]


def used(node: Document, there: list[Document], target: Document, **defaults: int) -> tuple[int, int]:
    sums = [asked(one, **defaults) for one in (*on(node, there), target)]
    return sum(cpu for cpu, _ in sums), sum(memory for _, memory in sums)


def verdicts(got: Document, plugin: str) -> dict[str, str]:
    """Return node → the first reason of a plugin that refuses it."""
    return {name: told[plugin]["reasons"][0] for name, told in got.get("filters", {}).items() if plugin in told}


def raw(got: Document, plugin: str) -> dict[str, int]:
    scores = got["scores"]
    return dict(zip(scores["nodes"], scores["plugins"][plugin]["raw"], strict=True))


@drawn
@given(clusters())
def test_a_pod_fits_where_what_it_asks_is_free(cluster: Any) -> None:
    found, there, target = cluster
    got = decide(cluster)
    for node in found:
        wants, sizes, sums = asked(target), size_of(node), used(node, there, target)
        short = [
            f"Insufficient {name}"
            for name, want, size, total in zip(("cpu", "memory"), wants, sizes, sums, strict=True)
            if want and total > size
        ]
        told = got["filters"].get(node["metadata"]["name"], {}).get("NodeResourcesFit")
        assert ([] if told is None else told["reasons"]) == short
        if told is not None:
            never = any(want > size for want, size in zip(wants, sizes, strict=True))
            assert told["code"] == ("UnschedulableAndUnresolvable" if never else "Unschedulable")


@drawn
@given(clusters(), st.integers(1, 9), st.integers(1, 9), st.booleans())
def test_allocation_scores(cluster: Any, cpu_weight: int, memory_weight: int, most: bool) -> None:
    found, there, target = cluster
    resources = [{"name": "cpu", "weight": cpu_weight}, {"name": "memory", "weight": memory_weight}]
    strategy = {"type": "MostAllocated" if most else "LeastAllocated", "resources": resources}
    config = {"profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": strategy}}]}]}
    got = decide(cluster, config=config)
    if "scores" not in got:
        return
    fit, balance = raw(got, "NodeResourcesFit"), None
    if "NodeResourcesBalancedAllocation" in got["scores"]["plugins"]:
        balance = raw(got, "NodeResourcesBalancedAllocation")
    for node in found:
        name = node["metadata"]["name"]
        if name not in fit:
            continue
        total = 0
        counted = used(node, there, target, cpu=100, memory=200 * MEBI)
        for amount, size, weight in zip(counted, size_of(node), (cpu_weight, memory_weight), strict=True):
            share = min(amount, size) if most else max(size - amount, 0)
            total += share * 100 // size * weight
        assert fit[name] == total // (cpu_weight + memory_weight)
        if balance is not None:
            cpu, memory = (
                min(Fraction(amount, size), Fraction(1))
                for amount, size in zip(used(node, there, target), size_of(node), strict=True)
            )
            exact = (1 - abs(cpu - memory) / 2) * 100
            # Floats may fall just below a whole number that is exact.
            assert balance[name] in {int(exact), int(exact - Fraction(1, 10**9))}


@drawn
@given(clusters(), st.sets(st.sampled_from(TAINTS)))
def test_taints_repel_unless_they_are_tolerated(cluster: Any, tolerated: set[str]) -> None:
    found, _, target = cluster
    target["spec"]["tolerations"] = [{"key": key, "operator": "Exists"} for key in sorted(tolerated)]
    got = decide(cluster)
    refused = verdicts(got, "TaintToleration")
    disliked = {}
    for node in found:
        left = [taint for taint in node["spec"]["taints"] if taint["key"] not in tolerated]
        hard = next((taint["key"] for taint in left if taint["effect"] == "NoSchedule"), None)
        told = refused.get(node["metadata"]["name"])
        assert told == (None if hard is None else f"node(s) had untolerated taint {{{hard}: }}")
        disliked[node["metadata"]["name"]] = sum(taint["effect"] == "PreferNoSchedule" for taint in left)
    if "scores" in got:
        assert raw(got, "TaintToleration") == {name: disliked[name] for name in got["feasible"]}


@drawn
@given(clusters(), st.integers(1, 2), st.sampled_from((None, 1, 2, 3)))
def test_pods_spread_within_the_skew(cluster: Any, max_skew: int, min_domains: int | None) -> None:
    found, there, target = cluster
    constraint = {
        "maxSkew": max_skew,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    if min_domains is not None:
        constraint["minDomains"] = min_domains
    target["spec"]["topologySpreadConstraints"] = [constraint]
    refused = verdicts(decide(cluster), "PodTopologySpread")
    zone_of = {node["metadata"]["name"]: node["metadata"]["labels"].get(ZONE) for node in found}
    counts = Counter({zone: 0 for zone in zone_of.values() if zone})
    counts.update(
        zone_of[one["spec"]["nodeName"]]
        for one in there
        if one["metadata"]["labels"]["app"] == "web" and zone_of[one["spec"]["nodeName"]]
    )
    fewest = 0 if len(counts) < (min_domains or 1) else min(counts.values())
    own = int(target["metadata"]["labels"]["app"] == "web")
    for name, zone in zone_of.items():
        if zone is None:
            assert refused[name].endswith("(missing required label)")
        else:
            assert (name in refused) == (counts[zone] + own - fewest > max_skew)


@drawn
@given(clusters(), st.sampled_from((ZONE, HOST)), st.booleans())
def test_pods_stay_near_or_away(cluster: Any, key: str, near: bool) -> None:
    found, there, target = cluster
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": key}
    kind = "podAffinity" if near else "podAntiAffinity"
    target["spec"]["affinity"] = {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    refused = verdicts(decide(cluster), "InterPodAffinity")
    place_of = {node["metadata"]["name"]: node["metadata"]["labels"].get(key) for node in found}
    meant = {place_of[one["spec"]["nodeName"]] for one in there if one["metadata"]["labels"]["app"] == "web"} - {None}
    first_of_its_kind = not meant and target["metadata"]["labels"]["app"] == "web"
    for name, place in place_of.items():
        if near:
            assert (name not in refused) == (place is not None and (place in meant or first_of_its_kind))
        else:
            assert (name in refused) == (place in meant)


@drawn
@given(clusters())
def test_images_that_are_there_count_by_size_and_spread(cluster: Any) -> None:
    found, _, target = cluster
    got = decide(cluster)
    if "scores" not in got:
        return
    image = target["spec"]["containers"][0]["image"]
    sizes = {
        node["metadata"]["name"]: one["sizeBytes"]
        for node in found
        for one in node["status"]["images"]
        if image in one["names"]
    }
    first = next(iter(sizes.values()), 0)
    for name, score in raw(got, "ImageLocality").items():
        scaled = int(first * (len(sizes) / len(found))) if name in sizes else 0
        clipped = min(max(scaled, 23 * MEBI), 1000 * MEBI)
        assert score == 100 * (clipped - 23 * MEBI) // (977 * MEBI)


@drawn
@given(
    st.integers(0, 4),
    st.lists(st.integers(0, 3), max_size=4),
    st.lists(st.integers(0, 3), max_size=3),
    st.sets(st.integers(0, 3)),
)
def test_a_driver_attaches_no_more_than_it_can(
    limit: int, there: list[int], mine: list[int], attached: set[int]
) -> None:
    def using(name: str, handles: list[int], **spec: Any) -> Document:
        volumes = [
            {"name": f"v{place}", "persistentVolumeClaim": {"claimName": f"c{one}"}}
            for place, one in enumerate(handles)
        ]
        return {
            "metadata": {"name": name, "namespace": "default", "uid": name},
            "spec": {"containers": [{"name": "c"}], "volumes": volumes, **spec},
        }

    bound = {"pv.kubernetes.io/bind-completed": "yes"}
    drivers = [{"name": "d", "nodeID": "n", "allocatable": {"count": limit}}]

    def attachment(one: int) -> Document:
        source = {"persistentVolumeName": f"v{one}"}
        return {"metadata": {"name": f"a{one}"}, "spec": {"attacher": "d", "nodeName": "n", "source": source}}

    others = {
        "pvs": [
            {"metadata": {"name": f"v{one}"}, "spec": {"csi": {"driver": "d", "volumeHandle": f"h{one}"}}}
            for one in range(4)
        ],
        "pvcs": [
            {
                "metadata": {"name": f"c{one}", "namespace": "default", "annotations": bound},
                "spec": {"volumeName": f"v{one}"},
            }
            for one in range(4)
        ],
        "csinodes": [{"metadata": {"name": "n"}, "spec": {"drivers": drivers}}],
        "volumeattachments": [attachment(one) for one in sorted(attached)],
    }
    node = {"metadata": {"name": "n"}, "status": {"allocatable": {"pods": "9"}}}
    got = decide(([node], [using("q", there, nodeName="n")], using("me", mine)), others=others)
    new = set(mine) - set(there)
    # What is attached and used by no pod there counts, and once more if it is this pod's.
    wanted = len(set(there) | attached) + len(new)
    assert ("NodeVolumeLimits" in got["filters"].get("n", {})) == bool(new and wanted > limit)


@drawn
@given(clusters())
def test_preemption_spares_whom_it_can_and_costs_least(cluster: Any) -> None:
    found, there, target = cluster
    for node in found:
        node["spec"]["taints"] = []
    target["spec"]["priority"] = 2
    got = decide(cluster)
    if got["result"] != "unschedulable":
        return
    costs: dict[str, tuple[Any, ...]] = {}
    for node in found:
        here = on(node, there)
        lesser = sorted(
            (one for one in here if one["spec"]["priority"] < 2),
            key=lambda one: (-one["spec"]["priority"], one["status"]["startTime"]),
        )
        kept = [one for one in here if one not in lesser]

        def fits(stay: list[Document], node: Document = node) -> bool:
            sums = used(node, stay, target)
            return all(
                not want or total <= size for want, total, size in zip(asked(target), sums, size_of(node), strict=True)
            )

        if not lesser or not fits(kept):
            continue
        victims = []
        for one in lesser:
            if fits([*kept, one]):
                kept.append(one)
            else:
                victims.append(one)
        name = node["metadata"]["name"]
        assert got["preemption"]["candidates"][name]["victims"] == [
            f"default/{one['metadata']['name']}" for one in victims
        ]
        top = max(one["spec"]["priority"] for one in victims)
        earliest = min(one["status"]["startTime"] for one in victims if one["spec"]["priority"] == top)
        latest_first = tuple(-ord(letter) for letter in earliest)
        costs[name] = (top, sum(one["spec"]["priority"] + 2**31 for one in victims), len(victims), latest_first)
    assert set(got["preemption"]["candidates"]) == set(costs)
    assert got["preemption"]["ties"] == sorted(name for name, cost in costs.items() if cost == min(costs.values()))

"""What each kind of step does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from controllers.flags.table import NAME as FLAGS_NAME
from controllers.flags.table import RESOURCE as FLAGS
from controllers.log.operations import Create, Delete, Patch, Update
from controllers.log.store import copy_object
from scheduler_core.api.document import Document
from tests.sim.whole import documents
from tests.sim.whole.documents import PREFIX
from tests.sim.whole.races import get_there_first
from tests.sim.whole.steps import Step
from tests.sim.whole.world import NODES, PEOPLE, REPLICAS, ZONES, World, who

Act = Callable[[World, Random], None]

TEACHER = PEOPLE[0]
NAMES = ("web", "api", "db")
WAITS_MS = (1, 40, 400, 1_000, 3_000, 12_000, 45_000)
WAIT_WEIGHTS = (2, 3, 5, 6, 5, 2, 1)

AMID = 0.2
"""How many waits have somebody write while they last: what the engine reads later than it is stored."""
RACED = 0.2
"""How many have somebody write an object just before the engine does."""

WORKLOADS: Mapping[str, tuple[str, str]] = {
    "deployment": ("deployments.apps", "Deployment"),
    "replicaset": ("replicasets.apps", "ReplicaSet"),
    "controller": ("replicationcontrollers", "ReplicationController"),
    "statefulset": ("statefulsets.apps", "StatefulSet"),
    "daemonset": ("daemonsets.apps", "DaemonSet"),
}
OTHERS: Mapping[str, tuple[str, Callable[[Random, str, str], Document]]] = {
    "job": ("jobs.batch", documents.job),
    "cronjob": ("cronjobs.batch", documents.cronjob),
    "service": ("services", documents.service),
    "autoscaler": ("horizontalpodautoscalers.autoscaling", documents.autoscaler),
    "budget": ("poddisruptionbudgets.policy", documents.budget),
    "pod": ("pods", documents.pod),
    "config": ("configmaps", documents.config),
}
FOR_STUDENTS: Mapping[str, tuple[str, Callable[[Random, str, str], Document]]] = {
    "quota": ("resourcequotas", documents.quota),
    "limits": ("limitranges", documents.limits),
}
TEMPLATED = tuple(resource for resource, _ in WORKLOADS.values())
SCALED = TEMPLATED[:-1]
DELETED = (*TEMPLATED, *(resource for resource, _ in OTHERS.values()))
SHORT = {resource: word for word, (resource, _) in {**WORKLOADS, **OTHERS}.items()}
"""Each kind's names have its own word in front: their labels choose no other's pods."""


def do(world: World, step: Step) -> None:
    """Let a step happen."""
    random = Random(step.a << 16 | step.b)
    ACTS[step.kind](world, random)


def _name(resource: str, random: Random) -> str:
    return f"{SHORT[resource]}-{random.choice(NAMES)}"


# -- what people ask for --------------------------------------------------------------------------------------------


def _workload(word: str) -> Act:
    resource, kind = WORKLOADS[word]

    def act(world: World, random: Random) -> None:
        person, namespace = who(random)
        name = _name(resource, random)
        world.write(person, Create(resource, namespace, documents.workload(kind, random, namespace, name)))

    return act


def _other(word: str) -> Act:
    resource, make = OTHERS[word]

    def act(world: World, random: Random) -> None:
        person, namespace = who(random)
        name = _name(resource, random)
        if word in ("service", "autoscaler"):
            name = f"deployment-{random.choice(NAMES)}"
        document = make(random, namespace, name)
        if word == "autoscaler" or world.get(resource, namespace, name) is None:
            world.write(person, Create(resource, namespace, document))
        elif word in ("service", "budget", "config", "cronjob"):
            world.write(person, Patch(resource, namespace, name, document))

    return act


def _for_students(word: str) -> Act:
    resource, make = FOR_STUDENTS[word]

    def act(world: World, random: Random) -> None:
        namespace, name = random.choice(PEOPLE[1:]).namespace, f"q{random.randrange(2)}"
        roll = random.random()
        if world.get(resource, namespace, name) is None:
            world.write(TEACHER, Create(resource, namespace, make(random, namespace, name)))
        elif roll < 0.4:
            world.write(TEACHER, Delete(resource, namespace, name))
        else:
            spec = make(random, namespace, name)["spec"]
            world.write(
                TEACHER, Patch(resource, namespace, name, [{"op": "replace", "path": "/spec", "value": spec}], "json")
            )

    return act


def _namespace(world: World, random: Random) -> None:
    name = random.choice(PEOPLE[1:]).namespace
    if world.get("namespaces", "", name) is None:
        world.write(TEACHER, Create("namespaces", "", documents.namespace(name)))
    elif random.random() < 0.5:
        world.write(TEACHER, Delete("namespaces", "", name))


# -- what they change and take away ---------------------------------------------------------------------------------


def _scale(world: World, random: Random) -> None:
    person, namespace = who(random)
    resource = random.choice(SCALED)
    replicas = random.choice([0, 1, 2, 3, 4, 5, 6, 12])
    patch = {"spec": {"replicas": replicas}}
    part = random.choice(["", "scale"])
    world.write(person, Patch(resource, namespace, _name(resource, random), patch, "merge", part))


def _template(world: World, random: Random) -> None:
    person, namespace = who(random)
    resource = random.choice(TEMPLATED)
    containers = [{"name": "main", "image": documents.image(random)}]
    patch = {"spec": {"template": {"spec": {"containers": containers}}}}
    world.write(person, Patch(resource, namespace, _name(resource, random), patch, "strategic"))


def _pause(world: World, random: Random) -> None:
    person, namespace = who(random)
    name = _name("deployments.apps", random)
    world.write(person, Patch("deployments.apps", namespace, name, {"spec": {"paused": random.random() < 0.5}}))


def _strategy(world: World, random: Random) -> None:
    person, namespace = who(random)
    resource = random.choice(["deployments.apps", "statefulsets.apps", "daemonsets.apps"])
    spec: Document
    if resource == "deployments.apps":
        strategy = documents.deployment_strategy(random)
        spec = {"strategy": {"rollingUpdate": None, **strategy}, "minReadySeconds": random.choice([0, 3])}
    elif resource == "statefulsets.apps":
        update: Document = {"type": random.choice(["RollingUpdate", "OnDelete"]), "rollingUpdate": None}
        if update["type"] == "RollingUpdate":
            update["rollingUpdate"] = {"partition": random.randrange(3)}
        spec = {"updateStrategy": update}
    else:
        surge = random.random() < 0.5
        rolling = {"maxSurge": 1 if surge else 0, "maxUnavailable": 0 if surge else 1}
        spec = {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling}}
    world.write(person, Patch(resource, namespace, _name(resource, random), {"spec": spec}))


def _delete(world: World, random: Random) -> None:
    person, namespace = who(random)
    resource = random.choice(DELETED)
    name = _name(resource, random)
    if resource in ("services", "horizontalpodautoscalers.autoscaling"):
        name = f"deployment-{random.choice(NAMES)}"
    how = random.choice(["", "Background", "Background", "Foreground", "Orphan"])
    world.write(person, Delete(resource, namespace, name, propagation=how))  # type: ignore[arg-type]


def _stale(world: World, random: Random) -> None:
    """Read now, write much later: what was written in between must not get lost unseen."""
    person, namespace = who(random)
    resource = random.choice(DELETED)
    place = (resource, namespace, _name(resource, random))
    known = world.kept.pop(place, None)
    if known is None:
        document = world.get(*place)
        if document is not None:
            world.kept[place] = document
        return
    document = copy_object(known)
    document["metadata"].setdefault("annotations", {})["example.dev/late"] = str(random.randrange(9))
    if random.random() < 0.4:
        del document["metadata"]["resourceVersion"]
    current = world.get(*place)
    stored = world.write(person, Update(*place, document))
    if stored is not None and "resourceVersion" in document["metadata"]:
        assert current is not None
        same = current["metadata"]["resourceVersion"] == document["metadata"]["resourceVersion"]
        assert same, f"a stale write of {place} was taken"


def _relabel(world: World, random: Random) -> None:
    person, namespace = who(random)
    pods = world.list("pods", namespace)
    if pods:
        labels = {random.choice(["app", "team"]): random.choice([None, "a", "deployment-web", "replicaset-db"])}
        name = random.choice(pods)["metadata"]["name"]
        world.write(person, Patch("pods", namespace, name, {"metadata": {"labels": labels}}))


def _hold(world: World, random: Random) -> None:
    """Put a finalizer on an object, or take it away again."""
    person, namespace = who(random)
    resource = random.choice(("pods", *DELETED))
    there = world.list(resource, namespace)
    if there:
        one = random.choice(there)["metadata"]
        finalizers = [name for name in one.get("finalizers") or () if name != "example.dev/hold"]
        if len(finalizers) == len(one.get("finalizers") or ()):
            finalizers.append("example.dev/hold")
        world.write(person, Patch(resource, namespace, one["name"], {"metadata": {"finalizers": finalizers}}))


def _status(world: World, random: Random) -> None:
    """Write nonsense into a status that a controller keeps."""
    resource = random.choice(("replicasets.apps", "statefulsets.apps", "daemonsets.apps", "deployments.apps"))
    there = world.list(resource)
    if there:
        one = random.choice(there)["metadata"]
        key = "numberReady" if resource == "daemonsets.apps" else "readyReplicas"
        patch = {"status": {key: 0, "observedGeneration": 0}}
        world.write(TEACHER, Patch(resource, one["namespace"], one["name"], patch, "merge", "status"))


def _suspend(world: World, random: Random) -> None:
    person, namespace = who(random)
    resource = random.choice(["jobs.batch", "cronjobs.batch"])
    patch = {"spec": {"suspend": random.random() < 0.5}}
    world.write(person, Patch(resource, namespace, _name(resource, random), patch))


def _delete_pod(world: World, random: Random) -> None:
    person, namespace = who(random)
    pods = world.list("pods", namespace)
    if pods:
        grace = random.choice([None, None, 0, 3])
        name = random.choice(pods)["metadata"]["name"]
        world.write(person, Delete("pods", namespace, name, grace_period_seconds=grace))


def _evict(world: World, random: Random) -> None:
    person, namespace = who(random)
    pods = world.list("pods", namespace)
    if pods:
        _evict_one(world, random.choice(pods), person)


def _evict_one(world: World, pod: Document, person: object = TEACHER) -> None:
    metadata = {"name": pod["metadata"]["name"], "namespace": pod["metadata"]["namespace"]}
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
    world.write(person, Create("pods", metadata["namespace"], body, "eviction"))  # type: ignore[arg-type]


def _order(world: World, random: Random) -> None:
    """Tell a pod's kubelet how it runs."""
    person, namespace = who(random)
    pods = world.list("pods", namespace)
    if pods:
        key, value = random.choice(
            [("run", "unready"), ("run", "fail"), ("run", "complete"), ("run", None), ("failing-probes", "readiness")]
        )
        patch = {"metadata": {"annotations": {f"{PREFIX}/{key}": value}}}
        world.write(person, Patch("pods", namespace, random.choice(pods)["metadata"]["name"], patch))


def _trespass(world: World, random: Random) -> None:
    """A student writes where nobody of theirs may."""
    student, other = random.sample(PEOPLE[1:], 2)
    before = world.store.revision
    choices = [
        Delete("pods", other.namespace, "pod-web"),
        Patch("nodes", "", "n0", {"spec": {"unschedulable": True}}),
        Create("resourcequotas", student.namespace, documents.quota(random, student.namespace, "mine")),
        Delete("namespaces", "", other.namespace),
        Patch("clocks.clustersim.io", "", "clock", {"spec": {"paused": True}}),
    ]
    assert world.write(student, random.choice(choices)) is None, "a student may write there"
    assert world.store.revision == before, "a refused write left something"


# -- nodes and machines ---------------------------------------------------------------------------------------------


def _node_name(random: Random) -> str:
    return f"n{random.randrange(NODES)}"


def _node(world: World, random: Random) -> None:
    number = random.randrange(NODES)
    world.write(TEACHER, Create("nodes", "", documents.node(f"n{number}", ZONES[number % 3])))


def _delete_node(world: World, random: Random) -> None:
    world.write(TEACHER, Delete("nodes", "", _node_name(random)))


def _cordon(world: World, random: Random) -> None:
    world.write(TEACHER, Patch("nodes", "", _node_name(random), {"spec": {"unschedulable": random.random() < 0.5}}))


def _drain(world: World, random: Random) -> None:
    name = _node_name(random)
    world.write(TEACHER, Patch("nodes", "", name, {"spec": {"unschedulable": True}}))
    for pod in world.list("pods"):
        if pod["spec"].get("nodeName") == name:
            _evict_one(world, pod)


def _taint(world: World, random: Random) -> None:
    name = _node_name(random)
    node = world.get("nodes", "", name)
    if node is not None:
        taints = [taint for taint in node["spec"].get("taints") or () if taint["key"] != "example.dev/busy"]
        if random.random() < 0.5:
            taints.append({"key": "example.dev/busy", "effect": random.choice(["NoSchedule", "NoExecute"])})
        world.write(TEACHER, Patch("nodes", "", name, {"spec": {"taints": taints}}))


def _machine(world: World, random: Random) -> None:
    value = random.choice(["off", "off", "gone", None, None, None])
    patch = {"metadata": {"annotations": {f"{PREFIX}/kubelet": value}}}
    world.write(TEACHER, Patch("nodes", "", _node_name(random), patch))


def _pressure(world: World, random: Random) -> None:
    patch = {"metadata": {"annotations": {f"{PREFIX}/pressure": random.choice([None, "memory", "disk"])}}}
    world.write(TEACHER, Patch("nodes", "", _node_name(random), patch))


# -- what befalls the control plane ---------------------------------------------------------------------------------


def _fault(world: World, random: Random) -> None:
    component = random.choice(["kube-scheduler", "kube-controller-manager"])
    kind = random.choice(
        ["crash", "release", "partition", "skew", "rate", "slow-watch", "drop-watch", "pause", *["recover"] * 4]
    )
    fault(world, f"{component}-{random.randrange(REPLICAS)}", kind, random)


def fault(world: World, identity: str, kind: str, random: Random) -> None:
    """Let a replica have a fault."""
    world.faults += 1
    asked: Document = {"id": world.faults, "kind": kind, "seconds": None, "rate": None}
    if kind in ("crash", "partition", "pause", "drop-watch"):
        asked["seconds"] = random.choice([1, 8, 20, 60])
    elif kind == "skew":
        asked["seconds"] = random.choice([-30, 5, 300])
    elif kind == "slow-watch":
        asked["seconds"] = random.choice([0.5, 3, 20])
    elif kind == "rate":
        asked["rate"] = random.choice([0.1, 0.5, 2])
        asked["seconds"] = random.choice([30, 120])
    world.books.troubled(identity, kind)
    world.command(Patch("replicas.clustersim.io", "", identity, {"spec": {"fault": asked}}))


def _owner(world: World, random: Random) -> None:
    world.lose_owner()


def _compact(world: World, random: Random) -> None:
    # Never past what the owner has read: retention keeps the newest rows (docs/limits.md).
    world.cluster.pull()
    world.run(0)
    world.store.compact(max(0, world.cluster._loop.position - random.choice([0, 50, 2_000])))


def _pace(world: World, random: Random) -> None:
    world.command(Patch("clocks.clustersim.io", "", "clock", {"spec": {"pace": random.choice([0, 0, 30])}}))


def _flags(world: World, random: Random) -> None:
    if world.get(FLAGS, "", FLAGS_NAME) is None:
        metadata = {"name": FLAGS_NAME}
        world.command(Create(FLAGS, "", {"apiVersion": "clustersim.io/v1", "kind": "Flags", "metadata": metadata}))
    flag, value = random.choice(
        [
            ("burst-replicas", random.choice(["2", "500"])),
            ("concurrent-replicaset-syncs", random.choice(["1", "5"])),
            ("node-monitor-grace-period", random.choice(["20s", "50s"])),
            ("terminated-pod-gc-threshold", random.choice(["3", "12500"])),
        ]
    )
    world.command(Patch(FLAGS, "", FLAGS_NAME, {"spec": {"kube-controller-manager": {flag: value}}}))


def _wait(world: World, random: Random) -> None:
    (milliseconds,) = random.choices(WAITS_MS, WAIT_WEIGHTS)
    how = random.random()
    if how < AMID:
        step = Step(random.choice(AMIDST), random.randrange(1 << 16), random.randrange(1 << 16))
        world.run(milliseconds, random.randrange(1, 40), lambda: do(world, step))
    else:
        if how < AMID + RACED:
            world.race(random.randrange(1, 12), lambda asked: get_there_first(world, random, asked))
        world.run(milliseconds)


ACTS: Mapping[str, Act] = {
    "wait": _wait,
    **{word: _workload(word) for word in WORKLOADS},
    **{word: _other(word) for word in OTHERS},
    **{word: _for_students(word) for word in FOR_STUDENTS},
    "namespace": _namespace,
    "scale": _scale,
    "template": _template,
    "pause": _pause,
    "strategy": _strategy,
    "delete": _delete,
    "stale": _stale,
    "relabel": _relabel,
    "hold": _hold,
    "status": _status,
    "suspend": _suspend,
    "delete_pod": _delete_pod,
    "evict": _evict,
    "order": _order,
    "trespass": _trespass,
    "node": _node,
    "delete_node": _delete_node,
    "cordon": _cordon,
    "drain": _drain,
    "taint": _taint,
    "machine": _machine,
    "pressure": _pressure,
    "fault": _fault,
    "owner": _owner,
    "compact": _compact,
    "pace": _pace,
    "flags": _flags,
}
AMIDST = [word for word in ACTS if word != "wait"]
"""What may happen in the middle of a wait."""

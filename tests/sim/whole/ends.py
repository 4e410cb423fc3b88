"""What must be true in the end, once faults are healed and nobody writes any more: what was asked is reached."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from controllers.kit.pods import controller_of
from controllers.log.operations import Create, Delete, Patch
from controllers.quota.evaluator import counted_for, evaluator_of
from controllers.quota.usage import add, equal, only, read
from scheduler_core.api.document import Document, condition
from tests.sim.whole import documents
from tests.sim.whole.books import COMPONENTS, ENDED, RESOURCES
from tests.sim.whole.documents import PREFIX
from tests.sim.whole.leaks import leaks
from tests.sim.whole.world import NODES, PEOPLE, REPLICAS, ZONES, World

TEACHER = PEOPLE[0]
SLICES = "endpointslices.discovery.k8s.io"
SETTLE_MS = 60_000
SETTLE_ROUNDS = 40
"""Forty minutes: back-offs of crashing containers go up to five, expectations hold for five, Jobs wait for six."""


def heal(world: World) -> None:
    """End every fault, let every machine run, and hold nothing back any more."""
    world.run(0)
    for component in COMPONENTS:
        for number in range(REPLICAS):
            world.faults += 1
            fault = {"id": world.faults, "kind": "recover", "seconds": None, "rate": None}
            world.command(Patch("replicas.clustersim.io", "", f"{component}-{number}", {"spec": {"fault": fault}}))
    world.command(Patch("clocks.clustersim.io", "", "clock", {"spec": {"pace": 0}}))
    for resource in RESOURCES:
        for one in world.list(resource):
            metadata = one["metadata"]
            kept = [name for name in metadata.get("finalizers") or () if name != "example.dev/hold"]
            if kept != (metadata.get("finalizers") or []):
                patch = {"metadata": {"finalizers": kept}}
                world.write(TEACHER, Patch(resource, metadata.get("namespace", ""), metadata["name"], patch))
    for one in world.list("cronjobs.batch"):
        place = one["metadata"]["namespace"], one["metadata"]["name"]
        world.write(TEACHER, Patch("cronjobs.batch", *place, {"spec": {"suspend": True}}))
    for number in range(NODES):
        name = f"n{number}"
        node = world.get("nodes", "", name)
        if node is None:
            world.write(TEACHER, Create("nodes", "", documents.node(name, ZONES[number % 3])))
            continue
        taints = [taint for taint in node["spec"].get("taints") or () if taint["key"] != "example.dev/busy"]
        patch = {
            "metadata": {"annotations": {f"{PREFIX}/kubelet": None, f"{PREFIX}/pressure": None}},
            "spec": {"unschedulable": None, "taints": taints},
        }
        world.write(TEACHER, Patch("nodes", "", name, patch))


def sweep(world: World) -> int:
    """Delete what kubelets refused of DaemonSets, and return how many pods that were.

    With maxSurge a DaemonSet makes pods as fast as a kubelet under pressure refuses them, and takes each away only
    after a back-off of up to a quarter of an hour (`podsShouldBeOnNode`): a person would not wait for hours either.
    """
    ended = [pod for pod in world.list("pods") if pod["status"].get("phase") == "Failed"]
    failed = [pod for pod in ended if (controller_of(pod) or {}).get("kind") == "DaemonSet"]
    for pod in failed:
        world.write(TEACHER, Delete("pods", pod["metadata"]["namespace"], pod["metadata"]["name"]))
    return len(failed)


def settle(world: World) -> None:
    """Let everything come to rest, and check that it has.

    Raises:
        AssertionError: something does not come to what was asked; what, stands in its text.
    """
    heal(world)
    found: list[str] = []
    for _ in range(SETTLE_ROUNDS):
        world.run(SETTLE_MS)
        swept = sweep(world)
        found = [f"{swept} pods of DaemonSets have just failed"] if swept else list(complaints(world))
        if not found:
            world.books.level()
            found = leaks(world)
            assert not found, f"{len(found)} things are kept for ever: " + "; ".join(found[:8])
            return
    raise AssertionError(f"{len(found)} things do not come to rest: " + "; ".join(found[:8]))


def complaints(world: World) -> Iterator[str]:
    """Yield what is not as it was asked."""
    view = View(world)
    for check in (_nodes, _leaders, _ends, _owned, _pods, _replicated, _deployments, _stateful, _daemons, _jobs):
        yield from check(view)
    for check in (_autoscaled, _addresses, _quotas, _budgets, _namespaces, _observed):
        yield from check(view)


class View:
    """The cluster at rest, as the checks read it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.now_ms = world.store.epoch_ms + world.cluster.now_ms
        self.pods = world.list("pods")
        self.owned: dict[str, list[Document]] = {}
        for pod in self.pods:
            for reference in pod["metadata"].get("ownerReferences") or ():
                if reference.get("controller"):
                    self.owned.setdefault(reference["uid"], []).append(pod)

    def active(self, owner: Document) -> list[Document]:
        """Return the pods of an owner that have neither ended nor are ending."""
        pods = self.owned.get(owner["metadata"]["uid"], [])
        return [pod for pod in pods if pod["status"].get("phase") not in ENDED and not _is_ending(pod)]

    def refuses(self, owner: Document, template: Document) -> bool:
        """Return whether a pod of a template would be refused now."""
        metadata = {**template.get("metadata", {}), "generateName": "would-be-"}
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
        return self.world.would_refuse(Create("pods", owner["metadata"]["namespace"], body))


def _title(document: Document) -> str:
    return f"{document['kind']} {document['metadata'].get('namespace', '')}/{document['metadata']['name']}"


def _is_ending(document: Document) -> bool:
    return "deletionTimestamp" in document["metadata"]


def _is_ready(pod: Mapping[str, object]) -> bool:
    told = condition(pod, "Ready")
    return told is not None and told["status"] == "True"


def _tells(document: Document, kind: str) -> bool:
    told = condition(document, kind)
    return told is not None and told["status"] == "True"


def why(pod: Document) -> str:
    """Return why a pod is not ready for good; empty: it has no reason."""
    annotations = pod["metadata"].get("annotations") or {}
    orders = annotations.get(f"{PREFIX}/run") or annotations.get(f"{PREFIX}/failing-probes")
    if orders:
        return f"ordered to: {orders}"
    scheduled = condition(pod, "PodScheduled")
    if not pod["spec"].get("nodeName"):
        return scheduled.get("message", "") if scheduled is not None and scheduled["status"] == "False" else ""
    for container in pod["spec"]["containers"]:
        if "crash" in container["image"] or "does-not-exist" in container["image"]:
            return f"image {container['image']}"
    return ""


# -- nodes, leaders, and what is general ----------------------------------------------------------------------------


def _nodes(view: View) -> Iterator[str]:
    nodes = view.world.list("nodes")
    if len(nodes) != NODES:
        yield f"{len(nodes)} nodes"
    for node in nodes:
        if not _tells(node, "Ready") or node["spec"].get("taints") or node["spec"].get("unschedulable"):
            yield f"{_title(node)} does not take pods: {node['spec']}"


def _leaders(view: View) -> Iterator[str]:
    for component in COMPONENTS:
        leading = [
            one["metadata"]["name"]
            for one in view.world.list("replicas.clustersim.io")
            if one["spec"]["component"] == component and one["status"].get("leading")
        ]
        holder = view.world.books.holders.get(component, ("", 0))[0]
        if leading != [holder]:
            yield f"{component}: {leading} lead, the Lease names {holder!r}"


def _ends(view: View) -> Iterator[str]:
    for resource in RESOURCES:
        for one in view.world.list(resource):
            if _is_ending(one):
                yield f"{_title(one)} ends and does not go: {one['metadata'].get('finalizers')}"


def _owned(view: View) -> Iterator[str]:
    uids = {one["metadata"]["uid"] for resource in RESOURCES for one in view.world.list(resource)}
    for resource in RESOURCES:
        for one in view.world.list(resource):
            references = one["metadata"].get("ownerReferences") or ()
            if references and not any(reference["uid"] in uids for reference in references):
                yield f"{_title(one)} has no owner any more"


def _observed(view: View) -> Iterator[str]:
    for resource in (
        "deployments.apps",
        "replicasets.apps",
        "replicationcontrollers",
        "statefulsets.apps",
        "daemonsets.apps",
    ):
        for one in view.world.list(resource):
            seen = (one.get("status") or {}).get("observedGeneration")
            if seen != one["metadata"]["generation"]:
                yield f"{_title(one)}: generation {one['metadata']['generation']}, observed {seen}"


def _namespaces(view: View) -> Iterator[str]:
    for one in view.world.list("namespaces"):
        name = one["metadata"]["name"]
        if view.world.get("serviceaccounts", name, "default") is None:
            yield f"namespace {name} has no account default"
        found = view.world.get("configmaps", name, "kube-root-ca.crt")
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kube-root-ca.crt"}}
        if found is None and not view.world.would_refuse(Create("configmaps", name, body)):
            yield f"namespace {name} has no kube-root-ca.crt"


# -- pods and workloads ---------------------------------------------------------------------------------------------


def _pods(view: View) -> Iterator[str]:
    nodes = {one["metadata"]["name"] for one in view.world.list("nodes")}
    for pod in view.pods:
        place, phase = pod["spec"].get("nodeName"), pod["status"].get("phase")
        if place and place not in nodes:
            yield f"{_title(pod)} is on {place}, which is gone"
        if phase not in ENDED and not _is_ready(pod) and not why(pod) and not _works(pod):
            yield f"{_title(pod)} is {phase} and not ready, nobody says why"


def _works(pod: Document) -> bool:
    """Return whether a pod is one of a Job's, or was until that went without it: they end, or fail over and over."""
    return "job-name" in (pod["metadata"].get("labels") or {})


def _replicated(view: View) -> Iterator[str]:
    for resource in ("replicasets.apps", "replicationcontrollers"):
        for one in view.world.list(resource):
            wanted, status = one["spec"]["replicas"], one.get("status") or {}
            pods = view.active(one)
            ready = sum(1 for pod in pods if _is_ready(pod))
            if (status.get("replicas", 0), status.get("readyReplicas", 0)) != (len(pods), ready):
                yield f"{_title(one)}: its status is {status}, there are {len(pods)} pods, {ready} ready"
            if len(pods) == wanted:
                continue
            if len(pods) > wanted or not _tells(one, "ReplicaFailure"):
                yield f"{_title(one)}: {len(pods)} of {wanted} pods and no word why"
            elif not view.refuses(one, one["spec"]["template"]):
                yield f"{_title(one)}: {len(pods)} of {wanted} pods, and another would be taken"


def _deployments(view: View) -> Iterator[str]:
    sets: dict[str, list[Document]] = {}
    for one in view.world.list("replicasets.apps"):
        for reference in one["metadata"].get("ownerReferences") or ():
            sets.setdefault(reference["uid"], []).append(one)
    for one in view.world.list("deployments.apps"):
        own = sets.get(one["metadata"]["uid"], [])
        pods = [pod for each in own for pod in view.active(each)]
        wanted, status = one["spec"]["replicas"], one.get("status") or {}
        if (status.get("replicas", 0), status.get("readyReplicas", 0)) != (
            len(pods),
            sum(1 for pod in pods if _is_ready(pod)),
        ):
            yield f"{_title(one)}: its status is {status}, there are {len(pods)} pods"
        if any(why(pod) for pod in pods) or any(_tells(each, "ReplicaFailure") for each in own):
            continue
        if one["spec"].get("paused") and not own:
            # Its first ReplicaSet is made when it goes on.
            continue
        if len(pods) != wanted:
            yield f"{_title(one)}: {len(pods)} of {wanted} pods and no word why"
        elif not one["spec"].get("paused") and status.get("updatedReplicas", 0) != wanted:
            yield f"{_title(one)}: {status.get('updatedReplicas', 0)} of {wanted} pods are of today's template"


def _stateful(view: View) -> Iterator[str]:
    for one in view.world.list("statefulsets.apps"):
        pods = view.active(one)
        wanted, name = one["spec"]["replicas"], one["metadata"]["name"]
        there = {pod["metadata"]["name"] for pod in pods}
        asked = {f"{name}-{number}" for number in range(wanted)}
        missing = sorted(asked - there)
        namespace = one["metadata"]["namespace"]
        # A pod that does not become ready holds all others up, and so does one that cannot be made.
        stuck = any(why(pod) for pod in pods) or any(view.world.get("pods", namespace, each) for each in missing)
        stuck = stuck or (bool(missing) and view.refuses(one, one["spec"]["template"]))
        if there - asked and not stuck:
            yield f"{_title(one)}: {sorted(there - asked)} are too many"
        if missing and not stuck:
            yield f"{_title(one)}: {missing} are missing and would be taken"
        ready = sum(1 for pod in pods if _is_ready(pod))
        if (one.get("status") or {}).get("readyReplicas", 0) != ready:
            yield f"{_title(one)}: its status is {one.get('status')}, {ready} are ready"


def _daemons(view: View) -> Iterator[str]:
    for one in view.world.list("daemonsets.apps"):
        pods = view.active(one)
        places = sorted(str(pod["spec"].get("nodeName")) for pod in pods if pod["spec"].get("nodeName"))
        status = one["status"]
        everywhere = places == [f"n{number}" for number in range(NODES)]
        if everywhere and status.get("desiredNumberScheduled", 0) < NODES:
            # Its pods outlived nodes that soon came back, which calls for no look (syncNodeUpdate): one later counts.
            continue
        if status.get("desiredNumberScheduled") != NODES:
            yield f"{_title(one)}: wants {status.get('desiredNumberScheduled')} pods on {NODES} nodes"
        excused = any(why(pod) for pod in pods) or view.refuses(one, one["spec"]["template"])
        if not excused and not everywhere:
            yield f"{_title(one)}: pods are on {places}"
        if not excused and status.get("numberReady") != NODES:
            yield f"{_title(one)}: {status}"


def _jobs(view: View) -> Iterator[str]:
    for one in view.world.list("jobs.batch"):
        pods, status = view.active(one), one.get("status") or {}
        over = condition(one, "Complete") or condition(one, "Failed")
        if over is not None:
            # Who hears late that a Job is over makes another pod, which nobody takes away: upstream's manager, too.
            pods = [pod for pod in pods if pod["metadata"]["creationTimestamp"] < over["lastTransitionTime"]]
            if pods or status.get("active"):
                yield f"{_title(one)} is over and has {len(pods)} pods, status {status}"
            continue
        if one["spec"].get("suspend"):
            if pods or not _tells(one, "Suspended"):
                yield f"{_title(one)} is suspended, has {len(pods)} pods, status {status}"
            continue
        if not any(why(pod) for pod in pods) and not view.refuses(one, one["spec"]["template"]):
            yield f"{_title(one)} is not over: {status}"
    jobs = {one["metadata"]["uid"] for one in view.world.list("jobs.batch")}
    for one in view.world.list("cronjobs.batch"):
        for reference in (one.get("status") or {}).get("active") or ():
            if reference["uid"] not in jobs:
                yield f"{_title(one)} lists {reference['name']}, which is gone"


def _autoscaled(view: View) -> Iterator[str]:
    for one in view.world.list("horizontalpodautoscalers.autoscaling"):
        place = one["metadata"]["namespace"], one["spec"]["scaleTargetRef"]["name"]
        target = view.world.get("deployments.apps", *place)
        if condition(one, "AbleToScale") is None:
            yield f"{_title(one)} has not looked"
        if target is not None and target["spec"]["replicas"]:
            least, most = one["spec"]["minReplicas"], one["spec"]["maxReplicas"]
            if not least <= target["spec"]["replicas"] <= most:
                yield f"{_title(one)}: {target['spec']['replicas']} is not from {least} to {most}"


# -- addresses, quotas, budgets -------------------------------------------------------------------------------------


def _addresses(view: View) -> Iterator[str]:
    world = view.world
    services = {(one["metadata"]["namespace"], one["metadata"]["name"]): one for one in world.list("services")}
    told: dict[tuple[str, str], set[str]] = {}
    for one in world.list(SLICES):
        place = one["metadata"]["namespace"], one["metadata"]["labels"]["kubernetes.io/service-name"]
        if place not in services and one["metadata"].get("ownerReferences"):
            yield f"{_title(one)} is of a Service that is gone"
        for entry in one.get("endpoints") or ():
            if entry["conditions"].get("ready") and "targetRef" in entry:
                told.setdefault(place, set()).add(entry["targetRef"]["name"])
    for place, service in services.items():
        selector = service["spec"].get("selector")
        if not selector:
            continue
        early = service["spec"].get("publishNotReadyAddresses")
        wanted = {
            pod["metadata"]["name"]
            for pod in view.pods
            if pod["metadata"]["namespace"] == place[0]
            and selector.items() <= (pod["metadata"].get("labels") or {}).items()
            and pod["status"].get("podIP")
            and pod["status"].get("phase") not in ENDED
            and (early or (_is_ready(pod) and not _is_ending(pod)))
        }
        endpoints = world.get("endpoints", *place)
        listed = {
            address["targetRef"]["name"]
            for subset in (endpoints or {}).get("subsets") or ()
            for address in subset.get("addresses") or ()
        }
        if endpoints is None or listed != wanted:
            yield f"{_title(service)}: its Endpoints are {sorted(listed)}, ready are {sorted(wanted)}"
        if told.get(place, set()) != wanted:
            yield f"{_title(service)}: its slices are {sorted(told.get(place, ()))}, ready are {sorted(wanted)}"
    for one in world.list("endpoints"):
        if (one["metadata"]["namespace"], one["metadata"]["name"]) not in services:
            yield f"{_title(one)} is of a Service that is gone"


def _quotas(view: View) -> Iterator[str]:
    for quota in view.world.list("resourcequotas"):
        hard, status = quota["spec"].get("hard") or {}, quota.get("status") or {}
        if status.get("hard") != hard:
            yield f"{_title(quota)} asks for {hard} and holds to {status.get('hard')}"
            continue
        used = dict.fromkeys(hard, read({"n": "0"})["n"])
        for resource in counted_for(hard):
            for one in view.world.list(resource, quota["metadata"]["namespace"]):
                used = add(used, only(evaluator_of(resource).usage(one, view.now_ms), hard))
        if not equal(read(status.get("used")), used):
            yield f"{_title(quota)} says {status.get('used')}, used is {used}"


def _budgets(view: View) -> Iterator[str]:
    for one in view.world.list("poddisruptionbudgets.policy"):
        labels = one["spec"]["selector"]["matchLabels"]
        healthy = sum(
            1
            for pod in view.pods
            if pod["metadata"]["namespace"] == one["metadata"]["namespace"]
            and labels.items() <= (pod["metadata"].get("labels") or {}).items()
            and _is_ready(pod)
            and not _is_ending(pod)
        )
        status = one.get("status") or {}
        told = condition(one, "DisruptionAllowed")
        if told is not None and told["reason"] == "SyncFailed":
            # Upstream counts no percentage of pods whose owner has no scale.
            continue
        if status.get("currentHealthy") != healthy or status.get("disruptedPods"):
            yield f"{_title(one)}: {healthy} are healthy, its status is {status}"

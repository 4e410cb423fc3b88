"""Scales workloads by what their pods use.

Source: pkg/controller/podautoscaler/horizontal.go, v1.34. Usage is the simulated one that `kubectl top` shows.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, ClassVar, Final

from controllers.flags import controllermanager as flags
from controllers.kinds.autoscaling.metrics import SOURCES
from controllers.kinds.clustersim.client import RESOURCE as CLIENTS
from controllers.kinds.metrics.load import Loads, loads_of, senders_of, sends
from controllers.kinds.table import KINDS
from controllers.kit.interest import NAMESPACE, UID
from controllers.kit.manager import Reconcile, Setup, Work, key_of, must, split_key
from controllers.kit.ownership import labels_of, requirements_of
from controllers.log.operations import Operation, Result, Update
from controllers.log.stamps import wire_time
from controllers.podautoscaler.calculator import Proposal, Settings, Unknown, propose
from controllers.podautoscaler.limits import Memory, decide
from controllers.registry.kind import Kind
from scheduler_core.api.document import Document
from scheduler_core.api.selectors import Requirement, matches_all

AUTOSCALERS: Final = "horizontalpodautoscalers.autoscaling"
_SENDS: Final = "sends"
"""The index key of pods whose command sends requests again and again."""

MEMORY_MS: Final = 3_600_000
"""Recommendations and changes are kept for the longest window that there can be."""

Steps = Generator[Sequence[Operation], Sequence[Result], None]
_Selector = tuple[Requirement, ...]


class HorizontalController:
    """Reconciles HorizontalPodAutoscalers, each once a sync period."""

    NAME: ClassVar[str] = "horizontal-pod-autoscaler"
    RESOURCES: ClassVar[tuple[str, ...]] = (AUTOSCALERS, "pods", "services", CLIENTS)

    def __init__(self, setup: Setup) -> None:
        """Index pods by namespace and listen to autoscalers."""
        self._scalers = setup.informers[AUTOSCALERS]
        self._pods = setup.informers["pods"]
        self._services, self._clients = setup.informers["services"], setup.informers[CLIENTS]
        self._queue, self._flags = setup.queue, setup.flags
        self._memories: dict[str, Memory] = {}
        self._selectors: dict[str, _Selector] = {}
        """Key → what the pods of its target are selected by, since it was last looked at."""
        self._pods.add_index("namespace", _namespace, of=(NAMESPACE,))
        self._pods.add_index("senders", _senders, of=(UID,))
        self._scalers.add_handler(self._changed)

    def _changed(self, old: Document | None, new: Document | None) -> None:
        document = new or old
        assert document is not None, "a change has a state before or after"
        key = key_of(document)
        if new is None:
            self._memories.pop(key, None)
            self._selectors.pop(key, None)
        elif old is None:
            # As upstream: every look is a sync period after the one before, and the first after the beginning.
            self._queue.add_after(key, self._flags[flags.HPA_SYNC_PERIOD])

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Look at one autoscaler, and again after a sync period."""
        scaler = self._scalers.get(*split_key(key))
        if scaler is None:
            return
        work.queue.add_at(key, work.now_ms + work.flags[flags.HPA_SYNC_PERIOD])
        memory = self._memories.setdefault(key, Memory())
        memory.forget(work.now_ms - MEMORY_MS)
        yield from _Look(key, scaler, work, memory).run(self)

    def loads(self) -> Loads:
        """Return what requests make pods use now."""
        senders = senders_of(self._pods.indexed("senders", _SENDS), self._clients.all())
        return loads_of(senders, self._services.each, lambda namespace: self._pods.indexed("namespace", namespace))

    def pods_of(self, namespace: str, selector: _Selector) -> list[Document]:
        """Return the pods that a selector finds."""
        found = self._pods.indexed("namespace", namespace)
        return [pod for pod in found if matches_all(selector, labels_of(pod))]

    def rivals(self, key: str, selector: _Selector, pods: Sequence[Document]) -> list[str]:
        """Return the keys of all autoscalers of the namespace whose targets have one of these pods."""
        self._selectors[key] = selector
        namespace = key.partition("/")[0]
        return sorted(
            other
            for other, wanted in self._selectors.items()
            if other.partition("/")[0] == namespace and any(matches_all(wanted, labels_of(pod)) for pod in pods)
        )


class _Look:
    """One look at one autoscaler."""

    def __init__(self, key: str, scaler: Document, work: Work, memory: Memory) -> None:
        self._key, self._scaler, self._work, self._memory = key, scaler, work, memory
        self._spec: Mapping[str, Any] = scaler["spec"]
        self._before: Document = dict(scaler.get("status") or {})
        self._status: Document = dict(self._before)
        self._conditions = [dict(one) for one in self._before.get("conditions") or ()]

    def run(self, home: HorizontalController) -> Steps:
        """Read the target's scale, compute, and scale."""
        target, namespace = self._spec["scaleTargetRef"], self._scaler["metadata"]["namespace"]
        kind, why = _kind_of(target)
        stored = None if kind is None else self._work.tick.get(kind.resource, namespace, target["name"])
        if kind is None or stored is None:
            why = why or f'{kind.resource if kind is not None else ""} "{target["name"]}" not found'
            self._warn("FailedGetScale", why)
            text = f"the HPA controller was unable to get the target's current scale: {why}"
            self._say("AbleToScale", "False", "FailedGetScale", text)
            yield from self._write()
            return
        text = "the HPA controller was able to get the target's current scale"
        self._say("AbleToScale", "True", "SucceededGetScale", text)
        current = int((stored.object.get("spec") or {}).get("replicas", 1))
        if not self._memory.recommended:
            self._memory.recommended.append((self._work.now_ms, current))
        try:
            desired, reason, metrics = self._desired(home, stored.object, current)
        except Unknown as error:
            self._set_replicas(current, int(self._before.get("desiredReplicas") or 0))
            yield from self._write()
            self._warn("FailedComputeMetricsReplicas", str(error))
            return
        self._work.tell(
            reason or "usage as aimed at",
            desired={"status.desiredReplicas": desired},
            actual={"spec.replicas of the target": current},
        )
        if desired != current and not (current == 0 and int(self._spec.get("minReplicas") or 1)):
            done = yield from self._rescale(kind, stored.object, current, desired, reason)
            if not done:
                return
        self._set_replicas(current, desired)
        self._status["currentMetrics"] = metrics
        yield from self._write()

    def _desired(
        self, home: HorizontalController, target: Document, current: int
    ) -> tuple[int, str, list[Document] | None]:
        """Return (replicas, why, what was measured)."""
        least, most = int(self._spec.get("minReplicas") or 1), int(self._spec["maxReplicas"])
        if current == 0:
            text = "scaling is disabled since the replica count of the target is zero"
            self._say("ScalingActive", "False", "ScalingDisabled", text)
            return 0, "", None
        if current > most:
            return most, "Current number of replicas above Spec.MaxReplicas", None
        if current < least:
            return least, "Current number of replicas below Spec.MinReplicas", None
        wanted, name = self._measured(home, target, current)
        reason = f"{name} above target" if wanted > current else ""
        if wanted < current:
            reason = "All metrics below target"
        window_ms = self._work.flags[flags.HPA_DOWNSCALE_STABILIZATION]
        verdict = decide(self._memory, self._spec, current, wanted, self._work.now_ms, window_ms)
        self._say("AbleToScale", "True", *verdict.able)
        self._say("ScalingLimited", "True" if verdict.is_limited else "False", *verdict.limited)
        return verdict.replicas, reason, self._status["currentMetrics"]

    def _measured(self, home: HorizontalController, target: Document, current: int) -> tuple[int, str]:
        """Return (the most replicas that a metric asks for, its name), and put what was measured into the status.

        Raises:
            Unknown: no metric can be had, or one cannot and the others would scale down.
        """
        pods = self._targets_pods(home, target)
        specs = self._spec.get("metrics") or ()
        loads = home.loads()
        statuses: list[Document] = []
        failed: list[tuple[str, str, Mapping[str, Any]]] = []
        best, name = 0, ""
        for metric in specs:
            try:
                proposal, named, status = self._one(metric, pods, current, loads)
            except Unknown as error:
                statuses.append({"type": ""})
                reason, why = f"Failed{_REASONS[metric['type']]}", str(error)
                failed.append((reason, why, metric))
                self._warn(reason, why)
                continue
            statuses.append(status)
            if best == 0 or proposal.replicas > best:
                best, name = proposal.replicas, named
        self._status["currentMetrics"] = statuses
        if failed and (len(failed) == len(specs) or best < current):
            reason, why, first = failed[0]
            text = f"the HPA was unable to compute the replica count: {why}"
            self._say("ScalingActive", "False", reason, text)
            text = (
                f"invalid metrics ({len(failed)} invalid out of {len(specs)}), first error is: {_where(first)}: {why}"
            )
            raise Unknown(text)
        text = f"the HPA was able to successfully calculate a replica count from {name}"
        self._say("ScalingActive", "True", "ValidMetricFound", text)
        return best, name

    def _targets_pods(self, home: HorizontalController, target: Document) -> list[Document]:
        self._status["currentMetrics"] = None
        given = (target.get("spec") or {}).get("selector") or {}
        written = given if {"matchLabels", "matchExpressions"} & set(given) else {"matchLabels": given}
        selector = requirements_of(written) if given else None
        if not selector:
            self._warn("SelectorRequired", "selector is required")
            text = "the HPA target's scale is missing a selector"
            self._say("ScalingActive", "False", "InvalidSelector", text)
            raise Unknown("selector is required")
        pods = home.pods_of(self._scaler["metadata"]["namespace"], selector)
        rivals = home.rivals(self._key, selector, pods)
        if len(rivals) > 1:
            named = _kind_of(self._spec["scaleTargetRef"])[0]
            scale = named.subresource("scale") if named is not None else None
            view = scale.view(target) if scale is not None and scale.view is not None else {}
            shown = (view.get("status") or {}).get("selector", "")
            text = f"pods by selector {shown} are controlled by multiple HPAs: [{' '.join(rivals)}]"
            self._warn("AmbiguousSelector", text)
            self._say("ScalingActive", "False", "AmbiguousSelector", text)
            raise Unknown(text)
        return pods

    def _one(
        self, metric: Mapping[str, Any], pods: list[Document], current: int, loads: Loads
    ) -> tuple[Proposal, str, Document]:
        kind = metric["type"]
        source = metric.get(SOURCES[kind]) or {}
        if kind not in ("Resource", "ContainerResource"):
            raise Unknown(_no_adapter(kind, source, self._scaler["metadata"]["namespace"]))
        target, resource = source.get("target") or {}, str(source.get("name"))
        settings = Settings(
            self._work.flags[flags.HPA_TOLERANCE],
            self._work.flags[flags.HPA_CPU_INITIALIZATION_PERIOD],
            self._work.flags[flags.HPA_INITIAL_READINESS_DELAY],
        )
        raw = target.get("averageValue") is not None
        container = str(source.get("container") or "")
        try:
            proposal = propose(current, pods, resource, target, container, settings, self._work.unix_ms, loads)
        except Unknown as error:
            raise Unknown(f"failed to get {resource} {'usage' if raw else 'utilization'}: {error}") from error
        inside = "container resource" if container else "resource"
        name = f"{resource} resource" if raw else f"{resource} {inside} utilization (percentage of request)"
        now: Document = {"averageValue": _quantity(resource, proposal.usage)}
        if proposal.percent is not None:
            now["averageUtilization"] = proposal.percent
        told: Document = {"name": resource, "current": now, **({"container": container} if container else {})}
        return proposal, name, {"type": kind, SOURCES[kind]: told}

    def _rescale(
        self, kind: Kind, target: Document, current: int, desired: int, reason: str
    ) -> Generator[Sequence[Operation], Sequence[Result], bool]:
        """Scale the target; whether that was done."""
        metadata = target["metadata"]
        known = {name: metadata[name] for name in ("name", "namespace", "resourceVersion")}
        body = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": known, "spec": {"replicas": desired}}
        results = yield [Update(kind.resource, metadata["namespace"], metadata["name"], body, "scale")]
        error = results[0].error
        if error is not None:
            self._warn("FailedRescale", f"New size: {desired}; reason: {reason}; error: {error.message}")
            text = f"the HPA controller was unable to update the target scale: {error.message}"
            self._say("AbleToScale", "False", "FailedUpdateScale", text)
            self._set_replicas(current, int(self._before.get("desiredReplicas") or 0))
            yield from self._write()
            return False
        text = f"the HPA controller was able to update the target scale to {desired}"
        self._say("AbleToScale", "True", "SucceededRescale", text)
        message = f"New size: {desired}; reason: {reason}"
        self._work.event(self._scaler, "HorizontalPodAutoscaler", "SuccessfulRescale", message)
        changes = self._memory.up if desired > current else self._memory.down
        changes.append((self._work.now_ms, abs(desired - current)))
        self._status["lastScaleTime"] = wire_time(self._work.unix_ms)
        return True

    # -- status -------------------------------------------------------------------------------------------------

    def _set_replicas(self, current: int, desired: int) -> None:
        self._status["currentReplicas"] = current
        if not current:
            del self._status["currentReplicas"]
        self._status["desiredReplicas"] = desired

    def _say(self, kind: str, status: str, reason: str, message: str) -> None:
        """Set a condition; its time is that of its last change of status."""
        fresh: Document = {"type": kind, "status": status}
        known = next((one for one in self._conditions if one["type"] == kind), None)
        since = known["lastTransitionTime"] if known is not None and known["status"] == status else None
        fresh |= {"lastTransitionTime": since or wire_time(self._work.unix_ms), "reason": reason, "message": message}
        if known is None:
            self._conditions.append(fresh)
        else:
            self._conditions[self._conditions.index(known)] = fresh

    def _warn(self, reason: str, message: str) -> None:
        self._work.event(self._scaler, "HorizontalPodAutoscaler", reason, message, event_type="Warning")

    def _write(self) -> Steps:
        status = {**self._status, "conditions": self._conditions}
        status.setdefault("currentMetrics", None)
        status.setdefault("desiredReplicas", 0)
        if status == self._before:
            return
        metadata = self._scaler["metadata"]
        known = {name: metadata[name] for name in ("name", "uid", "resourceVersion")}
        body = {"metadata": known, "status": status}
        results = yield [Update(AUTOSCALERS, metadata["namespace"], metadata["name"], body, "status")]
        must(results[0])


_REASONS: Final = {
    "Resource": "GetResourceMetric",
    "ContainerResource": "GetContainerResourceMetric",
    "Pods": "GetPodsMetric",
    "Object": "GetObjectMetric",
    "External": "GetExternalMetric",
}


def _where(metric: Mapping[str, Any]) -> str:
    """Return how an error of a metric begins."""
    kind = metric["type"]
    source = metric.get(SOURCES[kind]) or {}
    name = (source.get("metric") or {}).get("name")
    what = {
        "Resource": f"{source.get('name')} resource metric",
        "ContainerResource": f"{source.get('container')} container metric",
        "External": f"{name} external metric",
        "Pods": "pods metric",
        "Object": "object metric",
    }
    target = source.get("target") or {}
    # Upstream says it twice where it divides by the pods, and of an external metric in any case.
    inner = ""
    if kind == "External" and target.get("averageValue") is None:
        inner = f": failed to get external metric {name}"
    elif kind == "External" or (kind == "Object" and target.get("type") == "AverageValue"):
        inner = f": failed to get {name} {kind.lower()} metric"
    return f"failed to get {what[kind]} value{inner}"


def _selector_text(selector: Mapping[str, Any] | None) -> str:
    """Return a selector as Go prints upstream's."""
    if selector is None:
        return "nil"
    labels = "".join(f"{key}: {value}," for key, value in sorted((selector.get("matchLabels") or {}).items()))
    terms = "".join(
        f"LabelSelectorRequirement{{Key:{one['key']},Operator:{one['operator']},"
        f"Values:[{' '.join(one.get('values') or ())}],}},"
        for one in selector.get("matchExpressions") or ()
    )
    listed = f"MatchExpressions:[]LabelSelectorRequirement{{{terms}}}"
    return f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},{listed},}}"


def _no_adapter(kind: str, source: Mapping[str, Any], namespace: str) -> str:
    """Return what is said of metrics that no server here has."""
    name = (source.get("metric") or {}).get("name")
    if kind == "External":
        why = f"the server could not find the requested resource (get {name}.external.metrics.k8s.io)"
        selector = _selector_text((source.get("metric") or {}).get("selector"))
        head = f"unable to get external metric {namespace}/{name}/{selector}"
        return f"{head}: unable to fetch metrics from external metrics API: {why}"
    why = "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered"
    if kind == "Pods":
        return f"unable to get metric {name}: {why}"
    target = source.get("describedObject") or {}
    return f"unable to get metric {name}: {target.get('kind')} on {namespace} {target.get('name')}/{why}"


def _kind_of(target: Mapping[str, Any]) -> tuple[Kind | None, str]:
    """Return the kind of a target that can be scaled, or why there is none."""
    group = str(target.get("apiVersion") or "").rpartition("/")[0]
    named = str(target.get("kind"))
    for kind in KINDS:
        if kind.kind == named and kind.group == group:
            if kind.subresource("scale") is None:
                return None, "the server could not find the requested resource"
            return kind, ""
    return None, f'no matches for kind "{named}" in group "{group}"'


def _quantity(resource: str, milli: int) -> str:
    """Return milli units as a quantity: `250m`, `2`; of memory in powers of 1024."""
    if milli % 1000 or not milli:
        return f"{milli}m" if milli else "0"
    whole = milli // 1000
    if resource != "memory":
        return str(whole)
    for suffix in ("", "Ki", "Mi", "Gi", "Ti"):
        if whole % 1024 or suffix == "Ti":
            return f"{whole}{suffix}"
        whole //= 1024
    raise AssertionError("the last suffix always ends the loop")


def _namespace(document: Document) -> list[str]:
    return [document["metadata"]["namespace"]]


def _senders(pod: Document) -> list[str]:
    return [_SENDS] if sends(pod) else []

"""Requests that a container's own commands send, through the cluster as it is at one moment.

Unlike a client's they meet proxies that have heard of everything: nothing is kept from one command to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from controllers.flags.flag import InForce
from controllers.kinds.clustersim.target import Target
from controllers.kubelet.logs import filled
from controllers.kubelet.shell.running import Came
from controllers.kubelet.stages.answers import Answers
from controllers.log.store import Stored
from controllers.proxy.exchange import Exchange, Record, rules_now, source_of
from controllers.proxy.network import Network
from controllers.proxy.rules import Rules
from controllers.proxy.serving import listener
from scheduler_core.api.document import Document

BODY_LENGTH_MAX: Final = 16 * 1024
"""Characters of an answer; the rest is cut."""

FORBIDDEN: Final = (
    '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"forbidden: User '
    '\\"system:anonymous\\" cannot get path \\"/\\"","reason":"Forbidden","details":{},"code":403}\n'
)

Lists = Callable[[str], tuple[Sequence[Stored], int]]
"""Returns the objects of a resource, and the revision at which they were read."""


class Asking:
    """The network of one moment."""

    def __init__(self, lists: Lists, flags: InForce, answers: Answers, unix_ms: int) -> None:
        """Read all that requests meet."""
        network = self._network = Network(flags)
        network.unix_ms = unix_ms
        for resource, reflector in network.informers.reflectors.items():
            reflector.listed(*lists(resource), watches=False)
        self._answers = answers
        self._rules: dict[str, Rules] = {}

    def send(self, pod: Document, target: Target, choose: Callable[[str, int], int]) -> Came:
        """Return what comes of a request of a pod, whether it runs still or not. `choose`: (what for, below) → draw."""
        record = Exchange(self._network, self._rules_of).send(source_of(pod), target, choose)
        if record.result == "ok" and not record.pod:
            # The API server, to somebody whom it does not know.
            return Came("ok", 403, "", record.address, FORBIDDEN)
        body = self._body(record, target) if record.result in ("ok", "error") else ""
        return Came(record.result, record.code, record.reason, record.address, body)

    def _rules_of(self, node: str) -> Rules:
        known = self._rules.get(node)
        if known is None:
            known = self._rules[node] = rules_now(self._network, node)
        return known

    def _body(self, record: Record, target: Target) -> str:
        """Return what the pod that answered says."""
        if record.result == "error":
            return f"{record.message}\n"
        namespace, _, name = record.pod.partition("/")
        pod = self._network.pods.get(namespace, name) or {"metadata": {}, "spec": {"containers": [{}]}}
        port = int(record.endpoint.rpartition(":")[2] or target.port)
        container = listener(pod, port) or pod["spec"]["containers"][0]
        text = self._answers.of_page(str(container.get("image", "")), target.path.partition("?")[0])
        address = str((pod.get("status") or {}).get("podIP") or "")
        names = {"pod": name, "namespace": namespace, "node": record.node, "ip": address}
        return filled(text, {**names, "path": target.path, "host": target.host})[:BODY_LENGTH_MAX]

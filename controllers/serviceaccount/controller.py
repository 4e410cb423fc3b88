"""Makes the ServiceAccount `default` and the ConfigMap `kube-root-ca.crt` of every namespace, and makes them again.

Source: k8s.io/kubernetes/pkg/controller/serviceaccount/serviceaccounts_controller.go,
pkg/controller/certificates/rootcacertpublisher.
"""

from __future__ import annotations

from typing import ClassVar, Final

from controllers.kit.manager import Reconcile, Setup, Work, must
from controllers.log.operations import Create, Update
from scheduler_core.api.document import Document

NAMESPACES: Final = "namespaces"
ACCOUNTS: Final = "serviceaccounts"
MAPS: Final = "configmaps"
ACCOUNT: Final = "default"
BUNDLE: Final = "kube-root-ca.crt"

_DESCRIPTION: Final = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)
_ANNOTATIONS: Final = {"kubernetes.io/description": _DESCRIPTION}

CERTIFICATE: Final = "-----BEGIN CERTIFICATE-----\nc2ltdWxhdGVk\n-----END CERTIFICATE-----\n"
"""Nothing in a simulated pod opens a connection: the bundle is there to be seen and mounted (`simulated`)."""


class _PerNamespace:
    """Queues a namespace when it appears, and when the object of a name in it changes or goes."""

    def __init__(self, setup: Setup, resource: str, name: str) -> None:
        self._namespaces = setup.informers[NAMESPACES]
        self._objects = setup.informers[resource]
        self._queue = setup.queue
        self._name = name
        self._namespaces.add_handler(self._namespace_changed)
        self._objects.add_handler(self._object_changed)

    def _namespace_changed(self, old: Document | None, new: Document | None) -> None:
        if new is not None and "deletionTimestamp" not in new["metadata"]:
            self._queue.add(new["metadata"]["name"])

    def _object_changed(self, old: Document | None, new: Document | None) -> None:
        if old is not None and old["metadata"]["name"] == self._name:
            self._queue.add(old["metadata"]["namespace"])

    def _is_active(self, namespace: str) -> bool:
        found = self._namespaces.get("", namespace)
        return found is not None and "deletionTimestamp" not in found["metadata"]


class ServiceAccounts(_PerNamespace):
    """Reconciles namespaces, by name."""

    NAME: ClassVar[str] = "serviceaccount"
    RESOURCES: ClassVar[tuple[str, ...]] = (NAMESPACES, ACCOUNTS)

    def __init__(self, setup: Setup) -> None:
        """Listen to namespaces and accounts."""
        super().__init__(setup, ACCOUNTS, ACCOUNT)

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Make the account that is missing."""
        present = self._objects.get(key, ACCOUNT) is not None
        missing = self._is_active(key) and not present
        work.tell("made" if missing else "as asked", desired={ACCOUNTS: ACCOUNT}, actual={"present": present})
        if not missing:
            return
        document: Document = {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": ACCOUNT, "namespace": key},
        }
        (result,) = yield [Create(ACCOUNTS, key, document)]
        if result.error is not None and result.error.reason != "AlreadyExists":
            must(result)


class RootCertificates(_PerNamespace):
    """Reconciles namespaces, by name."""

    NAME: ClassVar[str] = "root-ca-certificate-publisher"
    RESOURCES: ClassVar[tuple[str, ...]] = (NAMESPACES, MAPS)

    def __init__(self, setup: Setup) -> None:
        """Listen to namespaces and ConfigMaps."""
        super().__init__(setup, MAPS, BUNDLE)

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Make the bundle that is missing, and put right the one that was changed."""
        wanted = {"ca.crt": CERTIFICATE}
        present = self._objects.get(key, BUNDLE)
        good = present is not None and present.get("data") == wanted
        work.tell(
            "as asked" if good else "missing" if present is None else "changed by somebody: put right",
            desired={MAPS: BUNDLE},
            actual={"present": present is not None},
        )
        if not self._is_active(key):
            return
        if present is None:
            metadata = {"name": BUNDLE, "namespace": key, "annotations": dict(_ANNOTATIONS)}
            document: Document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": wanted}
            (result,) = yield [Create(MAPS, key, document)]
            if result.error is not None and result.error.reason != "AlreadyExists":
                must(result)
        elif present.get("data") != wanted:
            (result,) = yield [Update(MAPS, key, BUNDLE, {**present, "data": wanted})]
            must(result)

"""Flags of kube-apiserver. Source: k8s.io/apiserver/pkg/server/options, k8s.io/kubernetes/plugin/pkg/admission."""

from __future__ import annotations

from typing import Any, Final

from controllers.flags.flag import Component, Flag, listed, whole, word

_APISERVER: Final[Component] = "kube-apiserver"


def _prefix(text: str) -> None:
    if not text.startswith("/") or text.endswith("/") or len(text) > 100:
        raise ValueError("must begin with a slash, not end with one, and have at most 100 characters")


ETCD_PREFIX: Final = word(_APISERVER, "etcd-prefix", "/registry", "What the keys of objects begin with.", check=_prefix)

ADMISSION_PLUGINS: Final = (
    "AlwaysAdmit",
    "NamespaceLifecycle",
    "LimitPodHardAntiAffinityTopology",
    "LimitRanger",
    "ServiceAccount",
    "TaintNodesByCondition",
    "PodSecurity",
    "AlwaysPullImages",
    "Priority",
    "DefaultTolerationSeconds",
    "ExtendedResourceToleration",
    "DefaultStorageClass",
    "StorageObjectInUseProtection",
    "PersistentVolumeClaimResize",
    "RuntimeClass",
    "CertificateSubjectRestriction",
    "DefaultIngressClass",
    "MutatingAdmissionWebhook",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionWebhook",
    "ResourceQuota",
    "AlwaysDeny",
)
"""The plugins of `controllers.admission`, in the order in which they run."""


def _plugin(name: str) -> None:
    if name not in ADMISSION_PLUGINS:
        raise ValueError(f'admission plugin "{name}" is unknown')


ENABLE_ADMISSION_PLUGINS: Final = listed(
    _APISERVER,
    "enable-admission-plugins",
    "",
    "Plugins that run beside those that run by default.",
    check=_plugin,
)
DISABLE_ADMISSION_PLUGINS: Final = listed(
    _APISERVER, "disable-admission-plugins", "", "Plugins that do not run.", check=_plugin
)
NOT_READY_TOLERATION: Final = whole(
    _APISERVER,
    "default-not-ready-toleration-seconds",
    300,
    "For how long a new pod stays on a node that is not ready.",
)
UNREACHABLE_TOLERATION: Final = whole(
    _APISERVER,
    "default-unreachable-toleration-seconds",
    300,
    "For how long a new pod stays on a node that cannot be reached.",
)

TABLE: Final[tuple[Flag[Any], ...]] = (
    ENABLE_ADMISSION_PLUGINS,
    DISABLE_ADMISSION_PLUGINS,
    NOT_READY_TOLERATION,
    UNREACHABLE_TOLERATION,
    ETCD_PREFIX,
)

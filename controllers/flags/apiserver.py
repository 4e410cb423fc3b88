"""Flags of kube-apiserver. Source: k8s.io/apiserver/pkg/server/options, k8s.io/kubernetes/plugin/pkg/admission."""

from __future__ import annotations

from typing import Any, Final

from controllers.flags.flag import Component, Flag, word

_APISERVER: Final[Component] = "kube-apiserver"


def _prefix(text: str) -> None:
    if not text.startswith("/") or text.endswith("/") or len(text) > 100:
        raise ValueError("must begin with a slash, not end with one, and have at most 100 characters")


ETCD_PREFIX: Final = word(_APISERVER, "etcd-prefix", "/registry", "What the keys of objects begin with.", check=_prefix)

TABLE: Final[tuple[Flag[Any], ...]] = (ETCD_PREFIX,)

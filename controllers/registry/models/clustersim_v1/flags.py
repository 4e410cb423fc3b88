"""Flags: how components are started."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from controllers.registry.models.clustersim_v1.shape import Shape


class FlagsSpec(Shape, frozen=True):
    """FlagsSpec holds the flags that are set, by name; what each may be stands in `controllers.flags`."""

    kube_apiserver: Annotated[dict[str, str], Meta(description="Flags of kube-apiserver.")] = msgspec.field(
        default_factory=dict, name="kube-apiserver"
    )
    kube_controller_manager: Annotated[dict[str, str], Meta(description="Flags of kube-controller-manager.")] = (
        msgspec.field(default_factory=dict, name="kube-controller-manager")
    )
    kube_scheduler: Annotated[dict[str, str], Meta(description="Flags of kube-scheduler.")] = msgspec.field(
        default_factory=dict, name="kube-scheduler"
    )
    kubelet: Annotated[dict[str, str], Meta(description="Flags of the kubelets.")] = {}
    kube_proxy: Annotated[dict[str, str], Meta(description="Flags of the nodes' proxies.")] = msgspec.field(
        default_factory=dict, name="kube-proxy"
    )


class FlagsStatus(Shape, frozen=True):
    """FlagsStatus is what the owner has obeyed."""

    open_fields: ClassVar[bool] = True

    observed_generation: int = 0


class Flags(Shape, frozen=True):
    """Flags are the command lines of the session's components: what is set, beside the defaults."""

    spec: FlagsSpec = FlagsSpec()
    status: FlagsStatus = FlagsStatus()

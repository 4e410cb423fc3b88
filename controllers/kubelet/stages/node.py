"""What a kubelet says about its node when it registers, and when it comes back."""

from __future__ import annotations

from typing import Any, Final


def _healthy(kind: str, status: str, reason: str, message: str) -> dict[str, str]:
    return {"type": kind, "status": status, "reason": reason, "message": message}


NODE_CONDITIONS: Final[tuple[dict[str, str], ...]] = (
    _healthy("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    _healthy("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    _healthy("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    _healthy("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)

ENOUGH_DISK: Final = _healthy(
    "OutOfDisk", "False", "KubeletHasSufficientDisk", "kubelet has sufficient disk space available"
)
"""The condition that kubelets of an earlier era report besides."""

DEFAULT_CAPACITY: Final[dict[str, str]] = {"cpu": "4", "memory": "16Gi", "pods": "110"}
"""The machine of a node that says nothing about itself."""

NODE_INFO: Final[dict[str, Any]] = {
    "architecture": "amd64",
    "operatingSystem": "linux",
    "kernelVersion": "6.12.0-hollow",
    "osImage": "Clustersim hollow node",
    "containerRuntimeVersion": "containerd://2.1.0-hollow",
    "kubeletVersion": "v1.34.1",
    "kubeProxyVersion": "",
}

NODE_LABELS: Final[dict[str, str]] = {"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"}
"""Labels that a registering kubelet sets where they are missing, besides the host name."""

KUBELET_PORT: Final = 10250

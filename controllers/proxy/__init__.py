"""kube-proxies of all nodes, and clients whose requests go through names, Services, slices and pods."""

from controllers.proxy.component import Traffic
from controllers.proxy.wire import ContainerWire

__all__ = ["ContainerWire", "Traffic"]

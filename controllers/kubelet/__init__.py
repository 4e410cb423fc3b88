"""Hollow kubelets: they register nodes and play the life cycles of pods from stages written as data."""

from controllers.kubelet.component import Kubelets

__all__ = ["Kubelets"]

"""The control plane beside the scheduler: machinery, controllers, kubelet, elections. Pure, like scheduler_core."""

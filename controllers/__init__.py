"""The control plane beside the scheduler: log, API registry, loop, controllers. Pure, like scheduler_core."""

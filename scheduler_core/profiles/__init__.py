"""Which plugins exist, which run by default, and how a KubeSchedulerConfiguration changes that."""

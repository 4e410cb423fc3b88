"""PodDisruptionBudgets: how many of their pods may go now. Preemption and evictions read what it tells."""

from controllers.disruption.controller import DisruptionController as DisruptionController

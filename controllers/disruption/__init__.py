"""PodDisruptionBudgets: how many of their pods may go now.

What it tells is what preemption reads; evictions are not counted against it.
"""

from controllers.disruption.controller import DisruptionController as DisruptionController

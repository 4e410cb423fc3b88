"""The Job controller: pods that run to their end, counted once each."""

from controllers.job.controller import JobController

__all__ = ["JobController"]

"""The CronJob controller: Jobs at set times."""

from controllers.cronjob.controller import CronJobController

__all__ = ["CronJobController"]

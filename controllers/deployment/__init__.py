"""The Deployment controller."""

from controllers.deployment.controller import DeploymentController

__all__ = ["DeploymentController"]

"""Claims of devices: made from templates for pods, kept reserved while pods use them."""

from controllers.resourceclaim.controller import ResourceClaims

__all__ = ["ResourceClaims"]

"""Load balancers for Services, as a cloud gives them."""

from controllers.servicelb.controller import ServiceController

__all__ = ["ServiceController"]

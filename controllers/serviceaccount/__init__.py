"""What every namespace has from the start: its account `default`, and the bundle that pods check the API server by."""

from controllers.serviceaccount.controller import RootCertificates, ServiceAccounts

__all__ = ["RootCertificates", "ServiceAccounts"]

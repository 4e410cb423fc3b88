"""Certificates for those whose requests were approved."""

from controllers.csrsigning.controller import CertificateSigning

__all__ = ["CertificateSigning"]

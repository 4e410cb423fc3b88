"""The node controller of Kubernetes 1.2, as an era of today's controller manager."""

"""The Kubernetes REST surface of a session: what kubectl, client libraries and the page speak."""

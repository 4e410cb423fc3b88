"""HTTP/2 on the TLS port: `connection` is what a client speaks with, `choosing` how one comes to it (ADR 0022)."""

"""Flags of the control plane's components: their table, and the typed values that components read."""

"""The default plugins, one file each; no plugin knows another."""

"""Who owns which field of an object: managed fields and server-side apply (KEP-555, structured-merge-diff)."""

"""The revision log: the store protocol, the memory store, transactions, operations."""

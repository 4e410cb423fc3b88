"""One file a kind: how its documents are defaulted, validated, changed and printed; one line each in the table."""

"""How documents of each kind are defaulted, validated, changed and printed."""

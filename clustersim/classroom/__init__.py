"""Sessions as people see them: templates, seats, roles, tokens, imports."""

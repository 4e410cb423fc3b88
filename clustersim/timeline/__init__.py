"""A session's log as marks on a timeline: which lane a row stands in, which are told, and in what words."""

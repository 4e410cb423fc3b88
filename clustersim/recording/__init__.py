"""A session as one file that opens without a server: the page's own modules and styles, and what happened."""

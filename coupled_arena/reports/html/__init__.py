"""A run as one page to look at: its document, drawn by plain JavaScript."""

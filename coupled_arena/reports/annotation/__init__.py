"""The page on which people vote on battles, blind."""

"""The runs of a store as pages that follow them while they are played."""

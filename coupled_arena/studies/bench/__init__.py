"""Models answer the items of a task with shared dice: how often they are right, and how sure the difference is."""

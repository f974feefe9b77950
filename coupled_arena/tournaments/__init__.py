"""Definition, schedules, match graph, runner, store and result of a tournament."""

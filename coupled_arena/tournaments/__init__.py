"""A tournament: its definition and rules, who meets whom, its preflight, its execution, its store, its result."""

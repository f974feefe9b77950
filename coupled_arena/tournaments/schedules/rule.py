"""What every rule of who meets whom tells beside its pairings."""

from coupled_arena.records import Record


class NamedRule(Record):
    """Base of the rules that a definition can name."""

    @property
    def always(self) -> tuple[str, ...]:
        """Names of the models that play in every match, at most two; none where any two models may meet."""
        return ()

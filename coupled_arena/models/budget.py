"""What a run may spend before it stops."""

from pydantic import Field

from coupled_arena.models.calls import Spent
from coupled_arena.records import Given


class Budget(Given):
    """Bounds on what a run spends; the first one reached stops it, and nothing answered is lost.

    Dollars, tokens and calls count what the run has paid for in all its executions, answers from the memo not; minutes
    count the present execution. Calls in flight when a bound is reached are still waited for, so that what they cost is
    not lost: dollars and tokens can be overshot by these calls.

    Example:
        >>> Budget(usd=5).reached(Spent(usd=5.01, calls=812), minutes=3)
        'usd = 5: $5.01 spent'
        >>> Budget(usd=5).reached(Spent(usd=4.99), minutes=3)
        ''
    """

    usd: float | None = Field(default=None, ge=0)
    """US dollars."""
    tokens: int | None = Field(default=None, ge=0)
    """Tokens read and written, of all models."""
    calls: int | None = Field(default=None, ge=0)
    """Calls, of all models."""
    minutes: float | None = Field(default=None, ge=0)
    """Wall time of one execution."""

    def reached(self, spent: Spent, *, minutes: float) -> str:
        """Return which bound is reached and by what, or nothing."""
        if self.usd is not None and spent.usd >= self.usd:
            return f"usd = {self.usd:g}: ${spent.usd:.2f} spent"
        if self.tokens is not None and spent.tokens >= self.tokens:
            return f"tokens = {self.tokens}: {spent.tokens} read and written"
        if self.calls is not None and spent.calls >= self.calls:
            return f"calls = {self.calls}: {spent.calls} made"
        if self.minutes is not None and minutes >= self.minutes:
            return f"minutes = {self.minutes:g}: {minutes:.1f} passed"
        return ""

    def less(self, spent: Spent, *, minutes: float) -> "Budget":
        """Return what is left of it, nothing below 0.

        >>> Budget(usd=5, calls=10).less(Spent(usd=2, calls=12), minutes=0)
        Budget(usd=3.0, calls=0)
        """
        gone: dict[str, float] = {**spent._asdict(), "minutes": minutes}
        left = {key: max(0, bound - gone[key]) for key, bound in self if bound is not None}
        return Budget(**left)

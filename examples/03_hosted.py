"""Three hosted models with prices, limits and a budget; a fake provider stands in for theirs, so no key is needed."""

import coupled_arena as ca
from coupled_arena.testing import FakeProvider

PROVIDER = FakeProvider(
    {"ada": "sim/ada?skill=1.2", "bob": "sim/bob?skill=0.4", "eve": "sim/eve?skill=-0.6", "judge": "sim/judge"}
)
PRICE = {"prompt": 0.15, "completion": 0.6}  # US dollars for a million tokens; LiteLLM knows those of most real models


def tournament() -> ca.Tournament:
    """Return the tournament; of real models only their strings are needed: models=["openai/gpt-4o-mini", ...]."""
    ada, bob, eve, judge = (PROVIDER.model(name, price=PRICE) for name in ("ada", "bob", "eve", "judge"))
    return ca.Tournament(
        models=[ada, bob, eve],
        judges=[judge],
        domains=["math", "writing"],
        questions_per_domain=2,
        schedule="round_robin",
        limits={"openai/*": {"concurrency": 8, "requests_per_minute": 6000}},
        budget={"usd": 1.00, "minutes": 10},
    )


if __name__ == "__main__":
    with PROVIDER:
        seen = tournament().preflight()
        print(f"{seen.battles} battles, at worst {seen.cost}")
        result = tournament().run()
    print(result.leaderboard().to_string(index=False))
    print(f"paid: ${result.counts.usd:.4f} for {result.counts.made} calls")

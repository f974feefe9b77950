"""A script of your own: two blind openings, then one criticism each, judged in both presentation orders."""

import coupled_arena as ca

script = ca.Script(
    name="crossfire",
    steps=(
        ca.Step(speaker="A", requires=("respond",), round=1),
        ca.Step(speaker="B", requires=("respond",), round=1),
        ca.Step(speaker="A", requires=("criticize",), sees=(2,), budget=0.5, round=2),
        ca.Step(speaker="B", requires=("criticize",), sees=(1,), budget=0.5, round=2),
    ),
)
tournament = ca.Tournament(
    models=["sim/ada?skill=1", "sim/bob?skill=-1"],
    judges=["sim/j1", "sim/j2", "sim/j3"],
    domains=["humanities", "coding"],
    questions_per_domain=2,
    battle=ca.BattleRules(script=script, sides="both"),
    committee=ca.CommitteeRules(orders="both", discussion_rounds=0),
)

if __name__ == "__main__":
    result = tournament.run()
    print(result.leaderboard()[["model", "wins", "losses", "ties"]].to_string(index=False))

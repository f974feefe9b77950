"""A whole tournament in one script: who is better, and is it settled?"""

import coupled_arena as ca

tournament = ca.Tournament(
    models=["sim/ada?skill=1.2", "sim/bob?skill=0.4", ca.Model("eve", "sim/eve?skill=-0.6", family="e")],
    judges=["sim/j1", "sim/j2", "sim/j3"],
    examiner="sim/examiner",
    domains=["math", "writing"],
    questions_per_domain=5,
    schedule=ca.RoundRobin(),
    seed=7,
)

if __name__ == "__main__":
    result = tournament.run()
    print(result.leaderboard().to_string(index=False))
    for pair in result.neighbours:
        print(pair.line)

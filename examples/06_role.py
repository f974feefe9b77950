"""A new role: a fact checker speaks after each round, and the judges read its notes."""

import coupled_arena as ca


class FactChecker(ca.Role):
    """Names factual errors in what has been said since its last turn."""

    instructions = "You check facts. Name every factual error in what you read, one a line, or say there is none."
    tag = "note"


script = ca.Script(
    name="checked",
    steps=(
        ca.Step(speaker="A", requires=("respond",), round=1),
        ca.Step(speaker="B", requires=("respond",), round=1),
        ca.Step(speaker="checker", sees=(1, 2), budget=0.5, round=1),
        ca.Step(speaker="A", requires=("criticize", "raise"), sees=(2, 3), round=2),
        ca.Step(speaker="B", requires=("respond",), sees=(3, 4), round=2),
        ca.Step(speaker="checker", sees=(4, 5), budget=0.5, round=2),
    ),
)
tournament = ca.Tournament(
    models=["sim/ada?skill=1", "sim/bob?skill=-1"],
    judges=["sim/j1", "sim/j2", "sim/j3"],
    domains=["stem"],
    questions_per_domain=2,
    script=script,
    roles={"checker": (FactChecker, "sim/checker")},
)

if __name__ == "__main__":
    for battle in tournament.run().battles:
        notes = [turn.sections[0].text for turn in battle.turns if turn.speaker == "checker"]
        print(battle.id, battle.decision.verdict, notes)

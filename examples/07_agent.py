"""AutoGen assistants: one debates with a tool, the other judges; scripts of a fake provider stand for their models."""

from autogen_agentchat.agents import AssistantAgent

import coupled_arena as ca
from coupled_arena.testing import FakeProvider, behaviours

call = behaviours.reply(None, tool_calls=[behaviours.ToolCall("multiply", '{"a": 17, "b": 25}')])
solver = {"user": call, "tool": "<respond>It is 425: I worked it out with my tool.</respond>"}
provider = FakeProvider({"solver": lambda asked: solver[asked.messages[-1].role], "referee": "B has a number. [[B]]"})


def multiply(a: int, b: int) -> int:
    """Multiply two whole numbers."""
    return a * b


def make_solver() -> AssistantAgent:
    """Make a debater with a tool."""
    client = ca.model_client(provider.model("solver"))
    return AssistantAgent("solver", client, system_message="Do sums.", tools=[multiply], reflect_on_tool_use=True)


def make_referee() -> AssistantAgent:
    """Make a judge."""
    return AssistantAgent("referee", ca.model_client(provider.model("referee")), system_message="Be strict.")


tournament = ca.Tournament(
    models=["agent/solver", "sim/ada"],
    judges=["agent/referee"],
    agents={"solver": make_solver, "referee": make_referee},
    questions=[ca.Question(id="sum", domain="math", language="en", text="What is 17 * 25?", author="me")],
    script="single",
)

if __name__ == "__main__":
    with provider:
        print(tournament.run().leaderboard()[["model", "wins", "losses"]].to_string(index=False))

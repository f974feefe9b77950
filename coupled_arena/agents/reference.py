"""A reference writer: answers a question for the judges."""

from coupled_arena.agents.role import Role
from coupled_arena.models.voice import Voice
from coupled_arena.prompts import PromptSet


class ReferenceWriter(Role):
    """A model that writes the reference answer to a question."""

    tag = "reference"

    def __init__(self, name: str, voice: Voice, prompts: PromptSet) -> None:
        super().__init__(name, voice, prompts, system=prompts.render("reference.system"))

"""A model in a role: what an agent speaks through."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from coupled_arena.coupling import Dice, Sampling
from coupled_arena.models.calls import Abilities, Call, Message, Reply
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.model import Model

ROLE_TEMPERATURES = MappingProxyType({"debater": 0.7, "examiner": 0.7, "judge": 0.1, "reference": 0.1})
"""Temperature of a role where the model states none: speakers need variety, judges a steady hand."""

OTHER_TEMPERATURE = 0.7
"""Temperature of every other role."""


@dataclass(frozen=True, slots=True)
class Voice:
    """A model in a role, speaking through a gateway.

    Example:
        >>> Voice(Gateway(), Model("openai/gpt-4o"), "judge").sampling.temperature
        0.1
        >>> Voice(Gateway(), Model("gpt", "openai/gpt-4o", temperature=0.4), "judge").sampling.temperature
        0.4
    """

    gateway: Gateway
    """What carries the calls."""
    model: Model
    """Who speaks."""
    role: str = "debater"
    """In which role; it decides the temperature where the model states none."""

    @property
    def abilities(self) -> Abilities:
        """What the model can be asked for beyond a plain chat."""
        return self.gateway.abilities(self.model)

    @property
    def sampling(self) -> Sampling:
        """Temperature and candidate filters: the model's own settings, else the role's temperature and no filter."""
        model = self.model
        temperature = model.temperature
        if temperature is None:
            temperature = ROLE_TEMPERATURES.get(self.role, OTHER_TEMPERATURE)
        return _sampling(temperature, model.top_k, model.top_p, model.min_p)

    async def say(
        self,
        messages: Sequence[Message],
        *,
        dice: Dice,
        part: str,
        max_tokens: int,
        prefix: str = "",
        stop: Sequence[str] = (),
        choices: Sequence[str] = (),
        schema: dict[str, Any] | None = None,
        tools: Sequence[dict[str, Any]] = (),
        tool_choice: str = "",
    ) -> Reply:
        """Ask the model and return its reply.

        Args:
            messages: the chat, oldest first.
            dice: whose dice these are, but for the part.
            part: which call of the turn or opinion this is: `whole`, a section, `request 1`, `repair 1`, `reasons`.
            max_tokens: most tokens to write, at least 1.
            prefix: text the reply continues, for models that can.
            stop: strings that end the reply.
            choices: strings of which the reply is one, for models that can.
            schema: JSON schema of the reply, for models that can.
            tools: functions the model may call, in OpenAI's form, for models that can.
            tool_choice: `auto`, `none`, `required` or the name of a tool; empty leaves it to the provider.
        """
        call = Call(
            model=self.model,
            messages=tuple(messages),
            sampling=self.sampling,
            max_tokens=max_tokens,
            noise=dice.key(part),
            sample=dice.sample,
            prefix=prefix,
            stop=tuple(stop),
            choices=tuple(choices),
            schema=schema,
            tools=tuple(tools),
            tool_choice=tool_choice,
            # Other models show no logits, so nothing of theirs could be placed in the noise.
            alignment=self.gateway.alignment if self.model.kind == "local" else "step",
        )
        return await self.gateway.reply(call)

    async def close(self) -> None:
        """Let go of what belongs to the conversation: nothing, since the gateway outlives it."""


@lru_cache(maxsize=256)
def _sampling(temperature: float, top_k: int | None, top_p: float | None, min_p: float | None) -> Sampling:
    """Return the settings, checked once and not for every call."""
    return Sampling(temperature, top_k, top_p, min_p)

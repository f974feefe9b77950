"""A voice: a model in a role, with the settings of one or the other."""

import pytest

from coupled_arena.coupling import Dice, Sampling
from coupled_arena.models.calls import Abilities, Call, Message, Reply
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.model import Kind, Model
from coupled_arena.models.voice import Voice


class Recorder:
    """Answers anything and keeps the calls."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def abilities(self, model: Model) -> Abilities:
        return Abilities(schema=True)

    def problems(self, model: Model) -> tuple[str, ...]:
        return ()

    def identity(self, model: Model) -> str:
        return model.model

    async def complete(self, call: Call) -> Reply:
        self.calls.append(call)
        return Reply(text="yes", outcome="ok")

    async def aclose(self) -> None:
        pass


@pytest.mark.parametrize(
    ("role", "temperature"),
    [("debater", 0.7), ("examiner", 0.7), ("judge", 0.1), ("reference", 0.1), ("fact-checker", 0.7)],
)
def test_the_role_decides_the_temperature_where_the_model_states_none(role: str, temperature: float) -> None:
    assert Voice(Gateway(), Model("openai/m"), role).sampling == Sampling(temperature)


def test_the_models_own_settings_win() -> None:
    model = Model("m", "openai/m", temperature=0, top_k=3, top_p=0.5, min_p=0.1)
    assert Voice(Gateway(), model, "judge").sampling == Sampling(0, 3, 0.5, 0.1)


async def test_a_call_carries_the_dice_of_its_part() -> None:
    recorder = Recorder()
    voice = Voice(Gateway(backends={"hosted": recorder}), Model("openai/m"), "judge")
    dice = Dice(7, ("math-1", "0"), ("judge", "m"), ("0", "AB"), sample=2)
    reply = await voice.say(
        [Message("user", "A or B?")], dice=dice, part="reasons", max_tokens=9, stop=["[["], schema={"type": "object"}
    )
    assert reply.text == "yes"
    assert voice.abilities.schema
    (call,) = recorder.calls
    assert call == Call(
        voice.model,
        (Message("user", "A or B?"),),
        Sampling(0.1),
        9,
        dice.key("reasons"),
        sample=2,
        stop=("[[",),
        schema={"type": "object"},
    )


@pytest.mark.parametrize(("model", "placed"), [("local/smollm2-135m", "context"), ("openai/m", "step")])
async def test_only_local_models_are_placed_in_the_noise_by_context(model: str, placed: str) -> None:
    backend = Recorder()
    kinds: dict[Kind, Recorder] = {"local": backend, "hosted": backend}
    voice = Voice(Gateway(backends=kinds, alignment="context"), Model(model))
    dice = Dice(7, ("math-1", "0"), ("debater",), ("opening",))
    await voice.say([Message("user", "hello")], dice=dice, part="whole", max_tokens=5)
    assert [call.alignment for call in backend.calls] == [placed]

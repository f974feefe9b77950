"""Prompts as the arena sends them, for tests of simulated models."""

import hashlib
from collections.abc import Sequence

from coupled_arena.coupling import Sampling
from coupled_arena.models.calls import Call, Message, Reply
from coupled_arena.models.model import Model
from coupled_arena.models.simulated.speech import reply_to
from coupled_arena.prompts import PromptSet, envelope, load_prompts, seal
from coupled_arena.records import Section, Turn, Verdict

QUESTION = "Why does ice float on water, and what would change if it did not?"
OPENING = ("respond",)
ENGLISH = load_prompts("en")

PEER_BATTLE = (
    ("A", ("respond",), ()),
    ("B", ("respond",), ()),
    ("B", ("criticize", "raise"), (1,)),
    ("A", ("respond",), (3,)),
    ("A", ("criticize", "raise"), (2,)),
    ("B", ("respond",), (5,)),
    ("A", ("criticize", "raise"), (6,)),
    ("B", ("respond", "criticize", "raise"), (7,)),
    ("A", ("respond",), (8,)),
)
"""Speaker, required actions and what is newly seen of each step."""


def noise(*names: object) -> bytes:
    """Return a noise key that stands for these names."""
    return hashlib.blake2b(repr(names).encode(), digest_size=16).digest()


def ask(
    model: str,
    messages: Sequence[Message],
    key: bytes = bytes(16),
    *,
    temperature: float = 0.7,
    attempt: int = 0,
    max_tokens: int = 400,
    stop: tuple[str, ...] = (),
) -> Reply:
    """Return a simulated model's reply to a chat."""
    return reply_to(
        Call(
            model=Model(model),
            messages=tuple(messages),
            sampling=Sampling(temperature),
            max_tokens=max_tokens,
            noise=key,
            attempt=attempt,
            stop=stop,
        )
    )


def opening_chat(question: str = QUESTION, domain: str = "stem", prompts: PromptSet = ENGLISH) -> list[Message]:
    """Return the chat in which a debater is asked for its opening."""
    content = prompts.render(
        "debater.opening",
        question=envelope("question", question, domain=domain),
        actions=prompts.slots(OPENING),
        limit=prompts.render("labels.limit", words="300"),
    )
    return [Message("system", prompts.render("debater.system")), Message("user", content)]


def turn_chat(
    chat: Sequence[Message], said: str, heard: Sequence[Section], actions: tuple[str, ...], prompts: PromptSet = ENGLISH
) -> list[Message]:
    """Return a debater's chat after it said something and then heard its opponent."""
    turn = envelope("turn", seal(heard, prompts.grammar), speaker="opponent")
    limit = prompts.render("labels.limit", words="300")
    content = prompts.render("debater.turn", heard=turn, actions=prompts.slots(actions), limit=limit)
    return [*chat, Message("assistant", said), Message("user", content)]


def judge_chat(
    turns: Sequence[Turn], question: str = QUESTION, prompts: PromptSet = ENGLISH, *, prose: str = ""
) -> list[Message]:
    """Return the chat in which a judge is asked for its opinion alone."""
    rounds = envelope(
        "round",
        *(envelope("turn", seal(turn.sections, prompts.grammar), speaker=turn.speaker) for turn in turns),
        number=1,
    )
    content = prompts.render(
        "judge.opinion",
        question=envelope("question", question, domain="stem"),
        reference="",
        transcript=f"{prose}\n{rounds}" if prose else rounds,
    )
    system = f"{prompts.render('judge.system')}\n\n{prompts.render('judge.marker')}"
    return [Message("system", system), Message("user", content)]


def discussion_chat(
    chat: Sequence[Message], said: str, others: Sequence[Verdict], prompts: PromptSet = ENGLISH
) -> list[Message]:
    """Return a judge's chat after it said something and then was shown the others' verdicts."""
    opinions = "\n".join(
        envelope("opinion", "I looked at both.", number=number, verdict=verdict)
        for number, verdict in enumerate(others, 1)
    )
    asked = Message("user", prompts.render("judge.discussion", opinions=opinions))
    return [*chat, Message("assistant", said), asked]


def turn(speaker: str, *claims: Sequence[str], step: int = 1) -> Turn:
    """Return a turn whose every statement makes the claims with these codes."""
    said = " ".join(f"Claim {code}: it is so." for codes in claims for code in codes)
    return Turn(step=step, round=1, speaker=speaker, model=speaker, sections=(Section(tag="respond", text=said),))


def play(a: str, b: str, question: str, seed: object, prompts: PromptSet = ENGLISH) -> tuple[Turn, ...]:
    """Play a whole peer battle of two simulated models with dice shared as in a coupled tournament."""
    from coupled_arena.prompts import read_sections

    chats = {side: opening_chat(question, prompts=prompts)[:1] for side in ("A", "B")}
    turns: list[Turn] = []
    for number, (side, actions, sees) in enumerate(PEER_BATTLE, 1):
        chat = chats[side]
        if not sees:
            chat.append(opening_chat(question, prompts=prompts)[1])
        else:
            heard = [section for seen in sees for section in turns[seen - 1].sections]
            chat.append(turn_chat((), "", heard, actions, prompts)[-1])
        label = "opening" if not sees else f"step {number}"
        reply = ask(a if side == "A" else b, chat, noise(seed, question, label))
        chat.append(Message("assistant", reply.text))
        sections = read_sections(reply.text, prompts.grammar)
        turns.append(Turn(step=number, round=1, speaker=side, model=side, sections=sections))
    return tuple(turns)

"""What goes to a model and what comes back, and the small contracts that carry it."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, Self

from pydantic import Field

from coupled_arena.coupling import Sampling
from coupled_arena.coupling.alignment import Alignment
from coupled_arena.models.model import Model
from coupled_arena.records import Outcome, Record, Sharing, Usage

ANY_OBJECT: dict[str, Any] = {"type": "object"}
"""The JSON schema of a reply that is any object."""

_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=True, separators=(",", ":"))

Fault = Literal["key", "model", "money", "rate", "network", "provider", "request", "time"]
"""What lies at fault where a provider gave no answer: what was sent to it (the first three, and `request`), or it."""


class Message(NamedTuple):
    """One message of a chat."""

    role: str
    """`system`, `user` or `assistant`."""
    content: str
    """Its text."""
    extra: str = ""
    """Further fields in OpenAI's form, as a JSON object: the tools called, or the call that a result belongs to."""


class ToolCall(Record):
    """A model's wish to have a tool called."""

    id: str
    """Names the call, so that its result can be told from others."""
    name: str
    """Name of the tool."""
    arguments: str
    """Its arguments as the model wrote them, meant to be a JSON object."""


@dataclass(frozen=True, slots=True)
class Call:
    """Everything that determines a reply."""

    model: Model
    """Who is asked."""
    messages: tuple[Message, ...]
    """The chat as sent."""
    sampling: Sampling
    """Temperature and candidate filters."""
    max_tokens: int
    """Most tokens to write, at least 1."""
    noise: bytes
    """Noise key: the 128-bit name of the source of randomness."""
    sample: int = 0
    """Index of an independent draw for the same noise key."""
    attempt: int = 0
    """How many failed answers to this call were discarded before (`--retry-failed`)."""
    prefix: str = ""
    """Text the reply continues, as if the model had begun with it; only for models with `Abilities.continues`."""
    stop: tuple[str, ...] = ()
    """Strings that end the reply; they are not part of its text."""
    choices: tuple[str, ...] = ()
    """Where given, the reply is one of these strings; only for models with `Abilities.chooses`."""
    schema: dict[str, Any] | None = None
    """JSON schema of the reply; only for models with `Abilities.schema`."""
    tools: tuple[dict[str, Any], ...] = ()
    """Functions the model may call, in OpenAI's form; only for models with `Abilities.tools`."""
    tool_choice: str = ""
    """`auto`, `none`, `required` or the name of a tool; empty leaves it to the provider."""
    alignment: Alignment = "step"
    """What places a token in the noise; only for models whose dice are shared."""
    logprobs: int | None = None
    """How many alternatives to every token the reply tells, 0 or more; None tells nothing. Local models only."""

    def key(self, identity: str) -> bytes:
        """Return the memo key: BLAKE2b-256 of everything that determines the reply.

        `identity` is what the backend says the model string stands for (weights, world, address).
        """
        parts: list[Any] = [
            identity,
            [(role, len(content)) for role, content, _ in self.messages],
            (self.sampling.temperature, self.sampling.top_k, self.sampling.top_p, self.sampling.min_p),
            self.max_tokens,
            self.noise.hex(),
            self.sample,
            self.attempt,
            self.prefix,
            self.stop,
            self.choices,
            self.schema,
        ]
        if self.tools:
            parts.append([list(self.tools), self.tool_choice])
        if any(message.extra for message in self.messages):
            parts.append({"extra": [message.extra for message in self.messages]})
        if self.alignment != "step":
            parts.append({"alignment": self.alignment})
        if self.logprobs is not None:
            parts.append({"logprobs": self.logprobs})
        canonical = _CANONICAL.encode(parts)
        # Texts follow as they are, since they are long; their lengths stand before them.
        texts = [content for _, content, _ in self.messages]
        encoded = "".join([canonical, *texts]).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(encoded, digest_size=32).digest()


class TokenLogprob(Record):
    """How likely a model found one token, by its own law: before temperature and filters."""

    token: str
    """What the token stands for as text; bytes that are no whole characters become U+FFFD."""
    data: tuple[int, ...]
    """What it stands for as bytes, 0 .. 255; those of a control token are its name."""
    logprob: float
    """Natural logarithm of its probability."""
    top: tuple["TokenLogprob", ...] = ()
    """The likeliest tokens in its place, the likeliest first, without alternatives of their own."""

    @classmethod
    def of(cls, data: bytes, logprob: float, top: "tuple[TokenLogprob, ...]" = ()) -> Self:
        """Return what is told of a token that stands for these bytes."""
        return cls(token=data.decode("utf-8", "replace"), data=tuple(data), logprob=logprob, top=top)


class Reply(Record):
    """A model's answer to a call, or how it failed to give one."""

    text: str = ""
    """What was written; empty unless the outcome is `ok` or `truncated`. A continued prefix is not repeated."""
    outcome: Outcome
    """How the call ended."""
    usage: Usage = Usage()
    """Tokens read and written."""
    cost: float | None = 0.0
    """US dollars, or None where the model has no known price."""
    latency: float = 0.0
    """Seconds from asking to answer; never part of a result."""
    reasoning: str = ""
    """Hidden reasoning, kept apart and never forwarded."""
    probabilities: dict[str, float] = Field(default_factory=dict)
    """Probability of every choice, where choices were given."""
    logprobs: tuple[TokenLogprob, ...] = ()
    """How likely every token was, where that was asked for; with a stop string, up to its last token. Not stored."""
    tool_calls: tuple[ToolCall, ...] = ()
    """Tools the model wants called; the text beside them may be empty."""
    state: dict[str, Any] = Field(default_factory=dict)
    """What an agent of the user's remembers after this turn (`save_state`), so that a resumed battle can go on."""
    sharing: Sharing = "none"
    """What the reply's randomness was."""
    detail: str = ""
    """The provider's words when something went wrong."""
    fault: Fault | None = None
    """What lies at fault where a hosted model failed or a local one lacked context; not kept with the answer."""
    retries: int = 0
    """Requests repeated after a passing fault before this answer."""

    @property
    def answered(self) -> bool:
        """Whether there is text to use."""
        return self.outcome in ("ok", "truncated")


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a model can be asked for beyond a plain chat."""

    continues: bool = False
    """It can continue a text it is given as its own beginning."""
    chooses: bool = False
    """It can choose among given strings and say how likely each was."""
    schema: bool = False
    """It can answer in a JSON schema."""
    tools: bool = False
    """It can ask for tools to be called."""
    context: int | None = None
    """Tokens it can hold, where known."""


class Backend(Protocol):
    """A way of reaching one kind of model."""

    def abilities(self, model: Model) -> Abilities:
        """Return what the model can be asked for; loads nothing."""
        ...

    def identity(self, model: Model) -> str:
        """Return what the model string stands for, as text for the memo key; loads nothing."""
        ...

    def problems(self, model: Model) -> Sequence[str]:
        """Return what keeps the model from being used here, one sentence each.

        Asks no provider, but may work on this machine's files for seconds: a local model's variant is derived.
        """
        ...

    async def complete(self, call: Call) -> Reply:
        """Answer a call; a provider's fault is an outcome, never an exception."""
        ...

    async def aclose(self) -> None:
        """Let go of connections and weights."""
        ...


class Memo(Protocol):
    """Remembers the answer to every call."""

    def recall(self, key: bytes) -> Reply | None:
        """Return the answer stored for this key, if this run may use it."""
        ...

    def remember(self, key: bytes, call: Call, reply: Reply) -> None:
        """Store an answer at once; an equal key is never stored twice."""
        ...


class Spent(NamedTuple):
    """What has been paid for."""

    usd: float = 0.0
    """Known cost in US dollars."""
    tokens: int = 0
    """Tokens read and written."""
    calls: int = 0
    """Calls made."""


@dataclass(slots=True)
class Counts:
    """Calls of this invocation."""

    made: int = 0
    """Calls that reached a backend."""
    memoised: int = 0
    """Calls answered from the memo or joined to an equal call in flight."""
    failed: int = 0
    """Calls made whose outcome was neither `ok` nor `truncated`."""
    retries: int = 0
    """Repeated requests within calls."""
    usd: float = 0.0
    """Known cost of the calls made, in US dollars."""
    usage: Usage = field(default_factory=Usage)
    """Tokens of the calls made."""
    unpriced: set[str] = field(default_factory=set)
    """Names of models that answered without a known price."""

    @property
    def spent(self) -> Spent:
        """What the calls made have cost."""
        return Spent(self.usd, self.usage.prompt_tokens + self.usage.completion_tokens, self.made)

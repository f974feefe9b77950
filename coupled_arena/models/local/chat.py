"""Chats as a model's own template wants them, in which only the template's markers are markers.

What a model or a user wrote may contain `<|im_start|>` or any other control token's name. Tokenised carelessly it
would open a message of its own, so that a debater could speak as the system. Here the template is applied to
placeholders, control tokens are looked for in its own text only, and contents always remain plain text. Where contents
name no control token, the tokens are those of the whole rendered chat.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.models.calls import Message

Template = Callable[[Sequence[Message]], str]
"""Applies a model's chat template, and opens the assistant's next message."""

ROLES = ("system", "user", "assistant")
"""Roles a message may have; a role is part of the template's text."""


def fragments(
    messages: Sequence[Message], prefix: str, template: Template, controls: Mapping[str, int]
) -> list[str | int]:
    """Return a chat as plain texts and control tokens, in order.

    Args:
        messages: the chat.
        prefix: the beginning of the model's next message, as plain text.
        template: the model's chat template.
        controls: control tokens by name.

    Raises:
        ConfigurationError: a message has an unknown role.

    Example:
        >>> def template(chat): return "".join(f"<s>{m.role}:{m.content}" for m in chat) + "<s>assistant:"
        >>> fragments([Message("user", "say <s>!")], "Well, ", template, {"<s>": 1})
        [1, 'user:say <s>!', 1, 'assistant:Well, ']
    """
    for message in messages:
        if message.role not in ROLES:
            text = f"a local model knows the roles {', '.join(ROLES)}, not {message.role!r}"
            raise ConfigurationError([Problem("call", "messages", text)])
    result: list[str | int] = []
    for text, own in [*_pieces(messages, template), (prefix, False)]:
        for part in _split(text, controls) if own else (text,):
            if isinstance(part, str) and result and isinstance(result[-1], str):
                # Text next to text is tokenised as one, as it is in training.
                result[-1] += part
            elif part != "":
                result.append(part)
    return result


def plain(messages: Sequence[Message]) -> str:
    r"""Render a chat for a model without a template: paragraphs that name the speaker, but for the system's.

    >>> plain([Message("system", "Be brief."), Message("user", "Hello")])
    'Be brief.\n\nUser: Hello\n\nAssistant:'
    """
    spoken = [m.content if m.role == "system" else f"{m.role.capitalize()}: {m.content}" for m in messages]
    return "\n\n".join([*spoken, "Assistant:"])


def _pieces(messages: Sequence[Message], template: Template) -> list[tuple[str, bool]]:
    """Return the rendered chat in pieces, each with whether it is the template's own text."""
    # Private-use characters stand for the contents; white space around a content stays outside its placeholder, so
    # that a template that strips contents still does.
    bodies = [message.content.strip() for message in messages]
    keys = [f"\ue000{index}\ue001" if body else "" for index, body in enumerate(bodies)]
    rendered = template(
        [
            Message(message.role, message.content.replace(body, key, 1) if body else message.content)
            for message, body, key in zip(messages, bodies, keys, strict=True)
        ]
    )
    found = {key: body for key, body in zip(keys, bodies, strict=True) if key}
    pattern = re.compile("(\ue000[0-9]+\ue001)")
    return [(found[text], False) if text in found else (text, True) for text in pattern.split(rendered)]


def _split(text: str, controls: Mapping[str, int]) -> list[str | int]:
    """Cut the template's text at the names of control tokens, the longest name first."""
    if not controls:
        return [text]
    names = sorted(controls, key=lambda name: (-len(name), name))
    pattern = re.compile("(" + "|".join(map(re.escape, names)) + ")")
    return [controls.get(part, part) for part in pattern.split(text) if part]

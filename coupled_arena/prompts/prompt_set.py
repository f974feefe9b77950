"""Everything that is said to models in one language."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.prompts.grammar import Grammar
from coupled_arena.prompts.templates import fields_of, fill


@dataclass(frozen=True, slots=True)
class Domain:
    """A field of questions."""

    name: str
    """Name in definitions and tables, `math`."""
    title: str
    """What the examiner is told it is called."""
    command: str
    """What a question of this domain must be like, in one sentence."""
    example: str
    """One question of this domain."""
    words: int
    """Budget of a single action, in the grammar's unit."""
    needs_reference: bool
    """Whether judges are given a reference answer."""


@dataclass(frozen=True, slots=True)
class PromptSet:
    """The templates, domains and grammar of one language, checked when they were loaded.

    Example:
        >>> from coupled_arena.prompts import load_prompts
        >>> prompts = load_prompts("en")
        >>> prompts.render("labels.limit", words="300")
        '300 words'
    """

    name: str
    """Name of a shipped set, or of the file without its ending."""
    language: str
    """Language code, `en`."""
    grammar: Grammar
    """Tags, markers and the measure of length."""
    templates: Mapping[str, str]
    """Text by template, `debater.system`; fields stand in braces."""
    domains: Mapping[str, Domain]
    """The set's own domains, by name."""
    default_domain: Domain
    """What any other domain is like; `{domain}` in its command stands for the name."""
    tokens_per_unit: float
    """Tokens to allow for one word (character), at least 1."""
    digest: str
    """BLAKE2b-128 of the content, in hex: equal digests say the same to every model, but for questions of another than
    the usual difficulty."""
    where: str
    """The file, for messages."""

    def render(self, template: str, /, **fields: str) -> str:
        """Return a template with its fields filled in; what fields hold is never read as a template.

        Raises:
            ConfigurationError: There is no such template, or the fields given are not those it uses.

        >>> from coupled_arena.prompts import load_prompts
        >>> load_prompts("en").render("labels.limit", words="1", side="A")
        Traceback (most recent call last):
        ...
        coupled_arena.errors.ConfigurationError: en.toml: labels.limit: does not use the field side; it uses words
        """
        text = self.templates.get(template)
        if text is None:
            message = f"there is no such template; there are {', '.join(self.templates)}"
            raise ConfigurationError([Problem(self.where, template, message)])
        used = fields_of(text)
        it_uses = f"it uses {', '.join(used)}" if used else "it uses none"
        problems = [f"the field {field} was not given; {it_uses}" for field in used if field not in fields]
        problems += [f"does not use the field {field}; {it_uses}" for field in fields if field not in used]
        if problems:
            raise ConfigurationError([Problem(self.where, template, message) for message in problems])
        return fill(text, fields) if used else text

    def slots(self, actions: Iterable[str]) -> str:
        """Return the tags of several actions as a model must write them.

        >>> from coupled_arena.prompts import load_prompts
        >>> load_prompts("en").slots(("criticize", "raise"))
        '<criticize>…</criticize> <raise>…</raise>'
        """
        return " ".join(self.render("labels.action", tag=self.grammar.tag(action)) for action in actions)

    def domain(self, name: str) -> Domain:
        """Return a domain; one that the set does not know gets the default budget and command.

        >>> from coupled_arena.prompts import load_prompts
        >>> load_prompts("en").domain("maritime-law").title
        'maritime law'
        """
        known = self.domains.get(name)
        if known is not None:
            return known
        title = name.replace("-", " ").replace("_", " ")
        command = fill(self.default_domain.command, {"domain": title})
        return replace(self.default_domain, name=name, title=title, command=command)

    def max_tokens(self, words: float) -> int:
        """Return how many tokens to allow for a number of words (characters), at least 1.

        >>> from coupled_arena.prompts import load_prompts
        >>> load_prompts("en").max_tokens(300)
        400
        """
        return max(1, math.floor(words * self.tokens_per_unit))

    def with_actions(self, *actions: str) -> "PromptSet":
        """Return a set whose grammar also reads, writes and defangs these actions of roles of the user's own."""
        return replace(self, grammar=self.grammar.with_actions(*actions))

"""Everything that can be known to be wrong with a definition before the first call, all of it at once."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from coupled_arena.agents.factories import ROLES, AgentBackend
from coupled_arena.errors import HERE, ConfigurationError, Problem
from coupled_arena.models.families import family_of
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.hosted.environment import missing_key
from coupled_arena.models.model import Model
from coupled_arena.models.prices import price_of
from coupled_arena.prompts import PromptSet, bundled_questions, load_prompts, load_questions
from coupled_arena.prompts.question_files import unfit
from coupled_arena.protocols.script import DEBATERS
from coupled_arena.records import Question
from coupled_arena.shown import plural
from coupled_arena.tournaments.definition import DOMAINS, Tournament
from coupled_arena.tournaments.panels import panel_key, panels_in, short_pairings
from coupled_arena.tournaments.playing.questions import chosen, domains_of
from coupled_arena.tournaments.playing.seating import Seating, with_agents
from coupled_arena.tournaments.preflight.asks import duties
from coupled_arena.tournaments.preflight.casting import asked_cast, cast, role_under
from coupled_arena.tournaments.preflight.contexts import too_long
from coupled_arena.tournaments.preflight.extent import battles_of
from coupled_arena.tournaments.preflight.scheduling import absentees, first_round

MOST_PAIRINGS_LISTED = 3
MOST_BATTLES = 1_000_000
"""More battles than this are taken for a slip of the pen."""


def check(tournament: Tournament, gateway: Gateway, where: str = HERE) -> None:
    """Check a definition against this machine.

    Args:
        tournament: the definition.
        gateway: knows what model strings stand for.
        where: the file of the definition, named in every problem that is in no other file.

    Raises:
        ConfigurationError: with every problem found.
    """
    if problems := problems_in(tournament, gateway):
        raise ConfigurationError(placed(problems, where))


def placed(problems: Iterable[Problem], where: str) -> list[Problem]:
    """Return problems with the file of the definition in place of `HERE`."""
    return [problem._replace(where=where) if problem.where == HERE else problem for problem in problems]


def problems_in(
    tournament: Tournament, gateway: Gateway, *, answered: bool = False, keys: bool = True
) -> list[Problem]:
    """Return everything that can be known to be wrong with a definition without asking a provider.

    Args:
        tournament: the definition.
        gateway: knows what model strings stand for.
        answered: every call is answered already, so that hosted models need no key, no room and no budget.
        keys: whether the keys of hosted models must be there.
    """
    agents = with_agents(tournament, gateway)
    problems = [
        *_casting(tournament),
        *_simulated(tournament, agents),
        *_agents(tournament, agents),
        *_script(tournament),
        *absentees(tournament),
        *_domains(tournament),
        *_prompts(tournament),
        *_questions(tournament),
    ]
    sound = not problems
    if sound:
        problems += first_round(tournament)
        sound = not problems
    if sound:
        problems += [*_size(tournament), *_domain_keys(tournament)]
        sound = not problems
    lacking = list(_models(tournament, gateway, answered=answered, keys=keys))
    problems += (problem for _, problem in lacking)
    if not answered:
        problems += _budget(tournament, agents)
    # Without its weights nobody knows what a local model is; a hosted one is known without its key.
    if sound and all(model.kind == "hosted" for model, _ in lacking):
        seating = Seating(tournament, gateway, load_prompts(tournament.prompt_set))
        problems += _panels(tournament, seating)
        if not answered:
            found = too_long(tournament, gateway, duties(seating))
            problems += (Problem(HERE, key, message) for key, message in found)
    return problems


def _casting(tournament: Tournament) -> Iterator[Problem]:
    """Names, numbers, and simulated judges in front of real debaters."""
    if len(tournament.models) < 2:
        yield Problem(HERE, "models", f"a tournament needs at least two models, not {len(tournament.models)}")
    for key, models in cast(tournament).items():
        names = [model.name for model in models]
        for name in _repeated(names):
            yield Problem(HERE, key, f"{name!r} is listed {names.count(name)} times; give each a `name` of its own")
    known: dict[str, Model] = {}
    for key, models in cast(tournament).items():
        for model in models:
            if known.setdefault(model.name, model) != model:
                message = f"{model.name!r} means two different models; give one of them another `name`"
                yield Problem(HERE, key, message)
    if isinstance(tournament.judges, int) and tournament.judges < 1:
        yield Problem(HERE, "judges", "a committee needs at least one judge")
    if not isinstance(tournament.judges, int) and not tournament.judges:
        yield Problem(HERE, "judges", "name at least one judge, or give a number")
    for domain, panel in sorted(tournament.committee.judges_by_domain.items()):
        if not panel:
            yield Problem(HERE, panel_key(domain), "name at least one judge, or leave the key out")


def _simulated(tournament: Tournament, agents: AgentBackend) -> Iterator[Problem]:
    """Simulated models know nothing of the real world: what they ask, answer or decide there would mean nothing.

    An agent is what its models are; of one that asks none of ours nobody knows.
    """
    kinds = {
        model: {asked.kind for asked in agents.models(model.path)} if model.kind == "agent" else {model.kind}
        for model in (*tournament.models, *tournament.judging_models)
    }
    real = [model.name for model in tournament.models if kinds[model] - {"sim"}]
    if not real:
        return
    judge = next((judge for judge in tournament.judging_models if kinds[judge] == {"sim"}), None)
    if judge is not None:
        panels = [key for key, models in cast(tournament).items() if role_under(key) == "judge" and judge in models]
        message = f"{judge.name} is simulated and can judge only simulated debaters, not {real[0]}; name a real judge"
        yield Problem(HERE, next(iter(panels), "judges"), message)
    for key in ("examiner", "reference"):
        model = next((model for model in cast(tournament).get(key, ()) if model.kind == "sim"), None)
        if model is not None:
            what = "question" if key == "examiner" else "answer for"
            message = f"{model.name} is simulated and can {what} only simulated debaters, not {real[0]}; "
            yield Problem(HERE, key, message + "name a real model, or leave the key out")


def _agents(tournament: Tournament, agents: AgentBackend) -> Iterator[Problem]:
    """Agents that nobody is, with names that no model string can hold, or whose factories make none for a role."""
    named = {model.path for models in cast(tournament).values() for model in models if model.kind == "agent"}
    for name in sorted(tournament.agents):
        if "/" in name or "?" in name:
            yield Problem(HERE, f"agents.{name}", "the name of an agent holds no / and no ?; give it another one")
        elif name not in named:
            message = f'no model is this agent: name "agent/{name}" among the models or judges, or leave it out'
            yield Problem(HERE, f"agents.{name}", message)
    for role, seat in sorted(tournament.roles.items()):
        if seat.factory is not None:
            yield from (Problem(HERE, f"roles.{role}", fault) for fault in agents.faults(f"{ROLES}{role}"))


def _script(tournament: Tournament) -> Iterator[Problem]:
    """Roles without a seat, seats without a role, actions the language has no tag for."""
    roles = tournament.battle.script.roles
    for role in roles:
        if role not in tournament.roles and tournament.asks(f"roles.{role}"):
            yield Problem(HERE, "roles", f"the script has a step for {role!r}; say who sits there")
    for role in sorted(tournament.roles):
        if role not in roles:
            yield Problem(HERE, f"roles.{role}", "no step of the script is this role's; add one or drop the role")


def _domains(tournament: Tournament) -> Iterator[Problem]:
    """No domain, or one twice."""
    if not tournament.domains:
        yield Problem(HERE, "domains", "name at least one domain")
    for domain in _repeated(tournament.domains):
        yield Problem(HERE, "domains", f"{domain!r} is listed twice")
    if "difficulty" in tournament.model_fields_set and not tournament.examiners:
        yield Problem(HERE, "difficulty", "is told to examiners, and there is none; name one, or leave the key out")


def _domain_keys(tournament: Tournament) -> Iterator[Problem]:
    """Keys of single domains that nothing is asked about."""
    asked = domains_of(tournament)
    difficulties = tournament.difficulty if isinstance(tournament.difficulty, dict) else {}
    for domain in difficulties:
        if domain not in asked:
            yield Problem(HERE, f"difficulty.{domain}", f"no question is about this; there is {', '.join(asked)}")
    for domain in tournament.committee.judges_by_domain:
        if domain not in asked:
            yield Problem(HERE, panel_key(domain), f"no question is about this; there is {', '.join(asked)}")


def _prompts(tournament: Tournament) -> Iterator[Problem]:
    """The prompt set, actions it has no tag for, and domains nobody can write questions for."""
    try:
        prompts = load_prompts(tournament.prompt_set)
    except ConfigurationError as error:
        key = "language" if tournament.prompts is None else "prompts"
        yield from (Problem(HERE, key, p.message) if p.where == "prompts" else p for p in error.problems)
        return
    if prompts.language != tournament.language:
        message = f"prompt set {prompts.name!r} is in {prompts.language!r}, the tournament in {tournament.language!r}"
        yield Problem(HERE, "language", message)
    for number, step in enumerate(tournament.battle.script.steps, 1):
        for tag in step.requires:
            if step.speaker in DEBATERS and tag not in prompts.grammar.actions:
                known = ", ".join(prompts.grammar.actions)
                yield Problem(HERE, "battle.script", f"step {number} requires {tag!r}; the prompts know {known}")
    if tournament.questions is None and tournament.examiner is None:
        yield from _unwritten(tournament, prompts)


def _unwritten(tournament: Tournament, prompts: PromptSet) -> Iterator[Problem]:
    for domain in tournament.domains:
        if not bundled_questions(prompts.language, domain):
            message = f"nobody writes questions about {domain!r} and none are bundled; name an examiner or a file"
            if bundled := [name for name in DOMAINS if bundled_questions(prompts.language, name)]:
                message += f", or choose from {', '.join(bundled)}"
            yield Problem(HERE, "examiner", message)


def _questions(tournament: Tournament) -> Iterator[Problem]:
    """Questions of the definition or its file that cannot be asked, and domains without one."""
    given = tournament.questions
    if given is None:
        return
    file = given if isinstance(given, Path) else None
    if isinstance(given, Path):
        try:
            given = load_questions(given, language=tournament.language)
        except ConfigurationError as error:
            yield from error.problems
            return
    for number, question in enumerate(given):
        where, key = (HERE, f"questions.{number}") if file is None else (str(file), question.id)
        yield from (Problem(where, f"{key}.{field}", message) for field, message in unfit(question))
        if question.language != tournament.language:
            message = f"the question is in {question.language!r}, the tournament in {tournament.language!r}"
            yield Problem(where, f"{key}.language", message)
    yield from _alike(given)
    if not given:
        yield Problem(HERE, "questions", "holds no question; add one or leave the key out")
        return
    asked = {question.domain for question in chosen(tournament, given)}
    for domain in tournament.domains if "domains" in tournament.model_fields_set else ():
        if domain not in asked:
            where = file.name if file is not None else HERE
            yield Problem(where, "questions", f"has no question for domain {domain!r}; add one or drop the domain")


def _alike(given: tuple[Question, ...]) -> Iterator[Problem]:
    for kind, values in (("id", [q.id for q in given]), ("text", [q.text for q in given])):
        for value in _repeated(values):
            message = f"two questions have the {kind} {value[:60]!r}; each must have its own"
            yield Problem(HERE, "questions", message)


def _size(tournament: Tournament) -> Iterator[Problem]:
    """More battles than anybody can mean."""
    battles, _ = battles_of(tournament)
    if battles > MOST_BATTLES:
        message = f"makes up to {battles} battles, and {MOST_BATTLES} are the most; ask fewer questions, "
        yield Problem(HERE, "questions_per_domain", message + "or set fewer domains, models, rounds or replicates")


def _repeated(values: Iterable[str]) -> list[str]:
    return sorted(value for value, count in Counter(values).items() if count > 1)


def _models(tournament: Tournament, gateway: Gateway, *, answered: bool, keys: bool) -> Iterator[tuple[Model, Problem]]:
    """Dials, weights, keys: what each model string needs to be usable here, said once for each model."""
    first: dict[Model, str] = {}
    for key, models in asked_cast(tournament).items():
        for model in models:
            first.setdefault(model, key)
    for model, key in first.items():
        if model.kind == "hosted" and (answered or (not keys and missing_key(model))):
            continue
        for message in gateway.problems(tournament.model_of(model)):
            yield model, Problem(HERE, key, f"{model.name}: {message}")


def _budget(tournament: Tournament, agents: AgentBackend) -> Iterator[Problem]:
    """A bound in dollars on models that nobody knows the price of."""
    budget = tournament.budget
    if budget.usd is None or budget.tokens is not None or budget.calls is not None:
        return
    behind = [agents.models(name) for name in sorted(agents.factories)]
    asked = dict.fromkeys(model for models in (*asked_cast(tournament).values(), *behind) for model in models)
    if unpriced := [model.name for model in asked if model.kind == "hosted" and price_of(model) is None]:
        message = (
            f"cannot be held: no price is known for {', '.join(unpriced)}; set `price` of the model "
            "(US dollars per million tokens: { prompt = 0.5, completion = 1.5 }), budget.tokens or budget.calls"
        )
        yield Problem(HERE, "budget.usd", message)


def _panels(tournament: Tournament, seating: Seating) -> Iterator[Problem]:
    """Pairings that no committee could judge."""
    for key, (domain, *_) in panels_in(tournament, domains_of(tournament)).items():
        if short := short_pairings(tournament, domain, seating.author_of):
            yield Problem(HERE, key, _too_few(tournament, domain, short))


def _too_few(tournament: Tournament, domain: str, short: Sequence[tuple[str, str, int]]) -> str:
    """Return what to do about pairings with too few judges in a domain."""
    least = tournament.min_judges_in(domain)
    listed = "; ".join(f"{a} against {b}: {n}" for a, b, n in short[:MOST_PAIRINGS_LISTED])
    more = f" and {len(short) - MOST_PAIRINGS_LISTED} more" if len(short) > MOST_PAIRINGS_LISTED else ""
    need = plural(least, "eligible judge")
    message = f"too few judges: a battle needs {need}, and there are fewer for {listed}{more}; "
    if tournament.committee.recuse == "family":
        families: dict[str, list[str]] = {}
        for model in dict.fromkeys((*tournament.models, *tournament.judging_models)):
            families.setdefault(family_of(model), []).append(model.name)
        known = "; ".join(f"{family}: {', '.join(names)}" for family, names in families.items() if len(names) > 1)
        message += f"families may not judge their own ({known or 'each model is one'}): "
        message += 'list judges of other families, set `family` of a model, or committee.recuse = "author"'
    else:
        message += "list more judges or set committee.min_judges"
    return message

"""What the reader of a leaderboard must know: small committees, and what providers failed to answer."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set

from coupled_arena.prompts import turn_leak
from coupled_arena.protocols.script import DEBATERS
from coupled_arena.records import Battle
from coupled_arena.shown import plural
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.panels import ADVISABLE_JUDGES, AuthorOf, panel, panels_in
from coupled_arena.tournaments.schedules import Against

LONGEST_WORDS = 160
"""Most characters of a provider's words that are quoted."""


def caveats(
    tournament: Tournament, author_of: AuthorOf, battles: Sequence[Battle], strangers: Set[frozenset[str]] = frozenset()
) -> tuple[str, ...]:
    """Return what to say of a run's committees and dice, and who gave no answer, how often and why.

    Args:
        tournament: the definition.
        author_of: tells models of one author apart from others.
        battles: all that were played.
        strangers: pairs of models, by name, that have no token in common.
    """
    return (
        *_committees(tournament, author_of, dict.fromkeys(battle.domain for battle in battles)),
        *one_baseline(tournament),
        *_strayed(tournament, battles),
        *_strangers(tournament, strangers),
        *_debaters(battles),
        *_broken_off(battles),
        *_judges(battles),
    )


def quoted(words: str) -> str:
    """Return a provider's words, cut to what can be read in a line.

    >>> len(quoted("x" * 1000))
    161
    """
    return words if len(words) <= LONGEST_WORDS else f"{words[:LONGEST_WORDS]}…"


def _committees(tournament: Tournament, author_of: AuthorOf, domains: Iterable[str]) -> Iterator[str]:
    """Committees that are smaller than advisable."""
    for key, (domain, *_) in panels_in(tournament, domains).items():
        fewest = min(len(panel(tournament, domain, pair, author_of, None)) for pair in tournament.possible_pairs)
        if fewest < ADVISABLE_JUDGES:
            battles = "battles" if key == "judges" else f"battles of {domain}"
            yield f"some {battles} have only {plural(fewest, 'judge')}; {ADVISABLE_JUDGES} or more are advisable"


def one_baseline(tournament: Tournament) -> Iterator[str]:
    """Yield what a schedule with a single baseline cannot tell."""
    if isinstance(tournament.schedule, Against) and len(tournament.models) > 2:
        yield tournament.schedule.caveat


def _strangers(tournament: Tournament, strangers: Set[frozenset[str]]) -> Iterator[str]:
    """Pairs that were meant to share dice and could not."""
    if "coupled" in tournament.arms:
        for one, other in sorted(sorted(pair) for pair in strangers):
            yield f"{one} and {other} have no token in common, and so shared no dice"


def _strayed(tournament: Tournament, battles: Sequence[Battle]) -> Iterator[str]:
    """Models that spoke another language than the run's."""
    spoken: Counter[str] = Counter()
    strayed: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for battle in battles:
        for turn in battle.turns:
            if turn.speaker in DEBATERS and turn.answered:
                spoken[turn.model] += 1
                if found := turn_leak(((part.tag, part.text) for part in turn.sections), tournament.language):
                    strayed[turn.model][found.language] += 1
    for model, others in sorted(strayed.items()):
        mostly = min(others, key=lambda name: (-others[name], name))
        turns = f"{others.total()} of its {plural(spoken[model], 'turn')}"
        yield f"{model}: {turns} are wholly or partly in another language than {tournament.language} (mostly {mostly})"


def _debaters(battles: Sequence[Battle]) -> Iterator[str]:
    """Models whose failures made battles void."""
    played: Counter[str] = Counter()
    void: Counter[str] = Counter()
    words: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for battle in battles:
        played.update((battle.a, battle.b))
        if battle.decision.status != "void":
            continue
        failed = {t.model: t for t in battle.turns if t.speaker in DEBATERS and t.outcome in ("failed", "timeout")}
        void.update(tuple(failed))
        for model, turn in failed.items():
            words[model][f"{turn.outcome}: {turn.detail}"] += 1
    for model in sorted(void):
        share = f"{void[model]} of its {plural(played[model], 'battle')} are void"
        yield f"{model}: {share}, because it gave no answer ({_most(words[model])})"


def _broken_off(battles: Sequence[Battle]) -> Iterator[str]:
    """Battles that an agent ended by raising, or by never answering; nothing of them is kept but the reason."""
    broken = [battle for battle in battles if battle.decision.status == "void" and not battle.turns]
    if not broken:
        return
    words = Counter(battle.decision.reason.removeprefix(battle.id).partition(": ")[2] for battle in broken)
    common = set.intersection(*({battle.a, battle.b} for battle in broken))
    whose = f"of {' and '.join(sorted(common))}" if common else "of several models"
    yield f"void because they broke off: {plural(len(broken), 'battle')} {whose} ({_most(words)})"


def _judges(battles: Sequence[Battle]) -> Iterator[str]:
    """Judges whose calls failed."""
    asked: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    words: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for battle in battles:
        for opinion in battle.opinions:
            asked[opinion.judge] += 1
            if opinion.status == "failed":
                failed[opinion.judge] += 1
                words[opinion.judge][opinion.detail or "no answer"] += 1
    for judge in sorted(failed):
        yield f"judge {judge}: {failed[judge]} of {plural(asked[judge], 'opinion')} failed ({_most(words[judge])})"


def _most(words: Counter[str]) -> str:
    """Return the most frequent words, of equally frequent ones the first by alphabet, and how many others there are."""
    said = min(words, key=lambda text: (-words[text], text))
    shown = quoted(said)
    return shown if len(words) == 1 else f"{shown}; and {plural(len(words) - 1, 'other reason')}"

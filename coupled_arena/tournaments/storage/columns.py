"""The columns of a run's data frames and exported files, each with its meaning."""

from typing import Literal, NamedTuple

FrameName = Literal[
    "battles", "turns", "opinions", "decisions", "questions", "rejected", "calls", "ratings", "human_votes"
]
"""The data frames of a run."""

ColumnKind = Literal["text", "integer", "optional integer", "number", "flag", "json"]
"""What a column holds; `json` is JSON text in data frames, CSV and Parquet, and the value itself in JSONL."""


class FrameColumn(NamedTuple):
    """One column of a data frame."""

    name: str
    """Its name."""
    kind: ColumnKind
    """What it holds."""
    meaning: str
    """One sentence for the reader."""


def _columns(*columns: tuple[str, ColumnKind, str]) -> tuple[FrameColumn, ...]:
    return tuple(FrameColumn(*column) for column in columns)


FRAMES: dict[FrameName, tuple[FrameColumn, ...]] = {
    "battles": _columns(
        ("run", "text", "id of the run"),
        ("battle", "text", "id of the battle"),
        ("round", "integer", "tournament round, from 1"),
        ("question", "text", "id of the question"),
        ("domain", "text", "domain of the question"),
        ("replicate", "integer", "index of the draw of the dice"),
        ("arm", "text", "how the dice were coupled: coupled, independent or fresh"),
        ("a", "text", "model on side A, which speaks first"),
        ("b", "text", "model on side B"),
        ("weight", "number", "weight in the ratings, 0.5 where both side assignments were played"),
        ("sharing", "text", "what the two openings shared: shared, seed-only, none or deterministic"),
        ("status", "text", "decided, void or forfeited"),
        ("verdict", "text", "A, B or tie; missing for a void battle"),
        ("winner", "text", "model that won; missing for a tie or a void battle"),
    ),
    "turns": _columns(
        ("run", "text", "id of the run"),
        ("battle", "text", "id of the battle"),
        ("question", "text", "id of the question"),
        ("domain", "text", "domain of the question"),
        ("position", "integer", "place in the transcript, from 0"),
        ("step", "integer", "step of the script, from 1"),
        ("round", "integer", "round of the debate under which judges read it, from 1"),
        ("speaker", "text", "A, B or the name of an added role"),
        ("model", "text", "model in the seat"),
        ("sections", "json", "what was said: list of [tag, text]"),
        ("outcome", "text", "how the turn ended"),
        ("missing", "json", "required actions that stayed absent: list of tags"),
        ("cut", "flag", "whether text over the budget was cut away"),
        ("by_section", "flag", "whether sections were asked for one by one"),
        ("requests", "integer", "how often missing actions were asked for"),
        ("prompt_tokens", "integer", "tokens read"),
        ("completion_tokens", "integer", "tokens written"),
        ("sharing", "text", "what the randomness was: shared, seed-only, none or deterministic"),
        ("detail", "text", "the provider's words when something went wrong"),
        ("leak", "text", "another language in which it is wholly or partly spoken; missing where none was seen"),
    ),
    "opinions": _columns(
        ("run", "text", "id of the run"),
        ("battle", "text", "id of the battle"),
        ("round", "integer", "tournament round, from 1"),
        ("question", "text", "id of the question"),
        ("domain", "text", "domain of the question"),
        ("replicate", "integer", "index of the draw of the debaters' dice"),
        ("arm", "text", "how the dice were coupled: coupled, independent or fresh"),
        ("a", "text", "model on side A"),
        ("b", "text", "model on side B"),
        ("family_a", "text", "family of the model on side A; missing where the run does not say"),
        ("family_b", "text", "family of the model on side B; missing as `family_a`"),
        ("length_a", "integer", "characters that the judges were shown of side A, tags left out"),
        ("length_b", "integer", "characters that the judges were shown of side B, tags left out"),
        ("truth", "text", "A, B or tie: the side with the better claims; missing outside simulated worlds"),
        ("judge", "text", "judging model"),
        ("family", "text", "family of the judge; missing as `family_a`"),
        ("named", "text", "A or B: the one side whose text names the judge, its family or brand; missing without"),
        ("stage", "integer", "0 is alone, 1.. after that many discussion rounds"),
        ("order", "text", "AB or BA: whom the judge was shown first"),
        ("verdict", "text", "A, B or tie in the battle's frame; missing if there is none"),
        ("status", "text", "valid, unparsable, truncated, refused, failed or not asked"),
        ("carried", "flag", "whether the verdict is the last valid one, this stage having none"),
        ("probability_a", "number", "a local judge's probability of A"),
        ("probability_b", "number", "a local judge's probability of B"),
        ("probability_tie", "number", "a local judge's probability of a tie"),
        ("reasons", "text", "what the judge wrote before its verdict"),
        ("repairs", "integer", "how often a readable verdict had to be asked for again"),
        ("prompt_tokens", "integer", "tokens read"),
        ("completion_tokens", "integer", "tokens written"),
        ("sharing", "text", "what the randomness was: shared, seed-only, none or deterministic"),
        ("detail", "text", "what was wrong with the reply, or the provider's words"),
    ),
    "decisions": _columns(
        ("run", "text", "id of the run"),
        ("battle", "text", "id of the battle"),
        ("status", "text", "decided, void or forfeited"),
        ("verdict", "text", "A, B or tie; missing for a void battle"),
        ("votes_a", "integer", "votes for A at the last stage"),
        ("votes_b", "integer", "votes for B at the last stage"),
        ("votes_tie", "integer", "votes for a tie at the last stage"),
        ("stages", "json", "what the vote would have been at each stage: list of A, B, tie or null"),
        ("forfeited", "json", "sides that gave the battle away"),
        ("reason", "text", "why the battle is void or forfeited"),
    ),
    "questions": _columns(
        ("run", "text", "id of the run"),
        ("question", "text", "id of the question"),
        ("domain", "text", "its domain"),
        ("language", "text", "language code of its text"),
        ("text", "text", "the question itself"),
        ("author", "text", "the examiner, bundled, or the name of a file"),
        ("reference", "text", "reference answer shown to the judges, if any"),
        ("difficulty", "text", "easy, medium or hard, as its examiner was asked for; missing where nobody said"),
        ("leak", "text", "another language in which it is wholly or partly written; missing where none was seen"),
    ),
    "rejected": _columns(
        ("run", "text", "id of the run"),
        ("domain", "text", "domain it was written for"),
        ("text", "text", "what an examiner wrote and nobody was asked"),
        ("reason", "text", "why: no question, near-duplicate, other language, cut off or surplus"),
        ("author", "text", "the examiner; missing in a store of an earlier version"),
    ),
    "calls": _columns(
        ("run", "text", "id of the run"),
        ("model", "text", "model string; equal calls under several names are made once, and this is their one row"),
        ("noise", "text", "noise key, hexadecimal"),
        ("sample", "integer", "index of an independent draw for the same noise key"),
        ("attempt", "integer", "failed answers to this call that were discarded before"),
        ("outcome", "text", "ok, truncated, refused, filtered, empty, timeout or failed"),
        ("text", "text", "what was written"),
        ("reasoning", "text", "hidden reasoning, never forwarded"),
        ("probabilities", "json", "probability of every choice, where choices were given"),
        ("tool_calls", "json", "tools the model wanted called: id, name, arguments"),
        ("state", "json", "what an agent of yours remembered after its turn"),
        ("prompt_tokens", "integer", "tokens read"),
        ("completion_tokens", "integer", "tokens written"),
        ("cost", "number", "US dollars; missing where the model has no known price"),
        ("retries", "integer", "requests repeated after a passing fault"),
        ("sharing", "text", "what the randomness was: shared, seed-only, none or deterministic"),
        ("detail", "text", "the provider's words when something went wrong"),
        ("settings", "json", "what else was sent: sampling, limits, stop strings, options"),
        ("messages", "json", "the chat as sent: list of [role, text], and a third part where tools were called"),
        ("reused_from", "text", "run that paid for the answer, if it was another one"),
        ("latency", "number", "seconds from asking to answer; never part of a result"),
        ("created", "number", "when it was stored, in seconds since 1970; never part of a result"),
    ),
    "ratings": _columns(
        ("run", "text", "id of the run"),
        ("round", "integer", "the round after which these ratings hold"),
        ("rank", "optional integer", "1 is best"),
        ("model", "text", "name of the model"),
        ("rating", "number", "mean 1000, 400 points per factor ten of odds"),
        ("low", "number", "lower end of the 95 % interval; missing where there is none"),
        ("high", "number", "upper end of the interval; missing where there is none"),
        ("wins", "integer", "battles won, forfeits of the opponent included"),
        ("losses", "integer", "battles lost, own forfeits included"),
        ("ties", "integer", "battles tied"),
        ("void", "integer", "battles without a decision"),
        ("forfeited", "integer", "battles given away"),
        ("availability", "number", "share of the model's turns that were answered"),
    ),
    "human_votes": _columns(
        ("run", "text", "id of the run"),
        ("battle", "text", "id of the battle"),
        ("question", "text", "id of the question"),
        ("domain", "text", "domain of the question"),
        ("a", "text", "model on side A"),
        ("b", "text", "model on side B"),
        ("annotator", "text", "who voted; battles passed over are not here"),
        ("order", "text", "AB or BA: which side was shown first"),
        ("verdict", "text", "A, B or tie in the battle's frame"),
        ("created", "number", "when it was cast, in seconds since 1970"),
    ),
}
"""Every data frame with its columns, in order."""

COLUMNS: dict[str, dict[str, str]] = {
    frame: {column.name: column.meaning for column in columns} for frame, columns in FRAMES.items()
}
"""What every column of every data frame means, for the documentation."""

"""What is said to models and how what they say is read: templates, tags, verdicts, questions."""

from coupled_arena.prompts.defang import defang
from coupled_arena.prompts.envelopes import Envelope, Sealed, envelope, read_envelopes, seal
from coupled_arena.prompts.grammar import Grammar
from coupled_arena.prompts.languages import Leak, leak, turn_leak
from coupled_arena.prompts.listing import near_duplicate, questions_schema, read_json_questions, read_numbered
from coupled_arena.prompts.loader import load_prompts, prompt_names
from coupled_arena.prompts.prompt_set import Domain, PromptSet
from coupled_arena.prompts.question_files import bundled_questions, load_questions
from coupled_arena.prompts.sections import read_sections
from coupled_arena.prompts.verdict import VerdictReading, problem_of, read_json_verdict, read_verdict, verdict_schema

__all__ = [
    "Domain",
    "Envelope",
    "Grammar",
    "Leak",
    "PromptSet",
    "Sealed",
    "VerdictReading",
    "bundled_questions",
    "defang",
    "envelope",
    "leak",
    "load_prompts",
    "load_questions",
    "near_duplicate",
    "problem_of",
    "prompt_names",
    "questions_schema",
    "read_envelopes",
    "read_json_questions",
    "read_json_verdict",
    "read_numbered",
    "read_sections",
    "read_verdict",
    "seal",
    "turn_leak",
    "verdict_schema",
]

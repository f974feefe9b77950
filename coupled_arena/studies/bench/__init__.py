"""Models answer the items of a task with shared dice: how often they are right, and how sure the difference is."""

from coupled_arena.studies.bench.catalogue import load_task
from coupled_arena.studies.bench.gsm8k import gsm8k
from coupled_arena.studies.bench.mmlu import mmlu
from coupled_arena.studies.bench.own import own_task
from coupled_arena.studies.bench.playing import abench, bench
from coupled_arena.studies.bench.result import Bench
from coupled_arena.studies.bench.scoring import Exact, last_number, letter, strict_letter, yes_or_no
from coupled_arena.studies.bench.task import Item, Task

__all__ = [
    "Bench",
    "Exact",
    "Item",
    "Task",
    "abench",
    "bench",
    "gsm8k",
    "last_number",
    "letter",
    "load_task",
    "mmlu",
    "own_task",
    "strict_letter",
    "yes_or_no",
]

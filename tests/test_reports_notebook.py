"""Results show themselves in a notebook as HTML in which no text of a model means anything."""

import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

import coupled_arena as ca
from coupled_arena.shown import Rows, Shown

HOSTILE = "<script>alert('x')</script>"


@pytest.fixture(scope="module")
def result() -> ca.Result:
    models = [ca.Model(HOSTILE, "sim/ada?skill=1"), "sim/bob"]
    return ca.Tournament(models=models, judges=["sim/j"], domains=["math"], questions_per_domain=3, seed=7).run()


def test_a_result_is_a_table_with_its_notes_and_no_markup_of_a_model(result: ca.Result) -> None:
    shown = result._repr_html_()
    assert HOSTILE not in shown
    assert "<td>&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;</td>" in shown
    assert shown.count("<tr>") == 3
    for pair in result.neighbours:
        assert f"{pair.settled.difference:.0f}" in shown


def test_ratings_show_a_row_for_every_model_best_first(result: ca.Result) -> None:
    shown = result.ratings._repr_html_()
    assert shown.index("&lt;script") < shown.index("sim/bob")
    assert "prior weak" in shown


def test_studies_show_their_answer(result: ca.Result) -> None:
    shown = ca.Comparison.of(result)._repr_html_()
    assert shown.startswith("<pre")
    assert "beats" in shown or "not settled" in shown
    judged = ca.judges(result)._repr_html_()
    assert "<td>sim/j</td>" in judged
    assert "flip_rate" in judged
    bench = ca.bench(["sim/ada", "sim/bob"], "arithmetic", items=3, repeats=2)
    assert "accuracy" in bench._repr_html_()


def test_control_characters_are_shown_and_not_obeyed() -> None:
    class Odd(Shown):
        __slots__ = ()

        def shown(self) -> Iterator[str | Rows]:
            yield "a\x1b[31m\u202eb"
            yield Rows(
                ("x\x00",),
                [
                    [
                        "\x9b",
                    ]
                ],
            )

    shown = Odd()._repr_html_()
    assert shown.isascii()
    assert "a\\x1b[31m\\u202eb" in shown


def test_progress_is_one_changing_line_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    made: list[bool] = []

    def show(shown: dict[str, str], *, raw: bool, display_id: bool = False) -> Any:
        made.append(display_id)
        lines.append(shown["text/plain"])
        return SimpleNamespace(update=lambda shown, raw: lines.append(shown["text/plain"]))

    module = ModuleType("IPython.display")
    monkeypatch.setattr(module, "display", show, raising=False)
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    console = Console(quiet=True)
    console.is_jupyter = True
    seconds = iter(range(10_000))
    progress = ca.Progress(console, clock=lambda: float(next(seconds)))
    tournament = ca.Tournament(
        models=["sim/ada", "sim/bob"], judges=["sim/j"], domains=["math"], questions_per_domain=2
    )
    tournament.run(listeners=[progress])
    assert made == [True]
    assert len(lines) > 2
    assert lines[-1].startswith("2 of 2 battles, ")

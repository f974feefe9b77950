"""Plots show what the result holds, on the axes that were given or on new ones."""

import sys
from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot

import coupled_arena as ca
from coupled_arena.errors import ConfigurationError

NAMES = ("leaderboard", "history", "win_rates", "match_graph")
MODELS = [ca.Model("a $x_1$ b", "sim/ada?skill=0.3"), "sim/bob?skill=0", "sim/eve?skill=-0.3"]


@pytest.fixture(scope="module")
def result() -> ca.Result:
    return ca.Tournament(
        models=MODELS,
        judges=["sim/j1", "sim/j2", "sim/j3"],
        domains=["math", "writing"],
        questions_per_domain=3,
        schedule="round_robin",
        coupling="both",
        seed=7,
    ).run()


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    mpl.use("agg")
    pyplot.close("all")
    yield
    pyplot.close("all")


@pytest.mark.parametrize("name", [*NAMES, "coupling"])
def test_a_plot_draws_on_given_axes_and_returns_them(name: str, result: ca.Result) -> None:
    _, ax = pyplot.subplots()
    assert getattr(ca.plot, name)(result, ax=ax) is ax
    assert ax.has_data()
    ax.figure.canvas.draw()
    assert pyplot.get_fignums() == [1]


@pytest.mark.parametrize("name", NAMES)
def test_a_plot_without_axes_makes_a_figure_and_names_every_model(name: str, result: ca.Result) -> None:
    ax = getattr(ca.plot, name)(result)
    legend = ax.get_legend()
    texts = [*ax.get_yticklabels(), *ax.texts, *(legend.get_texts() if legend else [])]
    words = {text.get_text() for text in texts}
    assert {r"a \$x_1\$ b", "sim/bob", "sim/eve"} <= words


def test_the_leaderboard_has_the_best_on_top_with_its_interval(result: ca.Result) -> None:
    ax = ca.plot.leaderboard(result)
    best = result.rows[0]
    assert best.rating is not None and best.low is not None
    assert ax.get_yticklabels()[0].get_text() == best.model.replace("$", r"\$")
    assert ax.yaxis_inverted()
    drawn = ax.containers[0].lines[0]  # type: ignore[attr-defined]
    assert drawn.get_xdata() == pytest.approx([best.rating])
    (segment,) = ax.containers[0].lines[2][0].get_segments()  # type: ignore[attr-defined]
    assert segment[:, 0] == pytest.approx([best.low, best.high])


def test_two_cells_of_a_pair_add_up_to_one(result: ca.Result) -> None:
    shares = ca.plot.win_rates(result).images[0].get_array()
    assert shares is not None
    mask = np.ma.getmaskarray(shares)
    for row in range(3):
        assert mask[row, row]
        for column in range(row):
            assert shares[row, column] + shares[column, row] == pytest.approx(1)


def test_the_match_graph_has_a_line_for_every_pair_that_met(result: ca.Result) -> None:
    assert len(ca.plot.match_graph(result).lines) == 3


def test_what_a_bench_saved_is_drawn_by_pair_and_setting() -> None:
    found = ca.bench(["sim/ada?skill=1", "sim/bob"], "arithmetic", items=12, repeats=3, temperature=[0.7, 1.0])
    labels = [text.get_text() for text in ca.plot.coupling(found).get_yticklabels()]
    assert labels == ["sim/ada - sim/bob, T 0.7", "sim/ada - sim/bob, T 1.0"]


def test_a_number_of_every_judge_is_drawn_by_its_name(result: ca.Result) -> None:
    found = ca.judges(result)
    ax = ca.plot.judges(found, "ties")
    assert [text.get_text() for text in ax.get_yticklabels()] == ["sim/j1", "sim/j2", "sim/j3"]
    drawn = [container.lines[0].get_xdata()[0] for container in ax.containers]  # type: ignore[attr-defined]
    assert drawn == pytest.approx(found.judges["ties"].tolist(), abs=1e-5)
    with pytest.raises(ValueError, match="no measure 'tied' of judges; there are position_effect"):
        ca.plot.judges(found, "tied")


def test_a_model_without_a_rating_is_named_and_said_to_have_none() -> None:
    fails = ["sim/ada", "sim/bob", "sim/eve?error=1"]
    played = ca.Tournament(models=fails, judges=["sim/j"], domains=["math"], questions_per_domain=1).run()
    assert "no rating" in [text.get_text() for text in ca.plot.leaderboard(played).texts]
    ca.plot.history(played)
    ca.plot.win_rates(played)
    ca.plot.match_graph(played)


def test_without_matplotlib_the_package_to_install_is_named(result: ca.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ConfigurationError, match=r"coupled-arena\[plot\]"):
        ca.plot.leaderboard(result)

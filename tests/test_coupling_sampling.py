"""Sampling settings: what is accepted, and the one clear line for what is not."""

import math
from typing import Any

import pytest

from coupled_arena.coupling import Sampling
from coupled_arena.errors import ConfigurationError


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("temperature", value) for value in (-0.1, math.inf, math.nan, None, "1", True)),
        *(("top_k", value) for value in (0, -1, 1.5, True, "5")),
        *((field, value) for field in ("top_p", "min_p") for value in (0, -0.1, 1.01, math.nan, math.inf, "0.5", True)),
    ],
)
def test_a_bad_value_is_one_clear_line(field: str, value: Any) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Sampling(**{field: value})
    assert str(caught.value).startswith(f"Sampling: {field}: must ")
    assert str(caught.value).endswith(f"not {value!r}")
    assert "\n" not in str(caught.value)


def test_all_bad_values_are_reported_together() -> None:
    with pytest.raises(ConfigurationError) as caught:
        Sampling(temperature=-1, top_k=0, top_p=2, min_p=0)
    assert [problem.key for problem in caught.value.problems] == ["temperature", "top_k", "top_p", "min_p"]


@pytest.mark.parametrize("settings", [{"temperature": 0}, {"top_k": 1}, {"top_p": 1}, {"min_p": 1}, {"min_p": 1e-9}])
def test_the_edges_of_the_ranges_are_accepted(settings: dict[str, Any]) -> None:
    assert Sampling(**settings) == Sampling(**settings)


def test_whole_numbers_become_the_floats_they_equal() -> None:
    assert repr(Sampling(temperature=1, top_p=1)) == repr(Sampling(temperature=1.0, top_p=1.0))

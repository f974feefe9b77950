"""Benching local models: what they can share dice on, and real weights."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coupled_arena as ca
from coupled_arena.coupling import Vocabulary, shared_tokens
from coupled_arena.errors import ModelUnavailable
from coupled_arena.models.local.cache import ModelCache
from coupled_arena.models.local.common import strangers
from coupled_arena.models.model import Model
from coupled_arena.studies.bench.asking import Answer, Place
from coupled_arena.studies.bench.planning import planned
from coupled_arena.studies.bench.rows import pair_rows
from coupled_arena.testing import FakeProvider

gguf = pytest.importorskip("gguf")

CONTROL, NORMAL = 3, 1


def vocabulary(path: Path, tokens: list[str], control: int = 0, tokenizer: str = "gpt2") -> Model:
    """Write a model file with this vocabulary, of which the last few steer the model; return its model."""
    writer = gguf.GGUFWriter(None, "llama")
    writer.add_array("tokenizer.ggml.tokens", tokens)
    writer.add_array("tokenizer.ggml.token_type", [NORMAL] * (len(tokens) - control) + [CONTROL] * control)
    writer.add_string("tokenizer.ggml.model", tokenizer)
    writer.add_tensor("token_embd.weight", np.zeros((2, 32), dtype=np.float32))
    writer.write_header_to_file(path)
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return Model(f"local/{path}")


def test_tokens_are_common_by_their_bytes_and_steering_ones_are_not_counted(tmp_path: Path) -> None:
    bpe = vocabulary(tmp_path / "bpe.gguf", ["Ġthe", "Ċ", "cat", "<|end|>"], control=1)
    pieces = vocabulary(tmp_path / "pieces.gguf", ["▁the", "<0x0A>", "dog", "<|end|>"], control=1, tokenizer="llama")
    other = vocabulary(tmp_path / "other.gguf", ["x", "y", "<|end|>"], control=1)
    assert strangers([bpe, pieces, other]) == [(0, 2), (1, 2)]
    assert strangers([Model("sim/ada"), other, Model(f"{other.model}:q8_0"), bpe]) == [(1, 3), (2, 3)]


def test_a_file_without_a_vocabulary_is_named(tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(None, "llama")
    writer.add_tensor("token_embd.weight", np.zeros((2, 32), dtype=np.float32))
    writer.write_header_to_file(tmp_path / "bare.gguf")
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(ModelUnavailable, match=r"bare\.gguf: tells no vocabulary"):
        strangers([vocabulary(tmp_path / "whole.gguf", ["x"]), Model(f"local/{tmp_path / 'bare.gguf'}")])


def test_two_models_without_a_common_token_claim_nothing() -> None:
    plan = planned(["sim/ada", "sim/bob"], "arithmetic", items=3, repeats=2)
    places = [Place(0, model, item, repeat) for model in range(2) for item in range(3) for repeat in range(2)]
    answers = {place: Answer(str(place.repeat), "ok", float(place.repeat), True, "shared", "") for place in places}
    (like,) = pair_rows(plan, answers)
    (unlike,) = pair_rows(plan, answers, apart=[(0, 1)])
    assert (like.sharing, unlike.sharing) == ("shared", "none")
    assert like.covariance is not None
    assert (unlike.saved, unlike.covariance, unlike.se_coupled) == (None, None, None)
    assert unlike.identical == 1.0


@pytest.mark.weights
def test_a_vocabulary_from_the_head_of_a_file_is_that_of_the_engine() -> None:
    from coupled_arena.models.local.common import _vocabulary
    from coupled_arena.models.local.llama import LlamaEngine
    from coupled_arena.models.local.threads import ThreadChoice

    path = ModelCache().resolve("smollm2-135m")
    engine = LlamaEngine(path, 256, ThreadChoice(1))
    loaded, read = Vocabulary(engine.names, engine.end_tokens), _vocabulary(path)
    engine.close()
    alike = ~(loaded.ends | read.ends)
    assert (loaded.identities[alike] == read.identities[alike]).all()
    assert shared_tokens(loaded, read) == int(alike.sum()) > 49_000


@pytest.mark.weights
def test_real_models_are_coupled_and_answered_from_the_store(tmp_path: Path, fake_provider: Any) -> None:
    rules: dict[str, Any] = {"task": "yes-no", "items": 2, "repeats": 4, "temperature": 1.0, "seed": 7}
    models = ["local/smollm2-135m", "local/smollm2-135m:q8_0"]
    found = ca.bench(models, **rules, store=tmp_path / "bench.db")
    (pair,) = found.pair_rows
    assert (pair.sharing, found.counts.made) == ("shared", 16)
    assert pair.identical is not None and pair.identical >= 0.5
    again = ca.bench(models, **rules, store=tmp_path / "bench.db")
    assert (again.counts.made, again.document()["pairs"]) == (0, found.document()["pairs"])
    provider: FakeProvider = fake_provider({"hosted": "Yes."})
    mixed = ca.bench([models[1], provider.model("hosted")], **rules, store=tmp_path / "bench.db")
    assert mixed.counts.made == 8
    assert mixed.pair_rows[0].sharing in ("none", "seed-only")
    json.dumps(mixed.document(), allow_nan=False)

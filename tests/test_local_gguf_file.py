import os
import struct
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.errors import ModelUnavailable
from coupled_arena.models.local.gguf_file import read_gguf
from coupled_arena.models.local.requantise import VARIANTS, requantise
from coupled_arena.models.local.weights import read_header
from tests.local_fixtures import write_model

gguf = pytest.importorskip("gguf", reason="needs the extra `local`")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "tiny.gguf")


def test_the_header_tells_architecture_context_and_size(model: Path) -> None:
    header = read_header(model)
    assert (header.architecture, header.context, header.weight_bytes) == ("llama", 4096, model.stat().st_size)
    # One layer of 2 heads, 32 numbers each for key and value, 2 bytes a number.
    assert header.kv_bytes == 2 * (32 + 32) * 2


def test_the_head_agrees_with_the_reader_of_the_gguf_package(model: Path) -> None:
    theirs, ours = gguf.GGUFReader(model), read_gguf(model)
    assert [(t.name, tuple(map(int, t.shape)), int(t.tensor_type), int(t.data_offset)) for t in theirs.tensors] == [
        (t.name, t.shape, t.kind, t.offset) for t in ours.tensors
    ]
    assert ours.metadata["llama.block_count"] == 1
    assert ours.metadata["tokenizer.ggml.tokens"] is None


def test_a_file_cut_anywhere_in_its_head_is_refused_with_its_name(model: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.gguf"
    short.write_bytes(model.read_bytes())
    for length in range(read_gguf(model).tensors[-1].offset, -1, -11):
        os.truncate(short, length)
        with pytest.raises(ModelUnavailable, match=r"short\.gguf: is not a whole GGUF file"):
            read_header(short)


@given(st.binary(max_size=200))
def test_garbage_is_refused(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for begin in (b"", b"GGUF" + struct.pack("<I", 3)):
            file = Path(folder, "garbage.gguf")
            file.write_bytes(begin + data)
            with pytest.raises(ModelUnavailable):
                read_header(file)


def test_a_file_without_a_model_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "empty.gguf"
    file.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 0))
    with pytest.raises(ModelUnavailable, match="holds no model"):
        read_header(file)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="no such file"):
        read_header(tmp_path / "nothing.gguf")
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        read_header(tmp_path)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variant_changes_the_weight_matrices_and_nothing_else(model: Path, tmp_path: Path, variant: str) -> None:
    target = tmp_path / "variant.gguf"
    requantise(model, target, variant)
    before, after = gguf.GGUFReader(model), gguf.GGUFReader(target)
    kinds = {tensor.name: tensor.tensor_type.name for tensor in after.tensors}
    assert kinds == {
        "token_embd.weight": "F32",
        "blk.0.attn_norm.weight": "F32",
        "blk.0.attn_q.weight": variant.upper(),
        "blk.0.odd.weight": "F32",
    }
    for old, new in zip(before.tensors, after.tensors, strict=True):
        values = gguf.quants.dequantize(new.data, new.tensor_type)
        reach = 0.0 if old.tensor_type == new.tensor_type else float(np.abs(old.data).max()) / 7
        assert np.abs(values - old.data).max() <= reach
    assert after.fields["general.file_type"].contents() == gguf.LlamaFileType[f"MOSTLY_{variant.upper()}"]
    for key, field in before.fields.items():
        if key != "general.file_type" and not key.startswith("GGUF."):
            assert after.fields[key].contents() == field.contents()


def test_a_variant_of_the_same_precision_is_the_same_file(model: Path, tmp_path: Path) -> None:
    once, twice = tmp_path / "once.gguf", tmp_path / "twice.gguf"
    requantise(model, once, "q8_0")
    requantise(once, twice, "q8_0")
    assert once.read_bytes() == twice.read_bytes()


def test_a_model_whose_last_tensor_is_cut_short_has_no_variant(model: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.gguf"
    short.write_bytes(model.read_bytes()[:-40])
    with pytest.raises(ModelUnavailable, match="cut short"):
        requantise(short, tmp_path / "variant.gguf", "q8_0")

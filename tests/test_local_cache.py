import shutil
import threading
from pathlib import Path

import pytest

from coupled_arena.errors import ModelUnavailable
from coupled_arena.models.local import cache as module
from coupled_arena.models.local.cache import CachedModel, ModelCache, default_folder, sha256
from coupled_arena.models.local.requantise import requantise
from tests.local_fixtures import write_model

pytest.importorskip("gguf", reason="needs the extra `local`")


@pytest.fixture
def cache(tmp_path: Path) -> ModelCache:
    folder = tmp_path / "cache"
    folder.mkdir()
    write_model(folder / "tiny.gguf")
    return ModelCache(folder)


def left_over(cache: ModelCache) -> list[str]:
    return [path.name for path in cache.folder.glob(".partial-*")]


def test_the_environment_names_another_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(module.VARIABLE, str(tmp_path))
    assert ModelCache().folder == tmp_path
    monkeypatch.delenv(module.VARIABLE)
    assert default_folder().parts[-2:] == ("coupled-arena", "models")


def test_a_name_is_a_file_of_the_folder_and_a_path_is_itself(cache: ModelCache, tmp_path: Path) -> None:
    other = write_model(tmp_path / "other.gguf")
    assert cache.resolve("tiny") == cache.folder / "tiny.gguf"
    assert cache.resolve(str(other)) == other


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("tiny:q3_k", "no variant 'q3_k'; known: f16"),
        ("smollm2-135m", "coupled-arena models get smollm2-135m"),
        ("nothing", r"not in the model cache .*; known: gemma3-270m, smollm2-135m, tiny"),
        ("no/such.gguf", "there is no such file"),
        ("", "a name has letters"),
        ("..", "a name has letters"),
    ],
)
def test_what_is_not_there_is_said_with_what_to_do(cache: ModelCache, name: str, words: str) -> None:
    with pytest.raises(ModelUnavailable, match=words):
        cache.resolve(name)


def test_a_variant_is_derived_once_and_listed(cache: ModelCache) -> None:
    derived = cache.resolve("tiny:q8_0")
    stamp = derived.stat().st_mtime_ns
    assert cache.resolve("tiny:q8_0") == derived
    assert derived.stat().st_mtime_ns == stamp
    assert cache.files() == [
        CachedModel("tiny", cache.folder / "tiny.gguf", (cache.folder / "tiny.gguf").stat().st_size),
        CachedModel("tiny:q8_0", derived, derived.stat().st_size),
    ]


def test_a_variant_belongs_to_the_contents_of_its_base(cache: ModelCache) -> None:
    before = cache.resolve("tiny:q4_0")
    write_model(cache.folder / "tiny.gguf", fill=2.0)
    assert cache.resolve("tiny:q4_0") != before


def test_a_variant_that_fails_leaves_nothing_behind(cache: ModelCache, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(source: Path, target: Path, variant: str) -> None:
        target.write_bytes(b"half")
        raise ModelUnavailable(f"{source}: no {variant}")

    monkeypatch.setattr(module, "requantise", fail)
    with pytest.raises(ModelUnavailable):
        cache.resolve("tiny:q8_0")
    assert [path.name for path in cache.folder.rglob("*q8_0*")] == []
    assert left_over(cache) == []


def test_two_that_want_a_variant_derive_it_once(cache: ModelCache, monkeypatch: pytest.MonkeyPatch) -> None:
    derive, derived, found = requantise, list[str](), set[Path]()
    together = threading.Barrier(2, timeout=10)

    def counted(source: Path, target: Path, variant: str) -> None:
        derived.append(variant)
        derive(source, target, variant)

    def ask() -> None:
        other = ModelCache(cache.folder)
        other.digest(cache.folder / "tiny.gguf")
        together.wait()
        found.add(other.resolve("tiny:q5_1"))

    monkeypatch.setattr(module, "requantise", counted)
    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert (derived, len(found)) == (["q5_1"], 1)


def test_a_digest_is_computed_once_for_a_size_and_a_time(cache: ModelCache, monkeypatch: pytest.MonkeyPatch) -> None:
    path, computed = cache.folder / "tiny.gguf", list[Path]()

    def counted(file: Path) -> str:
        computed.append(file)
        return sha256(file)

    monkeypatch.setattr(module, "sha256", counted)
    first = cache.digest(path)
    assert ModelCache(cache.folder).digest(path) == first
    assert len(computed) == 1
    write_model(path, fill=3.0)
    assert cache.digest(path) != first
    assert len(computed) == 2


def test_damaged_notes_of_digests_are_written_anew(cache: ModelCache) -> None:
    path, notes = cache.folder / "tiny.gguf", cache.folder / "digests.json"
    for damage in ("", "[]", '{"cut', "\x00"):
        notes.write_text(damage)
        assert cache.digest(path) == sha256(path)


def test_a_file_gets_its_name_only_when_it_is_whole(cache: ModelCache) -> None:
    with pytest.raises(KeyError), cache.locked(), cache.partial("new.gguf") as file:
        file.write_bytes(b"half")
        raise KeyError
    assert not (cache.folder / "new.gguf").exists()
    assert left_over(cache) == []
    with cache.locked(), cache.partial("new.gguf") as file:
        shutil.copy(cache.folder / "tiny.gguf", file)
    assert sha256(cache.folder / "new.gguf") == sha256(cache.folder / "tiny.gguf")


def test_what_a_killed_process_left_is_removed(cache: ModelCache) -> None:
    (cache.folder / ".partial-killed").mkdir()
    (cache.folder / ".partial-killed" / "tiny.gguf").write_bytes(b"half")
    cache.resolve("tiny:q8_0")
    assert left_over(cache) == []

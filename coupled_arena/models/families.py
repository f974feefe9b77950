"""Which models are too close to judge each other."""

import re

from coupled_arena.models.model import Model

PATTERNS: tuple[tuple[str, str], ...] = (
    (r"gpt|chatgpt|o[134](-|$)|davinci|codex", "gpt"),
    (r"claude", "claude"),
    (r"gemini|bison|learnlm", "gemini"),
    (r"gemma", "gemma"),
    (r"llama|vicuna", "llama"),
    (r"mistral|mixtral|ministral|magistral|codestral|devstral|pixtral", "mistral"),
    (r"qwen|qwq|qvq", "qwen"),
    (r"deepseek", "deepseek"),
    (r"command|aya|c4ai", "command"),
    (r"phi(-|\d|$)", "phi"),
    (r"grok", "grok"),
    (r"glm|chatglm", "glm"),
    (r"yi(-|\d|$)", "yi"),
    (r"kimi|moonshot", "kimi"),
    (r"smollm", "smollm"),
    (r"nova(-|$)", "nova"),
    (r"titan", "titan"),
    (r"jamba", "jamba"),
    (r"granite", "granite"),
    (r"nemotron", "nemotron"),
    (r"minimax|abab", "minimax"),
    (r"hunyuan", "hunyuan"),
    (r"ernie", "ernie"),
    (r"doubao|seed-oss", "doubao"),
    (r"falcon", "falcon"),
    (r"olmo", "olmo"),
    (r"sonar", "sonar"),
    (r"internlm", "internlm"),
    (r"baichuan", "baichuan"),
    (r"palmyra", "palmyra"),
)
"""Patterns of LiteLLM model names and their families; each matches at the start of a word."""

_ROWS = tuple((re.compile(rf"(?:^|[/._:-])(?:{pattern})"), family) for pattern, family in PATTERNS)


def family_of(model: Model) -> str:
    """Return a model's family: as stated, else from the table, else the model string itself.

    For `local/` models it is the base weights, for `sim/` models the `taste` they were given or their own name; an
    agent is a family of its own, whatever models it asks. A name that holds several families
    (`deepseek-r1-distill-llama-70b`) belongs to the first one; the provider in front of it
    does not count (`gemini/gemma-3-27b-it` is a Gemma).

    Example:
        >>> family_of(Model("azure/gpt-4o")), family_of(Model("local/smollm2-135m:q4_0"))
        ('gpt', 'local/smollm2-135m')
        >>> family_of(Model("openai/my-own-thing"))
        'openai/my-own-thing'
    """
    if model.family is not None:
        return model.family
    if model.kind == "local":
        return f"local/{_base(model.path)}"
    if model.kind == "agent":
        return model.model
    if model.kind == "sim":
        taste = model.parameters.get("taste", "")
        return taste if taste and not _is_number(taste) else f"sim/{model.path}"
    provider, _, path = model.model.lower().partition("/")
    name = path or provider
    found = [(match.start(), row) for row, (pattern, _) in enumerate(_ROWS) if (match := pattern.search(name))]
    return _ROWS[min(found)[1]][1] if found else model.model


def _base(path: str) -> str:
    # A variant stands behind a colon; a file keeps its folder, since two files of one name may differ.
    return re.sub(r":(?:q\d_\d|f16|f32|bf16)$", "", path, flags=re.IGNORECASE)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

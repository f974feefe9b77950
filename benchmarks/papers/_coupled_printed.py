"""Numbers printed in the paper on coupled generation, its poster and its notebooks."""

POINTS = (
    ("college_computer_science", "Llama-3.2-3B-Instruct", "Llama-3.2-1B-Instruct", 0.0341, 120, 200),
    ("college_computer_science", "Llama-3.1-8B-Instruct", "Llama-3.2-1B-Instruct", 0.0465, 80, 100),
    ("college_computer_science", "Llama-3.1-8B-Instruct", "Llama-3.2-3B-Instruct", 0.0373, 120, 160),
    ("college_chemistry", "Llama-3.2-3B-Instruct", "Llama-3.2-1B-Instruct", 0.0315, 120, 200),
    ("professional_accounting", "Llama-3.2-3B-Instruct", "Llama-3.2-1B-Instruct", 0.0374, 100, 180),
    ("professional_law", "Llama-3.2-3B-Instruct", "Llama-3.2-1B-Instruct", 0.0341, 140, 240),
    ("professional_medicine", "Llama-3.2-3B-Instruct", "Llama-3.2-1B-Instruct", 0.0335, 160, 240),
)
"""Points marked in figures 2, 4 and 5 of v1: area of MMLU, two models, error, samples it takes with shared and with own
dice."""

SUBJECTS = 52
"""Subjects of MMLU, as v1 counts them."""

EXAMPLE = (
    ("m1", (0.4, 1.0), 0.70, 0.1545, 0.0525),
    ("m2", (0.48, 0.9), 0.69, 0.15675, 0.0225),
    ("m3", (0.5, 0.89), 0.695, 0.16225, 0.03),
)
"""The example of three models: chance of a right answer to each of two prompts, accuracy, win rates with own and shared
dice."""

LMSYS = {
    "llama": {
        "Llama-3.1-8B": (0.366959, 0.386281),
        "Llama-3.1-8B-bnb-8bit": (0.356241, 0.382527),
        "Llama-3.1-8B-bnb-4bit": (0.333896, 0.346346),
        "Llama-3.1-8B-AWQ-INT4": (0.316392, 0.330975),
        "Llama-3.2-3B": (0.278687, 0.282831),
        "Llama-3.2-1B": (0.164999, 0.166432),
    },
    "qwen": {
        "Qwen3-8B": (0.448560, 0.452350),
        "Qwen2.5-7B": (0.314782, 0.327916),
        "Qwen2.5-7B-bnb-8bit": (0.321089, 0.326415),
        "Qwen2.5-7B-bnb-4bit": (0.289237, 0.286239),
        "Qwen2.5-7B-AWQ": (0.256107, 0.259067),
        "Qwen2.5-3B": (0.207243, 0.212117),
        "Qwen2.5-1.5B": (0.183363, 0.187477),
        "DistilQwen2.5-3B": (0.177966, 0.185015),
    },
    "mistral": {
        "Mistral-7B-v0.2": (0.330986, 0.335480),
        "Mistral-7B-v0.3-bnb-4bit": (0.286081, 0.295296),
        "Mistral-7B-v0.3-bnb-8bit": (0.284449, 0.295336),
        "Mistral-7B-v0.3": (0.275656, 0.291786),
        "Mistral-7B-v0.1": (0.159841, 0.161722),
    },
}
"""Average win rates on LMSYS questions, coupled and independent (v1 table 1; notebook, with its labels put right)."""

TIES = (
    ("Llama-3.1-8B-bnb-8bit", "Llama-3.1-8B", 24.0),
    ("Llama-3.1-8B-bnb-8bit", "Llama-3.1-8B-bnb-4bit", 11.0),
    ("Llama-3.1-8B-bnb-8bit", "Llama-3.1-8B-AWQ-INT4", 15.0),
    ("Qwen2.5-7B-bnb-8bit", "Qwen2.5-7B", 15.3),
    ("Mistral-7B-v0.3-bnb-8bit", "Mistral-7B-v0.3", 15.8),
)
"""By how many percent shared dice raise the number of ties on LMSYS questions."""

MOST_SAVED = (("v1", 40.0), ("v3", 75.0))
"""Up to how many percent fewer samples the abstracts promise."""

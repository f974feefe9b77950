"""How much better is one model than another, and what do shared dice save? Arithmetic, two temperatures."""

import coupled_arena as ca

if __name__ == "__main__":
    found = ca.bench(
        ["sim/ada?skill=1", "sim/bob?skill=0.8"],  # or "local/smollm2-135m", "local/smollm2-135m:q8_0"
        "arithmetic",  # or "yes-no", "multiple-choice", your copy of MMLU or GSM8K, your own items.jsonl
        items=60,
        repeats=6,
        temperature=[0.7, 1.0],
        seed=7,
    )
    print(found)
    wrong = found.answers.query("score == 0")
    print("hardest:", wrong["item"].value_counts().head(3).index.tolist())

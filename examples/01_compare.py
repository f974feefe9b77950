"""Which of my two models is better, on which questions, and is it settled?"""

import coupled_arena as ca

if __name__ == "__main__":
    comparison = ca.compare(
        "sim/ada?skill=1",  # or "openai/gpt-4o-mini", "ollama/llama3.2", "local/smollm2-135m"
        "sim/bob",
        judges=["sim/j1", "sim/j2", "sim/j3"],
        domains=["math", "writing", "coding"],  # or questions="mine.jsonl"
        questions_per_domain=4,
        seed=7,
    )
    print(comparison)
    for domain, score in comparison.domains:
        print(f"{domain}: {score.wins} won, {score.losses} lost, {score.ties} tied")

"""Which of two models is better."""

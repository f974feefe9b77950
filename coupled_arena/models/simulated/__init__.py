"""Simulated models: debaters, judges and examiners in worlds whose truth is known.

`world` holds the truth, `dials` what makes models differ; `debater`, `judge` and `examiner` are the roles, `reading`
what they find in their prompts and `wording` what they say; `speech` joins them, `backend` serves them to the gateway.
Nothing is imported here, so that reading the dials stays cheap.
"""

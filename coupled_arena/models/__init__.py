"""How messages become text.

`model` says who is asked and `calls` what is asked and answered; `gateway` carries calls to the backends `hosted`,
`simulated` and `local`, within the `limits` of providers and the run's `budget`, and remembers the answers in a `memo`;
`voice` is a model in a role; `families` says which models are too close to judge each other. Nothing is imported here,
so that naming a model stays cheap.
"""

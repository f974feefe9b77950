"""Models of providers: what is sent to them through LiteLLM, and what their answers and their faults come to.

`backend` is the way in and makes an `asking` of every call: it sends the call's `parameters` when the limiter lets it,
reads the `answers`, and finds out from the `exceptions` and from what the provider `said` whether to ask again; `blame`
says for a preflight what to mend. `environment` knows keys and addresses, `connections` are closed with the gateway.
"""

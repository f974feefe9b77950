"""An OpenAI-compatible server for local and simulated models that share their dice.

`server.Server` is the way in: it checks what it is to serve, listens, and answers until it is told to stop. Starlette
and uvicorn are imported here, so this package is imported only by who serves.
"""

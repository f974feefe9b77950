"""The command that serves: what it says, and how it ends."""

import json
import signal
import socket
import subprocess
from urllib.request import Request, urlopen

import pytest

from tests.page_scene import COMMAND, PATIENCE, serving


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_says_where_it_listens_answers_and_ends_without_a_complaint(number: signal.Signals) -> None:
    models = ["ada=sim/ada?skill=1", "sim/bob"]
    with serving("serve", *models, "--token-env", "HOUSE", HOUSE="secret-of-the-house") as server:
        told = server.told
        assert [(model["id"], model["model"]) for model in told["models"]] == [
            ("ada", "sim/ada?skill=1"),
            ("sim/bob", "sim/bob"),
        ]
        body = {"model": "ada", "seed": 7, "messages": [{"role": "user", "content": "Hello"}]}
        headers = {"Authorization": "Bearer secret-of-the-house"}
        with urlopen(Request(f"{told['base_url']}/chat/completions", json.dumps(body).encode(), headers)) as response:
            assert json.load(response)["choices"][0]["message"]["content"]
        said = server.stop(number)
    where, curl = said.splitlines()
    assert told["base_url"] in where
    assert curl.startswith("try: curl ") and "$HOUSE" in curl and "secret-of" not in said


def test_wrong_use_is_a_line_for_each_problem_and_an_exit_status() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for arguments, words in (
            (["sim/ada", "--port", port], "is taken by another program"),
            (["sim/ada", "--host", "0.0.0.0", "--port", "0"], "--token-env"),
            (["sim/ada", "--token-env", "NO_SUCH_VARIABLE"], "NO_SUCH_VARIABLE is empty or not set"),
            (["openai/gpt-4o"], "is reached through its provider"),
            (["sim/a\nb"], "name: must not hold a line break"),
        ):
            done = subprocess.run(
                [*COMMAND, "serve", *arguments], capture_output=True, text=True, check=False, timeout=PATIENCE
            )
            assert (done.returncode, done.stdout) == (2, "")
            assert words in done.stderr
            assert all(line.startswith("serve: ") for line in done.stderr.splitlines())

"""The fake provider: its life, its protocol, what it remembers, and what its scripts may be."""

import asyncio
import gc
import itertools
import json
import os
import socket
import threading
from collections.abc import Sequence
from typing import Any

import aiohttp
import openai
import pytest

import coupled_arena.testing
from coupled_arena.errors import ConfigurationError, ModelError
from coupled_arena.models.masking import MASK
from coupled_arena.testing import FakeProvider, Request, behaviours
from coupled_arena.testing.ledger import CALLS, Ledger
from tests.testing_scene import ask, get, post


def listening(provider: FakeProvider) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", provider.port)) == 0


def server_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "fake provider"]


class Arrivals:
    """A script that plays these behaviours in turn and lets a test wait until so many requests have come."""

    def __init__(self, steps: Sequence[behaviours.Behaviour]) -> None:
        self.steps = itertools.cycle(steps)
        self.loop = asyncio.get_running_loop()
        self.come: asyncio.Queue[int] = asyncio.Queue()

    def __call__(self, request: Request) -> behaviours.Behaviour:
        self.loop.call_soon_threadsafe(self.come.put_nowait, request.number)
        return next(self.steps)

    async def wait_for(self, count: int) -> None:
        for _ in range(count):
            await self.come.get()


def test_the_public_names_are_few_sorted_and_there() -> None:
    assert coupled_arena.testing.__all__ == sorted(coupled_arena.testing.__all__)
    assert dir(coupled_arena.testing) == coupled_arena.testing.__all__
    assert all(getattr(coupled_arena.testing, name) is not None for name in coupled_arena.testing.__all__)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = coupled_arena.testing.no_such_name


class TestItsLife:
    def test_lasts_as_long_as_the_with_statement(self) -> None:
        with FakeProvider({"ada": "hello"}) as provider:
            assert listening(provider)
            assert os.environ[provider.key_env] == "fake-key"
        assert not listening(provider)
        assert provider.key_env not in os.environ
        assert server_threads() == []

    def test_may_be_begun_and_ended_by_hand_and_more_than_once(self) -> None:
        provider = FakeProvider({"ada": "hello"}).start()
        port = provider.port
        assert provider.start() is provider
        provider.stop()
        provider.stop()
        assert not listening(provider)
        with provider:
            assert (provider.port, listening(provider)) == (port, True)

    def test_has_no_address_before_its_first_start(self) -> None:
        provider = FakeProvider({"ada": "hello"})
        assert repr(provider) == "FakeProvider(ada; not started)"
        with pytest.raises(ModelError, match="before it is started"):
            _ = provider.url

    def test_does_not_begin_where_the_port_is_taken(self) -> None:
        with FakeProvider({"ada": "hello"}) as first:
            second = FakeProvider({"ada": "hello"}, port=first.port)
            with pytest.raises(ConfigurationError, match=f"port: {first.port} is taken by another program"):
                second.start()
            assert len(server_threads()) == 1
        with second:
            assert listening(second)

    def test_is_on_loopback_alone(self) -> None:
        with FakeProvider({"ada": "hello"}) as provider:
            assert provider.url == f"http://127.0.0.1:{provider.port}/v1"

    async def test_ends_at_once_whatever_is_in_flight(self) -> None:
        slow = [behaviours.hang(), behaviours.delayed(3600, "late"), behaviours.drip("slow " * 100, pause=3600)]
        arrivals = Arrivals(slow)
        provider = FakeProvider({"ada": arrivals}).start()
        asked = [asyncio.create_task(ask(provider)) for _ in range(15)]
        await arrivals.wait_for(15)
        await asyncio.wait_for(asyncio.to_thread(provider.stop), timeout=5)
        ended = await asyncio.gather(*asked, return_exceptions=True)
        assert [type(end) for end in ended if not isinstance(end, aiohttp.ClientError)] == []

    async def test_goes_on_while_a_client_hangs(self) -> None:
        arrivals = Arrivals([behaviours.hang()])
        with FakeProvider({"ada": arrivals, "bob": "hello"}) as provider:
            hanging = asyncio.create_task(ask(provider))
            await arrivals.wait_for(1)
            assert (await ask(provider, "bob")).content == "hello"
            hanging.cancel()

    @pytest.mark.parametrize("connections", [1, 2, 8])
    def test_leaves_no_connection_open_that_came_at_the_last_moment(self, connections: int) -> None:
        for _ in range(20):
            with FakeProvider({"ada": "hello"}) as provider:
                assert [listening(provider) for _ in range(connections)] == [True] * connections
        # A transport that nobody closed warns when it is collected, and a warning is an error.
        gc.collect()

    def test_is_not_ended_by_an_exception_of_ours(self) -> None:
        with pytest.raises(KeyError), FakeProvider({"ada": "hello"}) as provider:
            raise KeyError
        assert not listening(provider)


class TestTheProtocol:
    async def test_needs_the_key(self) -> None:
        with FakeProvider({"ada": "hello"}, key="sk-right-key") as provider:
            wrong = await ask(provider, key="sk-wrong-key")
            none = await post(provider, b'{"model": "ada"}', key=None)
            assert [(answer.status, answer.error["code"]) for answer in (wrong, none)] == [(401, "invalid_api_key")] * 2
            assert "sk-" not in wrong.text
            assert (await get(provider, "/v1/models")).status == 401
            assert (await ask(provider)).status == 200

    async def test_knows_only_its_models(self) -> None:
        with FakeProvider({"bob": "hello", "ada": "hello"}) as provider:
            unknown = await ask(provider, "gpt-99")
            assert (unknown.status, unknown.error["code"]) == (404, "model_not_found")
            assert "gpt-99" in unknown.error["message"]
            listed = (await get(provider, "/v1/models", key=provider.key)).body
            assert [model["id"] for model in listed["data"]] == ["ada", "bob"]

    async def test_says_that_it_is_there(self) -> None:
        with FakeProvider({"ada": "hello"}) as provider:
            health = await get(provider, "/health")
            assert (health.status, health.body) == (200, {"status": "ok"})
            elsewhere = await get(provider, "/v1/embeddings")
            assert (elsewhere.status, elsewhere.error["code"]) == (404, "unknown_url")

    @pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"[" * 100_000])
    async def test_refuses_what_is_no_json_object(self, content: bytes) -> None:
        with FakeProvider({"ada": "hello"}) as provider:
            answer = await post(provider, content, key=provider.key)
            assert (answer.status, "parse" in answer.error["message"]) == (400, True)
            assert provider.requests[0].body == {}

    @pytest.mark.parametrize(
        ("fields", "param"),
        [
            ({"messages": []}, "messages"),
            ({"messages": "hello"}, "messages"),
            ({"messages": [{"content": "no role"}]}, "messages"),
            ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages"),
            ({"messages": [{"role": "user", "content": 7}]}, "messages"),
            ({"max_tokens": 0}, "max_tokens"),
            ({"max_tokens": "many"}, "max_tokens"),
            ({"max_completion_tokens": 1.5}, "max_completion_tokens"),
            ({"n": 2}, "n"),
        ],
    )
    async def test_refuses_what_no_provider_could_answer(self, fields: dict[str, Any], param: str) -> None:
        with FakeProvider({"ada": "hello"}) as provider:
            answer = await ask(provider, **fields)
            assert (answer.status, answer.error["param"]) == (400, param)

    async def test_refuses_a_prompt_beyond_the_context(self) -> None:
        with FakeProvider({"ada": "hello", "bob": "hello"}, contexts={"ada": 10}) as provider:
            assert (await ask(provider, text="x" * 40)).status == 200
            beyond = await ask(provider, text="x" * 41)
            assert (beyond.status, beyond.error["code"]) == (400, "context_length_exceeded")
            assert "maximum context length is 10 tokens" in beyond.error["message"]
            assert (await ask(provider, "bob", text="x" * 41)).status == 200

    async def test_refuses_a_body_beyond_its_size(self) -> None:
        with FakeProvider({"ada": "hello"}, most_bytes=1000) as provider:
            assert (await ask(provider, text="x" * 2000)).status == 413
            assert (await ask(provider)).status == 200

    async def test_speaks_the_form_that_openais_client_reads(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with FakeProvider({"ada": "Hello, all of you.", "bob": behaviours.error(429, retry_after=3)}) as provider:
            for name, value in provider.environment.items():
                monkeypatch.setenv(name, value)
            async with openai.AsyncOpenAI(max_retries=0) as client:
                said = await client.chat.completions.create(model="ada", messages=[{"role": "user", "content": "hi"}])
                assert said.choices[0].message.content == "Hello, all of you."
                streamed = await client.chat.completions.create(
                    model="ada", messages=[{"role": "user", "content": "hi"}], stream=True
                )
                pieces = [chunk.choices[0].delta.content or "" async for chunk in streamed]
                assert "".join(pieces) == "Hello, all of you."
                assert [model.id async for model in client.models.list()] == ["ada", "bob"]
                with pytest.raises(openai.RateLimitError) as limited:
                    await client.chat.completions.create(model="bob", messages=[{"role": "user", "content": "hi"}])
                assert limited.value.response.headers["retry-after"] == "3"

    async def test_gives_equal_answers_to_equal_requests(self) -> None:
        with FakeProvider({"ada": "sim/ada"}) as one, FakeProvider({"ada": "sim/ada"}) as two:
            await ask(one, text="something else first")
            assert (await ask(one)).text == (await ask(two)).text


class TestScripts:
    async def test_may_be_a_sequence_whose_last_part_repeats(self) -> None:
        with FakeProvider({"ada": [behaviours.error(503), "one", "two"]}) as provider:
            answers = [await ask(provider) for _ in range(4)]
            assert answers[0].status == 503
            assert [answer.content for answer in answers[1:]] == ["one", "two", "two"]

    async def test_may_be_a_function_of_the_request(self) -> None:
        def script(request: Request) -> behaviours.Behaviour | str:
            return f"{request.prompt}!" if request.attempt > 1 else behaviours.error(500)

        with FakeProvider({"ada": script}) as provider:
            assert (await ask(provider, text="hey")).status == 500
            assert (await ask(provider, text="hey")).content == "hey!"

    async def test_may_be_changed_while_it_plays(self) -> None:
        with FakeProvider({"ada": behaviours.error(500)}) as provider:
            assert (await ask(provider)).status == 500
            provider.play("ada", "well again")
            provider.play("new", "here too")
            assert (await ask(provider)).content == "well again"
            assert (await ask(provider, "new")).content == "here too"

    @pytest.mark.parametrize("raised", [True, False])
    async def test_that_raise_or_return_nonsense_fail_the_request_and_then_the_test(self, raised: bool) -> None:
        def script(request: Request) -> str:
            if raised:
                raise ZeroDivisionError("by accident")
            return 7  # type: ignore[return-value]

        provider = FakeProvider({"ada": script}).start()
        answer = await ask(provider)
        assert (answer.status, answer.error["code"]) == (500, "script_failed")
        with pytest.raises(ModelError, match="raised ZeroDivisionError: by accident" if raised else "not 7") as failed:
            provider.stop()
        assert not listening(provider)
        assert isinstance(failed.value.__cause__, ZeroDivisionError if raised else ConfigurationError)

    async def test_that_raise_do_not_hide_what_failed_in_the_test(self) -> None:
        with pytest.raises(KeyError), FakeProvider({"ada": lambda request: request.headers["absent"]}) as provider:
            await ask(provider)
            raise KeyError

    def test_that_cannot_be_played_are_all_listed(self) -> None:
        with pytest.raises(ConfigurationError) as refused:
            FakeProvider(
                {"a": [], "b": 7, "c": ["fine", None], "d": "sim/d?skil=1", "e": {"x": "y"}},  # type: ignore[dict-item,list-item]
                key="two words",
                contexts={"f": 10, "a": 0},
                port=70_000,
                keep=-1,
                most_bytes=0,
            )
        found = [problem.key for problem in refused.value.problems]
        assert found == ["a", "b", "c", "d", "e", "key", "contexts", "contexts", "port", "keep", "most_bytes"]

    def test_are_needed(self) -> None:
        with pytest.raises(ConfigurationError, match="name at least one model"):
            FakeProvider({})


class TestWhatIsRemembered:
    async def test_is_every_request_in_order(self) -> None:
        with FakeProvider({"ada": "hello"}, key="sk-right-key") as provider:
            await ask(provider, text="one", temperature=0.5)
            await ask(provider, text="two")
            await ask(provider, text="one", temperature=0.5)
            await ask(provider, "nobody", key="sk-wrong-key")
            one, two, again, refused = provider.requests
        assert [request.number for request in (one, two, again, refused)] == [0, 1, 2, 3]
        assert (one.model, one.prompt, one.body["temperature"], one.max_tokens) == ("ada", "one", 0.5, None)
        assert (one.attempt, two.attempt, again.attempt) == (1, 1, 2)
        assert one.call == again.call != two.call
        assert 0 <= one.at <= two.at <= again.at
        assert refused.model == "nobody"

    async def test_holds_no_key(self) -> None:
        with FakeProvider({"ada": "hello"}, key="sk-right-key") as provider:
            headers = {"Authorization": "Bearer sk-right-key", "X-Api-Key": "another", "X-Note": "sk-right-key"}
            body = json.dumps({"model": "ada", "messages": [{"role": "user", "content": "hi"}]})
            async with aiohttp.ClientSession(headers=headers) as session:
                await session.post(f"{provider.url}/chat/completions", data=body)
            (request,) = provider.requests
            assert (request.headers["authorization"], request.headers["x-api-key"]) == (MASK, MASK)
            assert request.headers["x-note"] == MASK
            shown = repr(provider.requests) + repr(provider)
            assert "sk-right-key" not in shown
            assert "another" not in shown

    async def test_is_counted_by_model_and_status(self) -> None:
        with FakeProvider({"ada": ["one", behaviours.error(429), behaviours.close()]}) as provider:
            await ask(provider)
            await ask(provider)
            with pytest.raises(aiohttp.ServerDisconnectedError):
                await ask(provider)
            await ask(provider, "nobody")
            await ask(provider, "somebody")
            assert provider.counts == {("", 404): 2, ("ada", 0): 1, ("ada", 200): 1, ("ada", 429): 1}
            assert provider.received == 5
            provider.clear()
            assert (provider.counts, provider.requests, provider.received) == ({}, (), 0)

    async def test_is_bounded(self) -> None:
        with FakeProvider({"ada": "hello"}, keep=3) as provider:
            for number in range(5):
                await ask(provider, text=str(number))
            assert [request.prompt for request in provider.requests] == ["2", "3", "4"]
            assert provider.received == 5

    def test_of_attempts_is_bounded_too(self) -> None:
        ledger = Ledger(0)
        assert ledger.arrive(b"early") == (0, 1)
        for number in range(CALLS - 1):
            ledger.arrive(str(number).encode())
        assert ledger.arrive(b"early") == (CALLS, 2)
        for number in range(CALLS):
            ledger.arrive(f"late {number}".encode())
        assert ledger.arrive(b"early")[1] == 1

    async def test_says_how_many_were_in_flight_at_once(self) -> None:
        together = 200
        arrived = 0
        all_here = asyncio.Event()

        async def wait_for_all(seconds: float) -> None:
            nonlocal arrived
            arrived += 1
            if arrived == together:
                all_here.set()
            await all_here.wait()

        with FakeProvider({"ada": behaviours.delayed(1, "hello")}, sleep=wait_for_all) as provider:
            answers = await asyncio.gather(*(ask(provider, text=str(number)) for number in range(together)))
            assert {answer.content for answer in answers} == {"hello"}
            assert provider.most_in_flight == together


class TestItsModels:
    def test_are_reached_by_litellm_with_a_key_from_the_environment(self) -> None:
        with FakeProvider({"ada": "hello"}) as provider:
            model = provider.model("ada", temperature=0.2, family="mine")
            assert (model.name, model.model, model.family, model.temperature) == ("ada", "openai/ada", "mine", 0.2)
            assert (model.api_base, model.api_key_env) == (provider.url, provider.key_env)
            assert provider.key not in repr(model)

    def test_may_leave_the_address_to_the_environment(self) -> None:
        with FakeProvider({"ada": "hello"}) as provider:
            model = provider.model("ada", name="another name", api_base=None, api_key_env=None)
            assert (model.name, model.model) == ("another name", "openai/ada")
            assert (model.api_base, model.api_key_env) == (None, None)

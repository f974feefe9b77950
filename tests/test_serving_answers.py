"""What clients get: the same text whoever asks and however it is sent."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("gguf", reason="needs the extra `local`")

import openai

from coupled_arena.errors import EngineFault
from coupled_arena.models.calls import Reply
from coupled_arena.models.litellm_loader import PYDANTIC_COMPLAINT, load_litellm
from coupled_arena.models.model import Model
from coupled_arena.models.serving.server import Server
from tests.serving_scene import StreamingBackend, TinyBackend, ask, get, wish

pytestmark = pytest.mark.filterwarnings(f"ignore:{PYDANTIC_COMPLAINT}:UserWarning")

TINY, OTHER = Model("local/tiny"), Model("other", "local/other")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    backend = TinyBackend(tmp_path_factory.mktemp("models"))
    with Server([TINY, OTHER, Model("sim/ada?skill=1")], port=0, backends={"local": backend}) as server:
        yield server


@pytest.mark.parametrize("seed", range(12))
def test_a_stream_joins_to_the_text_that_is_sent_whole(server: Server, seed: int) -> None:
    whole = ask(server, wish(seed=seed))
    assert ask(server, wish(seed=seed, stream=True)).joined() == whole.text


def test_half_characters_wait_for_their_other_half(server: Server) -> None:
    texts = [ask(server, wish(seed=seed)).text for seed in range(40)]
    seed, text = next((seed, text) for seed, text in enumerate(texts) if "é" in text and "\ufffd" not in text)
    streamed = ask(server, wish(seed=seed, stream=True))
    pieces = [c["delta"].get("content", "") for event in streamed.events for c in event["choices"]]
    assert "".join(pieces) == text
    assert not any("\ufffd" in piece for piece in pieces)


def test_a_stop_string_ends_the_text_and_is_not_in_it(server: Server) -> None:
    texts = [ask(server, wish(seed=seed)).text for seed in range(40)]
    seed, text = next((seed, text) for seed, text in enumerate(texts) if len(text) > 6 and "\ufffd" not in text)
    stop = text[3:5]
    stopped = ask(server, wish(seed=seed, stop=[stop]))
    assert stopped.text == text[: text.index(stop)]
    assert stopped.json["choices"][0]["finish_reason"] == "stop"
    assert ask(server, wish(seed=seed, stop=stop, stream=True)).joined() == stopped.text


def test_a_reply_that_was_cut_says_so(server: Server) -> None:
    endings = {ask(server, wish(seed=seed, max_tokens=1)).json["choices"][0]["finish_reason"] for seed in range(9)}
    assert "length" in endings


def test_the_key_that_is_told_gives_the_same_reply_again(server: Server) -> None:
    first = ask(server, wish())
    assert first.headers["x-coupled-noise"] == first.json["noise"]
    again = ask(server, wish(noise=first.json["noise"], seed=99))
    assert again.json["choices"] == first.json["choices"]


def test_models_with_equal_logits_share_replies_and_not_fingerprints(server: Server) -> None:
    one, other = ask(server, wish(seed=7)), ask(server, wish(seed=7, model="other"))
    assert one.json["choices"] == other.json["choices"]
    assert one.json["noise"] == other.json["noise"]
    assert one.json["system_fingerprint"] != other.json["system_fingerprint"]


def test_several_choices_are_independent_and_repeatable(server: Server) -> None:
    several = ask(server, wish(seed=7, n=4))
    texts = [choice["message"]["content"] for choice in several.json["choices"]]
    assert texts[0] == ask(server, wish(seed=7)).text
    assert len(set(texts)) > 1
    streamed = ask(server, wish(seed=7, n=4, stream=True, stream_options={"include_usage": True}))
    assert [streamed.joined(index) for index in range(4)] == texts
    assert streamed.events[-1]["usage"] == several.json["usage"]
    assert streamed.events[-1]["choices"] == []


def test_log_probabilities_are_those_of_the_tokens(server: Server) -> None:
    body = wish(seed=7, logprobs=True, top_logprobs=2)
    (choice,) = ask(server, body).json["choices"]
    told = choice["logprobs"]["content"]
    assert bytes(byte for token in told for byte in token["bytes"]).decode("utf-8", "replace").rstrip(
        "\ufffd"
    ) == choice["message"]["content"].rstrip("\ufffd")
    assert all(len(token["top_logprobs"]) == 2 for token in told)
    assert all(token["top_logprobs"][0]["logprob"] >= token["logprob"] for token in told)
    ends = [c["logprobs"] for event in ask(server, body | {"stream": True}).events for c in event["choices"]]
    assert [token for end in ends if end for token in end["content"]] == told


def test_a_choice_is_one_of_the_strings_and_comes_with_the_probability_of_each(server: Server) -> None:
    body = wish(seed=7, choices=["a", "bc", "ab"])
    (choice,) = ask(server, body).json["choices"]
    assert choice["message"]["content"] in body["choices"]
    assert set(choice["probabilities"]) == set(body["choices"])
    assert sum(choice["probabilities"].values()) == pytest.approx(1)
    streamed = ask(server, body | {"stream": True})
    assert streamed.joined() == choice["message"]["content"]
    assert streamed.events[-1]["choices"][0]["probabilities"] == choice["probabilities"]


def test_a_begun_reply_is_continued(server: Server) -> None:
    said = [{"role": "user", "content": "abcab"}]
    begun = ask(server, wish(messages=[*said, {"role": "assistant", "content": "abab"}], noise="n"))
    assert begun.json["usage"]["prompt_tokens"] > ask(server, wish(noise="n")).json["usage"]["prompt_tokens"]


def test_openais_client_litellm_and_plain_http_get_the_same_text(server: Server) -> None:
    litellm = load_litellm()
    base, said = f"{server.url}/v1", wish()["messages"]
    for model in ("local/tiny", "sim/ada"):
        expected = ask(server, wish(seed=7, model=model)).text
        with openai.OpenAI(base_url=base, api_key="none", max_retries=0) as client:
            whole = client.chat.completions.create(model=model, messages=said, max_tokens=24, seed=7)
            stream = client.chat.completions.create(model=model, messages=said, max_tokens=24, seed=7, stream=True)
            pieces = [chunk.choices[0].delta.content or "" for chunk in stream]
            assert model in [listed.id for listed in client.models.list()]
            assert client.models.retrieve(model).id == model
        assert [whole.choices[0].message.content, "".join(pieces)] == [expected, expected]
        asked = {"model": f"openai/{model}", "messages": said, "max_tokens": 24, "seed": 7}
        route = {"api_base": base, "api_key": "none", "num_retries": 0, "max_retries": 0, "timeout": 20}
        response = litellm.completion(**asked, **route)
        chunks = litellm.completion(**asked, **route, stream=True)
        assert response.choices[0].message.content == expected
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == expected


def test_health_and_models_are_told(server: Server) -> None:
    assert get(server, "/health").json == {"status": "ok", "in_work": 0}
    listed = get(server, "/v1/models").json["data"]
    assert [model["id"] for model in listed] == ["local/tiny", "other", "sim/ada"]
    assert get(server, "/v1/models/local/tiny").json == listed[0]


def test_what_a_model_cannot_do_is_refused(server: Server) -> None:
    said = [*wish()["messages"], {"role": "assistant", "content": "Well"}]
    for body, param in (
        (wish(model="sim/ada", choices=["a"]), "choices"),
        (wish(model="sim/ada", logprobs=True), "logprobs"),
        (wish(model="sim/ada", messages=said), "messages"),
    ):
        refused = ask(server, body)
        assert (refused.status, refused.error["param"], refused.error["code"]) == (400, param, "unsupported_parameter")


@pytest.mark.parametrize("stream", [False, True])
def test_what_does_not_fit_is_refused_before_anything_is_sent(server: Server, stream: bool) -> None:
    for body in (wish("abc" * 400, stream=stream), wish(max_tokens=400, stream=stream)):
        refused = ask(server, body)
        assert (refused.status, refused.error["code"]) == (400, "context_length_exceeded")


def test_a_refusal_and_an_empty_reply_are_answers() -> None:
    for outcome, content in (("refused", None), ("empty", "")):
        backend = StreamingBackend([], Reply(outcome=outcome, detail="no"))  # type: ignore[arg-type]
        with Server([Model("sim/ada")], port=0, backends={"sim": backend}) as server:
            message = ask(server, wish(model="sim/ada")).json["choices"][0]["message"]
            assert message["content"] == content
            assert message["refusal"] == ("no" if content is None else None)


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (EngineFault("it broke"), 500),
        (Reply(outcome="failed", detail="it broke"), 500),
        (Reply(outcome="timeout", detail="it broke"), 504),
    ],
)
def test_a_fault_is_told_with_a_status_or_in_the_stream_once_that_has_begun(end: Reply, status: int) -> None:
    for pieces in ([], ["so", " far"]):
        backend = StreamingBackend(pieces, end)
        with Server([Model("sim/ada")], port=0, backends={"sim": backend}) as server:
            whole, streamed = (ask(server, wish(model="sim/ada", stream=stream)) for stream in (False, True))
        assert (whole.status, whole.error["message"]) == (status, "it broke")
        if not pieces:
            assert (streamed.status, streamed.error) == (status, whole.error)
            continue
        assert streamed.status == 200
        last = streamed.body.decode().strip().split("\n\n")[-1]
        assert "it broke" in last and "DONE" not in last


@pytest.mark.weights
@pytest.mark.parametrize("name", ["local/smollm2-135m", "local/smollm2-135m:q4_0"])
def test_real_weights_answer_alike_whole_and_in_pieces(name: str, tmp_path: Path) -> None:
    with Server([Model(name)], port=0) as server:
        body = wish("Name three colours.", model=name, seed=7, max_tokens=12)
        whole = ask(server, body)
        assert whole.text
        assert ask(server, body | {"stream": True}).joined() == whole.text
        assert ask(server, body).json["choices"] == whole.json["choices"]

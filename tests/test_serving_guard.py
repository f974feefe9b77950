"""Who may ask, and where a server may listen."""

import pytest

from coupled_arena.errors import ConfigurationError
from coupled_arena.models.model import Model
from coupled_arena.models.serving.server import Server
from tests.serving_scene import ask, get, wish

SIM = Model("sim/ada")
TOKEN = "tokén-of-the-house"


def problem(*models: Model, host: str = "127.0.0.1", port: int = 0, token: str = "") -> str:
    with pytest.raises(ConfigurationError) as caught:
        Server(models or [SIM], host=host, port=port, token=token)
    (found,) = caught.value.problems
    return str(found)


def test_a_wrong_token_and_none_are_refused_everywhere_but_at_the_health() -> None:
    with Server([SIM], port=0, token=TOKEN) as server:
        for shown in (
            {},
            {"Authorization": "Bearer wrong"},
            {"Authorization": f"Basic {TOKEN}".encode().decode("latin-1")},
        ):
            for refused in (get(server, "/v1/models", **shown), ask(server, wish(), headers=shown)):
                assert (refused.status, refused.error["code"]) == (401, "invalid_api_key")
                assert refused.headers["www-authenticate"] == "Bearer"
        assert get(server, "/health").status == 200
        shown = {"Authorization": f"Bearer {TOKEN}".encode().decode("latin-1")}
        assert ask(server, wish(model="sim/ada"), headers=shown).status == 200
        assert ask(server, wish(model="sim/ada"), headers=shown | {"Host": "example.org"}).status == 200


@pytest.mark.parametrize("headers", [{"Host": "example.org"}, {"Origin": "http://example.org"}, {"Host": "[x"}])
def test_without_a_token_no_page_of_a_website_may_ask(headers: dict[str, str]) -> None:
    with Server([SIM], port=0) as server:
        refused = ask(server, wish(model="sim/ada"), headers=headers)
        assert (refused.status, refused.error["code"]) == (403, "foreign")


@pytest.mark.parametrize("headers", [{"Host": "localhost:1"}, {"Host": "[::1]:1"}, {"Origin": "http://127.0.0.1:3000"}])
def test_without_a_token_programs_and_pages_of_this_machine_may_ask(headers: dict[str, str]) -> None:
    with Server([SIM], port=0) as server:
        assert ask(server, wish(model="sim/ada"), headers=headers).status == 200


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("http://127.0.0.1:1/v1/models", 200),
        ("HTTP://localhost/v1/models?limit=1", 200),
        ("http://127.0.0.1", 404),
        ("ftp://127.0.0.1/v1/models", 404),
        ("http://example.org/v1/models", 403),
    ],
)
def test_a_whole_address_is_its_path_asked_of_its_host(address: str, status: int) -> None:
    with Server([SIM], port=0) as server:
        assert get(server, address).status == status


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_an_address_that_others_can_reach_needs_a_token(host: str) -> None:
    assert "token: must be given" in problem(host=host)


def test_a_port_in_use_is_named() -> None:
    with Server([SIM], port=0) as server:
        assert f"127.0.0.1:{server.port} is taken by another program" in problem(port=server.port)


@pytest.mark.parametrize("host", ["192.0.2.1", "a..b", "a" * 80, "::1%no", ":::1"])
def test_an_address_that_is_not_this_machines_is_named(host: str) -> None:
    assert problem(host=host, token=TOKEN).startswith("serve: host: ")


def test_no_address_is_not_all_addresses() -> None:
    for token in ("", TOKEN):
        assert problem(host="", token=token).startswith("serve: host: is empty")


@pytest.mark.parametrize("token", ["\udcff", "a\nb", " a", "a\x7f"])
def test_a_token_that_no_client_could_show_is_refused(token: str) -> None:
    assert problem(token=token).startswith("serve: token: ")


@pytest.mark.parametrize("token", ["voil\u00e0", "\u00c5", "a b", "\u65e5\u672c", "="])
def test_a_token_may_hold_any_other_character(token: str) -> None:
    with Server([SIM], port=0, token=token) as server:
        shown = {"Authorization": f"Bearer {token}".encode().decode("latin-1")}
        assert get(server, "/v1/models", **shown).status == 200


def test_what_cannot_be_served_is_named() -> None:
    assert "is reached through its provider" in problem(Model("openai/gpt-4o"))
    assert "own.gguf: a file on this machine is local/own.gguf" in problem(Model("own.gguf"))
    assert problem(Model("local/no/such.gguf")).count("local/no/such.gguf") == 1
    assert "is given twice" in problem(SIM, SIM)
    assert "skil" in problem(Model("sim/ada?skil=1"))
    assert "nowhere" in problem(Model("local/nowhere"))

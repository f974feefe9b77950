"""The repository keeps the promises it makes about itself."""

import ast
import re
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import coupled_arena
import coupled_arena.analysis
from tests.guard import sitecustomize as guard

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "coupled_arena"
UNREACHABLE = ("192.0.2.1", 9)
"""An address of the block reserved for documentation."""


def run(*arguments: str | Path, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


def tracked() -> list[Path]:
    listing = run("git", "-c", "safe.directory=*", "ls-files", "-z")
    if listing.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


class TestTheNetworkGuard:
    def test_refuses_a_connection_to_another_machine(self) -> None:
        with socket.socket() as client, pytest.raises(guard.NetworkRefused, match=r"192\.0\.2\.1"):
            client.connect(UNREACHABLE)
        assert guard.drain() == ["socket.connect 192.0.2.1"]

    async def test_refuses_asyncio_as_well(self) -> None:
        import asyncio

        with pytest.raises(guard.NetworkRefused):
            await asyncio.open_connection(*UNREACHABLE)
        assert guard.drain() == ["socket.connect 192.0.2.1"]

    def test_refuses_to_look_up_a_name(self) -> None:
        with pytest.raises(guard.NetworkRefused):
            socket.getaddrinfo("example.invalid", 443)
        assert guard.drain() == ["socket.getaddrinfo example.invalid"]

    def test_lets_loopback_and_local_sockets_pass(self, tmp_path: Path) -> None:
        for family, address in ((socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_UNIX, str(tmp_path / "socket"))):
            with socket.socket(family) as server, socket.socket(family) as client:
                server.bind(address)
                server.listen()
                client.connect(server.getsockname())
        assert guard.drain() == []

    def test_reaches_into_programs_that_a_test_starts(self) -> None:
        child = run(sys.executable, "-c", f"import socket; socket.create_connection({UNREACHABLE})")
        assert "NetworkRefused" in child.stderr
        assert len(guard.drain()) == 1

    def test_fails_a_test_that_swallowed_the_refusal(self, tmp_path: Path) -> None:
        test = tmp_path / "test_swallows.py"
        test.write_text(
            "import contextlib, socket\n\n"
            "def test_swallows():\n"
            "    with contextlib.suppress(Exception), socket.socket() as client:\n"
            f"        client.connect({UNREACHABLE})\n",
            encoding="utf-8",
        )
        done = run(sys.executable, "-m", "pytest", "-p", "tests.conftest", test)
        assert done.returncode == pytest.ExitCode.TESTS_FAILED
        assert "reached for another machine: socket.connect 192.0.2.1" in done.stdout


class TestTheFiles:
    def test_name_no_download_address_and_no_path_of_one_machine(self) -> None:
        # Written in pieces, so that this file does not name them either.
        hosts = ("files.pythonhosted" + ".org", "pypi" + ".org", "registry.npmjs" + ".org", "deb.debian" + ".org")
        folders = "|".join(("work", "farm", "root", "opt", r"home/\w+"))
        unwanted = re.compile(
            "|".join(map(re.escape, hosts))
            + r"|^\s*--(?:extra-)?index-url|^\s*--find-links|file:[/]"
            + rf"|(?<![\w./])/(?:{folders})/",
            re.MULTILINE,
        )
        found = [
            f"{path.relative_to(ROOT)}: {match.group()}"
            for path in tracked()
            if (match := unwanted.search(path.read_text(encoding="utf-8", errors="replace")))
        ]
        assert found == []

    def test_of_the_package_stay_below_600_lines(self) -> None:
        long = {
            path.name: lines for path in PACKAGE.rglob("*.py") if (lines := len(path.read_text().splitlines())) > 600
        }
        assert long == {}

    def test_of_the_package_print_nothing_but_the_command_line(self) -> None:
        printing = [
            f"{path.relative_to(ROOT)}:{node.lineno}"
            for path in PACKAGE.rglob("*.py")
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
        ]
        assert printing == []

    def test_pin_every_package_with_a_hash(self) -> None:
        pinned = (ROOT / "requirements.txt").read_text(encoding="utf-8")
        entries = re.findall(r"^[a-z0-9][^\n]*(?:\n    --hash[^\n]*)*", pinned, re.MULTILINE)
        assert entries
        assert [entry for entry in entries if "==" not in entry or "--hash=sha256:" not in entry] == []

    def test_never_admit_the_malicious_litellm_releases(self) -> None:
        from packaging.requirements import Requirement

        names = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
        (bound,) = [Requirement(name).specifier for name in names if Requirement(name).name == "litellm"]
        assert not {"1.82.7", "1.82.8"} & set(bound.filter(["1.82.7", "1.82.8", "1.90.7"]))


class TestThePublicNames:
    def test_are_sorted_constants_first_then_classes_then_functions(self) -> None:
        def order(name: str) -> tuple[bool, bool, str]:
            return not name.isupper(), not name[0].isupper(), name

        assert list(coupled_arena.__all__) == sorted(set(coupled_arena.__all__), key=order)

    @pytest.mark.parametrize("name", sorted(coupled_arena.__all__))
    def test_resolve_and_are_listed_by_dir(self, name: str) -> None:
        assert getattr(coupled_arena, name) is not None
        assert name in dir(coupled_arena)

    def test_that_do_not_exist_raise_an_attribute_error(self) -> None:
        with pytest.raises(AttributeError, match="no_such_name"):
            _ = coupled_arena.no_such_name

    def test_are_all_in_the_documentation(self) -> None:
        documents = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
        text = "\n".join(path.read_text(encoding="utf-8") for path in documents)
        code = " ".join(re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL))
        words = set(re.findall(r"\w+", code))
        assert [name for name in coupled_arena.__all__ if name not in words] == []

    def test_of_the_analysis_are_sorted_and_its_functions_in_the_documentation(self) -> None:
        names = coupled_arena.analysis.__all__
        assert names == sorted(names)
        text = "\n".join((ROOT / "docs" / page).read_text("utf-8") for page in ("agreement.md", "paired-statistics.md"))
        assert [name for name in names if name.islower() and f"`{name}`" not in text] == []

    def test_include_the_version_of_the_project(self) -> None:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        assert coupled_arena.__version__ == project["version"]
        citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
        assert f"\nversion: {project['version']}\n" in citation
        assert f"\nlicense: {project['license']}\n" in citation

    def test_cost_nothing_until_they_are_used(self) -> None:
        assert heavy_modules_after("import coupled_arena") == set()


class TestTheHouse:
    def test_keeps_its_import_contracts(self) -> None:
        done = run(Path(sys.executable).with_name("lint-imports"), "--no-cache")
        assert done.returncode == 0, done.stdout + done.stderr

    def test_answers_help_without_a_heavy_import(self) -> None:
        script = (
            "import sys; sys.argv = ['coupled-arena', '--help']\n"
            "from coupled_arena.cli import main\n"
            "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code"
        )
        assert heavy_modules_after(script) == set()

    @pytest.mark.parametrize("module", ["records", "errors", "coupling", "prompts", "ratings"])
    def test_lets_the_pure_packages_be_imported_alone(self, module: str) -> None:
        assert heavy_modules_after(f"import coupled_arena.{module}") == set()

    def test_reads_and_rates_battles_without_a_heavy_import(self) -> None:
        assert heavy_modules_after("import coupled_arena as ca; ca.read_battles, ca.rate") == set()

    def test_loads_litellm_without_a_word_to_the_network(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("LITELLM_LOCAL_MODEL_COST_MAP")
        script = "from coupled_arena.models.litellm_loader import load_litellm; load_litellm()"
        child = run(sys.executable, "-c", script)
        assert (child.returncode, child.stdout, child.stderr) == (0, "", "")
        assert guard.drain() == []


def heavy_modules_after(script: str) -> set[str]:
    heavy = ("autogen_core", "gguf", "litellm", "matplotlib", "openai", "pandas", "sqlalchemy", "xllamacpp")
    report = f"\nimport sys; print('loaded', *[name for name in {heavy!r} if name in sys.modules])"
    child = run(sys.executable, "-c", script + report)
    assert child.returncode == 0, child.stderr
    return set(child.stdout.splitlines()[-1].split()[1:])

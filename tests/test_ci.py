"""The script that checks a change: in a clean clone, with the summary of the tests last and an honest exit status."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

RUN = Path(__file__).parent.parent / ".ci" / "run"
MAKEFILE = """\
lint types docs:
\t@echo {target} in $$PWD
test:
\t@echo collected; ls; echo "{summary}"; exit {status}
"""

pytestmark = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in ("bash", "git", "make")), reason="needs bash, git and make"
)


def git(folder: Path, *arguments: str) -> None:
    """Run git without a person's settings."""
    own = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *own, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with the script, without a repository."""
    folder = tmp_path / "project"
    (folder / ".ci").mkdir(parents=True)
    shutil.copy(RUN, folder / ".ci" / "run")
    makefile(folder, "3 passed", 0)
    return folder


def makefile(folder: Path, summary: str, status: int) -> None:
    (folder / "Makefile").write_text(MAKEFILE.format(target="$@", summary=summary, status=status), encoding="utf-8")


def committed(folder: Path) -> Path:
    git(folder, "init")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "all")
    return folder


def checked(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    temporary = folder.parent / "temporary"
    temporary.mkdir(exist_ok=True)
    done = subprocess.run(
        [folder / ".ci" / "run"],
        cwd="/",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(temporary), **environment},
    )
    assert list(temporary.iterdir()) == [], "the clone is removed"
    return done


@pytest.mark.parametrize("ci", ["", "true"])
def test_what_is_checked_is_a_clone_of_the_last_commit(project: Path, ci: str) -> None:
    committed(project)
    (project / "forgotten").touch()
    done = checked(project, CI=ci)
    warning, *lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout
    assert lines[-1] == "3 passed"
    assert [line.split()[0] for line in lines[:3]] == ["lint", "types", "docs"]
    assert "forgotten" not in lines
    assert str(project) not in done.stdout
    assert "uncommitted changes are not checked" in warning


def test_a_clean_checkout_is_checked_without_a_warning(project: Path) -> None:
    done = checked(committed(project))
    assert done.returncode == 0
    assert "warning" not in done.stdout


def test_a_failure_keeps_its_status_and_the_summary_last(project: Path) -> None:
    makefile(project, "1 failed, 2 passed", 1)
    done = checked(committed(project))
    assert done.returncode != 0
    assert done.stdout.splitlines()[-1] == "1 failed, 2 passed"


def test_without_a_repository_the_files_are_checked_where_they_are(project: Path) -> None:
    (project / "unpacked").touch()
    done = checked(project, GIT_CEILING_DIRECTORIES=str(project.parent))
    assert done.returncode == 0
    assert "unpacked" in done.stdout
    assert "warning: not a git repository" in done.stdout


def test_a_folder_within_another_repository_is_none_of_its_own(project: Path) -> None:
    committed(project.parent)
    done = checked(project)
    assert done.returncode == 0
    assert f"lint in {project}" in done.stdout


def test_the_repository_of_a_git_hook_does_not_mislead_it(project: Path, tmp_path: Path) -> None:
    committed(project)
    done = checked(project, GIT_DIR=str(project / ".git"), GIT_INDEX_FILE=str(tmp_path / "none"))
    assert done.returncode == 0
    assert "warning" not in done.stdout
    assert done.stdout.splitlines()[-1] == "3 passed"

"""What ends a command politely."""

import signal
import subprocess
import sys
from pathlib import Path

COMMAND = [sys.executable, "-c", "from coupled_arena.cli import main; main()"]
PATIENCE = 60


def test_a_kill_ends_what_a_script_runs_behind_itself_with_ctrl_c_ignored(tmp_path: Path) -> None:
    arguments = ["bench", "--task", "yes-no", "--repeats", "1000", "--models", "sim/ada", "--store", "b.db"]
    ignoring = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = subprocess.Popen([*COMMAND, *arguments], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGINT, ignoring)
    try:
        assert process.stderr is not None
        assert "run bench-yes-no-" in process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 1
    assert "was interrupted" in said.splitlines()[-1] and "Traceback" not in said

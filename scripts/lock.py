"""Write requirements.txt anew: every package of every extra, pinned and hashed, without any download address.

Usage: python3.11 scripts/lock.py [--upgrade]

Run it with the oldest supported Python. Without `--upgrade` only what pyproject.toml no longer allows is changed.
"""

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.txt"
PIP_TOOLS = "pip-tools==7.6.2"
ADDRESS = re.compile(r"\w+://|^\s*(--(extra-)?index-url|--find-links|--trusted-host|-i|-f)\b", re.MULTILINE)
OPTIONS = (
    "--all-extras",
    "--all-build-deps",
    "--allow-unsafe",
    "--generate-hashes",
    "--strip-extras",
    "--no-emit-index-url",
    "--no-emit-trusted-host",
    "--no-emit-find-links",
    "--no-emit-options",
    "--no-header",
    "--quiet",
)


def main() -> None:
    """Compile the lock in an environment of its own and refuse a result that names an address."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder, "bin", "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", PIP_TOOLS], check=True)
        options = [*OPTIONS, *sys.argv[1:], "--output-file", LOCK.name]
        subprocess.run([python, "-m", "piptools", "compile", *options, "pyproject.toml"], cwd=ROOT, check=True)
    pinned = LOCK.read_text(encoding="utf-8")
    if address := ADDRESS.search(pinned):
        sys.exit(f"{LOCK.name} names a download address ({address.group().strip()}); remove it before committing")
    LOCK.write_text(f"# Written by scripts/lock.py; do not edit.\n{pinned}", encoding="utf-8")
    print(f"{LOCK.name}: {len(re.findall(r'^[a-z0-9].*==', pinned, re.MULTILINE))} packages")


if __name__ == "__main__":
    main()

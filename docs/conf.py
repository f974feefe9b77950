"""How Sphinx makes a site of the pages in this folder; `make docs` runs it, and any warning fails it."""

import re
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, GoogleDocstring

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import coupled_arena  # noqa: E402

project = "Coupled Arena"
copyright = ""  # noqa: A001
version = release = coupled_arena.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
# A block that names no language is a command or its output.
highlight_language = "none"
html_theme = "furo"
html_title = f"{project} {release}"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}
html_static_path: list[str] = []

# Links of pages are checked; types of other packages, which docstrings name, have no page here.
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]
# Pages name headings of each other; one that is not there is a warning.
myst_heading_anchors = 4
# In docstrings a name in single backticks is code, as in Markdown.
default_role = "literal"

autodoc_member_order = "bysource"
# A record's fields stand below it, each with its meaning: no need to repeat them all in its signature.
autodoc_class_signature = "separated"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True, "show-inheritance": True, "exclude-members": "model_config,model_fields"}

# Pages of the repository that the site shows too, by the page that they become.
SHOWN = {"index": "README.md", "contributing": "CONTRIBUTING.md", "changelog": "CHANGELOG.md"}


def show(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put a page of the repository before its page here, with links as seen from here."""
    if docname not in SHOWN:
        return
    text = (ROOT / SHOWN[docname]).read_text(encoding="utf-8")
    text = re.sub(r"(?<=\]\()(?!https?:|#|docs/)(?=[^)])", "../", text).replace("](docs/", "](")
    for page, name in SHOWN.items():
        text = text.replace(f"](../{name}", f"]({page}.md")
    source[0] = f"{text}\n{source[0]}"


def parted(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Read Args, Raises and Example of a docstring; a field has none, and a colon in its meaning is only a colon."""
    if what not in ("attribute", "data", "property"):
        lines[:] = GoogleDocstring(lines, Config(napoleon_use_rtype=False), app, what, name, value, options).lines()


def setup(app: Sphinx) -> None:
    """Make Sphinx read the repository's own pages, and docstrings as they are written here."""
    app.connect("source-read", show)
    app.connect("autodoc-process-docstring", parted)

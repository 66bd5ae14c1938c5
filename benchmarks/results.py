"""``RESULTS.md``: the last results of each benchmark, a section each."""

import re
from pathlib import Path

RESULTS = Path(__file__).with_name("RESULTS.md")
_HEAD = "# Results\n\nThe last run of each benchmark; its command writes its section with `--write`.\n"


def replace_section(document: str, title: str, body: str) -> str:
    """Return the Markdown document with the section ``## title`` replaced, or added at its end."""
    section = f"## {title}\n\n{body.strip()}\n"
    found = re.search(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", document, re.MULTILINE | re.DOTALL)
    if found is None:
        return f"{document.rstrip()}\n\n{section}"
    rest = document[found.end() :]
    return document[: found.start()] + section + (f"\n{rest}" if rest else "")


def write(title: str, body: str) -> None:
    """Write one benchmark's section of ``RESULTS.md``."""
    document = RESULTS.read_text() if RESULTS.exists() else _HEAD
    RESULTS.write_text(replace_section(document, title, body))

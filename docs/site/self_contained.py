"""Check that no page of the site loads anything from another host.

self_contained.py SITE
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path

# Elements that a browser loads by itself, and the attribute that names what.
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
# Links that are not loaded.
NOT_LOADED = {"canonical", "next", "prev"}


class Loads(HTMLParser):
    """The addresses on other hosts that a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.foreign: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        address = named.get(LOADED.get(tag, "")) or ""
        if address.startswith(("http:", "https:", "//")) and named.get("rel") not in NOT_LOADED:
            self.foreign.append(address)


def foreign(page: str) -> list[str]:
    parser = Loads()
    parser.feed(page)
    return parser.foreign


def main(site: Path) -> int:
    found = [
        (page, to) for page in sorted(site.rglob("*.html")) for to in foreign(page.read_text())
    ]
    for page, to in found:
        print(f"{page}: loads {to}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

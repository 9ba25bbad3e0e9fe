"""Fences of language ``bob``: text drawings, rendered as SVG when the site is built."""

from __future__ import annotations

import base64
import re
from html import escape
from typing import Any

from markdown_svgbob import wrapper


def fence(
    source: str, language: str, css_class: str, options: Any, md: Any, **attributes: Any
) -> str:
    """A custom fence of pymdownx.superfences: an image, as inline SVG would style whole pages."""
    svg = wrapper.text2svg(drawn(source))
    data = base64.b64encode(svg).decode()
    alt = escape(" ".join(attributes.get("attrs", {}).get("alt", "diagram").split()))
    image = f'<img class="{css_class}" alt="{alt}" src="data:image/svg+xml;base64,{data}">'
    return f'<div class="wide">{image}</div>'


def drawn(source: str) -> str:
    """With hyphens in names as such (U+2010): svgbob takes a minus for a piece of a line."""
    return re.sub(r"(?<=\w)-(?=\w)", "\N{HYPHEN}", source)

"""A web page in one file: it needs no network, and what it shows of a corpus can do nothing but be read."""

from __future__ import annotations

import base64
import html
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
"""Nothing from anywhere else may be loaded, and nothing be sent: the page's own script and style are all there is."""


_ELEMENTS = """\
"use strict";
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  // Strings become text nodes: nothing in them is markup.
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
"""
"""Makes elements: `el(tag, attributes, ...children)`; `fill` does it to a node that is there."""

_READ_BLOCK = """async function readBlock(name) {
  if (document.readyState === "loading") {
    await new Promise((ready) => document.addEventListener("DOMContentLoaded", ready, { once: true }));
  }
  const text = document.getElementById("block-" + name).textContent;
  const packed = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}
"""
"""Gives the bytes of a block; it works in a page that was opened from a file too."""


def static_page(
    title: str,
    style: str,
    script: str,
    data: Mapping[str, Any] | None = None,
    blocks: Mapping[str, bytes] | None = None,
) -> str:
    """An HTML document whose script finds its data with `JSON.parse(document.getElementById("data").textContent)`.

    The script must show text with `textContent` (or nodes made of text), never as HTML; `el(tag, attributes,
    ...children)`, which every page has, makes elements whose strings are text.

    Large data go into blocks, which are compressed, and read when they are needed: the script has a function
    `readBlock(name)`, which promises the bytes as an ArrayBuffer.

    Args:
        title: of the page; any text.
        style: CSS of our own.
        script: JavaScript of our own; neither may hold "</".
        data: what JSON can say, texts of a corpus included.
        blocks: name (a plain word) -> bytes.

    Raises:
        ValueError: the style or the script would end its own element, the data hold NaN or infinity, or a block's name
            is no plain word.
    """
    if "</" in style or "</" in script:
        raise ValueError("a style or a script must not hold '</'")
    if not all(name.isidentifier() for name in blocks or {}):
        raise ValueError("the name of a block must be a plain word")
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{html.escape(title)}</title>",
            f"<style>\n{style}</style>",
            '<body><main id="page"></main>',
            "<noscript>This page is drawn by a script of its own, and scripts are switched off.</noscript>",
            f'<script type="application/json" id="data">{json_for_script(data or {})}</script>',
            f"<script>\n{_ELEMENTS}{_READ_BLOCK if blocks else ''}{script}</script>",
            # After the script, so that it can draw before they are read.
            *(_block(name, content) for name, content in (blocks or {}).items()),
            "",
        ]
    )


def _block(name: str, content: bytes) -> str:
    packed = base64.b64encode(zlib.compress(content, 6)).decode("ascii")
    return f'<script type="application/octet-stream" id="block-{name}">{packed}</script>'


def json_for_script(data: object) -> str:
    """JSON that stays data inside `<script>`: no tag, comment or line separator can be read out of it.

    Raises:
        ValueError: NaN or infinity in it.
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True)
    # A lone surrogate cannot be written as UTF-8.
    text = text.encode("utf-8", "replace").decode()
    return "".join(_UNSAFE.get(c, c) for c in text) if any(c in text for c in _UNSAFE) else text


def html_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str = "", numbers: Sequence[int] = ()
) -> str:
    """A table for a notebook; all texts are escaped.

    Args:
        header: titles of the columns.
        rows: their cells.
        caption: a line above.
        numbers: columns that stand to the right.
    """

    def cell(tag: str, place: int, text: str) -> str:
        side = "right" if place in numbers else "left"
        return f'<{tag} style="text-align:{side}"><bdi>{html.escape(text)}</bdi></{tag}>'

    lines = [
        f"<tr>{''.join(cell(tag, place, text) for place, text in enumerate(row))}</tr>"
        for tag, row in (("th", header), *(("td", row) for row in rows))
    ]
    above = f'<caption style="text-align:left"><bdi>{html.escape(caption)}</bdi></caption>' if caption else ""
    return f"<table>{above}<thead>{lines[0]}</thead><tbody>{''.join(lines[1:])}</tbody></table>"


def highlighted(text: str, spans: Iterable[tuple[int, int, str]]) -> str:
    """A text as HTML with some spans marked; all of it is escaped.

    >>> highlighted("over <5 kg", [(5, 7, "weight"), (8, 10, "weight")])
    'over <mark title="weight">&lt;5</mark> <mark title="weight">kg</mark>'

    Args:
        text: any text.
        spans: start, end and title of each; one that lies within another, or begins in it, is not marked again.
    """
    parts: list[str] = []
    end = 0
    for start, stop, title in sorted(spans):
        if start >= end and stop > start:
            marked = f'<mark title="{html.escape(title)}">{html.escape(text[start:stop])}</mark>'
            parts += [html.escape(text[end:start]), marked]
            end = stop
    return "".join([*parts, html.escape(text[end:])])

"""Template and values → one HTML page that loads nothing: escaped, with a policy that forbids every other source."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from gpufabric.errors import printable
from gpufabric.report.svg_style import STYLE

TEMPLATES = Path(__file__).parent / "templates"
_MAX_TEXT = 2000


def html_page(template: str, values: Mapping[str, Any], style: str, script: str = "") -> str:
    """Return the page.

    Parameters
    ----------
    template, style, script
        Names of files in ``templates``; style and script are put into the page. The script alone may run.
    values
        What the template names. Every text is escaped; only a drawing of this package goes in as it is (:func:`inline_svg`).
    """
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_shown,
    )
    code = (TEMPLATES / script).read_text(encoding="utf-8") if script else ""
    css = (TEMPLATES / style).read_text(encoding="utf-8")
    return environment.get_template(template).render(
        **values,
        policy=_policy(code),
        # Both are files of this package, and no value goes into them.
        style=Markup(css + STYLE),  # noqa: S704
        script=Markup(code),  # noqa: S704
    )


def inline_svg(document: str) -> Markup:
    """Return a drawing of this package for use inside a page, without the style sheet that :func:`html_page` has already."""
    inside = document.replace(f"<style>{STYLE}</style>\n", "", 1)
    return Markup(inside.replace(' xmlns="http://www.w3.org/2000/svg"', "", 1))  # noqa: S704


def _policy(script: str) -> str:
    """Return a content security policy (https://www.w3.org/TR/CSP3/): inline styles, this script, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    scripts = f"script-src 'sha256-{digest}'; " if script else ""
    return f"default-src 'none'; style-src 'unsafe-inline'; {scripts}base-uri 'none'; form-action 'none'"


def _shown(value: Any) -> Any:
    """Return texts without control characters and of bounded length, and everything else as it is."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else printable(value, _MAX_TEXT)

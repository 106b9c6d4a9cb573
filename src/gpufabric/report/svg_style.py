"""The style sheet of all drawings: light, and dark where the reader prefers it."""

from __future__ import annotations

_LIGHT = {
    "page": "fill:#ffffff",
    "text": "fill:#1b1f24",
    ".dim": "fill:#4d5761",
    ".t0": "fill:#eef1f4;stroke:#66727f",
    ".t1": "fill:#e2f0fa;stroke:#0072b2",
    ".t2": "fill:#fdf1dc;stroke:#a86a00",
    ".t3": "fill:#dff4ec;stroke:#007a58",
    ".pill": "fill:#ffffff;stroke:#b6c0ca",
    ".band": "fill:#f7f9fb;stroke:#d5dce3",
    ".pod": "fill:none;stroke:#9aa6b2",
    ".line": "stroke:#8594a3",
    ".p0.line": "stroke:#0072b2",
    ".p1.line": "stroke:#d55e00",
    ".track": "fill:#e3e8ed",
    ".load": "fill:#5b6b7b",
    ".over": "fill:#c4320a",
    ".frame": "fill:#fbfcfd;stroke:#66727f",
    ".tray": "stroke:#8594a3",
    ".measure": "stroke:#4d5761",
    ".range": "fill:#0072b2;fill-opacity:.16",
    ".curve": "stroke:#0072b2",
    ".second": "stroke:#b3500a",
    ".dot": "fill:#0072b2",
    ".other": "fill:#b3500a",
    ".limit": "stroke:#4d5761",
    ".attainable": "stroke:#00805c",
    ".cross": "stroke:#1b1f24",
    ".grid": "stroke:#d5dce3",
    ".b0": "stroke:#9aa6b2",
    ".b1": "stroke:#5aa9d6",
    ".b2": "stroke:#2f8f6b",
    ".b3": "stroke:#c79a00",
    ".b4": "stroke:#d9630a",
    ".b5": "stroke:#a80f2a",
}
_DARK = {
    "page": "fill:#14181d",
    "text": "fill:#e6edf3",
    ".dim": "fill:#a3afbb",
    ".t0": "fill:#222a33;stroke:#8b98a7",
    ".t1": "fill:#10293d;stroke:#56b4e9",
    ".t2": "fill:#33270f;stroke:#e69f00",
    ".t3": "fill:#0e2c23;stroke:#2fc699",
    ".pill": "fill:#14181d;stroke:#56616d",
    ".band": "fill:#191f26;stroke:#313b46",
    ".pod": "fill:none;stroke:#5d6975",
    ".line": "stroke:#7d8b99",
    ".p0.line": "stroke:#56b4e9",
    ".p1.line": "stroke:#ee8a3c",
    ".track": "fill:#2b343e",
    ".load": "fill:#93a3b3",
    ".over": "fill:#ff7a52",
    ".frame": "fill:#191f26;stroke:#8b98a7",
    ".tray": "stroke:#7d8b99",
    ".measure": "stroke:#a3afbb",
    ".range": "fill:#56b4e9;fill-opacity:.2",
    ".curve": "stroke:#56b4e9",
    ".second": "stroke:#ee8a3c",
    ".dot": "fill:#56b4e9",
    ".other": "fill:#ee8a3c",
    ".limit": "stroke:#a3afbb",
    ".attainable": "stroke:#2fc699",
    ".cross": "stroke:#e6edf3",
    ".grid": "stroke:#313b46",
    ".b0": "stroke:#5d6975",
    ".b1": "stroke:#3f88b8",
    ".b2": "stroke:#2fa67c",
    ".b3": "stroke:#d6b11f",
    ".b4": "stroke:#f08a3c",
    ".b5": "stroke:#ff5d73",
}
_RAILS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#b07d00", "#8a8a00", "#77818c")


def _rules(colours: dict[str, str]) -> str:
    return "".join(f"{'.' + key if key == 'page' else key}{{{value}}}" for key, value in colours.items())


STYLE = (
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}"
    ".strong{font-weight:600}.middle{text-anchor:middle}.end{text-anchor:end}.box,.pill,.band,.frame{stroke-width:1.2}"
    ".pod{stroke-width:1.2;stroke-dasharray:5 4}.line{fill:none;stroke-opacity:.75}"
    ".tray{fill:none;stroke-dasharray:2 3}.measure{fill:none}"
    ".curve,.limit,.attainable,.cross,.grid,.use{fill:none}.b0{stroke-dasharray:3 4}"
    ".second{stroke-dasharray:9 4}.limit{stroke-dasharray:2 4}.attainable{stroke-dasharray:6 3 1 3}"
    + _rules(_LIGHT)
    + "".join(f".r{rail}.line{{stroke:{colour}}}" for rail, colour in enumerate(_RAILS))
    + f"@media(prefers-color-scheme:dark){{{_rules(_DARK)}}}"
)

"""The report in a real browser: its script runs, the console stays empty, nothing is wider than a phone."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gpufabric.formats.cluster_yaml import resolve_spec
from gpufabric.jobs.design import design
from gpufabric.jobs.design_files import write_design

pytestmark = [pytest.mark.real, pytest.mark.slow]
OPTIONS = (
    "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-quic --no-first-run --disable-sync "
    "--disable-background-networking --disable-component-update --hide-scrollbars --enable-logging=stderr --v=0"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report")
    write_design(design(resolve_spec("preset:superpod-b200")), out)
    return out


@pytest.fixture
def chromium(
    require_program: Callable[[str], str], tmp_path: Path
) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    program = require_program("chromium")

    def run(page: Path, *more: str) -> subprocess.CompletedProcess[bytes]:
        command = [program, *OPTIONS.split(), f"--user-data-dir={tmp_path}", *more, page.as_uri()]
        return subprocess.run(command, capture_output=True, check=True, timeout=90)

    return run


def console(done: subprocess.CompletedProcess[bytes]) -> list[str]:
    """What pages wrote to the console, errors and refusals of the policy included."""
    return re.findall(r"CONSOLE.*", done.stderr.decode(errors="replace"))


@pytest.mark.parametrize("page", ["report.html", "labels.html"])
def test_the_console_stays_empty(chromium, folder: Path, page: str) -> None:
    assert console(chromium(folder / page, "--dump-dom")) == []


def test_an_error_would_be_seen_and_a_foreign_script_does_not_run(
    chromium, folder: Path, tmp_path: Path
) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    broken = tmp_path / "broken.html"
    broken.write_text(
        text.replace("</body>", "<script>document.title = 'taken over'</script></body>"), encoding="utf-8"
    )
    done = chromium(broken, "--dump-dom")
    assert any("Content Security Policy" in line for line in console(done))
    assert b"<title>taken over" not in done.stdout


def test_long_tables_get_search_sorting_and_pages(chromium, folder: Path) -> None:
    dom = chromium(folder / "report.html", "--dump-dom").stdout.decode()
    assert "1 to 50 of 2,044 rows" in dom
    plan = dom[dom.index('data-label="Cabling plan"') :]
    assert plan[: plan.index("</table>")].count("<tr>") == 51
    assert '<input type="search" placeholder="Search"' in dom
    assert dom.count('<button type="button">cable</button>') == 1


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_drawn_at_both_widths_and_schemes(
    chromium, folder: Path, tmp_path: Path, width: int, scheme: str
) -> None:
    measures = "document.body.scrollWidth, getComputedStyle(document.body).backgroundColor"
    text = (folder / "report.html").read_text(encoding="utf-8")
    # The probe is a script of its own, so it needs a page without the policy that would refuse it.
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    probe = tmp_path / "probe.html"
    # A window is at least 500 px wide, so the page is made as narrow as a phone instead.
    script = f"<script>document.body.style.width = '{width}px'; document.title = [{measures}]</script>"
    probe.write_text(text.replace("</body>", f"{script}</body>"), encoding="utf-8")
    dark = f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}"
    done = chromium(probe, "--dump-dom", f"--window-size={max(width, 500)},900", dark)
    found = re.search(r"<title>(\d+),(rgb\([^)]*\))", done.stdout.decode())
    assert found is not None
    assert int(found[1]) == width
    assert found[2] == ("rgb(20, 24, 29)" if scheme == "dark" else "rgb(255, 255, 255)")

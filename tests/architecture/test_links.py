"""Every relative link and picture of the documents leads somewhere."""

import re
from pathlib import Path

LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
SOURCE = re.compile(r"<(?:img|a|source)\b[^>]*?\b(?:src|href|srcset)=\"([^\"]+)\"")
CODE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
INLINE_CODE = re.compile(r"`[^`\n]*`")


def links(text: str) -> list[str]:
    """Return the targets of all links and pictures outside code."""
    prose = INLINE_CODE.sub("", CODE.sub("", text))
    return [*LINK.findall(prose), *SOURCE.findall(prose)]


def anchors(text: str) -> set[str]:
    """Return the anchors that a reader of Markdown makes of the headings."""
    found: dict[str, int] = {}
    result = set()
    for heading in re.findall(r"^#{1,6}\s+(.*?)\s*#*$", CODE.sub("", text), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        count = found.get(slug, 0)
        found[slug] = count + 1
        result.add(slug if count == 0 else f"{slug}-{count}")
    return result


def broken(document: Path) -> list[str]:
    """Return the links of one document that lead nowhere."""
    text = document.read_text(encoding="utf-8")
    bad = []
    for link in links(text):
        if re.match(r"[a-z][a-z0-9+.-]*:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (document.parent / path) if path else document
        anchored = anchor and target.suffix == ".md" and target.exists()
        if not target.exists() or (anchored and anchor not in anchors(target.read_text(encoding="utf-8"))):
            bad.append(link)
    return bad


def test_all_relative_links_resolve(tracked_files, root):
    documents = [p for p in tracked_files if p.suffix == ".md"]
    assert documents
    found = {str(d.relative_to(root)): broken(d) for d in documents}
    assert {name: bad for name, bad in found.items() if bad} == {}


def test_broken_links_are_found(tmp_path):
    document = tmp_path / "a.md"
    document.write_text(
        "# One thing\n[ok](a.md#one-thing) [ok](#one-thing) [ok](https://example.org) `[code](no.md)`\n"
        '[bad](no.md) [bad](#two) <img src="no.svg" alt="">\n```\n[code](no.md)\n```\n'
    )
    assert broken(document) == ["no.md", "#two", "no.svg"]

"""Text of strangers → the same text without passwords, tokens and keys, before any of it is shown or kept."""

from __future__ import annotations

import re

_NAME = r"(?:token|secret|passw(?:or)?d|passphrase|credential|api_?key|access_?key|private_?key|(?<![a-z])pass(?![a-z]))"
# Forms that say by themselves what they are, wherever they stand: each is what its issuer documents.
_PREFIXES = (
    r"gh[pousr]_\w{8,255}",  # GitHub
    r"github_pat_\w{8,255}",
    r"glpat-[\w-]{8,255}",  # GitLab
    r"hf_[A-Za-z0-9]{8,255}",  # Hugging Face
    r"nvapi-[\w-]{8,255}",  # NVIDIA
    r"sk-[\w-]{12,255}",  # OpenAI and others
    r"(?:AKIA|ASIA)[0-9A-Z]{12,32}",  # AWS
    r"xox[abeoprs]-[\w-]{8,255}",  # Slack
    r"AIza[\w-]{20,255}",  # Google
    r"eyJ[\w-]{4,2000}(?:\.[\w-]{0,4000}){1,2}",  # JSON Web Token, RFC 7519
)
_BY_ITSELF = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY.*"
    r"|(?<![A-Za-z0-9])(?:" + "|".join(_PREFIXES) + r")"
    r"|(?<=://)[^\s/@:]{1,200}:[^\s/@]{1,200}(?=@)",
    re.DOTALL,
)
_AFTER_SCHEME = re.compile(r"(?i)\b((?:authorization\s{0,4}[=:]\s{0,4})?(?:bearer|basic)\s{1,4})\S+")
_AFTER_NAME = re.compile(
    r"(?i)([\w.-]{0,60}(?:" + _NAME + r"|authorization)[\w.-]{0,60}[\"']?\s{0,4}[=:]\s{0,4})"
    r"(?!\[removed\]|(?:bearer|basic)\s)(?:\"[^\"]{0,2000}\"|'[^']{0,2000}'|\S+)"
)
# Names of variables in capitals are taken as such without a sign between name and value too, as dumps of environments have them.
_AFTER_CAPITALS = re.compile(
    r"\b([A-Z][A-Z0-9_]{0,60}(?:TOKEN|SECRET|PASS|PASSWD|PASSWORD|PASSPHRASE|API_KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS?)\s{1,4})"
    r"(?!\[removed\])\S+"
)
_REMOVED = "[removed]"


def without_secrets(text: str) -> str:
    """Return *text* with what is, or is named like, a password, token or key replaced by ``[removed]``.

    Parameters
    ----------
    text
        Bounded by the caller: the patterns take time in proportion to its length.
    """
    shown = _BY_ITSELF.sub(_REMOVED, text)
    for named in (_AFTER_SCHEME, _AFTER_NAME, _AFTER_CAPITALS):
        shown = named.sub(lambda found: found[1] + _REMOVED, shown)
    return shown

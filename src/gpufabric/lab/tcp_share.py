"""The part of a shaped link's rate that is left for what a TCP connection carries."""

from __future__ import annotations

from gpufabric.lab.namespaces import MTU

_ETHERNET = 14  # addresses and type; a queue of Linux counts neither preamble nor checksum (tc-stab(8))
_IPV4 = 20  # RFC 791, without options
_TCP = 32  # RFC 9293: 20, and 12 for the time stamps of RFC 7323, which Linux sends

PAYLOAD_SHARE = (MTU - _IPV4 - _TCP) / (MTU + _ETHERNET)
"""Bytes of data in a full packet over the bytes of it that the queue counts."""

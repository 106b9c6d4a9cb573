"""Measured bus bandwidth against what the design should reach: healthy, low, high or cannot tell.

The range is the calibration's: *healthy* is the 80 % range or better than its lower end, *low* only what
fewer than one published measurement in forty would show, *high* what no healthy fabric can do without
in-network reduction or what fewer than one in forty would show. Between healthy and low lies *cannot tell*, and so does a
range that is too wide to call anything inside it healthy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from gpufabric.records.findings import Finding, Severity
from gpufabric.records.measurements import MeasuredRow, MeasuredTable
from gpufabric.records.results import CollectiveResult
from gpufabric.records.verdicts import Expectation, Judgement, SizeVerdict, Verdict
from gpufabric.units import MAX_MESSAGE_BYTES, counted, format_gigabytes_per_s, format_message_bytes

RULE_LOW = "measured-busbw-low"
RULE_HIGH = "measured-busbw-high"
RULE_WRONG = "measured-wrong-elements"
MIN_BYTES = 16 << 20
#: From here on the calibration has enough clusters for a range that tells something.
NARROW_BYTES = 256 << 20
#: A range whose ends are further apart than this factor makes nothing inside it healthy.
WIDEST = 2.5
#: The whole table is judged by its sizes down to this part of the largest.
_LARGEST = 4
#: Bandwidths are printed with two decimals and times with four digits.
_PRINTED = 1.005
#: From the ends of an 80 % range of a normal distribution to its 2.5 and 97.5 % points: 1.960 / 1.2816.
_TO_LIMIT = 1.5293
_SOURCE = "docs/rules/measured-busbw-low.md"


def expectation(result: CollectiveResult) -> Expectation:
    """Return what *result* predicts as bus bandwidth.

    Parameters
    ----------
    result
        A prediction; its time range is the 80 % range, and ``time_slow_s`` what only one measurement in forty exceeds. What
        it does not say of the limits is extrapolated from the range as for a log-normal distribution.

    Returns
    -------
    Expectation
        In bytes/s; no bound exceeds the ceiling.
    """
    centre = result.busbw_bytes_per_s
    low = centre * result.time_s / result.time_high_s
    high = centre * result.time_s / result.time_low_s
    # A log does not say how the library was set, so what settings can reach is not too fast; and where nothing published is of
    # this kind, being faster than expected means nothing short of the ceiling.
    best = max(centre, result.attainable_busbw_bytes_per_s or 0.0)
    limit_high = best * (high / centre) ** _TO_LIMIT if result.clusters else float("inf")
    if result.time_slow_s is None:
        limit_low = centre * (low / centre) ** _TO_LIMIT
    else:
        limit_low = centre * result.time_s / result.time_slow_s
    ceiling = result.ceiling_busbw_bytes_per_s
    return Expectation(
        size_bytes=result.size_bytes,
        busbw_bytes_per_s=centre,
        low_bytes_per_s=low,
        high_bytes_per_s=min(high, ceiling),
        limit_low_bytes_per_s=min(limit_low, low),
        limit_high_bytes_per_s=min(max(limit_high, high), ceiling),
        ceiling_bytes_per_s=ceiling,
        ceiling_name=result.ceiling_name,
    )


def judged_sizes(table: MeasuredTable) -> list[int]:
    """Return the message sizes of *table* that are large enough for a verdict, each once, rising."""
    return sorted(
        {r.size_bytes for r in table.rows if MIN_BYTES <= r.size_bytes <= MAX_MESSAGE_BYTES and r.consistent}
    )


def check(
    table: MeasuredTable, expected: Mapping[int, Expectation], *, file: str
) -> tuple[Verdict, list[Finding]]:
    """Judge a table of rows of one operation.

    Parameters
    ----------
    table
        Rows of at least 16 MiB are judged, those that contradict themselves never, and the log's average
        never, because it depends on which sizes were run.
    expected
        What each message size (bytes) should reach.
    file
        What findings call the log.

    Returns
    -------
    Verdict, list of Finding
        The verdict of the largest sizes, with one for each row; an error for *low*, a warning for *high*, an
        error for wrong elements. Wrong results and logs that contradict themselves are never judged by their speed, and a
        test that failed is never healthy.
    """
    sizes = tuple(
        _size_verdict(row, expected[row.size_bytes])
        for row in table.rows
        if row.size_bytes >= MIN_BYTES and row.consistent and row.size_bytes in expected
    )
    op = table.op or "collective"
    what = f"{file}: {op} over {counted(table.ranks or 0, 'rank')}, {table.dtype}"
    findings = wrong_elements(table, file)
    if not sizes:
        return cannot_tell(what, f"no row of at least {format_message_bytes(MIN_BYTES)} to judge"), findings
    deciding = _deciding(sizes)
    verdict = _majority(deciding)
    if reason := _why_not_trusted(table, verdict):
        return Verdict(what, "cannot tell", "", reason, (), sizes), findings
    telling = [s for s in deciding if s.verdict == verdict] or deciding
    best = max(telling, key=lambda s: (s.size_bytes, s.measured_bytes_per_s))
    found = _found_text(best)
    if verdict == "cannot tell":
        found += _why_undecided(deciding, best)
    findings += _findings(best, verdict, op, file)
    return Verdict(what, verdict, _expected_text(best), found, sizes=sizes), findings


def cannot_tell(what: str, reason: str) -> Verdict:
    """Return the verdict on something that can't be judged."""
    return Verdict(what, "cannot tell", "", reason)


def wrong_results(table: MeasuredTable) -> str:
    """Return why the results of *table* are wrong, an empty string when they are not known to be."""
    wrong = sum(bool(row.wrong) for row in table.rows)
    if wrong:
        return f"the results are wrong: {counted(wrong, 'half row')} with wrong elements"
    return "the results are wrong: values were out of bounds" if table.out_of_bounds else ""


def _why_not_trusted(table: MeasuredTable, verdict: Judgement) -> str:
    """Return why *verdict* may not be said although the figures give it, an empty string when it may."""
    large = [row for row in table.rows if row.size_bytes >= MIN_BYTES]
    odd = sum(not row.consistent for row in large)
    reason = wrong_results(table)
    if not reason and 2 * odd >= len(large):
        verb = "contradicts itself" if odd == 1 else "contradict themselves"
        reason = f"{odd:,} of {counted(len(large), 'half row')} {verb}"
    if not reason and table.failed and verdict != "low":
        reason = "the test stopped with a failure, so what it did not get to is missing"
    return reason


def wrong_elements(table: MeasuredTable, file: str) -> list[Finding]:
    """Return an error when elements came out wrong, whatever the speed."""
    wrong = [row for row in table.rows if row.wrong]
    if not wrong:
        return []
    return [
        Finding(
            RULE_WRONG,
            "error",
            f"{file}:{wrong[0].line}",
            f"{len(wrong):,} of {counted(len(table.rows), 'half row')} {'has' if len(wrong) == 1 else 'have'}"
            " wrong elements: data was corrupted",
            expected="0",
            found=str(max(row.wrong or 0 for row in wrong)),
            fix="take the servers out of use and test them in halves until the faulty GPU or link is found",
            source="nccl-tests, doc/PERFORMANCE.md and README, column #wrong",
        )
    ]


def _size_verdict(row: MeasuredRow, expected: Expectation) -> SizeVerdict:
    measured = row.busbw_bytes_per_s
    verdict: Judgement
    reason = ""
    width = expected.high_bytes_per_s / expected.low_bytes_per_s
    if row.wrong:
        verdict, reason = "cannot tell", counted(row.wrong, "wrong element")
    elif measured > expected.ceiling_bytes_per_s * _PRINTED:
        verdict, reason = "high", f"above the ceiling ({expected.ceiling_name})"
    elif measured > expected.limit_high_bytes_per_s * _PRINTED:
        verdict, reason = "high", "above 97.5 % of published measurements"
    elif measured * _PRINTED < expected.limit_low_bytes_per_s:
        verdict, reason = "low", "below 97.5 % of published measurements"
    elif measured * _PRINTED < expected.low_bytes_per_s:
        verdict, reason = "cannot tell", "below the range, yet not far enough to be sure"
    elif width > WIDEST:
        verdict, reason = "cannot tell", f"inside a range that spans a factor of {width:.1f}"
    else:
        verdict = "healthy"
    gap = measured / expected.busbw_bytes_per_s - 1
    return SizeVerdict(row.line, row.size_bytes, row.in_place, measured, expected, verdict, gap, reason)


def _deciding(sizes: Sequence[SizeVerdict]) -> list[SizeVerdict]:
    """Return the largest sizes, rising; where some have a narrow range, only those."""
    largest = max(s.size_bytes for s in sizes)
    least = max(largest // _LARGEST, min(largest, NARROW_BYTES))
    return sorted((s for s in sizes if s.size_bytes >= least), key=lambda s: s.size_bytes)


def _why_undecided(deciding: Sequence[SizeVerdict], best: SizeVerdict) -> str:
    """Return what to add to the figures of *best* when the whole table is neither low nor high nor healthy."""
    largest = deciding[-1].size_bytes
    if largest < NARROW_BYTES:
        return (
            f"; the largest size is {format_message_bytes(largest)}; from {format_message_bytes(NARROW_BYTES)} on the range"
            " is narrow enough to tell: run with -e 8G"
        )
    return "" if best.verdict == "cannot tell" else "; the largest sizes do not agree"


def _majority(sizes: Sequence[SizeVerdict]) -> Judgement:
    """Return what more than half of *sizes* say; below ``NARROW_BYTES`` nothing is healthy."""
    verdict, votes = Counter(s.verdict for s in sizes).most_common(1)[0]
    short = verdict == "healthy" and sizes[-1].size_bytes < NARROW_BYTES
    return verdict if 2 * votes > len(sizes) and not short else "cannot tell"


def _expected_text(size: SizeVerdict) -> str:
    e = size.expected
    return (
        f"{format_gigabytes_per_s(e.low_bytes_per_s)} to {format_gigabytes_per_s(e.high_bytes_per_s)} at"
        f" {format_message_bytes(size.size_bytes)}, at most {format_gigabytes_per_s(e.ceiling_bytes_per_s)}"
        f" ({e.ceiling_name})"
    )


def _found_text(size: SizeVerdict) -> str:
    place = "in-place" if size.in_place else "out-of-place"
    more = f"; {size.reason}" if size.reason else ""
    measured = format_gigabytes_per_s(size.measured_bytes_per_s)
    return f"{measured} {place}, {1 + size.gap:.0%} of the prediction{more}"


def _findings(size: SizeVerdict, verdict: Judgement, op: str, file: str) -> list[Finding]:
    said: dict[Judgement, tuple[str, Severity, str, str]] = {
        "low": (
            RULE_LOW,
            "error",
            f"{op} is slower than this fabric should be",
            "test servers alone, then pairs, then one scalable unit, to find the part that is slow",
        ),
        "high": (
            RULE_HIGH,
            "warning",
            f"{op} is faster than this description allows",
            "check the servers and NICs of the description, and whether the network reduces (SHARP)",
        ),
    }
    if verdict not in said:
        return []
    rule, severity, message, fix = said[verdict]
    return [
        Finding(
            rule,
            severity,
            f"{file}:{size.line}",
            message,
            expected=_expected_text(size),
            found=_found_text(size),
            confidence=0.975,
            fix=fix,
            source=_SOURCE,
        )
    ]

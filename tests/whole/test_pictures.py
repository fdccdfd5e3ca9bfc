"""The parts of the page: bars to scale, texts side by side, nothing that is not escaped."""

from __future__ import annotations

import re

from kmerge_git.replay.report_page import chart, table


def test_bars_are_to_one_scale() -> None:
    long = (("clean", 30, "t-clean"), ("conflict", 10, "t-conflict"))
    short = (("clean", 20, "t-clean"), ("none", 0, "t-none"))
    svg = chart("title", {"git": long, "kmerge": short})
    widths = [float(width) for width in re.findall(r'<rect[^>]* width="([\d.]+)"', svg)]
    assert widths == [607.5, 202.5, 405.0]
    assert svg.count("<li>") == 2  # what does not occur has no place in the legend
    assert 'aria-label="git: 30 clean, 10 conflict; kmerge: 20 clean"' in svg


def test_nothing_to_draw() -> None:
    assert chart("title", {"git": (("clean", 0, "t"),)}) == ""


def test_a_sliver_is_visible_and_has_no_number() -> None:
    svg = chart("t", {"git": (("many", 100000, "t"), ("one", 1, "u"))})
    assert 'class="u" x="900.0" y="0" width="1.5"' in svg
    assert svg.count('class="count"') == 1


def test_side_by_side() -> None:
    left = b"".join(b"line %d\n" % number for number in range(30))
    html = table(left, left.replace(b"line 20\n", b"<b>&\n"), ("left", "right"))
    assert html.count("<tr") == 8  # the head, the change, three lines around it
    assert (
        '<td class="n">21</td><td>line 20</td><td class="n">21</td><td>&lt;b&gt;&amp;</td>' in html
    )


def test_added_and_removed_lines_and_gaps() -> None:
    left = b"".join(b"line %d\n" % number for number in range(60))
    right = left.replace(b"line 5\n", b"").replace(b"line 50\n", b"line 50\nnew\n")
    html = table(left, right, ("left", "right"))
    assert html.count('<tr class="left">') == 1
    assert html.count('<tr class="right">') == 1
    assert html.count('<tr class="gap">') == 1


def test_long_texts_stay_small() -> None:
    many = b"".join(b"%d\n" % number for number in range(5000))
    html = table(many, many.upper().replace(b"0\n", b"x\n"), ("left", "right"))
    assert html.count("<tr") <= 162
    assert "more lines" in html
    assert "too long" in table(many * 2, many, ("left", "right"))

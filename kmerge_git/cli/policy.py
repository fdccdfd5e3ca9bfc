"""`kmerge policy try`: try one policy on the conflicts of past merges."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kmerge_git.bounds import SHOWN_LOG_LINES
from kmerge_git.cli.in_and_out import add_color, show, waiting, warn
from kmerge_git.cli.replay import add_scope, head_lines, section, tallied, workers
from kmerge_git.errors import UsageError
from kmerge_git.nearest import did_you_mean
from kmerge_git.report.results import CommandResult

if TYPE_CHECKING:
    from kmerge_git.replay.left_conflicts import Judgement, Remaining
    from kmerge_git.replay.past_merges import Replayed
    from kmerge_git.replay.policy_trials import Trial
    from kmerge_git.replay.tally import Tally
    from kmerge_git.report.results import Line

DESCRIPTION = """\
Merge the repository's own past merges again with one policy for one field, and compare what it
decides with what people committed. Nothing is switched on, nothing is touched.
"""
EPILOG = """\
examples:
  kmerge policy try '*' '**.image' higher                     all merges that HEAD can reach
  kmerge policy try '**/Chart.yaml' appVersion higher v1..main
  kmerge policy try '*' '**.replicas' ours --last 200 --json

GLOB, FIELDPATH and POLICY are those of `git config kmerge.policy` (docs/install.md). Which ones the
past proves `kmerge replay` tells.

exit status: 0 the replay is done, 2 an error
"""
_TRY = """\
Replay the past with one policy alone.

example:
  kmerge policy try '*' '**.image' higher --last 200

exit status: 0 the replay is done, 2 an error
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    about, _, examples = _TRY.partition("\n\n")
    raw = argparse.RawDescriptionHelpFormatter
    summary = "replay the past with one policy"
    trying = actions.add_parser(
        "try", help=summary, description=about, epilog=examples, formatter_class=raw
    )
    add = trying.add_argument
    add("glob", metavar="GLOB", help="files, as in attribute files: '*', '**/Chart.yaml'")
    add("field", metavar="FIELDPATH", help="a field: spec.replicas, '**.image'")
    add("policy", metavar="POLICY", help="higher, ours, theirs, ..")
    add_scope(trying)
    add("--json", action="store_true", help="print the report as JSON")
    add_color(trying, "colours on stdout")


def run(args: argparse.Namespace) -> int:
    """Merge past merges again with the policy, then report how the policy decides."""
    from kmerge_git.git.repository import Repository
    from kmerge_git.git.settings import POLICIES
    from kmerge_git.replay.left_conflicts import FieldPolicy
    from kmerge_git.replay.policy_trials import Trial

    if args.policy not in POLICIES:
        hint = did_you_mean(args.policy, POLICIES, f"they are {', '.join(POLICIES)}")
        raise UsageError(f"no policy is called {args.policy}", hint=hint)
    for word in (args.glob, args.field):
        if not word or len(word.split()) != 1:
            raise UsageError(f"{word!r} is not one word", hint="settings are split at blanks")
    rule = FieldPolicy(args.glob, args.field, args.policy)
    repository = Repository.open()
    with workers(args, repository, rule.glob) as made:
        tally = tallied(args, repository, made)
        with waiting("trying the policy"):
            trial = Trial(rule, tuple(made.tried(rule, tally.conflicted)))
    result = CommandResult(lambda: _fields(tally, trial), lambda: _lines(tally, trial))
    show(result, as_json=args.json, color=args.color)
    if not trial.cases:
        fields = (left.field for file in tally.conflicted for left in file.left)
        hint = did_you_mean(rule.field, dict.fromkeys(fields))
        warn(f"no conflict of the past was about it{'; ' * bool(hint)}{hint}")
    return 0


def _fields(tally: Tally, trial: Trial) -> dict[str, Any]:
    whole = tally.as_json()
    known = {key: whole[key] for key in ("merges", "picks", "notes")}
    return known | trial.as_json() | {"conflicts": trial.cases_as_json()}


def _lines(tally: Tally, trial: Trial) -> Iterator[Line]:
    from kmerge_git.replay.policy_trials import ENOUGH, OF_TEN

    yield from head_lines(tally)
    rule = trial.rule
    rows = (
        (len(trial.cases), f"conflicts on {rule.field} in {rule.glob}"),
        (trial.settled, f"  settled by {rule.policy}"),
        (trial.count("as people"), "    as people did"),
        (trial.count("otherwise"), "    differently from people"),
        (trial.count("unknown"), "    with nothing in people's commit to compare with"),
        (trial.freed, "files that would have had no conflict"),
        (trial.freed_as_people, "  with the meaning that people committed"),
    )
    for count, words in rows[: None if trial.settled else 2]:
        yield f"{count:>7}  {words}"
    apart = [case for case in trial.cases if case[-1].match == "otherwise"]
    if apart:
        yield from section("differently from people")
    for case in apart[:SHOWN_LOG_LINES]:
        yield f"       {_case(*case)}"
    if len(apart) > SHOWN_LOG_LINES:
        yield f"       and {len(apart) - SHOWN_LOG_LINES} more: --json lists all"
    if not trial.settled:
        return
    if trial.is_proved:
        yield from section("to switch it on", " (one of these)")
    else:
        words = f" (fewer than {ENOUGH} cases, or than {OF_TEN} of 10 as people did)"
        yield from section("to switch it on all the same", words)
    yield f"       {trial.config}"
    if "," not in rule.field:
        yield f"       .gitattributes: {trial.attributes}"


def _case(file: Replayed, left: Remaining, verdict: Judgement) -> str:
    value, people = (text or "(gone)" for text in (verdict.value, verdict.people))
    return f"{file.commit[:10]}  {file.path}: {left.place}: {value}, people: {people}"

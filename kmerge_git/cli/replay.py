"""`kmerge replay`: merge the repository's past merges again, and compare the results."""

from __future__ import annotations

import argparse
import os
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from shlex import quote
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from kmerge_git.bounds import SHOWN_LOG_LINES
from kmerge_git.cli.in_and_out import Progress, add_color, show, show_lines, tell, waiting, warn
from kmerge_git.errors import KmergeError, UsageError
from kmerge_git.nearest import did_you_mean
from kmerge_git.report.results import SCHEMA, CommandResult

if TYPE_CHECKING:
    from kmerge_git.git.repository import Repository
    from kmerge_git.replay.left_conflicts import FieldPolicy
    from kmerge_git.replay.past_merges import Chosen, Past, ReplayedMerge, Workers
    from kmerge_git.replay.policy_trials import Trial
    from kmerge_git.replay.pull_requests import Heads
    from kmerge_git.replay.tally import Report, Tally
    from kmerge_git.report.results import Line


EPILOG = """\
examples:
  kmerge replay                       all merges that HEAD can reach
  kmerge replay v1.0..main            the merges of a range
  kmerge replay --last 200            the newest 200 merges
  kmerge replay --pulls               merges in the branches of pull requests, and squash merges
  kmerge replay --picks               cherry-picks (-x) and reverts as well
  kmerge replay --html report.html    the report as one HTML page, with a chart
  kmerge replay --show 3              the third disagreement: the change of each side, both results
  kmerge replay --show 3 --extract d  its texts as files: base, ours, theirs, kmerge, and people
                                      (the committed text)
  kmerge replay --combine one.json two.json
                                      one report from the --json reports of several repositories
  kmerge replay --policy '* **.image higher'
                                      compare the results of this policy with the commits

For each manifest that both sides of a past merge changed, kmerge merges again, once with git's
line merge and once field by field, and compares both results with the commit. The report proposes
the policies that agree with the commits, but enables none of them. --policy tries a single policy,
written as in `git config kmerge.policy` (docs/policies.md). The command changes nothing in the
repository and does not fetch.

Squashed pull requests leave no merges. --pulls replays the merges in their branches and, counted
separately, the squash merges whose messages have the number of a pull request. To fetch these
branches from GitHub, run `git fetch origin '+refs/pull/*/head:refs/remotes/origin/pull/*'`.
--refs GLOB also starts from other refs. --picks replays cherry-picks and reverts whose messages
have the id of the original commit.

exit status: 0 the replay is done, 2 an error
"""
_BELOW = (
    "resolved",
    "mended",
    "followed",
    "away",
)  # indented: each counts a part of the line above


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command line."""
    add = parser.add_argument
    add("range", nargs="?", default="HEAD", metavar="RANGE", help="REV or A..B (default: HEAD)")
    add("--pulls", action="store_true", help="also use merges in the branches of pull requests")
    add(
        "--refs",
        action="append",
        default=[],
        metavar="GLOB",
        help="also use merges that can be reached from these refs",
    )
    add("--last", type=_count, metavar="N", help="use only the newest N merges")
    add("--picks", action="store_true", help="also use cherry-picks and reverts")
    add("--jobs", type=_count, metavar="N", help="number of processes (default: one per processor)")
    add("--json", action="store_true", help="print the report as JSON")
    one = parser.add_mutually_exclusive_group().add_argument
    one(
        "--policy",
        metavar="'GLOB FIELD POLICY'",
        help="compare the results of this policy with the commits",
    )
    one("--html", metavar="FILE", help="write the report as one HTML page")
    one("--show", type=_count, metavar="N", help="show the N-th disagreement")
    one(
        "--combine",
        nargs="+",
        metavar="FILE",
        help="make one report from the --json reports of several repositories",
    )
    add("--extract", metavar="DIR", help="with --show: write the texts to files in DIR")
    add_color(parser, "colour the report")


def run(args: argparse.Namespace) -> int:
    """Merge the past merges again, then report the results."""
    from kmerge_git.git.repository import Repository
    from kmerge_git.git.settings import matches
    from kmerge_git.replay.policy_trials import Trial, propose, propose_deletions, trials_of

    if args.extract and not args.show:
        raise UsageError("--extract needs --show N", hint="N chooses the disagreement")
    if args.combine:
        from kmerge_git.replay.combined_reports import combined, read_report

        if _scope(args):
            raise UsageError("--combine takes only files", hint="remove the range and its options")
        _report(args, combined([read_report(name, SCHEMA) for name in args.combine]))
        return 0
    rule = _rule(args.policy) if args.policy is not None else None
    repository = Repository.open()
    with _workers(args, repository, rule.glob if rule else "*") as made:
        if args.show:
            return _show(args, repository, _each(made, _chosen(args, repository)[0].commits))
        tally = _tallied(args, repository, made)
        with waiting("trying policies"):
            if rule and rule.field:
                (trial,) = trials_of([rule], tally.conflicted, made.tried)
            elif rule:
                away = (one for one in tally.away if matches(rule.glob, one.file.path))
                trial = Trial(rule, tuple(away), tally.open_files)
            else:
                tally.proposals = propose(tally.conflicted, made.tried)
                tally.proposals += propose_deletions(tally.away, tally.open_files)
    if rule:
        return _report_trial(args, tally, trial)
    if args.html:
        _write_page(args, repository, tally)
    _report(args, tally.as_json())
    return 0


def _report(args: argparse.Namespace, report: Report) -> None:
    result = CommandResult(lambda: report, lambda: report_lines(report, _scope(args)))
    show(result, as_json=args.json, color=args.color)


def _rule(text: str) -> FieldPolicy:
    """Return the policy that `--policy` names, as in the setting `kmerge.policy`."""
    from kmerge_git.git.settings import DELETION, POLICIES
    from kmerge_git.replay.left_conflicts import FieldPolicy

    words = text.split()
    if len(words) == 2 and words[1] == DELETION:
        return FieldPolicy(words[0], "", DELETION)
    if len(words) != 3:
        raise UsageError(
            f"{text!r} is not a policy",
            hint=f"write GLOB FIELD POLICY, as in '* **.image higher', or GLOB {DELETION}",
        )
    if words[2] not in POLICIES:
        hint = did_you_mean(words[2], POLICIES, f"use one of {', '.join(POLICIES)}")
        raise UsageError(f"unknown policy {words[2]}", hint=hint)
    return FieldPolicy(*words)


def _report_trial(args: argparse.Namespace, tally: Tally, trial: Trial) -> int:
    """Print what the policy decides, and what people committed."""
    result = CommandResult(lambda: _trial_fields(tally, trial), lambda: _trial_lines(tally, trial))
    show(result, as_json=args.json, color=args.color)
    if not trial.cases:
        fields = (left.field for file in tally.conflicted for left in file.left)
        hint = did_you_mean(trial.rule.field, dict.fromkeys(fields))
        warn(f"no past conflict is about this field{'; ' * bool(hint)}{hint}")
    return 0


def _trial_fields(tally: Tally, trial: Trial) -> dict[str, Any]:
    whole = tally.as_json()
    known = {key: whole[key] for key in ("merges", "picks", "notes")}
    return known | trial.as_json() | {"conflicts": trial.cases_as_json(trial.cases)}


def _trial_lines(tally: Tally, trial: Trial) -> Iterator[Line]:
    yield from _head_lines(tally.as_json())
    counts = trial.as_json()
    free = f" ({counts['free']} in which the new chart version differs)" if counts["free"] else ""
    rows = (
        (
            len(trial.cases),
            f"conflicts on {counts['field'] or 'deleted files'} in {counts['files']}",
        ),
        (trial.settled, f"  resolved by {counts['policy']}"),
        (counts["as_people"], "    same as committed"),
        (counts["otherwise"], f"    different from what was committed{free}"),
        (counts["unknown"], "    not compared: the commit has no such value"),
        (counts["files_freed"], "files that would have had no conflict"),
        (counts["files_as_people"], "  with the same values as the commit"),
    )
    for count, words in rows[: None if trial.settled else 2]:
        yield f"{count:>7}  {words}"
    apart = trial.cases_as_json(trial.wrong)
    if apart:
        yield from _section("different from what was committed")
    for case in apart[:SHOWN_LOG_LINES]:
        yield f"       {_case(case)}"
    if len(apart) > SHOWN_LOG_LINES:
        yield f"       and {len(apart) - SHOWN_LOG_LINES} more: --json lists all"
    if not trial.settled:
        return
    words = (
        f"{counts['standing']}; use one of these lines" if counts["standing"] else "not proposed"
    )
    yield from _section("to enable the policy", f" ({words})")
    yield f"       {counts['config']}"
    if "," not in counts["field"]:
        yield f"       .gitattributes: {counts['gitattributes']}"


def _case(case: dict[str, str]) -> str:
    place = " ".join(filter(None, (case["resource"], case["field"])))
    value, people = (case[name] or "(gone)" for name in ("value", "value_of_people"))
    at = ": ".join(filter(None, (case["path"], place, value)))
    return f"{case['commit'][:10]}  {at}, committed: {people}"


def _show(args: argparse.Namespace, repository: Repository, merges: Iterator[ReplayedMerge]) -> int:
    from kmerge_git.replay.past_merges import Replayer, extract, lines

    own = (merge for merge in merges if merge.kind != "squash merge")
    disagreements = (file for merge in own for file in merge.files if file.is_disagreement)
    file = next(islice(disagreements, args.show - 1, None), None)
    if file is None:
        command = " ".join(["kmerge", "replay", *_scope(args)])
        raise UsageError(
            f"the disagreements do not include {args.show}", hint=f"`{command}` lists them"
        )
    texts = Replayer(repository).texts(file)
    if args.extract:
        try:
            for name in extract(texts, file.path, args.extract):
                tell(name)
        except OSError as error:
            raise KmergeError(error.strerror or str(error), path=args.extract) from error
        return 0
    show_lines(((line,) for line in lines(file, texts)), args.color)
    return 0


def report_lines(report: Report, scope: list[str]) -> Iterator[Line]:
    """Yield the lines of the report on a terminal."""
    from kmerge_git.replay.tally import COUNTS, OF_A_SORT, times

    yield from _head_lines(report)
    for name, words in COUNTS.items():
        count = report["counts"][name]
        depth = 2 if name.startswith(("resolved_", "away_")) else int(name in _BELOW)
        if count or name in ("files", "git_conflicts", "resolved"):
            yield f"{count:>7}  {'  ' * depth}{words}{_share(report['counts'], name)}"
    if report["counts"]["files"]:
        yield from ("", times(report))
    squashed = report["squash_merges"]["counts"]
    if any(squashed.values()):
        yield from _section("squash merges", " (made by the server, so git had no conflict)")
        yield from (f"{squashed[name]:>7}  {COUNTS[name]}" for name in COUNTS if squashed[name])
    sorts = report["by_kind"]
    if len(sorts) > 1:  # a single kind would repeat the counts above
        yield from _section("by kind of file", f" ({', '.join(OF_A_SORT.values())})")
        for sort, counts in sorted(sorts.items(), key=lambda at: -at[1]["git_conflicts"]):
            yield "".join(f"{counts[name]:>7}" for name in OF_A_SORT) + f"  {sort}"
    yield from _disagreements(report, scope)
    yield from _left(report)
    if report["proposals"]:
        yield from _proposals(report, scope)


def _section(title: str, rest: str = "") -> Iterator[Line]:
    """Yield an empty line and the title of a section."""
    yield ""
    yield ((title, "bold"), rest)


def _share(counts: dict[str, int], name: str) -> str:
    part_of = "resolved" if name.startswith("resolved_") else ""
    part_of = {"git_conflicts": "files", "resolved": "git_conflicts"}.get(name, part_of)
    whole = counts.get(part_of)
    return f" ({100 * counts[name] / whole:.0f}%)" if whole else ""


def _disagreements(report: Report, scope: list[str]) -> Iterator[Line]:
    files, broken = report["disagreements"], report["git_broken"]
    if files:
        command = " ".join(["kmerge", "replay", *scope, "--show", "N"])
        where = " in its repository" if report["repositories"] > 1 else ""
        yield from _section("disagreements", f" (run `{command}`{where} to see one)")
    for file in files[:SHOWN_LOG_LINES]:
        yield f"{file['number']:>5}  {file['commit'][:10]}  {file['path']}"
    if len(files) > SHOWN_LOG_LINES:
        yield f"       and {len(files) - SHOWN_LOG_LINES} more: --json and --html list all"
    if broken:
        yield from _section("git leaves no conflict, but its result is broken")
    for file in broken[:SHOWN_LOG_LINES]:
        yield f"       {file['commit'][:10]}  {file['path']}: {'; '.join(file['git_damage'])}"


def _left(report: Report) -> Iterator[Line]:
    groups = [(group["cause"], group["field"], group["conflicts"]) for group in report["left"]]
    if groups:
        yield from _section("conflicts that git and kmerge leave, by cause and field")
    for cause, field, conflicts in groups[:SHOWN_LOG_LINES]:
        yield f"{len(conflicts):>7}  {f'{cause}: {field}' if field else cause}"
    rest = groups[SHOWN_LOG_LINES:]
    if rest:
        count = sum(len(conflicts) for *_, conflicts in rest)
        yield f"{count:>7}  in {len(rest)} more groups: --json and --html list all"


def _proposals(report: Report, scope: list[str]) -> Iterator[Line]:
    from kmerge_git.replay.policy_trials import summary_of

    yield from _section("policies that agree with past commits", " (none is enabled)")
    for number, proposal in enumerate(report["proposals"], 1):
        yield f"{number:>5}  {proposal['standing']}: {summary_of(proposal)}"
        yield f"       {proposal['config']}"
        yield from (f"         {_case(case)}" for case in proposal["wrong"])
        if proposal["otherwise"] > len(proposal["wrong"]):
            yield f"         and {proposal['otherwise'] - len(proposal['wrong'])} more"
    if report["gitattributes"]:
        yield "       or, for everybody, in .gitattributes (the last matching line applies):"
        yield from (f"       {line}" for line in report["gitattributes"])
    yield f"       to list each case: {' '.join([report['proposals'][0]['command'], *scope])}"


def _write_page(args: argparse.Namespace, repository: Repository, tally: Tally) -> None:
    from kmerge_git.replay.past_merges import Replayer
    from kmerge_git.replay.report_page import page

    place = Path(repository.worktree or repository.git_dir)
    name = place.name.removesuffix(".git") or str(place)
    draft = Path(f"{args.html}.kmerge-{os.getpid()}")
    try:
        with draft.open("w", encoding="utf-8") as file:
            file.writelines(page(tally, name, " ".join(_scope(args)), Replayer(repository).texts))
        draft.replace(args.html)
    except OSError as error:
        raise KmergeError(error.strerror or str(error), path=args.html) from error
    finally:
        draft.unlink(missing_ok=True)
    warn(f"wrote the report to {args.html}")


def _count(text: str) -> int:
    """Parse the value of an option as a number of at least 1."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return int(text)


def _scope(args: argparse.Namespace) -> list[str]:
    """Return the words of the command line that choose the past merges."""
    words = [args.range] if args.range != "HEAD" else []
    words += ["--pulls"] if args.pulls else []
    words += [word for glob in args.refs for word in ("--refs", quote(glob))]
    words += ["--last", str(args.last)] if args.last else []
    return words + (["--picks"] if args.picks else [])


@contextmanager
def _workers(args: argparse.Namespace, repository: Repository, glob: str) -> Iterator[Workers]:
    """Yield the worker processes that merge files again, and end these processes."""
    from kmerge_git.cli import main
    from kmerge_git.replay.past_merges import Workers
    from kmerge_git.whole.cores import collect_rarely, cores

    if main.owns_process:
        collect_rarely()
    with Workers(repository, args.jobs or cores(), glob) as found:
        yield found


def _chosen(args: argparse.Namespace, repository: Repository) -> tuple[Chosen, Heads, str]:
    """Return the chosen past merges, their refs, and a hint how to fetch missing commits."""
    from kmerge_git.git.repository import commits_here, ends_of
    from kmerge_git.replay.past_merges import choose
    from kmerge_git.replay.pull_requests import Heads, heads_of

    heads = Heads()
    if args.pulls or args.refs:
        heads = heads_of(repository, args.refs, pulls=args.pulls)
    tip = repository.commit(ends_of(args.range)[0]).oid
    history, hint = commits_here(repository, args.range, heads.oids)
    return choose(history, picks=args.picks, most=args.last, heads=heads, tip=tip), heads, hint


def _each(made: Workers, commits: list[Past]) -> Generator[ReplayedMerge]:
    """Yield the repeated merges, and show a progress bar."""
    with closing(Progress(len(commits), "merges")) as bar:
        for done, merge in enumerate(made.replay(commits), 1):
            bar.update(done)
            yield merge


def _tallied(args: argparse.Namespace, repository: Repository, made: Workers) -> Tally:
    """Merge the chosen past merges again and count the results."""
    from kmerge_git.replay.tally import Tally, notes

    found, heads, hint = _chosen(args, repository)
    tally = Tally()
    for merge in _each(made, found.commits):
        tally.add(merge)
    tally.notes = notes(
        tally, found, heads, args.range, is_shallow=repository.is_shallow, hint=hint
    )
    return tally


def _head_lines(report: Report) -> Iterator[Line]:
    """Yield lines that count the replayed and omitted merges, and notes about the history."""
    from kmerge_git.replay.tally import left_out, replayed

    many = report["repositories"]
    yield ", ".join([f"{replayed(report)} replayed", *left_out(report)])
    yield from [f"{many} repositories"] if many > 1 else []
    yield from report["notes"]
    yield ""


def add_trial(parser: argparse.ArgumentParser) -> None:
    """Define the command line of `kmerge policy try`, the old name of `replay --policy`."""
    actions = parser.add_subparsers(metavar="try", required=True)
    trying = actions.add_parser("try", epilog=EPILOG, formatter_class=parser.formatter_class)
    for word in ("glob", "field", "name"):  # argparse cannot show one argument with three names
        trying.add_argument(word, metavar="POLICY" if word == "name" else word.upper())
    add_arguments(trying)


def run_trial(args: argparse.Namespace) -> int:
    """Try the policy on past merges."""
    args.policy = f"{args.glob} {args.field} {args.name}"
    return run(args)


policy = SimpleNamespace(EPILOG=EPILOG, add_arguments=add_trial, run=run_trial)

"""`kmerge install` and `kmerge uninstall`: register the merge driver with git, or remove it."""

from __future__ import annotations

import argparse
import shutil
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

from kmerge_git.atomic_files import read_text
from kmerge_git.bounds import SHOWN_NAMES
from kmerge_git.cli.in_and_out import say, tell, waiting
from kmerge_git.cli.main import add_old
from kmerge_git.errors import UsageError
from kmerge_git.git.attribute_files import POLICY
from kmerge_git.git.installation import SetupPlan, Wish, plan_install, plan_uninstall
from kmerge_git.git.probes import IN_PRE_COMMIT, PRE_COMMIT
from kmerge_git.git.run_git import ask_here
from kmerge_git.git.tracked_files import top_of_tree, tracked, values_of
from kmerge_git.git.unasked import WAYS, told_branches

CHART = "Chart.yaml"
BOOTSTRAP = "for the setup of a clone (make setup, ..): kmerge install --quiet"
CHARTS = "kmerge install --charts"
# what people do alike in charts, if they do; the first is the one that needs no past
CHART_POLICIES = (
    ("version", "rebump"),
    ("appVersion", "higher"),
    ("dependencies[*].version", "higher"),
    ("annotations[artifacthub.io/changes]", "mine"),
)

EPILOG = """\
examples:
  kmerge install                      this clone: .git/config and .git/info/attributes
  kmerge install --global             every repository of yours
  kmerge install --shared             write the committed .gitattributes, for the whole team
  kmerge install --team               also the hooks of kmerge in .pre-commit-config.yaml
  kmerge install --pattern 'deploy/**/*.yaml'
  kmerge install --diff               `git diff` shows manifests by resource and field, too
  kmerge install --charts             also policies for what both sides change in a Chart.yaml
  kmerge install --dry-run            show what would be written, write nothing

kmerge registers files named *.yaml, *.yml, kustomization and Kustomization, and the helpers and
notes of Helm charts (templates/**/*.tpl, templates/NOTES.txt). Git alone merges files with the
usual names of SOPS secrets (*.enc.yaml, *.sops.yaml, secrets.*.yaml). `kmerge status` shows whether
it works, `kmerge uninstall` undoes it.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command line."""
    add_places(parser)
    parser.add_argument(
        "--pattern",
        action="append",
        default=[],
        metavar="P",
        help="send files that match P to the driver, instead of the usual names (repeatable)",
    )
    json = parser.add_argument("--with-json", action="store_true", help="register *.json, too")
    add_old(parser, "--json", json)
    parser.add_argument(
        "--on-conflict",
        choices=("abort", "skip", "overwrite"),
        default="abort",
        help="what to do where a line gives the same files to another driver (default: abort)",
    )
    parser.add_argument("--hooks", action="store_true", help="also write git hooks that check")
    parser.add_argument(
        "--team",
        action="store_true",
        help="write what a team commits: --shared, and hooks in .pre-commit-config.yaml",
    )
    parser.add_argument(
        "--hooks-from",
        default="",
        metavar="URL@REV",
        help="with --team: where pre-commit gets the hooks (default: the release that this is)",
    )
    parser.add_argument(
        "--diff", action="store_true", help="also let `git diff` show these files by field"
    )
    parser.add_argument(
        "--charts",
        action="store_true",
        help="also write the policies for Helm charts that the past of this repository supports",
    )
    parser.add_argument("--mergetool", action="store_true", help="also register `git mergetool`")
    parser.add_argument("-q", "--quiet", action="store_true", help="print problems only")


def add_places(parser: argparse.ArgumentParser) -> None:
    """Define the options that `install` and `uninstall` have in common."""
    scopes = parser.add_mutually_exclusive_group()
    for scope, text in (
        ("local", "this clone, with all its worktrees (the default)"),
        ("global", "all repositories of this user"),
        ("system", "all users of this machine"),
        ("worktree", "this worktree alone (needs extensions.worktreeConfig)"),
    ):
        scopes.add_argument(
            f"--{scope}",
            dest="scope",
            action="store_const",
            const=scope,
            default="local",
            help=text,
        )
    parser.add_argument(
        "--shared",
        action="store_true",
        help="use the committed .gitattributes instead of a private attribute file",
    )
    parser.add_argument("-n", "--dry-run", action="store_true", help="show the changes, make none")


def run(args: argparse.Namespace) -> int:
    """Register the driver; a second call changes nothing."""
    _require_one_way(args)
    if args.charts and args.scope in ("global", "system"):
        hint = "leave --charts out, and run `kmerge install --charts` in the repository"
        raise UsageError(f"--charts is for one repository, not for --{args.scope}", hint=hint)
    policies = _policies(quiet=args.quiet) if args.charts else []
    wish = Wish(
        scope=args.scope,
        shared=args.shared or args.team,
        patterns=tuple(args.pattern),
        json=args.with_json,
        on_conflict=args.on_conflict,
        hooks=args.hooks,
        mergetool=args.mergetool,
        diff=args.diff,
        policies={CHART: policies} if policies else None,
    )
    plan = plan_install(wish, Path.cwd())
    nothing = "already registered, nothing to do"
    lines: list[str] = []
    if args.team:
        from kmerge_git.cli.team_hooks import hook_source, plan_team_hooks

        top = Path(ask_here("--show-toplevel"))
        more, lines = plan_team_hooks(top, hook_source(args.hooks_from))
        plan = SetupPlan((*plan.changes, *more.changes), (*plan.notes, *more.notes))
        lines += [] if args.quiet else [BOOTSTRAP]
    carry_out(plan, dry_run=args.dry_run, nothing=nothing, quiet=args.quiet)
    for line in lines:
        tell(line)
    if plan.changes and not args.dry_run and not args.quiet:
        rest = "" if args.pattern else ", except for the usual names of SOPS secrets"
        tell(f"registered{rest}; `kmerge status` shows whether it works")
    if not args.quiet:
        _tell_of_charts(policies, is_made=not args.dry_run)
        _tell_of_branches(is_made=not args.dry_run)
    return 0


def _require_one_way(args: argparse.Namespace) -> None:
    """Refuse options that do not go together with --team."""
    if args.hooks_from and not args.team:
        raise UsageError("--hooks-from is for --team", hint="give both, or none of them")
    if args.team and args.scope in ("global", "system"):
        hint = f"run `kmerge install --{args.scope}` for yourself, and --team in the repository"
        raise UsageError(f"--team is for one repository, not for --{args.scope}", hint=hint)
    if args.team and args.hooks:
        hint = "leave --hooks out: with --team pre-commit calls the hooks"
        raise UsageError("--team and --hooks would run all checks twice", hint=hint)


def _policies(*, quiet: bool) -> list[str]:
    """Return the policies for charts that the past of the repository supports."""
    from kmerge_git.git.repository import Repository
    from kmerge_git.replay.left_conflicts import FieldPolicy
    from kmerge_git.replay.policy_trials import ENOUGH, past_trials
    from kmerge_git.whole.cores import cores

    rules = [FieldPolicy(CHART, field, policy) for field, policy in CHART_POLICIES]
    with waiting("repeating past merges"):
        trials = past_trials(Repository.open(), rules, cores(), CHART)
    chosen = [f"{t.rule.field}:{t.rule.policy}" for t in trials if t.standing]
    if not trials[0].standing:  # a changelog goes with the version of its chart
        chosen = [item for item in chosen if not item.endswith(":mine")]
    for trial in trials:
        if trial.settled and not quiet:
            words = f"{trial.rule.policy} for {trial.rule.field}: {trial.rate}"
            tell(f"{trial.standing or 'not written'}: {words}")
    if not chosen and len(trials[0].compared) < ENOUGH:
        chosen = [":".join(CHART_POLICIES[0])]
        if not quiet:
            why = "no past of this repository supports a policy yet"
            tell(f"{chosen[0]} alone: {why}; `kmerge replay --pulls` tells how to fetch more of it")
    return chosen


def _tell_of_charts(policies: list[str], *, is_made: bool) -> None:
    """Name `--charts` where there are charts, or the charts for which another line counts."""
    top = top_of_tree()
    charts = tracked(top, f":(top,glob)**/{CHART}") if top else []
    if not top or not charts:
        return
    said = values_of(top, charts, POLICY)
    if not policies and not said:
        tell(f"there are Helm charts here: `{CHARTS}` also settles what both sides do in {CHART}")
    elif policies and is_made:
        others = [path for path in charts if not {*policies} <= {*said.get(path, "").split(",")}]
        for path in others[:SHOWN_NAMES]:
            say(f"note: {path}: another line counts; `kmerge status {path}` names it")


def _tell_of_branches(*, is_made: bool) -> None:
    """Name the branches whose attributes do not give manifests to kmerge as they do here."""
    top = top_of_tree() if is_made else None
    text = told_branches(top) if top else ""
    if text:
        say(f"note: {text}; {WAYS}")


def carry_out(plan: SetupPlan, *, dry_run: bool, nothing: str, quiet: bool = False) -> None:
    """Make the changes of the plan and print them unless `quiet`; in a dry run only print them."""
    if dry_run and plan.changes:
        print("would change (nothing is written):")
    for change in plan.changes:
        if dry_run:
            for line in change.lines():
                tell(line)
        else:
            change.make(Path.cwd())
            if not quiet:
                tell(change.summary)
    if not plan.changes and not quiet:
        tell(nothing)
    for note in plan.notes:
        say(f"note: {note}")


UNINSTALLED = """\
examples:
  kmerge uninstall                    this clone
  kmerge uninstall --global           your user's configuration and attributes
  kmerge uninstall --shared           the block in the committed .gitattributes

The command removes only what kmerge wrote; with --global also what `kmerge vendor` fetched, in
$XDG_CACHE_HOME/kmerge/vendor or ~/.cache/kmerge/vendor. Your own settings (`git config kmerge.*`),
hooks that you changed, and every other line of the attribute files stay.
"""


def run_uninstall(args: argparse.Namespace) -> int:
    """Unregister the driver; a second call changes nothing."""
    from kmerge_git.vendored.upstream_copies import cache_folder

    plan = plan_uninstall(Wish(scope=args.scope, shared=args.shared), Path.cwd())
    carry_out(plan, dry_run=args.dry_run, nothing="not registered here, nothing to do")
    if args.shared:
        _tell_of_team_hooks(Path(ask_here("--show-toplevel"), PRE_COMMIT))
    if args.scope == "global" and (cache := cache_folder()).is_dir():
        if not args.dry_run:
            shutil.rmtree(cache)
            with suppress(OSError):  # somebody else's files are next to it
                cache.parent.rmdir()
        tell(f"{cache}: remove" if args.dry_run else f"removed {cache}")
    return 0


def _tell_of_team_hooks(config: Path) -> None:
    """Name the hooks of kmerge in the configuration of pre-commit, which a person takes out."""
    names = [match[1] or match[2] for match in IN_PRE_COMMIT.finditer(read_text(config))]
    if names:
        say(f"note: {config} still has hooks of kmerge: {', '.join(names)}")


uninstall = SimpleNamespace(EPILOG=UNINSTALLED, add_arguments=add_places, run=run_uninstall)

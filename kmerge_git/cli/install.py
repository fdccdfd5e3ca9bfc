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
BOOTSTRAP = "add this command to the setup of a clone, such as `make setup`: kmerge install --quiet"
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
  kmerge install --global             all of your repositories
  kmerge install --shared             write .gitattributes, which you commit for the whole team
  kmerge install --team               the same, and add kmerge's hooks to .pre-commit-config.yaml
  kmerge install --pattern 'deploy/**/*.yaml'
  kmerge install --diff               let `git diff` show manifests by resource and field
  kmerge install --charts             add policies for conflicts in Chart.yaml
  kmerge install --dry-run            show what would be written, but write nothing

kmerge registers files named *.yaml, *.yml, kustomization and Kustomization, and the helpers and
notes of Helm charts (templates/**/*.tpl, templates/NOTES.txt). Git alone merges files with the
usual names of SOPS secrets (*.enc.yaml, *.sops.yaml, secrets.*.yaml). Run `kmerge status` to check
the result, and `kmerge uninstall` to undo it.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command line."""
    add_places(parser)
    parser.add_argument(
        "--pattern",
        action="append",
        default=[],
        metavar="P",
        help="register files that match the pattern P instead of the usual names (repeatable)",
    )
    json = parser.add_argument("--with-json", action="store_true", help="also register *.json")
    add_old(parser, "--json", json)
    parser.add_argument(
        "--on-conflict",
        choices=("abort", "skip", "overwrite"),
        default="abort",
        help="what to do if the same files already have another merge driver (default: abort)",
    )
    parser.add_argument(
        "--hooks", action="store_true", help="also write git hooks that run `kmerge check`"
    )
    parser.add_argument(
        "--team",
        action="store_true",
        help="write .gitattributes and the hooks in .pre-commit-config.yaml, for a team to commit",
    )
    parser.add_argument(
        "--hooks-from",
        default="",
        metavar="URL@REV",
        help="with --team: the repository and revision of the hooks (default: this release)",
    )
    parser.add_argument(
        "--diff",
        action="store_true",
        help="also let `git diff` show these files by resource and field",
    )
    parser.add_argument(
        "--charts",
        action="store_true",
        help="also write those Helm chart policies that fit the past merges of this repository",
    )
    parser.add_argument("--mergetool", action="store_true", help="also set up `git mergetool`")
    parser.add_argument("-q", "--quiet", action="store_true", help="print only problems")


def add_places(parser: argparse.ArgumentParser) -> None:
    """Define the options that `install` and `uninstall` have in common."""
    scopes = parser.add_mutually_exclusive_group()
    for scope, text in (
        ("local", "apply to this clone and all its worktrees (default)"),
        ("global", "apply to all repositories of this user"),
        ("system", "apply to all users of this machine"),
        ("worktree", "apply only to this worktree (needs extensions.worktreeConfig)"),
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
        help="change the committed .gitattributes instead of a private attribute file",
    )
    parser.add_argument(
        "-n", "--dry-run", action="store_true", help="show the changes, but do not make them"
    )


def run(args: argparse.Namespace) -> int:
    """Register the driver; a second call changes nothing."""
    _require_one_way(args)
    if args.charts and args.scope in ("global", "system"):
        hint = "omit --charts, then run `kmerge install --charts` in the repository"
        raise UsageError(
            f"--charts is for one repository and cannot be used with --{args.scope}", hint=hint
        )
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
    nothing = "kmerge is already registered; nothing to do"
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
        rest = "" if args.pattern else ", except for files named like SOPS secrets"
        tell(f"kmerge is registered{rest}; run `kmerge status` to check it")
    if not args.quiet:
        _tell_of_charts(policies, is_made=not args.dry_run)
        _tell_of_branches(is_made=not args.dry_run)
    return 0


def _require_one_way(args: argparse.Namespace) -> None:
    """Refuse options that do not go together with --team."""
    if args.hooks_from and not args.team:
        raise UsageError("--hooks-from needs --team", hint="add --team, or omit --hooks-from")
    if args.team and args.scope in ("global", "system"):
        hint = (
            f"run `kmerge install --{args.scope}`, then `kmerge install --team` in the repository"
        )
        raise UsageError(
            f"--team is for one repository and cannot be used with --{args.scope}", hint=hint
        )
    if args.team and args.hooks:
        hint = "omit --hooks, because with --team, pre-commit runs the hooks"
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
            words = f"policy `{trial.rule.policy}` for `{trial.rule.field}`: {trial.rate}"
            tell(f"{trial.standing or 'not written'}: {words}")
    if not chosen and len(trials[0].compared) < ENOUGH:
        chosen = [":".join(CHART_POLICIES[0])]
        if not quiet:
            why = "too few past merges show whether the other policies fit"
            tell(
                f"only {chosen[0]} is written: {why}; "
                "`kmerge replay --pulls` shows how to get more merges"
            )
    return chosen


def _tell_of_charts(policies: list[str], *, is_made: bool) -> None:
    """Suggest `--charts` if there are charts, or list charts with another attribute line."""
    top = top_of_tree()
    charts = tracked(top, f":(top,glob)**/{CHART}") if top else []
    if not top or not charts:
        return
    said = values_of(top, charts, POLICY)
    if not policies and not said:
        tell(f"there are Helm charts; run `{CHARTS}` to add policies for conflicts in {CHART}")
    elif policies and is_made:
        others = [path for path in charts if not {*policies} <= {*said.get(path, "").split(",")}]
        for path in others[:SHOWN_NAMES]:
            say(f"note: {path}: another attribute line has priority; see `kmerge status {path}`")


def _tell_of_branches(*, is_made: bool) -> None:
    """List the branches whose attributes do not give manifests to kmerge as this branch does."""
    top = top_of_tree() if is_made else None
    text = told_branches(top) if top else ""
    if text:
        say(f"note: {text}; {WAYS}")


def carry_out(plan: SetupPlan, *, dry_run: bool, nothing: str, quiet: bool = False) -> None:
    """Make the changes of the plan and print them unless `quiet`; in a dry run only print them."""
    if dry_run and plan.changes:
        print("these changes would be made (nothing is written):")
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
  kmerge uninstall --global           your own git configuration and attributes
  kmerge uninstall --shared           the block in the committed .gitattributes

The command removes only what kmerge wrote. With --global it also removes what `kmerge vendor`
fetched to $XDG_CACHE_HOME/kmerge/vendor or ~/.cache/kmerge/vendor. It keeps your own settings
(`git config kmerge.*`), hooks that you changed, and all other lines of the attribute files.
"""


def run_uninstall(args: argparse.Namespace) -> int:
    """Unregister the driver; a second call changes nothing."""
    from kmerge_git.vendored.upstream_copies import cache_folder

    plan = plan_uninstall(Wish(scope=args.scope, shared=args.shared), Path.cwd())
    carry_out(plan, dry_run=args.dry_run, nothing="kmerge is not registered; nothing to do")
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
    """List the hooks of kmerge in the configuration of pre-commit, which the user must remove."""
    names = [match[1] or match[2] for match in IN_PRE_COMMIT.finditer(read_text(config))]
    if names:
        say(f"note: {config} still has hooks of kmerge; remove them: {', '.join(names)}")


uninstall = SimpleNamespace(EPILOG=UNINSTALLED, add_arguments=add_places, run=run_uninstall)

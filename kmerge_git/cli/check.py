"""`kmerge check [FILES]`: check directives, merges and manifests, as a command or a hook."""

from __future__ import annotations

import argparse
import os
import sys

from kmerge_git.bounds import SHOWN_HOOK_FILES
from kmerge_git.cli import in_and_out
from kmerge_git.cli.in_and_out import add_color, unified, wants_colour, warn
from kmerge_git.cli.main import add_old, make_haste
from kmerge_git.errors import UsageError
from kmerge_git.finding import ERROR, SEVERITIES, Finding, order, worst_first
from kmerge_git.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kmerge_git.check.run import Run
    from kmerge_git.cli.merge_check import MergeCheck

    Look = Callable[[str, bytes], list[Finding]]

EPILOG = """\
examples:
  kmerge check                        every manifest below this folder
  kmerge check apps/web.yaml overlays
  kmerge check --staged               the staged content, also of partly staged files
  kmerge check --new=origin/main      findings that this revision does not have
  kmerge check --merge                damage done by the merge in progress, or by HEAD
  kmerge check --merge-of v1.2.0      damage done by this merge commit
  kmerge check --select D,M02         patch directives, and duplicate keys
  kmerge check --as patch web.yaml --target deployment.yaml
  kmerge check --as patch web.yaml --tool kustomize
  kmerge check --fix patches/         fix simple mistakes, and show the changes as a diff
  kmerge check --dry-run patches/     show that diff, but change nothing
  kmerge check --explain D12

To silence a finding, write a comment on its line or above it: `# kmerge: ignore D12`.
To silence it in a whole file: `# kmerge: ignore-file M05`. The ids are those of --select.
In installed hooks, run `git config --add kmerge.check.ignore M11`, or write
`*.yaml kmerge-check=-M11` in .gitattributes.

exit code: 0 nothing found, 1 findings at or above --fail-on, 2 wrong usage, or a file is
missing or unreadable
"""
CODES = {"+": "\033[32m", "-": "\033[31m"}  # the colours of a diff
TOOLS = {"kubectl": "K", "kustomize": "Z", "both": "KZ"}
FORMATS = ("text", "json", "github", "sarif")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments of the command."""
    add = parser.add_argument
    add("files", nargs="*", metavar="FILE", help="files or folders (default: the current folder)")
    add("--staged", action="store_true", help="check the staged content of all or the given files")
    merge = parser.add_mutually_exclusive_group()
    merge.add_argument(
        "--merge", action="store_true",
        help="find the damage done by the merge in progress, or by the merge commit HEAD",
    )  # fmt: skip
    merge.add_argument("--merge-of", default="", metavar="REV", help="check this merge commit")
    merge.add_argument(
        "--merged", nargs=4, default=(), metavar=("BASE", "OURS", "THEIRS", "RESULT"),
        help="find damage done by a squash merge or a rebase with these four revisions",
    )  # fmt: skip
    add(
        "--new", nargs="?", const="", metavar="REV",
        help="ignore findings that are also in REV (default: the last commit, or in CI the target "
        "branch of the pull request)",
    )  # fmt: skip
    add("--format", choices=FORMATS, default="text", help="output format (default: text)")
    same = "the same as --format json"
    add("--json", dest="format", action="store_const", const="json", help=same)
    help = "run only these checks: D12, D1 (ids that begin with D1), directives, merge-damage, all"
    add("--select", action="append", default=[], metavar="IDS", help=help)
    add("--ignore", action="append", default=[], metavar="IDS", help="do not run these checks")
    add(
        "--fail-on",
        choices=(*SEVERITIES, "never"),
        default="error",
        help="lowest severity that makes the exit code 1 (default: error)",
    )
    _add_what_they_are(parser)
    add("--fix", action="store_true", help="fix simple mistakes, and show the changes as a diff")
    dry = add("-n", "--dry-run", action="store_true", help="show these changes, but make none")
    add_old(parser, "--diff", dry)
    add("--list", action="store_true", help="list all checks")
    add("--explain", metavar="ID", help="explain the check with this id")
    help = "only check whether the driver that .gitattributes uses is registered in git"
    add("--installed", action="store_true", help=help)
    help = "for hooks: before a commit, check a merge or deletions; before a push, check the merges"
    add("--committed", action="store_true", help=help)
    help = "for hooks: list only findings that make the hook fail, and count the others"
    add("-q", "--quiet", action="store_true", help=help)
    add_color(parser, "use colours in the text output")


def _add_what_they_are(parser: argparse.ArgumentParser) -> None:
    """Define the options for patches: whether the files are patches, and which tool reads them."""
    kinds = parser.add_argument(
        "--as",
        dest="told",
        choices=("patch", "manifest"),
        default="",
        help="treat all files as strategic merge patches, or as other manifests",
    )
    for kind in ("patch", "manifest"):
        add_old(parser, f"--{kind}", kinds, kind)
    parser.add_argument(
        "--target",
        default="",
        metavar="FILE",
        help="file with the object that the patches change (implies --tool kubectl)",
    )
    parser.add_argument(
        "--tool",
        choices=tuple(TOOLS),
        default="",
        help="tool that reads the patches (default: detected for each file, otherwise both tools)",
    )


def run(args: argparse.Namespace) -> int:
    """Check files."""
    if args.list or args.explain:
        _require_alone(args)
        sys.stdout.write((explain(args.explain) if args.explain else listing()) + "\n")
        return 0
    if args.installed:
        return report_registration()
    if args.committed:
        from kmerge_git.cli.hook_check import judge  # early: most commits need nothing else

        return judge(args, _check)
    if args.new:
        from kmerge_git.cli.new_findings import require_commit

        require_commit(args.new)
    if (args.fix or args.dry_run) and args.staged:
        raise UsageError("--fix cannot change staged content", hint="omit --fix, or --staged")
    if (args.fix or args.dry_run) and _is_about_a_merge(args):
        raise UsageError("--fix cannot change a merge", hint="omit --fix, or --merge")
    return _check(args)


def _check(args: argparse.Namespace) -> int:
    from kmerge_git.check.run import check_files
    from kmerge_git.cli.merge_check import SELECTED, MergeCheck
    from kmerge_git.time_limit import within

    make_haste()
    merge = None
    if _is_about_a_merge(args):
        args.select = args.select or SELECTED
        merge = MergeCheck(args.merge_of, staged=args.staged, merged=args.merged)
    worker, paths = _worker(args, merge)
    findings = check_files(paths, worker, within)
    missing = [] if merge or args.committed else report_missing(worker, staged=args.staged)
    undecided = merge.undecided if merge else {}
    if merge:
        beside = merge.beside(findings, worker.checks.ids)
        findings = sorted([*findings, *beside], key=order)
        worker.skipped.update(undecided)
    if findings:
        findings = _only_new(args, _heard(args, findings, worker, merge), worker, merge)
    shown = findings
    if findings and args.quiet and args.format == "text":
        shown = stopping(args, findings)
    files = len({*paths, *undecided}) - len(missing)
    _report(args, shown, files, worker, merge, has_missing=bool(missing))
    if len(shown) < len(findings):
        count_others(args, findings)
    if missing:
        return 2
    if args.fail_on == "never":
        return 0
    is_found = any(worst_first(f.severity) <= worst_first(args.fail_on) for f in findings)
    return int(is_found or bool(undecided))


def _is_about_a_merge(args: argparse.Namespace) -> bool:
    return bool(args.merge or args.merge_of or args.merged)


def report_missing(worker: Run, *, staged: bool) -> list[str]:
    """Report and return the named files that do not exist and that no commit deletes."""
    from kmerge_git.cli.check_files import was_deleted

    named = (path for path in worker.missing if path in worker.named)
    missing = [path for path in named if not was_deleted(path)]
    why, hint = "no such file or folder", "check its name"
    if staged:
        why, hint = "no staged file has this name", "check the name, or run `git add` on the file"
    warn(*(UsageError(why, path=path, hint=hint) for path in missing))
    return missing


def _heard(
    args: argparse.Namespace, findings: list[Finding], worker: Run, merge: MergeCheck | None
) -> list[Finding]:
    """Return the findings that are neither switched off nor fixed."""
    from kmerge_git.cli.check_repository import FileSettings

    judge = merge.sides.ours if merge and merge.sides else ""
    settings = FileSettings(args.select, staged=args.staged, judge=judge)
    findings = settings.heard(findings)
    if merge:
        findings = merge.unmeant(merge.brought(findings, worker.checks.ids))
    if not (args.fix or args.dry_run):
        return findings

    def look(path: str, data: bytes) -> list[Finding]:
        return settings.heard(worker.file(path, data))

    return _mend(look, findings, write=args.fix, color=wants_colour(args.color, sys.stdout))


def _only_new(
    args: argparse.Namespace, findings: list[Finding], worker: Run, merge: MergeCheck | None
) -> list[Finding]:
    """Return the findings that were not there before, and print how many others there are."""
    if args.new is None or (merge and merge.sides):
        return findings  # a merge is compared with its sides already
    from kmerge_git.cli.new_findings import only_new
    from kmerge_git.visible import counted

    new = only_new(findings, worker, args.new)
    left = set(new)
    old = [finding for finding in findings if finding not in left]
    if old:
        files = counted(len({finding.file for finding in old}), "file")
        are_ignored = "is ignored" if len(old) == 1 else "are ignored"
        lists = f"`{_command(args, old, [])}` lists them"
        warn(f"{counted(len(old), 'old finding')} in {files} {are_ignored}; {lists}")
    return new


def _require_alone(args: argparse.Namespace) -> None:
    """Refuse the options that --list and --explain would ignore."""
    name = "--list" if args.list else "--explain"
    others = {
        "FILE": args.files, "--merge": args.merge, "--merge-of": args.merge_of,
        "--merged": args.merged,
        "--explain": args.list and args.explain, "--staged": args.staged,
        "--select": args.select, "--ignore": args.ignore, "--format": args.format != "text",
        "--target": args.target, "--tool": args.tool, "--fix": args.fix, "--dry-run": args.dry_run,
        "--as": args.told, "--installed": args.installed, "--new": args.new is not None,
        "--committed": args.committed,
    }  # fmt: skip
    for other, is_given in others.items():
        if is_given:
            raise UsageError(f"{name} cannot be used with {other}", hint=f"omit {other}")


def _worker(args: argparse.Namespace, merge: MergeCheck | None) -> tuple[Run, list[str]]:
    """Return the runner of the checks, and the files to check."""
    from kmerge_git.check.registry import select
    from kmerge_git.check.run import Run
    from kmerge_git.cli import check_files, check_repository
    from kmerge_git.git.hints import IGNORING

    configured = check_repository.configuration()
    ignored = list(args.ignore)
    if configured or os.environ.get(IGNORING):
        ignored += check_repository.ignored(args.select, configured)
    chosen = select(args.select, ignored)
    if merge:
        world, versions, paths = merge.world(args.files)
    elif args.staged:
        world, versions, paths = check_files.staged_world(args.files)
    else:
        world, versions, paths = check_files.disk_world(args.files, args.target)
    warn(*check_repository.learn_definitions(configured, paths))
    if args.target:
        check_files.require_target(args.target, world)
    past = None
    if check_repository.git_directory():
        sides = merge.sides if merge else None
        past = check_files.past_of(args.files, staged=args.staged, sides=sides)
    worker = Run(
        world, chosen, told=args.told, script_with=check_files.script_with(), versions=versions,
        target=args.target, named=check_files.named(args.files), tools=TOOLS.get(args.tool, ""),
        past=past,
    )  # fmt: skip
    return worker, paths


def _mend(look: Look, findings: list[Finding], *, write: bool, color: bool) -> list[Finding]:
    """Show the safe fixes, make them if `write` is set, and return the findings that are left."""
    from functools import partial

    from kmerge_git.check.patches.patch_fix import fixed

    left: list[Finding] = []
    by_file: dict[str, list[Finding]] = {}
    for finding in findings:
        by_file.setdefault(finding.file, []).append(finding)
    for path, found in by_file.items():
        if not any(finding.fix for finding in found):
            left += found
            continue
        data = in_and_out.read(path)
        alone = look(path, data)
        new, done = fixed(data, alone, partial(look, path))
        sys.stdout.write(unified(path, data, new, lambda _, line: _painted(line, color=color)))
        if write and new != data:
            in_and_out.write(path, new)
            left += look(path, new)
            left += [f for f in found if f not in alone]
        else:
            left += found
        if done:
            verb = "fixed" if write else "can be fixed"
            warn(f"{path}: {len(done)} {verb}: {', '.join(f.id for f in done)}")
    return sorted(left, key=order)


def _painted(line: str, *, color: bool) -> str:
    """Return a line of a diff in its colour."""
    code = CODES.get(line[0]) if color else None
    return f"{code}{visible(line).rstrip()}\033[0m" if code else visible(line)


def _report(
    args: argparse.Namespace,
    findings: list[Finding],
    files: int,
    worker: Run,
    merge: MergeCheck | None,
    *,
    has_missing: bool,
) -> None:
    from kmerge_git.report import findings as rendering  # late: it is the last step

    text, skipped = "", worker.skipped
    if args.format == "json":
        certificate = merge.certificate() if merge else {}
        text = rendering.as_json(findings, skipped, certificate)
    elif args.format == "github":
        text = rendering.as_github(findings, with_fixes=True)
    elif args.format == "sarif":
        from kmerge_git import __version__
        from kmerge_git.check.registry import every

        text = rendering.as_sarif(findings, every(), __version__)
    elif findings or not (args.quiet or (has_missing and not files)):
        color = wants_colour(args.color, sys.stdout)
        text = rendering.as_text(findings, files=files, skipped=skipped, color=color)
    sys.stdout.write(text)
    sys.stdout.flush()
    if merge and not args.quiet:
        warn(*merge.unasked())


TITLES = {
    "directives": "Directives of strategic merge patches",
    "merge-damage": "Merge damage",
}


def listing() -> str:
    """Return a list of all checks, one line each."""
    from kmerge_git.check.registry import every

    blocks = []
    for group, title in TITLES.items():
        checks = [c for c in every() if c.group == group]
        lines = [f"  {c.id}  {c.severity:<8} {c.what}" for c in checks]
        blocks.append("\n".join([title, *lines]))
    return "\n\n".join(blocks)


def explain(id: str) -> str:
    """Return the full explanation of one check."""
    from kmerge_git.check.registry import get

    check = get(id)
    example, counter = (
        "\n".join(f"    {line}" for line in text.split("\n"))
        for text in (check.example, check.counter)
    )
    words = {"S": "the schema of the kind", "T": "the object that the patch changes"}
    needs = " and ".join(words[letter] for letter in check.needs)
    return "\n".join(
        [
            f"{check.id}: {check.what} ({check.severity}, {check.group})",
            "",
            f"kubectl:    {check.kubectl}",
            f"kustomize:  {check.kustomize}",
            *([f"needs:      {needs}"] if needs else []),
            "",
            "example:",
            example,
            "",
            "correct:",
            counter,
            "",
            f"fix:        {check.mend}",
            *([f"silence:    # kmerge: ignore {check.id}"] if check.by_comment else []),
            f"in hooks:   git config --add kmerge.check.ignore {check.id}",
        ]
    )


def stopping(args: argparse.Namespace, findings: list[Finding]) -> list[Finding]:
    """Return the findings that fail the hook: errors, or the severities of `--fail-on`.

    `--committed` lists all, because a warning is about what a person has decided just now.
    """
    if args.committed:
        return findings
    least = worst_first(ERROR if args.fail_on == "never" else args.fail_on)
    return [finding for finding in findings if worst_first(finding.severity) <= least]


def count_others(args: argparse.Namespace, findings: list[Finding]) -> None:
    """Print how many findings do not fail the hook, and which commands list them."""
    from kmerge_git.check.registry import BESIDE, get
    from kmerge_git.report.findings import totals

    stops = set(map(id, stopping(args, findings)))
    others = [finding for finding in findings if id(finding) not in stops]
    of_merge = [finding for finding in others if get(finding.id).scope in BESIDE]
    rest = [finding for finding in others if finding not in of_merge]
    commands = [_command(args, rest, ["--merge"] if args.merge else [])] if rest else []
    commands += [_command(args, of_merge, ["--merge"])] if of_merge else []
    lists = "lists" if len(commands) == 1 else "list"
    warn(f"{totals(others)}; {' and '.join(f'`{command}`' for command in commands)} {lists} them")


def _command(args: argparse.Namespace, findings: list[Finding], words: list[str]) -> str:
    """Return the command that lists these findings, for the folder from which git was called."""
    from shlex import join

    # `words` is `--merge` at most, which the options for other merges exclude
    words = ["kmerge", "check", *([] if args.merge_of or args.merged else words)]
    words += ["--merge-of", args.merge_of] if args.merge_of else []
    words += ["--merged", *args.merged] if args.merged else []
    for flag, values in (("--select", args.select), ("--ignore", args.ignore)):
        words += [word for value in values for word in (flag, value)]
    words += ["--as", args.told] if args.told else []
    words += ["--tool", args.tool] if args.tool else []
    words += ["--target", _here(args.target)] if args.target else []
    files = list(dict.fromkeys(finding.file for finding in findings))
    if len(files) > SHOWN_HOOK_FILES or not "".join(files).isprintable():
        files = [os.path.commonpath([os.path.dirname(os.path.abspath(file)) for file in files])]
    return join([*words, *map(_here, files)])


def _here(path: str) -> str:
    """Return a path relative to the folder from which the person called git."""
    shown = os.path.relpath(path, os.environ.get("GIT_PREFIX") or ".")
    return f"./{shown}" if shown.startswith("-") else shown


MARK = b"merge=kmerge"


def report_registration() -> int:
    """Return 0 if the driver is registered or not needed; otherwise print what to do."""
    from kmerge_git.cli.check_repository import is_in_ci
    from kmerge_git.git.run_git import ask_here, try_git
    from kmerge_git.git.tracked_files import tracked

    top = ask_here("--show-toplevel")
    naming = [
        path
        for path in tracked(top, ".gitattributes", "*/.gitattributes")
        if _asks_for_the_driver(os.path.join(top, path))
    ]
    if not naming or try_git("config", "--get", "merge.kmerge.driver").strip():
        return 0
    if is_in_ci():
        warn("the kmerge driver is not registered, but CI does not need it")
        return 0
    warn(
        f"{naming[0]} uses the merge driver kmerge, but it is not registered in git, so "
        "manifests are merged line by line; run `kmerge install`"
    )
    return 1


def _asks_for_the_driver(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return False
    return any(MARK in line.split() for line in lines if not line.lstrip().startswith(b"#"))

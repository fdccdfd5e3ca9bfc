"""Writes docs/checks.md from the registry of checks.

    python tools/generate_checks_doc.py [--check]

With `--check` nothing is written; exit code 1 says that the page is stale.
"""

# ruff: noqa: E501 - the lines of a page are as long as its paragraphs

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE))

from kmerge_git.check import registry  # noqa: E402
from kmerge_git.check.patches.patch_verdict import RULES  # noqa: E402
from kmerge_git.cli.check import TITLES  # noqa: E402

TARGET = HERE / "docs" / "checks.md"
TOOLS = {"K": "; for kubectl alone", "Z": "; for kustomize alone", "KZ": ""}
NEEDS = {"S": "the schema", "T": "the target"}
NOTHING_TO_SAY = ("Not concerned.", "It does not read kustomizations.")
# the first line of a part of an example
PART = re.compile(r"^(?=# (?:file: .*|base:|ours:|theirs:|committed:)$)", re.MULTILINE)

INTRODUCTION = """\
# The checks

`kmerge check` finds wrong directives in patches, what a careless merge leaves behind, and words
in manifests that mean something else than they look like. This page is generated from the
registry of checks by `tools/generate_checks_doc.py`. `kmerge check --list` lists all checks,
`--explain ID` shows what is below of one.

```
$ kmerge check overlays/prod
overlays/prod/web.yaml:9:9: error D12 spec.template.spec.containers: has no effect in kustomize, the element is merged; to replace the list, write "- $patch: replace" as an element of its own
 9 |         $patch: replace
   |         ^
  fix: Write `- $patch: replace` as an element of its own to replace the list. One element alone cannot be replaced: delete its fields with null.
  checked as a patch by rule 2: a patch of overlays/prod/kustomization.yaml

1 error in 1 of 2 files
```

## Using it

| | |
| --- | --- |
| `kmerge check [FILE ..]` | files and folders; none: the folder you are in |
| `--staged` | what will be committed, partly staged files too |
| `--merge`, `--merge-of REV` | what a merge did: [merges](#merges) |
| `--new [REV]` | only what is new counts: [hooks](#in-hooks) |
| `--select IDS`, `--ignore IDS` | `D12`, `D1` (all that start so), `directives`, `merge-damage`, `all` |
| `--fail-on error` / `warning` / `info` / `never` | the least severity that makes the exit code 1 |
| `--format text` / `json` / `github` / `sarif` | how to report; `--json` is `--format json` |
| `--as patch` / `manifest` | says what the files are; `--target FILE` has the one object that the patches change |
| `--tool kubectl` / `kustomize` / `both` | who reads the patches, if you know better than the rules below; with `--target` alone kubectl does |
| `--fix`, `-n`, `--dry-run` | mend what is mechanical and show it; only show it. It is about D02, D04, D50, D51: a finding that can be mended says so |
| `# kmerge: ignore D12` | silences a finding: [switching checks off](#switching-checks-off) |

Exit code: 0 nothing found, 1 findings at or above `--fail-on`, 2 wrong usage or a file that is
unreadable or not there (the others are checked).

**Severities.** *error*: one of the tools that read the patch refuses it, crashes, throws data away
without a word, or leaves a literal directive in the object. *warning*: works, but not as written
or not the same everywhere. *info*: worth knowing. A check may tell a single finding with another
severity than its own where less, or more, comes of it. In folders of test data (`fixtures`, `testdata`
and the like) M02, M03, M05 and M14 are warnings.

Every file is parsed first. What cannot be parsed on purpose is left alone: templates of other tools (`{% %}`, `<% %>`,
`%{ }`, `@NAME@`, `%NAME%`, `{NAME}`), also those whose comments hold
the statements (`# {{ if .x }}`, `#@ if data.x:`), JSON with comments, several JSON documents in a row, and
what is no text. Pipes, sockets and devices are not read, except `-` and what the shell has opened
(`<(kustomize build .)`). Of SOPS files only the seal is looked at. The text output names up to ten of the files that
were not checked, each with the reason, and counts the templates among them; `--format json` names all, in `skipped`
and `why_skipped`.

Helm templates (a `{{` outside of quotes or below `templates/`) are read without values, each condition once as true and once
as false. A key (M02) or an element of a keyed list (M05, M06) is reported if it is there twice whenever both lines are
rendered, in one branch or in equal conditions: the branches of `if` and `else` repeat nothing, and different conditions may
exclude each other. What actions render is unknown, and `define` may be any text. M01 finds a lone `=======` there.
The helpers and notes of a chart (`templates/**/*.tpl`, `templates/NOTES.txt`) are text: markers are found in them.
A template that a merge made of both sides is rendered without values, and so checked by [M27](#m27).
Other files that cannot be parsed are a finding, [M10](#m10), where they are manifests, where they are named
on the command line (as pre-commit does), or where they could be parsed in the last commit; of those in
folders like `testdata` and `fixtures` only the last ones.

## Merges

While a merge is in progress, and in the hooks of its commit, its files are compared with base, ours
and theirs (M11, M20-M28): a change of a side that is not there, a field that no side has, or that all
of them have and that is gone, an element that stands twice, markers wherever they stand. No driver
need be registered. In a cherry-pick, a revert, a rebase and a squash this is so for the files that were
in conflict.

```sh
kmerge check --merge              # the merge in progress, else HEAD
kmerge check --merge apps/        # of these files alone
kmerge check --merge-of v1.2.0    # a merge commit, whoever made it
kmerge check --merged "$(git merge-base main~ topic)" main~ topic main    # a squash, or a rebased branch
```

`--merge` says what the merge did, not what a side has already, and runs the checks of
*merge-damage*; `--select` chooses others. It looks at files that both sides changed, and at files that
one side changed and that are not so in the merge. A change that is lost is an error where it merges
clean, by git's lines or by kmerge: nobody had to decide it. It is a warning where its place was in
conflict, and in lists without keys and in new files of both sides, where only git's lines count.
Comments, layout and the order of fields are no changes; a value of one's own is a decision; a
resource may be in another file that gained it in the merge. A merge that is one of its sides
is one warning. What is meant is named at the end of the message of the merge
commit (`Kmerge-Dropped: web.yaml Deployment/web spec.replicas`, or the file
alone); no comment in a file silences these two checks. Values of Secrets are not shown.

With `--json` a merge has a `certificate`: the commits, the ids of all four versions of each file, and a row
for each place that a side changed: *kept*, *combined* (both changes), *decided* (another value),
*lost* (as before) or *invented* ([schema](programs.md#schemas)).

A file that is still in conflict without markers (a link, a binary or generated file, a deleted one) is
*not checked*, with the reason, and the exit code is 1. An encrypted or generated file, and one that git
does not merge (`-merge`), is not judged by value: if it is exactly one side, or deleted, M11 names what
of the other side is not in it. A resource that each side added
in another file of one folder is a warning (M04). Of HEAD that
is no merge it says so, and exits with 0. In CI: [team.md](team.md#ci-what-a-merge-lost).

## Kustomizations

Kustomizations are gathered as kustomize 5.5 does: resources, bases, generators and components,
then patches, namespace, prefix and suffix, with the names that resources had before. So a resource
that comes twice (M04), a patch without target (D69) or a generator with nothing to merge with (M15)
are found across bases and overlays. What is on other machines, of charts or plugins, or unreadable
may hold anything: then nothing is reported as missing. Nothing outside of the repository is read.

A missing file or folder (M14) is an error where the commit, the merge or the last commit took it
away, where it is not staged, and where the entry is new; else a warning: a build step may make it.
URLs, placeholders (`${ENV}/web.yaml`), what git ignores and submodules do not count.

With `--staged`, with named files (as pre-commit does) and for merges all kustomizations are checked
that name a changed or deleted file, or a base that does; with folders those in the folders.

## Switching checks off

A wrong or meant finding is silenced as close to it as possible:

| for | how |
| --- | --- |
| a line | `# kmerge: ignore D12, M0` on it or, alone on a line, above it; the reason may follow; without words: every check |
| a file | `# kmerge: ignore-file M05` in it |
| files | in `.gitattributes`: `vendor/**/*.yaml kmerge-check=-M11,-D6` |
| all checks | in `.gitattributes`: `testdata/** -kmerge-check` |
| a clone, also in installed hooks | `git config --add kmerge.check.ignore M11` |
| one call, also of git | `KMERGE_CHECK_IGNORE=M11 git commit` |
| a command of your own | `--ignore M11` |

Words are those of `--ignore`: `D12`, `D6` (all that start so), `directives`, `merge-damage`, `all`.
They add up; only an id that `--select` names (`--select M11`) is run whatever is switched off. A word
that names no check is reported (in a comment by [M16](#m16)) and silences nothing. No comment silences
M11. `kmerge status FILE` shows what is switched off for a file, and by whom.

With `--staged` the attribute counts as it is staged. **A pull request does not switch off its own
checks**: where a service says which branch it goes to, the attribute is read from that branch
(GitHub, Gitea, GitLab, Bitbucket, Azure, Jenkins, Buildkite, Woodpecker: by the variables they
set). If it was not fetched the attribute does not count, and the check says so. Commit the line
there first. Comments count everywhere: a reviewer sees them.

## In hooks

With the [pre-commit](https://pre-commit.com) framework (or prek), in `.pre-commit-config.yaml`:

```yaml
default_install_hook_types: [pre-commit, pre-merge-commit, pre-push, post-checkout]
repos:
- repo: https://github.com/from/this-repository
  rev: v0.1.0
  hooks:
  - id: kmerge-check          # everything; or kmerge-directives, kmerge-merge-damage
  - id: kmerge-merge          # merges, deletions and pushes
  - id: kmerge-installed      # does git know the driver that .gitattributes names? (passes in CI)
  - id: kmerge-register       # registers that driver at a checkout: team.md#what-the-hook-registers
```

[`kmerge install --team`](team.md) writes these lines. Git runs `pre-merge-commit` for clean merges and `pre-commit` for those finished by hand, so both
are needed; `kmerge status` reports whether git calls pre-commit. Without the framework: `kmerge install --hooks`.

`kmerge-merge` (`kmerge check --committed`) gets no file names: it judges a merge, what was in conflict in a rebase,
cherry-pick, revert or squash (M11, M28), what names a deleted file (M14, M15, D69), and the merges that are pushed, the newest 20.
Warnings, and what a rebased branch lacks, are printed, too.

Nobody reads a hook that passes. So with `--quiet`, as all hooks call it, only what fails is listed (errors, or what `--fail-on` says); the rest is a line on stderr:

```
kmerge: 3 warnings in 2 files; `kmerge check apps/web.yaml apps/db.yaml` lists them
```

Pre-commit shows it with `verbose: true`; `args: [--fail-on, warning]` stops at warnings.

With `--new` old findings pass with a count, though their lines moved or the file was renamed: those of `REV`,
else of `PRE_COMMIT_FROM_REF`, in CI of the request's target branch, in a merge of either side, and of `HEAD` where
something is staged. Else all count. What compares a file with its versions always does.

## Is this file a patch?

The first rule that says yes or no decides; every finding in a patch names it. Checks for kubectl
count in patches for kubectl, those for kustomize in patches for kustomize; where nobody knows who
reads the patch, both count, but for what only one of them objects to (D61, D62, D65).

A *whole object* has a name and what the API server wants of its kind: a Deployment its selector
and an image for each container; a Service its ports and a selector; a
binding its role and subjects. Of a ConfigMap, a Secret or another kind that needs nothing, only a
directive or a null tells that it is a patch. Name a patch in a kustomization, or give `--patch`,
and nothing is guessed.
"""

RULE_TEXTS = {
    0: ("the flags `--as patch` and `--as manifest`", "as told"),
    1: ("a kustomization lists it in `resources`, `bases`, `components`, `crds`", "no patch"),
    2: ("a kustomization names it in `patches` or `patchesStrategicMerge`, or holds it there", "patch for kustomize"),
    3: ("a `PatchTransformer` or `PatchStrategicMergeTransformer` names or holds it", "patch for kustomize"),
    4: ("`patchesJson6902`, or a list whose items have `op`", "JSON 6902: see D75, D76"),
    5: ("Flux, HelmRelease, Argo CD, Kyverno and Hive objects hold it", "patch for kustomize; of Hive for kubectl, by its `patchType`"),
    6: ("kubeadm's names: `etcd+strategic.yaml`; `+json` and `+merge` are none", "patch for kubectl"),
    7: ("a script of the repository gives it to `kubectl patch`", "patch for kubectl"),
    8: ("`patch` or `patches` is a word of its name (`web-patch`, `webPatch`; not `patched`), a folder `patches`, or a file of an overlay that its kustomization does not list", "patch for both, if it has a directive or is part of an object: a whole object is none, nor is one of a custom kind without a directive"),
    9: ("it has a directive", "patch, if it is part of an object; else see D60"),
    10: ("it has no apiVersion and kind, but `metadata` and `spec` as an object has them", "patch for kubectl"),
    11: ("anything else", "no patch"),
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    text = page()
    if args.check:
        return int(not TARGET.exists() or TARGET.read_text("utf-8") != text)
    TARGET.write_text(text, "utf-8")
    return 0


def page() -> str:
    """The whole page."""
    assert RULE_TEXTS.keys() == RULES.keys()
    rules = [f"| {n} | {when} | {what} |" for n, (when, what) in RULE_TEXTS.items()]
    parts = [INTRODUCTION, "| # | rule | verdict |\n| --- | --- | --- |\n" + "\n".join(rules)]
    for group, title in TITLES.items():
        checks = [c for c in registry.every() if c.group == group]
        parts.append(f"\n## {title}\n" + ABOUT.get(group, ""))
        parts += [entry(c) for c in checks]
    return "\n".join(parts).rstrip() + "\n"


ABOUT = {
    "directives": """
The first text under each check is what it finds, the second is close to that and right; parts that
are as in the first are left out. Some checks need the schema of the kind, or the target: the object
that the patch changes (`target.yaml`, by `--target` or the resource of the kustomization). A text
without `apiVersion` is a part of an object. `# file: NAME` starts another file.
""",
    "merge-damage": """
Where a check compares the versions of a file, they are below `# base:`, `# ours:`, `# theirs:` and
`# committed:`, the result.
""",
}


def entry(check: registry.Check) -> str:
    """What one check finds, why it hurts, an example, and how to mend it."""
    needs = " and ".join(NEEDS[letter] for letter in check.needs)
    effects = [("kubectl", check.kubectl), ("kustomize", check.kustomize)]
    if check.kubectl == check.kustomize:
        effects = [("both", check.kubectl)]
    lines = [
        f'### <a id="{check.id.lower()}"></a>{check.id}: {check.what}',
        "",
        check.severity + TOOLS[check.tools] + (f"; needs {needs}" * bool(needs)),
        "",
        *(f"- {tool}: {effect}" for tool, effect in effects if effect not in NOTHING_TO_SAY),
        f"- fix: {check.mend}",
        "",
        "```yaml",
        check.example,
        "```",
        "",
        "Passes:",
        "",
        "```yaml",
        what_differs(check.counter, check.example),
        "```",
        "",
    ]
    return "\n".join(lines)


def what_differs(counter: str, example: str) -> str:
    """Return the parts of a correct text that the example does not have."""
    known = {part.rstrip() for part in PART.split(example)}
    return "".join(part for part in PART.split(counter) if part.rstrip() not in known)


if __name__ == "__main__":
    sys.exit(main())

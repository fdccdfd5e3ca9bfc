"""Write docs/checks.md from the registry of checks.

    python tools/generate_checks_doc.py [--check]

With `--check` nothing is written, and the exit code is 1 if the page is not up to date.
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
TOOLS = {"K": "; kubectl only", "Z": "; kustomize only", "KZ": ""}
NEEDS = {"S": "the schema", "T": "the target"}
NOTHING_TO_SAY = ("Not affected.",)
# the first line of a part of an example
PART = re.compile(r"^(?=# (?:file: .*|base:|ours:|theirs:|committed:)$)", re.MULTILINE)

INTRODUCTION = """\
# The checks

This page is for everyone who gets a finding of `kmerge check`, or who runs it in hooks or CI.
Afterwards you can understand, fix and silence a finding, and choose the checks that run.

`kmerge check` finds wrong directives in patches, the damage of careless merges, and words in manifests that
kubectl and kustomize read differently. `kmerge check --list` lists all checks, and `kmerge check --explain ID`
prints one of the entries below.

```
$ kmerge check overlays/prod
overlays/prod/web.yaml:9:9: error D12 spec.template.spec.containers: kustomize ignores this whole element; to replace the list, write "- $patch: replace" as an element of its own
 9 |         $patch: replace
   |         ^
  fix: Write `- $patch: replace` as an element of its own to replace the list. A single element cannot be replaced: delete its fields with null.
  checked as a patch by rule 2: a patch of overlays/prod/kustomization.yaml

1 error in 1 of 2 files
```

## Using it

| | |
| --- | --- |
| `kmerge check [FILE ..]` | files and folders (default: the current folder) |
| `--staged` | the staged content |
| `--merge`, `--merge-of REV` | the damage of a merge: [merges](#merges) |
| `--new [REV]` | only new findings: [hooks](#in-hooks) |
| `--select IDS`, `--ignore IDS` | `D12`, `D1` (all ids that begin with it), `directives`, `merge-damage`, `all` |
| `--fail-on error` / `warning` / `info` / `never` | the lowest severity that makes the exit code 1 |
| `--format text` / `json` / `github` / `sarif` | the output format; `--json` is `--format json` |
| `--as patch` / `manifest` | the type of all files |
| `--target FILE` | the object that the patches change |
| `--tool kubectl` / `kustomize` / `both` | the tool that reads the patches; with `--target` the default is kubectl |
| `--fix`, `--dry-run` | fix D02, D04, D50 and D51 where that is safe and show the changes; only show them |

The exit code is 0 if nothing was found, 1 if there are findings at or above `--fail-on`, and 2 for wrong usage or for a
file that is missing or unreadable. The other files are still checked then.

**Severities.** *error*: kubectl, the API server or kustomize refuses the file, crashes, loses data without a message,
or stores a directive as a field. *warning*: it works, but not as written or not everywhere. *info*: worth knowing.
A single finding may have another severity than its check. In folders of test data (`fixtures`, `testdata` and
similar) M02, M03, M05 and M14 are warnings.

**Skipped files.** The text output lists up to ten skipped files and counts templates; `--json` lists all of them with
the reason. kmerge skips:

- templates of other tools (`{% %}`, `<% %>`, `%{ }`, `@NAME@`, `%NAME%`, `{NAME}`, statements in comments such as `# {{ if .x }}`),
- JSON with comments, several JSON documents in one file, and files that are not text,
- pipes, sockets and devices, except `-` and `<(kustomize build .)`.

Of SOPS files only the checksum (`mac`) is checked. Any other file that cannot be parsed is a finding ([M10](#m10)) if it
is a manifest, if you give it on the command line, or if the last commit has a valid version of it.

**Helm templates** are read without values, once with all conditions true and once with all false. A key (M02) or an
element of a keyed list (M05, M06) is reported if it is always rendered twice; the branches of `if` and `else` do
not repeat each other. Conflict markers (M01) are also found in `templates/**/*.tpl` and `templates/NOTES.txt`. [M27](#m27)
checks templates that a merge combined.

## Merges

While a merge is in progress, and in the hooks of its commit, its files are compared with base, ours and theirs (M11,
M20-M28). After a cherry-pick, revert, rebase or squash, only the files that were in conflict are compared. The
merge driver need not be registered.

```sh
kmerge check --merge              # the merge in progress, or HEAD
kmerge check --merge apps/        # only these files
kmerge check --merge-of v1.2.0    # a merge commit, whoever made it
kmerge check --merged "$(git merge-base main~ topic)" main~ topic main    # a squash, or a rebased branch
```

`--merge` runs the checks of *merge-damage*. It reports what the merge did, not what a side already had. It checks the
files that both sides changed, and the files that one side changed but that differ in the merge.

- A lost change is an error if it merges without a conflict, with git's line merge or with kmerge: nobody had to decide
  anything. It is a warning if it was in conflict, in a list without keys, or in a file that both sides added.
- Comments, layout and the order of fields do not count as changes. A new value counts as a decision. A resource may
  move to another file.
- A merge that takes one side as a whole is one warning.
- Values of Secrets are hidden.

If a loss is intended, write it at the end of the message of the merge commit: `Kmerge-Dropped: web.yaml
Deployment/web spec.replicas`, or only the file. Comments in a file cannot silence M11 and M28.

With `--json` a merge has a `certificate`: the commits, the ids of all four versions of each file, and a row for each
place that a side changed, with *kept*, *combined* (both changes), *decided* (another value), *lost* (as before) or
*invented* ([schema](programs.md#schemas)).

A file that is still in conflict but has no markers (a link, a binary, generated or deleted file) is *not checked*, and
the exit code is 1. An encrypted or generated file, and a file that git does not merge (`-merge`), is not checked by
value: if it is exactly one side, or deleted, M11 lists the lost changes of the other side. A resource that each side
added in another file of the same folder is a warning (M04). For CI see [team.md](team.md#ci-what-a-merge-lost).

## Kustomizations

Resources are collected as in kustomize 5.5: resources, bases, generators and components, then patches,
namespace, prefix and suffix. So a duplicate resource (M04), a patch without a target (D69) and a
generator without a resource to change (M15) are found across bases and overlays. If a part is remote, made by a chart
or plugin, or unreadable, nothing is reported as missing. Files outside of the repository are never read.

A missing file or folder (M14) is an error if the commit, the merge or the last commit deleted it, if it is not
staged, or if its entry is new. Otherwise it is a warning, because a build step may create it. URLs, placeholders
(`${ENV}/web.yaml`), submodules and files that git ignores are not reported.

With folders, the kustomizations in them are checked. With files (as in pre-commit), `--staged` and merges, every
kustomization is checked that lists a changed or deleted file, directly or through a base.

## Switching checks off

| for | how |
| --- | --- |
| a line | `# kmerge: ignore D12, M0` on the line, or alone on the line above; then the reason; without ids: every check |
| a file | `# kmerge: ignore-file M05` in the file |
| files | in `.gitattributes`: `vendor/**/*.yaml kmerge-check=-M11,-D6` |
| all checks of files | in `.gitattributes`: `testdata/** -kmerge-check` |
| a clone, also in installed hooks | `git config --add kmerge.check.ignore M11` |
| one call, also of git | `KMERGE_CHECK_IGNORE=M11 git commit` |
| your own command | `--ignore M11` |

All of them take the same ids as `--ignore`, and they add up. Only an id in `--select` (`--select M11`) runs even if it is
switched off. An unknown id is reported (in a comment by [M16](#m16)). `kmerge status FILE` shows what is switched off for a
file, and where.

With `--staged`, the staged attribute is used. **A pull request cannot switch off its own checks**: on GitHub, Gitea, GitLab,
Bitbucket, Azure, Jenkins, Buildkite and Woodpecker the attribute is read from the target branch. If that branch was not
fetched, the attribute is ignored, and a message says so. So commit the line to the target branch first. Comments count on every
branch, because a reviewer sees them.

## In hooks

With [pre-commit](https://pre-commit.com) or prek, write in `.pre-commit-config.yaml` (or let [`kmerge install --team`](team.md)
do that):

```yaml
default_install_hook_types: [pre-commit, pre-merge-commit, pre-push, post-checkout]
repos:
- repo: https://github.com/from/this-repository
  rev: v0.1.0
  hooks:
  - id: kmerge-check          # everything; or kmerge-directives, kmerge-merge-damage
  - id: kmerge-merge          # merges, deletions and pushes
  - id: kmerge-installed      # is the driver of .gitattributes registered? (passes in CI)
  - id: kmerge-register       # registers the driver at a checkout: team.md#what-the-hook-registers
```

Git runs `pre-merge-commit` for clean merges and `pre-commit` for merges with conflicts, so both are needed. `kmerge
status` shows whether git calls pre-commit. Without a framework, run `kmerge install --hooks`.

`kmerge-merge` (`kmerge check --committed`) takes no files. It checks a merge, the files that were in conflict in a rebase,
cherry-pick, revert or squash (M11, M28), references to deleted files (M14, M15, D69), and the newest 20 pushed
merges. It also prints warnings.

All hooks use `--quiet`: they list only the findings that fail and count the others in one line on stderr.

```
kmerge: 3 warnings in 2 files; `kmerge check apps/web.yaml apps/db.yaml` lists them
```

Pre-commit shows this line with `verbose: true`. With `args: [--fail-on, warning]` warnings fail, too.

`--new` ignores findings that an earlier revision also has, even if their lines moved or the file was renamed, and prints their
number. That revision is `REV`, or `PRE_COMMIT_FROM_REF`, or in CI the target branch of the pull request, in a merge
either side, or `HEAD` if something is staged. Otherwise all findings count. Checks that compare versions always
count.

## Is this file a patch?

The first matching rule decides, and every finding in a patch shows it. Checks for kubectl run on patches for
kubectl, and checks for kustomize on patches for kustomize. If the tool is unknown, both run, except D61, D62 and D65.

A *whole object* has a name and the fields that the API server requires of its kind: a Deployment its selector and the
image of each container, a Service its ports and selector, a binding its role and subjects. A ConfigMap, a Secret or
another kind without required fields is a patch only with a directive or a null.
"""

RULE_TEXTS = {
    0: ("the options `--as patch` and `--as manifest`", "as the option says"),
    1: ("a kustomization lists it in `resources`, `bases`, `components` or `crds`", "not a patch"),
    2: ("a kustomization lists or contains it in `patches` or `patchesStrategicMerge`", "patch for kustomize"),
    3: ("a `PatchTransformer` or `PatchStrategicMergeTransformer` lists or contains it", "patch for kustomize"),
    4: ("`patchesJson6902`, or a list whose items have `op`", "JSON 6902: see D75, D76"),
    5: ("a Flux, HelmRelease, Argo CD, Kyverno or Hive object contains it", "patch for kustomize; of Hive for kubectl, by its `patchType`"),
    6: ("its name is that of a kubeadm patch such as `etcd+strategic.yaml` (not `+json` or `+merge`)", "patch for kubectl"),
    7: ("a script of the repository passes it to `kubectl patch`", "patch for kubectl"),
    8: ("its name contains the word `patch` or `patches` (`web-patch`, `webPatch`), it is in a folder `patches`, or its overlay does not list it", "patch for both, if it has a directive or is a part of an object of a built-in kind"),
    9: ("it has a directive", "patch, if it is a part of an object; else see D60"),
    10: ("it has no apiVersion and kind, but the `metadata` and `spec` of an object", "patch for kubectl"),
    11: ("anything else", "not a patch"),
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
    """Return the whole page."""
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
The first example of each check has the mistake, the second one is similar and correct; it omits the files that are
the same. Some checks need the schema of the kind, or the target: the object that the patch changes (`target.yaml`,
given by `--target` or by the kustomization). An example without `apiVersion` is a part of an object. `# file: NAME`
starts another file.
""",
    "merge-damage": """
If a check compares the versions of a file, they are below `# base:`, `# ours:`, `# theirs:` and `# committed:`, which
is the result.
""",
}


def entry(check: registry.Check) -> str:
    """Return what one check finds, its effects, its fix, and examples."""
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
        "Correct:",
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

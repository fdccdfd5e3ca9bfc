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
from kmerge_git.check.patches.tool_limits import KubectlCheck  # noqa: E402
from kmerge_git.cli.check import TITLES  # noqa: E402

TARGET = HERE / "docs" / "checks.md"
TOOLS = {"K": "; kubectl only", "Z": "; kustomize only", "KZ": ""}
NEEDS = {"S": "the schema", "T": "the target"}
# effects that the page does not repeat
NOTHING_TO_SAY = (
    "Not affected.", "The file cannot be parsed.", KubectlCheck.keywords["kustomize"],
)  # fmt: skip
# the first line of a part of an example
PART = re.compile(r"^(?=# (?:file: .*|base:|ours:|theirs:|committed:)$)", re.MULTILINE)

INTRODUCTION = """\
# The checks

This page is for everyone who gets a finding of `kmerge check`, or who runs this command in hooks or CI. Afterwards you
can understand, fix and silence a finding, and choose the checks that run.

`kmerge check` finds wrong directives in patches; fields and resources that a careless merge lost or damaged; and values
in manifests that kubectl and kustomize read differently. `kmerge check --list` lists all checks, and
`kmerge check --explain ID` prints one of the entries below.

```
$ kmerge check overlays/prod
overlays/prod/web.yaml:9:9: error D12 spec.template.spec.containers: kustomize ignores this whole element; to replace the list, write "- $patch: replace" as an element of its own
 9 |         $patch: replace
   |         ^
  fix: To replace the list, write `- $patch: replace` as an element of its own. A single element cannot be replaced: delete its fields with null.
  checked as a patch, because of rule 2: a patch of overlays/prod/kustomization.yaml

1 error in 1 of 2 files
```

## Using it

| | |
| --- | --- |
| `kmerge check [FILE ..]` | check files and folders (default: the current folder) |
| `--staged` | check the staged content |
| `--merge`, `--merge-of REV` | check what a merge lost or damaged: [merges](#merges) |
| `--new [REV]` | report only new findings: [hooks](#in-hooks) |
| `--select IDS`, `--ignore IDS` | run or skip checks: `D12`, `D1` (all ids that begin with `D1`), `directives`, `merge-damage`, `all` |
| `--fail-on error` / `warning` / `info` / `never` | the lowest severity that makes the exit code 1 |
| `--format text` / `json` / `github` / `sarif` | the output format; `--json` is `--format json` |
| `--as patch` / `manifest` | treat all files as patches, or as manifests |
| `--target FILE` | the object that the patches change |
| `--tool kubectl` / `kustomize` / `both` | the tool that reads the patches; if you use `--target`, the default is kubectl |
| `--fix`, `--dry-run` | fix D02, D04, D50 and D51 where that is safe, and show the changes; `--dry-run` only shows them |

The exit code is 0 if nothing was found, 1 if there are findings at or above `--fail-on`, and 2 for wrong usage or for a
file that is missing or unreadable. kmerge still checks the other files.

**Severities.** *error*: kubectl, the API server or kustomize refuses the file, crashes, loses data without a message,
or stores a directive as a field. *warning*: the file works, but not as written, or not with every tool. *info*: worth
knowing. The severity of a finding may differ from that of its check. In folders of test data (`fixtures`, `testdata` and
similar), M02, M03, M05 and M14 are warnings.

**Skipped files.** The text output lists up to ten skipped files and the number of skipped templates; `--json` lists all
of these files. kmerge skips:

- templates of tools other than Helm (`{% %}`, `<% %>`, `%{ }`, `@NAME@`, `%NAME%`, `{NAME}`, statements in comments
  such as `# {{ if .x }}`),
- JSON with comments, several JSON documents in one file, and files that are not text,
- pipes, sockets and devices, except stdin (`-`) and process substitution such as `<(kustomize build .)`.

In SOPS files, only the checksum (`mac`) is checked. If another file cannot be parsed, [M10](#m10) reports it if it is a
manifest, if it is on the command line, or if the last commit has a valid version of it.

**Helm templates** are read without values, once with all conditions true and once with all false. A duplicate key (M02)
or list element (M05, M06) is reported only if both copies are always rendered together, and not if one is in the `if`
branch and the other in the `else` branch. Conflict markers (M01) are also found in `templates/**/*.tpl` and
`templates/NOTES.txt`. [M27](#m27) checks templates that a merge combined.

## Merges

While a merge is in progress, and in the hooks that run when you commit it, the merged files are compared with base,
ours and theirs (M11, M20-M28). After a cherry-pick, revert, rebase or squash, only the files that were in conflict are
compared.

```sh
kmerge check --merge              # the merge in progress, or HEAD
kmerge check --merge-of v1.2.0    # a merge commit, whoever made it
kmerge check --merged "$(git merge-base main~ topic)" main~ topic main    # a squash, or a rebased branch
```

`--merge` runs the checks of the group *merge-damage*. It reports mistakes of the merge, not mistakes that a side
already had. It checks the files that both sides changed. A file that only one side changed is checked if the result differs from that side.

- A lost change is an error if git's line merge or kmerge can merge it without a conflict. It is a warning if it was in
  conflict, is in a list without a merge key, or is in a file that both sides added.
- Comments, layout and the order of fields do not count as changes. A field with a new value, and a resource that the
  merge moved to another file, do not count as lost.
- If the result of the whole merge is equal to one side, kmerge reports only one warning.
- Values of Secrets are not printed.

If a loss is intended, add a line such as `Kmerge-Dropped: web.yaml Deployment/web spec.replicas` to the end of the
message of the merge commit. A line with only the file accepts all losses in this file. Comments in a file cannot
silence M11 and M28.

With `--json`, the output for a merge has a `certificate` ([schema](programs.md#schemas)): the commits, the blob ids of
all four versions of each file, and the fate of each change: *kept*, *combined* (both changes are in the result),
*decided* (a choice between two different changes), *lost* (the old value is back) or *invented* (an unexpected third
value).

A file that is still in conflict but has no conflict markers (a symbolic link, or a binary, generated or deleted file)
is reported as *not checked*, and the exit code is 1. If a file is encrypted or generated, or git does not merge it
(`-merge`), its values are not compared; but if the result is identical to one side, or the file is deleted, M11 lists the lost
changes of the other side. If each side added the same resource to a different file of a folder, M04 reports a warning.
For CI see [team.md](team.md#ci-what-a-merge-lost).

## Kustomizations

kmerge collects resources as kustomize 5.5 does: resources, bases, generators and components, then patches, namespace,
prefix and suffix. So M04 (duplicate resource), D69 (patch for a missing resource) and M15 (generator for a missing
resource) work across bases and overlays. If a base or resource is remote or unreadable, or comes from a chart or
plugin, no resource is reported as missing.

A file or folder that the commit lacks (M14) is an error in these cases: the last commit deleted it, or the commit or merge in progress deletes it; it is on disk but not staged; its entry in the kustomization is new. Otherwise it is a warning. URLs, placeholders (`${ENV}/web.yaml`), submodules and files that git ignores are not reported.

If you check folders, kmerge checks the kustomizations in them. If you check files (as hooks do), staged content or a merge, kmerge checks every kustomization that lists a changed or deleted file, directly or through a base.

## Switching checks off

| for | how |
| --- | --- |
| a line | `# kmerge: ignore D12, M0` at the end of the line, or alone on the line above. A reason may follow the ids. Without ids, the comment silences all checks. |
| a file | `# kmerge: ignore-file M05` in the file |
| several files | in `.gitattributes`: `vendor/**/*.yaml kmerge-check=-M11,-D6` |
| several files, all checks | in `.gitattributes`: `testdata/** -kmerge-check` |
| a clone and its hooks | `git config --add kmerge.check.ignore M11` |
| one git command | `KMERGE_CHECK_IGNORE=M11 git commit` |
| one `kmerge check` | `--ignore M11` |

All of these settings take the same ids as `--ignore`, and they add up. But a check that `--select` names by its id
(`--select M11`) runs even if it is switched off. An unknown id is reported; if it is in a comment, [M16](#m16) reports it.
`kmerge status FILE` shows which checks are switched off for a file, and by which setting.

With `--staged`, the staged `.gitattributes` is used. **A pull request cannot switch off its own checks**: on GitHub,
Gitea, GitLab, Bitbucket, Azure, Jenkins, Buildkite and Woodpecker, `.gitattributes` is read from the target branch. If
that branch was not fetched, `kmerge-check` attributes are ignored. So commit the attribute to
the target branch first. `# kmerge: ignore` comments count on every branch, because a reviewer sees them.

## In hooks

If you use [pre-commit](https://pre-commit.com) or prek, write this in `.pre-commit-config.yaml`, or let
[`kmerge install --team`](team.md) write it. Here, `from/this-repository` means the repository of kmerge.

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

Both commit hooks are needed: git runs `pre-merge-commit` for merges without conflicts, and `pre-commit` otherwise.
`kmerge status` shows whether git calls the pre-commit framework.

The hook `kmerge-merge` (`kmerge check --committed`) takes no file arguments. It looks for lost changes (M11, M28) in a merge, in files that
were in conflict in a rebase, cherry-pick, revert or squash, and in the newest 20 merges of a push. It also looks for
references to deleted files (M14, M15, D69). It prints warnings as well as errors.

The other hooks that run checks use `--quiet`: they list only findings that make the hook fail, and print the number of other
findings in one line on stderr.

```
kmerge: 3 warnings in 2 files; `kmerge check apps/web.yaml apps/db.yaml` lists them
```

The pre-commit framework shows this line only if the hook has `verbose: true`. With `args: [--fail-on, warning]`, a
warning makes the hook fail, too.

`--new` ignores findings that an earlier revision also has, even if their lines moved or the file was renamed. It
prints how many findings it ignored. The earlier revision is the first of these that exists:

- `REV`, or the variable `PRE_COMMIT_FROM_REF`,
- in CI, the target branch of the pull request,
- during a merge, both sides,
- if something is staged, `HEAD`.

If none of these revisions exists, all findings are reported. M11, M12 and M20-M29 are always reported.

## Is this file a patch?

The first rule of the table that matches a file decides, and every finding in a patch shows the rule. Checks for kubectl
run on patches for kubectl, and checks for kustomize on patches for kustomize. If the tool is unknown, the checks for
both tools run, except D61, D62 and D65.

In the table, *a part of an object* is an object without a name or without a field that the API server requires.
Required fields are, for example, the selector and container images of a Deployment, the ports and selector of a Service, and
the role and subjects of a binding. An object of a kind without required fields, such as a ConfigMap or Secret, is a
patch only if it has a directive or a null.
"""

RULE_TEXTS = {
    0: ("the options `--as patch` and `--as manifest`", "as the option says"),
    1: ("a kustomization lists the file in `resources`, `bases`, `components` or `crds`", "not a patch"),
    2: ("a kustomization lists or contains the patch in `patches` or `patchesStrategicMerge`", "patch for kustomize"),
    3: ("a `PatchTransformer` or `PatchStrategicMergeTransformer` lists or contains the patch", "patch for kustomize"),
    4: ("`patchesJson6902` lists the file, or the file is a list whose items have `op`", "JSON 6902: see D75, D76"),
    5: ("a Flux, HelmRelease, Argo CD, Kyverno or Hive object contains the patch", "patch for kustomize; in a Hive object, patch for kubectl, of the type that `patchType` names"),
    6: ("the file name is that of a kubeadm patch such as `etcd+strategic.yaml` (not `+json` or `+merge`)", "patch for kubectl"),
    7: ("a script in the repository passes the file to `kubectl patch`", "patch for kubectl"),
    8: ("the file name contains the word `patch` or `patches` (`web-patch`, `webPatch`), or the file is in a folder `patches` or in an overlay whose kustomization does not list it", "patch for both, if it has a directive or is a part of an object of a built-in kind"),
    9: ("the file has a directive", "patch, if it is a part of an object; otherwise see D60"),
    10: ("the file has neither apiVersion nor kind, but has the `metadata` and `spec` of an object", "patch for kubectl"),
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
The first example of each check has the mistake. The second example is similar and correct, and omits files that are
the same as in the first. Some checks need the schema of the kind, or the target: the object that the patch changes
(`target.yaml`, given by `--target` or by the kustomization). An example without `apiVersion` is a part of an object.
The comment `# file: NAME` begins another file.

*List directives* are `$setElementOrder/..` and `$deleteFromPrimitiveList/..`. kustomize knows neither these nor
`$retainKeys`, and copies them to the output.
""",
    "merge-damage": """
If a check compares versions of a file, the example has each version below a comment: `# base:`, `# ours:`, `# theirs:`
or, for the result of the merge, `# committed:`.
""",
}


def entry(check: registry.Check) -> str:
    """Return what one check finds, its effects, its fix, and examples."""
    needs = " and ".join(NEEDS[letter] for letter in check.needs)
    effects = [("kubectl", check.kubectl), ("kustomize", check.kustomize)]
    if check.kubectl == check.kustomize:
        effects = [("both tools", check.kubectl)]
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

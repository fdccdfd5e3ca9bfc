"""The branch that a pull request goes to, as the services that run its checks tell it."""

from __future__ import annotations

import os

from kmerge_git.git.run_git import ask_git

# Whatever else there is: only the services say who they are, a variable may be anybody's.
SERVICES = ("CI", "TF_BUILD", "JENKINS_URL")
COMMITS = ("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", "BITBUCKET_PR_DESTINATION_COMMIT")
BRANCHES = (
    "GITHUB_BASE_REF",  # GitHub, Gitea, Forgejo
    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME",  # GitLab
    "BITBUCKET_PR_DESTINATION_BRANCH",
    "SYSTEM_PULLREQUEST_TARGETBRANCH",  # Azure
    "CHANGE_TARGET",  # Jenkins
    "BUILDKITE_PULL_REQUEST_BASE_BRANCH",
    "CI_COMMIT_TARGET_BRANCH",  # Woodpecker
)


def targets() -> list[str]:
    """`origin/main` or a commit, by all names that a service gives it; none without a request."""
    if all(os.environ.get(name, "").lower() in ("", "0", "false") for name in SERVICES):
        return []
    commits = [os.environ[name] for name in COMMITS if os.environ.get(name)]
    branches = [os.environ[name] for name in BRANCHES if os.environ.get(name)]
    return ["origin/" + branch.removeprefix("refs/heads/") for branch in branches] + commits


def commit_of(named: list[str], top: str) -> str:
    """The commit of the first target that is here; nothing where none was ever fetched."""
    for target in named:
        name = f"refs/remotes/{target}" if target.startswith("origin/") else target
        asked = ("rev-parse", "--verify", "-q", "--end-of-options", f"{name}^{{commit}}")
        found = ask_git("-C", top, *asked)
        if found.code == 0:
            return found.line
    return ""

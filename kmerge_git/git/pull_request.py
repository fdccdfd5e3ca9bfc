"""Find the target branch of a pull request in the environment variables of CI services."""

from __future__ import annotations

import os

from kmerge_git.git.run_git import ask_git

# Only CI services set these; anybody may set the variables below.
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
    """Return every name that a CI service gives for the target of the pull request.

    A name is `origin/main` or a commit. The list is empty outside of a CI service.
    """
    if all(os.environ.get(name, "").lower() in ("", "0", "false") for name in SERVICES):
        return []
    commits = [os.environ[name] for name in COMMITS if os.environ.get(name)]
    branches = [os.environ[name] for name in BRANCHES if os.environ.get(name)]
    return ["origin/" + branch.removeprefix("refs/heads/") for branch in branches] + commits


def commit_of(named: list[str], top: str) -> str:
    """Return the commit of the first target that exists here, or '' if no target was fetched."""
    for target in named:
        name = f"refs/remotes/{target}" if target.startswith("origin/") else target
        asked = ("rev-parse", "--verify", "-q", "--end-of-options", f"{name}^{{commit}}")
        answer = ask_git("-C", top, *asked)
        if answer.code == 0:
            return answer.line
    return ""

#!/bin/sh
# Installs kmerge for the action from the action's own checkout. Nothing is built, and all dependencies
# are wheels whose hashes are in tools/action-requirements.txt.
#
#   KMERGE_ACTION_PYTHON   the interpreter (default: the newest one on the runner, 3.11 or newer)
#
# Afterwards the command is $RUNNER_TEMP/kmerge-action/bin/kmerge.
set -euf

here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
temp=${RUNNER_TEMP:-${TMPDIR:-/tmp}}
env=$temp/kmerge-action
cd "$temp" # not the workspace, whose files may come from anybody

usable() {
    "$1" -I -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

# Debian 12 has 3.11; a hosted runner may have newer interpreters in addition to the one on PATH.
find_python() {
    if [ -n "${KMERGE_ACTION_PYTHON:-}" ]; then
        usable "$KMERGE_ACTION_PYTHON" && printf '%s\n' "$KMERGE_ACTION_PYTHON"
        return
    fi
    set +f
    for candidate in python3.14 python3.13 python3.12 python3.11 python3 \
        "${RUNNER_TOOL_CACHE:-/none}"/Python/3.1[1-4].*/*/bin/python3; do
        if usable "$candidate"; then
            printf '%s\n' "$candidate"
            break
        fi
    done
    set -f
}

python=$(find_python) || python=
[ -n "$python" ] || {
    echo "::error title=kmerge::Python 3.11 or newer with its venv module is needed; set the input \`python\`"
    exit 2
}
[ "$(cat "$env/of" 2>/dev/null)" != "$here" ] || exit 0 # an earlier step of the job
"$python" -I -m venv --clear "$env"
"$env/bin/python" -I -m pip install --quiet --disable-pip-version-check --no-input --no-deps \
    --only-binary :all: --require-hashes --requirement "$here/tools/action-requirements.txt"
site=$("$env/bin/python" -I -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
printf '%s\n' "$here" >"$site/kmerge-action.pth"
{
    echo '#!/bin/sh'
    # shellcheck disable=SC2016  # the script reads it
    echo 'exec "$(dirname -- "$0")/python" -I -m kmerge_git "$@"'
} >"$env/bin/kmerge"
chmod 755 "$env/bin/kmerge"
"$env/bin/kmerge" --version
printf '%s\n' "$here" >"$env/of"

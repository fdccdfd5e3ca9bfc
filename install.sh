#!/bin/sh
# Installs kmerge-git from this checkout into its own environment. The script needs no sudo, edits no
# rc file, prints every command before it runs it, and --uninstall removes exactly what was installed.
set -eu

usage() {
    cat <<'END'
usage: ./install.sh [--demo] [--global] [--prefix DIR] [--newest] [--dry-run]
       ./install.sh --uninstall [--prefix DIR] [--dry-run]

Installs the commands `kmerge` and `git-kmerge` (so that `git kmerge` works) from this checkout.
Run it again to upgrade or to repair.

  --demo        then show a merge of a Deployment, with git alone and with kmerge
  --global      then run `kmerge install --global` to register the driver for all your repositories
  --prefix DIR  create a virtual environment in DIR/share/kmerge-git, and the commands in DIR/bin
  --newest      use the newest release of each dependency instead of the tested release
  --dry-run     print what would be done, but do nothing
  --uninstall   remove what an earlier run installed (with the same --prefix)
  --help        print this text

Without --prefix, uv creates the environment if it is installed, or else pipx. Without both, it is a
virtual environment in ${XDG_DATA_HOME:-~/.local/share}/kmerge-git with links in ~/.local/bin.

Set PYTHON to choose the interpreter (3.11 or newer); an environment with another interpreter is then
created again. Without PYTHON, an existing environment keeps its interpreter. Registrations in git's
global and system configuration that are broken or outdated are renewed.
END
}

newline='
'

# -- saying and doing ---------------------------------------------------------------------------------

say() { printf '%s\n' "$*"; }
step() { printf '\n==> %s\n' "$*"; }
die() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
}
# Print a word as it can be typed, in quotes if necessary.
word() {
    case $1 in
    '' | *[!A-Za-z0-9_./:=,@%+-]*) printf "'%s'" "$(printf '%s\n' "$1" | sed "s/'/'\\\\''/g")" ;;
    *) printf '%s' "$1" ;;
    esac
}
# Print a command, then run it, so that the user sees everything that is done.
run() {
    printf '  $'
    for argument in "$@"; do printf ' %s' "$(word "$argument")"; done
    printf '\n'
    [ -n "$dry" ] || "$@"
}

# Add the tested versions to the constraints of the user. pip and uv separate several files by blanks.
constrain() {
    file=file://$(printf '%s' "$checkout/tests/constraints.txt" | sed 's/%/%25/g; s/ /%20/g; s/#/%23/g; s/?/%3F/g')
    PIP_CONSTRAINT="${PIP_CONSTRAINT:+$PIP_CONSTRAINT }$file"
    PIP_BUILD_CONSTRAINT="${PIP_BUILD_CONSTRAINT:+$PIP_BUILD_CONSTRAINT }$file"
    UV_CONSTRAINT="${UV_CONSTRAINT:+$UV_CONSTRAINT }$file"
    UV_BUILD_CONSTRAINT="${UV_BUILD_CONSTRAINT:+$UV_BUILD_CONSTRAINT }$file"
    export PIP_CONSTRAINT PIP_BUILD_CONSTRAINT UV_CONSTRAINT UV_BUILD_CONSTRAINT
    say "  using the tested versions of the dependencies: $checkout/tests/constraints.txt"
}

# -- what is there ------------------------------------------------------------------------------------

usable() {
    "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

# The interpreter behind a command or an environment, by its real path.
behind() {
    "$1" -I -c 'import os, sys; print(os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable))' 2>/dev/null
}

# Choose the interpreter in PYTHON, or that of the environment, or the first one that is suitable.
choose_python() {
    has_python=$(behind "$env_python") || has_python=''
    python=''
    if [ -n "${PYTHON:-}" ]; then
        usable "$PYTHON" || why_no_python
        python=$(command -v -- "$PYTHON")
    elif [ -n "$has_python" ] && usable "$has_python"; then
        python=$has_python
    else
        for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
            if usable "$candidate"; then
                python=$(command -v "$candidate")
                break
            fi
        done
    fi
    [ -n "$python" ] || [ "$method" = uv ] || why_no_python
    changes=''
    if [ -n "$has_python" ] && [ "$has_python" != "$(behind "$python")" ]; then changes=yes; fi
}

why_no_python() {
    first=${PYTHON:-python3}
    if ! "$first" -c '' >/dev/null 2>&1; then
        die "$first was not found or does not run; install Python 3.11 or newer with its venv module" \
            "(Debian, Ubuntu: apt install python3 python3-venv), or choose one: PYTHON=/path/to/python3 ./install.sh"
    elif ! "$first" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        die "$("$first" --version 2>&1) is too old (3.11 or newer is needed);" \
            "choose another one: PYTHON=/path/to/python3.11 ./install.sh"
    fi
    die "$("$first" --version 2>&1) has no venv module; install it (Debian, Ubuntu: apt install python3-venv)," \
        "or choose another one: PYTHON=/path/to/python3 ./install.sh"
}

# The receipt lists what an earlier run did; --uninstall relies on nothing else.
recorded() {
    if [ -f "$receipt" ]; then sed -n "s/^$1 //p" "$receipt"; fi
}
record() {
    [ -n "$dry" ] || printf '%s\n' "$1 $2" >>"$receipt"
}

make_dir() {
    [ ! -d "$1" ] || return 0
    case $made in *"$newline$1$newline"*) return ;; esac # said in a dry run
    make_dir "$(dirname -- "$1")"
    run mkdir "$1"
    made=$made$1$newline
}
# Make the directories and the receipt. It is written first, so that a failed run can be removed, too.
make_places() {
    made=$newline
    make_dir "$data"
    [ -f "$receipt" ] || record method "$method"
    if [ "$method" = venv ]; then make_dir "$bin"; fi
    printf '%s' "$made" | while IFS= read -r dir; do
        if [ -n "$dir" ]; then record made "$dir"; fi
    done
}

choose_method() {
    method=$(recorded method)
    case $method in
    uv | pipx) command -v "$method" >/dev/null || method='' ;;
    esac
    if [ -n "$method" ]; then
        return
    elif [ -n "$prefix" ]; then
        method=venv
    elif command -v uv >/dev/null; then
        method=uv
    elif command -v pipx >/dev/null; then
        method=pipx
    else
        method=venv
    fi
}

# Find where the chosen tool puts the commands, and which interpreter runs them.
places() {
    case $method in
    uv)
        bin=$(uv tool dir --bin)
        env_python=$(uv tool dir)/kmerge-git/bin/python
        ;;
    pipx)
        bin=$(pipx environment --value PIPX_BIN_DIR)
        env_python=$(pipx environment --value PIPX_LOCAL_VENVS)/kmerge-git/bin/python
        ;;
    venv)
        bin=${prefix:-$HOME/.local}/bin
        env_python=$data/venv/bin/python
        ;;
    esac
}

# -- installing ---------------------------------------------------------------------------------------

# Return whether a command is the link of an earlier run; it is broken if the home has moved since.
is_ours() {
    target=$(readlink "$bin/$1") || return 1
    [ "$target" != "$data/venv/bin/$1" ] || return 0
    case $target in
    */kmerge-git/venv/bin/"$1") [ ! -e "$bin/$1" ] && [ -f "$receipt" ] ;;
    *) return 1 ;;
    esac
}

refuse_foreign_commands() {
    for name in kmerge git-kmerge; do
        if [ -e "$bin/$name" ] || [ -L "$bin/$name" ]; then
            is_ours "$name" ||
                die "$bin/$name exists and was not made by this script; move it away, then run this again"
        fi
    done
}

install_venv() {
    aside=''
    fresh=yes
    if [ -n "$changes" ]; then
        say "  the environment has another interpreter ($has_python), so it is created again"
        aside=$data/venv.before
        run rm -rf "$aside"
        run mv "$data/venv" "$aside"
    elif [ -d "$data/venv" ] && ! "$env_python" -I -c 'import pip' 2>/dev/null; then
        say "  the environment or its interpreter is broken, so it is created again"
        run rm -rf "$data/venv"
    elif [ -d "$data/venv" ]; then
        fresh=''
    fi
    if [ -n "$fresh" ]; then run "$python" -m venv "$data/venv" || not_installed; fi
    run "$env_python" -I -m pip install --quiet --disable-pip-version-check "$checkout" || not_installed
    if [ -n "$aside" ]; then run rm -rf "$aside"; fi
    for name in kmerge git-kmerge; do
        [ "$(readlink "$bin/$name")" != "$data/venv/bin/$name" ] || continue
        if [ -L "$bin/$name" ]; then run rm "$bin/$name"; fi
        run ln -s "$data/venv/bin/$name" "$bin/$name"
    done
}

not_installed() {
    say "install.sh: $method could not install kmerge-git; see its messages above" >&2
    say "  for a proxy set HTTPS_PROXY, for a mirror PIP_INDEX_URL (uv: UV_DEFAULT_INDEX), then run this again" >&2
    [ -n "$newest" ] || say "  if a tested version is not available, use --newest" >&2
    [ "$method" = venv ] || say "  use --prefix DIR to install with pip instead of $method" >&2
    if [ "$method" = venv ] && [ -n "$aside" ]; then
        rm -rf "$data/venv"
        mv "$aside" "$data/venv"
        die "the earlier environment with $has_python was restored"
    fi
    die "to remove the incomplete installation, run: $(removing)"
}

removing() { printf '%s' "./install.sh --uninstall${prefix:+ --prefix $(word "$prefix")}"; }

install_package() {
    case $method in
    uv)
        if [ -n "$python" ]; then set -- --python "$python"; fi # else uv fetches one
        run uv tool install --force --reinstall-package kmerge-git "$@" "$checkout" || not_installed
        ;;
    pipx)
        run pipx install --force --python "$python" "$checkout" || not_installed
        # --force keeps the interpreter of an environment that is there
        if [ -n "$changes" ] || { [ -z "$dry" ] && [ "$(behind "$env_python")" != "$(behind "$python")" ]; }; then
            run pipx reinstall --python "$python" kmerge-git || not_installed
        fi
        ;;
    venv) install_venv ;;
    esac
}

# The driver runs once for each file of a merge and cannot always save compiled modules.
compile_package() {
    say "  compiling the package and its YAML parser, so that no merge has to wait for this"
    if [ -n "$dry" ]; then return; fi
    for package in kmerge_git yaml; do
        dir=$("$env_python" -I -c "import os, $package; print(os.path.dirname($package.__file__))")
        run "$env_python" -I -m compileall -q "$dir"
    done
}

install_all() {
    command -v git >/dev/null || die "git was not found; install it first (Debian, Ubuntu: apt install git)"
    choose_method
    places
    choose_python

    step "installing kmerge-git into its own environment, made by $method with ${python:-a Python that uv fetches}" \
        "${python:+($("$python" --version 2>&1))}"
    if [ "$method" = venv ]; then refuse_foreign_commands; fi
    make_places
    [ -n "$newest" ] || constrain
    install_package
    compile_package
    [ -n "$dry" ] || say "  $("$bin/kmerge" --version) is installed as $bin/kmerge and $bin/git-kmerge"
    warn_of_path

    renew
    if [ -n "$global" ]; then register; fi
    if [ -n "$demo" ]; then show_demo; fi
    say_next
}

warn_of_path() {
    case :$PATH: in
    *:"$bin":*) ;;
    *)
        say "  $bin is not on your PATH; add it, or call the commands with their full paths"
        say "  in this shell:         export PATH=$(word "$bin"):\"\$PATH\""
        ;;
    esac
}

register() {
    step "registering the merge driver for all your repositories"
    if [ -z "$dry" ] && ! has install; then
        die "--global needs a kmerge with the command \`install\`, which this version does not have"
    fi
    run "$bin/kmerge" install --global
    [ -n "$(recorded global)" ] || record global yes
}

# Renew registrations that are broken or outdated, except those of repositories: `kmerge status` in a
# repository reports them.
renew() {
    git config --global --get-regexp '^(merge|mergetool|diff)\.kmerge\.' >/dev/null 2>&1 ||
        git config --system --get merge.kmerge.driver >/dev/null 2>&1 || return 0
    if [ -n "$dry" ]; then
        say "  broken and outdated registrations would be renewed"
        return
    fi
    renewed=$(cd / && unset GIT_DIR GIT_WORK_TREE && "$bin/kmerge" status --fix 2>&1 >/dev/null | sed -n 's/^\(not \)\{0,1\}repaired: /  &/p') || :
    if [ -n "$renewed" ]; then
        step "renewing the registrations in git's configuration"
        say "$renewed"
    fi
}

say_next() {
    step "next steps"
    if [ -n "$global$demo" ]; then warn_of_path; fi # repeat it, because it has scrolled away
    if [ -z "$dry" ] && has install && [ -z "$(recorded global)" ]; then
        say "  in a repository:       kmerge install --local"
        say "  for all repositories:  kmerge install --global"
    fi
    say "  to list the commands:  kmerge --help"
    say "  to remove it again:    $(removing)"
}

has() { "$bin/kmerge" "$1" --help >/dev/null 2>&1; }

# -- removing -----------------------------------------------------------------------------------------

uninstall_all() {
    if [ ! -f "$receipt" ]; then
        say "nothing to remove: $receipt does not exist"
        return
    fi
    method=$(recorded method)
    case $method in
    uv | pipx) command -v "$method" >/dev/null || die "kmerge-git was installed by $method, which is not on PATH" ;;
    esac
    places
    step "removing kmerge-git, installed by $method"
    if [ -n "$(recorded global)" ] || names_us; then
        run "$bin/kmerge" uninstall --global ||
            die "cannot remove the driver from git's global configuration; nothing was removed"
    fi
    dirs=$(recorded made)
    case $method in
    uv) run uv tool uninstall kmerge-git || say "  uv has no kmerge-git anymore" ;;
    pipx) run pipx uninstall kmerge-git || say "  pipx has no kmerge-git anymore" ;;
    venv)
        for name in kmerge git-kmerge; do
            if is_ours "$name"; then run rm "$bin/$name"; fi
        done
        run rm -rf "$data/venv"
        ;;
    esac
    run rm "$receipt"
    # Also remove the directories that an installation made, unless they have other files now.
    printf '%s\n' "$dirs" | LC_ALL=C sort -r | while IFS= read -r dir; do
        if [ -n "$dry" ] || rmdir "$dir" 2>/dev/null; then say "  \$ rmdir $(word "$dir")"; fi
    done
    say "  repositories that still use the driver are merged by git alone, which reports this;"
    say "  to unregister the driver there:  git config --remove-section merge.kmerge"
}

# Return whether git's global configuration uses the kmerge that is removed (there is no receipt if
# somebody ran `kmerge install --global`), or uses no kmerge, but there is a cache to remove.
names_us() {
    line=$(git config --global --get-all merge.kmerge.driver 2>/dev/null) || {
        [ -d "${XDG_CACHE_HOME:-${HOME:-}/.cache}/kmerge/vendor" ]
        return
    }
    case $line in
    *"${env_python%/python}/"*) return 0 ;;
    esac
    say "  git's global configuration uses another kmerge and is not changed"
    return 1
}

# -- the demo -----------------------------------------------------------------------------------------

deployment() { # deployment REPLICAS EXTRA-VARIABLE VALUE
    cat <<END
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: $1  # sized for the spring sale
  template:
    spec:
      containers:
        - name: web
          image: registry.example/web:1.4
          env:
            - name: LOG_LEVEL
              value: info
END
    if [ -n "$2" ]; then
        printf '            - name: %s\n              value: %s\n' "$2" "$3"
    fi
}

# The scratch repository neither reads nor writes the user's git configuration.
seal() {
    unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_COMMON_DIR
    HOME=$scratch XDG_CONFIG_HOME=$scratch/.config
    GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_ATTR_NOSYSTEM=1 GIT_PAGER=cat LC_ALL=C
    GIT_AUTHOR_NAME=Demo GIT_AUTHOR_EMAIL=demo@example.com
    GIT_COMMITTER_NAME=Demo GIT_COMMITTER_EMAIL=demo@example.com
    PATH=$bin:$PATH
    export HOME XDG_CONFIG_HOME GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL GIT_ATTR_NOSYSTEM GIT_PAGER LC_ALL PATH
    export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
}

make_history() {
    git init -q repo
    cd repo
    git symbolic-ref HEAD refs/heads/main
    deployment 3 '' '' >web.yaml
    git add web.yaml
    git commit -q -m 'web: a deployment'
    git branch add-cache
    deployment 5 REGION eu >web.yaml
    git commit -q -a -m 'web: five replicas, a region'
    git checkout -q add-cache
    deployment 3 CACHE redis >web.yaml
    git commit -q -a -m 'web: a cache'
    git checkout -q main
}

show_demo() {
    step "a merge of a Deployment in a scratch repository"
    if [ -n "$dry" ]; then
        say "  (not shown in a dry run)"
        return
    fi
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    trap 'exit 130' INT TERM
    (
        seal
        cd "$scratch"
        make_history
        say "  main:       replicas 3 -> 5, one more variable: REGION"
        say "  add-cache:  one more variable: CACHE"
        demo_git_alone
        if has install; then
            demo_driver
        elif has merge; then
            demo_files
        else
            die "this version of kmerge cannot merge, so there is nothing to show"
        fi
    )
}

demo_git_alone() {
    step "1. git alone: a conflict of lines, but not of fields"
    if run git merge add-cache; then
        die "git merged the demo without a conflict, so there is nothing to show"
    fi
    say ''
    sed -n '/env:/,$p' web.yaml
    git merge --abort
}

demo_driver() {
    step "2. the same merge with kmerge"
    run kmerge install --local
    run git merge --no-edit add-cache || die "the merge with kmerge had conflicts; please report this"
    say ''
    cat web.yaml
}

demo_files() {
    step "2. the same three versions with kmerge merge (this version has no merge driver)"
    git show main~1:web.yaml >../base.yaml
    git show main:web.yaml >../ours.yaml
    git show add-cache:web.yaml >../theirs.yaml
    cd ..
    run kmerge merge base.yaml ours.yaml theirs.yaml || die "the merge had conflicts; please report this"
}

# -- the arguments ------------------------------------------------------------------------------------

demo='' dry='' global='' newest='' prefix='' action=install_all
while [ $# -gt 0 ]; do
    case $1 in
    --demo) demo=yes ;;
    --global) global=yes ;;
    --newest) newest=yes ;;
    --dry-run) dry=yes ;;
    --uninstall) action=uninstall_all ;;
    --prefix=*) prefix=${1#--prefix=} ;;
    --prefix)
        [ $# -gt 1 ] || die "--prefix needs a directory"
        shift
        prefix=$1
        ;;
    -h | --help)
        usage
        exit 0
        ;;
    *)
        usage >&2
        die "unknown argument: $1"
        ;;
    esac
    shift
done

checkout=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
case $prefix in
'') data=${XDG_DATA_HOME:-${HOME:?must be set, or use --prefix}/.local/share}/kmerge-git ;;
/*) data=$prefix/share/kmerge-git ;;
*)
    prefix=$PWD/$prefix
    data=$prefix/share/kmerge-git
    ;;
esac
receipt=$data/receipt

# Settings of the caller's shell must not decide where pip and Python look.
unset PYTHONPATH PYTHONHOME PIP_TARGET PIP_PREFIX
# The build imports modules of this checkout, and leaves nothing in it.
PIP_USER=0 PYTHONDONTWRITEBYTECODE=1
export PIP_USER PYTHONDONTWRITEBYTECODE

"$action"

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Makes this machine able to build and run Kernelmill: Debian packages,
# tree-sitter with its Python grammar, and a Python environment with PyTorch for
# the evaluator's runner. Says first what it will do; what is there already is left alone.
# Everything but the Debian packages goes into the cache folder: $KM_CACHE,
# default ~/.cache/kernelmill.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
cache=${KM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kernelmill}
name=setup

usage() {
    cat <<END
usage: pipelines/setup.sh [options]

  --check            only say what is missing; exit 1 if something is
  --torch-index URL  take torch from this package index, such as one with builds
                     for the CPU alone (ten times smaller). Remembered;
                     'default' goes back to the pinned packages
  --no-torch         no environment for the runner (build only)
  --no-tools         no Debian packages that only the tests need
  --python PROGRAM   interpreter to make environments with (python3)
  --help

Variables: KM_CACHE; KM_PYTHON, an interpreter with torch to use instead of
making one; everything that pip and apt-get look at.
END
}

die() {
    echo "$name: $1" >&2
    [ $# = 1 ] || echo "hint: $2" >&2
    exit 1
}

say() {
    echo "$name: $*"
}

check='' torch=1 tools=1 base=python3 torch_index=''
while [ $# -gt 0 ]; do
    case $1 in
    --check) check=1 ;;
    --no-torch) torch='' ;;
    --no-tools) tools='' ;;
    --torch-index | --python)
        [ $# -gt 1 ] || { usage >&2 && exit 2; }
        if [ "$1" = --python ]; then base=$2; else torch_index=$2; fi
        shift
        ;;
    --help)
        usage
        exit
        ;;
    *)
        echo "$name: unknown option '$1'" >&2
        usage >&2
        exit 2
        ;;
    esac
    shift
done

# ---- what is missing? ----

# PACKAGE:TEST, where the test is a pkg-config module (either of a|b), a
# command, or a Python module. Asking for the thing itself and not for Debian's
# package lets other distributions and own builds through.
build_needs='gcc:cmd=gcc make:cmd=make pkg-config:cmd=pkg-config git:cmd=git
    libgit2-dev:pc=libgit2
    libmsgpack-dev:pc=msgpack|msgpack-c libzstd-dev:pc=libzstd
    libjansson-dev:pc=jansson libsqlite3-dev:pc=sqlite3
    libyaml-dev:pc=yaml-0.1 libseccomp-dev:pc=libseccomp libxxhash-dev:pc=libxxhash
    libssl-dev:pc=libcrypto libc6-dev:file=/usr/include/stdio.h
    ca-certificates:file=/etc/ssl/certs/ca-certificates.crt jq:cmd=jq
    zstd:cmd=zstd'
python_needs='python3:cmd=PYTHON python3-venv:py=ensurepip'
test_needs='check:pc=check clang-format:cmd=clang-format cppcheck:cmd=cppcheck
    shellcheck:cmd=shellcheck mandoc:cmd=mandoc'

present() { # kind=what
    local what=${1#*=}
    [ "$what" != PYTHON ] || what=$base
    case $1 in
    cmd=*) command -v "$what" ;;
    pc=*) pkg-config --exists "${what%|*}" || pkg-config --exists "${what#*|}" ;;
    file=*) [ -e "$what" ] ;;
    py=*) "$base" -c "import $what, venv" ;;
    esac >/dev/null 2>&1
}

missing_packages() {
    local need
    for need in $build_needs $python_needs ${tools:+$test_needs}; do
        present "${need#*:}" || printf '%s ' "${need%%:*}"
    done
}

# The first 8 digits of what makes an environment what it is.
digest() { # requirement files; standard input counts too
    { cat - "${@/#/$here/}" && "$base" -c \
        'import sys; print(sys.version_info[:3], sys.platform)'; } |
        sha256sum | cut -c 1-8
}

if [ "$base" != python3 ] && ! present "cmd=$base"; then
    die "no interpreter '$base'"
fi

grammar_sha=354bfa0a2f9217431764a631516f85173e9711af2c13dbd796a8815acfe505d9
core_sha=66bae8dd47f1fed7bdef816115146d3a41c39b5c482d7bad36d9ba1def088450
tree_sitter=$cache/tree-sitter-${core_sha:0:8}-${grammar_sha:0:8}

[ -n "$torch_index" ] || torch_index=$(cat "$cache/torch-index" 2>/dev/null) || :
[ -n "$torch_index" ] || torch_index=default

if [ -n "${KM_PYTHON:-}" ]; then
    torch=''
fi

look() { # sets packages, todo, venv, reader
    packages=$(missing_packages)
    packages=${packages% }
    todo=()
    [ -z "$packages" ] || todo+=("install Debian packages: $packages")
    [ -e "$tree_sitter/parser.c" ] ||
        todo+=("fetch tree-sitter 0.23.2 and its Python grammar 0.23.6 (sources)")
    venv='' reader=''
    if present "cmd=$base"; then
        venv=$cache/venv-$(echo "$torch_index" |
            digest requirements-runner.txt requirements-torch.txt)
        reader=$cache/reader-$(digest requirements-reader.txt </dev/null)
    fi
    [ -n "$reader" ] && points_to python-reader "$reader" ||
        todo+=("make an environment with msgpack and zstandard for readers")
    if [ -n "$torch" ]; then
        { [ -n "$venv" ] && points_to python "$venv"; } ||
            todo+=("make the runner's environment with PyTorch ($(torch_size))")
    fi
}

torch_size() {
    if [ "$torch_index" = default ]; then
        echo 'about 5 GB on disk, some minutes'
    else
        echo "torch from $torch_index"
    fi
}

points_to() { # does $cache/NAME start the finished environment $2?
    [ -e "$2/complete" ] && grep -qsF "$2/bin/python" "$cache/$1"
}

look
if [ -n "${KM_PYTHON:-}" ]; then
    "$KM_PYTHON" -c 'import importlib.util as u, sys
sys.exit(any(u.find_spec(m) is None for m in ("torch", "numpy")))' ||
        die "KM_PYTHON is '$KM_PYTHON', which lacks torch or numpy" \
            "unset it, and an environment is made"
    say "KM_PYTHON is set: the runner will be $KM_PYTHON"
fi
if [ ${#todo[@]} = 0 ]; then
    say "nothing to do, all is in $cache"
    exit 0
fi
say "cache folder $cache"
if [ -n "$check" ]; then
    printf "$name: missing; would %s\n" "${todo[@]}"
    exit 1
fi
printf "$name: will %s\n" "${todo[@]}"

# ---- Debian packages ----

if [ -n "$packages" ]; then
    command -v apt-get >/dev/null ||
        die "no apt-get here; install what Debian calls: $packages"
    if [ "$(id -u)" != 0 ]; then
        die "only root can install packages" \
            "run: sudo apt-get install -y --no-install-recommends $packages"
    fi
    log=$(mktemp)
    # shellcheck disable=SC2086 # a list of words
    if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install \
        -y --no-install-recommends $packages; } >"$log" 2>&1 </dev/null; then
        tail -n 15 "$log" >&2
        rm -f "$log"
        die "apt-get failed; wanted: $packages"
    fi
    rm -f "$log"
    look
    [ -z "$packages" ] || die "still missing after the installation: $packages"
fi

# ---- into the cache, one set-up at a time ----

mkdir -p "$cache"
exec 9>"$cache/setup.lock"
flock 9
look
tmp=$cache/setup.tmp
rm -rf "$tmp"
mkdir "$tmp"
trap 'rm -rf "$tmp"' EXIT
export TMPDIR=$tmp # pip unpacks gigabytes there

"$base" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    die "$base is $("$base" -V), Python 3.11 or newer is needed" \
        "name another one by --python"

pip_install() { # environment, arguments
    local dir=$1
    shift
    if ! "$dir/bin/python" -m pip install --no-cache-dir --retries 2 \
        --disable-pip-version-check --no-input "$@" >"$tmp/log" 2>&1 \
        </dev/null; then
        grep -E '^ERROR|^error|Expected|  Got' "$tmp/log" | cut -c 1-200 >&2 ||
            tail -n 5 "$tmp/log" >&2
        rm -rf "$dir"
        die "pip cannot install from the package index" \
            "is the index reachable? an own interpreter with torch goes into KM_PYTHON"
    fi
}

new_venv() {
    rm -rf "$1"
    "$base" -m venv "$1" >"$tmp/log" 2>&1 || {
        tail -n 5 "$tmp/log" >&2
        die "$base cannot make an environment" "is python3-venv installed?"
    }
}

# A small script and not a symbolic link: through a link outside of it, an
# interpreter does not find its environment.
name_python() { # NAME, environment
    touch "$2/complete"
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$2/bin/python" >"$tmp/python"
    chmod 755 "$tmp/python"
    mv "$tmp/python" "$cache/$1"
}

pinned=(--require-hashes --no-deps --only-binary ':all:')

if ! points_to python-reader "$reader"; then
    if [ ! -e "$reader/complete" ]; then
        new_venv "$reader"
        pip_install "$reader" "${pinned[@]}" -r "$here/requirements-reader.txt"
    fi
    name_python python-reader "$reader"
    say "reader's environment: $reader"
fi

if [ ! -e "$tree_sitter/parser.c" ]; then
    KM_FETCH_PYTHON=$reader/bin/python "$here/fetch-sdist.sh" "$tmp/fetched" \
        tree-sitter-python==0.23.6 $grammar_sha >"$tmp/log"
    KM_FETCH_PYTHON=$reader/bin/python "$here/fetch-sdist.sh" "$tmp/fetched" \
        tree-sitter==0.23.2 $core_sha >"$tmp/log"
    for archive in "$tmp"/fetched/*.tar.gz; do
        tar -xzf "$archive" -C "$tmp/fetched" --no-same-owner
    done
    # The grammar's package lacks the headers that it includes; the library's
    # package has them.
    mkdir -p "$tmp/new/tree_sitter"
    core=$tmp/fetched/tree-sitter-0.23.2/tree_sitter/core/lib
    cp "$tmp"/fetched/tree_sitter_python-0.23.6/{src/parser.c,src/scanner.c,LICENSE} \
        "$tmp/new"
    cp "$core"/src/{parser,array,alloc,ts_assert}.h "$tmp/new/tree_sitter"
    cp -r "$core/src" "$tmp/new/core"
    cp -r "$core/include" "$tmp/new/include"
    rm -rf "$tree_sitter"
    mv "$tmp/new" "$tree_sitter"
    say "tree-sitter: $tree_sitter"
fi

if [ -n "$torch" ] && ! points_to python "$venv"; then
    if [ ! -e "$venv/complete" ]; then
        [ "$torch_index" = default ] && need=9000000 || need=3000000
        free=$(df -Pk "$cache" | awk 'NR == 2 { print $4 }')
        [ "$free" -ge "$need" ] ||
            die "$((free / 1000)) MB free in $cache, $((need / 1000)) are needed" \
                "set KM_CACHE to a folder on a larger disk"
        new_venv "$venv"
        pip_install "$venv" "${pinned[@]}" -r "$here/requirements-runner.txt"
        if [ "$torch_index" = default ]; then
            pip_install "$venv" "${pinned[@]}" -r "$here/requirements-torch.txt"
        else
            version=$(sed -nE 's/^torch==([^ ]+).*/\1/p' \
                "$here/requirements-torch.txt")
            say "torch $version and what it adds come from $torch_index:" \
                "their hashes are not checked"
            pip_install "$venv" --only-binary ':all:' \
                --index-url "$torch_index" "torch==$version"
        fi
        "$venv/bin/python" -m pip check >"$tmp/log" 2>&1 ||
            die "the packages do not fit together: $(head -n 1 "$tmp/log")"
        "$venv/bin/python" -c 'import torch, numpy, einops
torch.ones(2) @ torch.ones(2)' >"$tmp/log" 2>&1 ||
            die "torch was installed but does not run: $(tail -n 1 "$tmp/log")"
    fi
    echo "$torch_index" >"$tmp/index"
    mv "$tmp/index" "$cache/torch-index"
    name_python python "$venv"
    say "runner's environment: $venv"
fi
say "done"

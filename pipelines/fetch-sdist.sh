#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Fetches a source package from the Python package index that pip is set up
# for, checks its sha256, and leaves the archive in a folder.
#
#   pipelines/fetch-sdist.sh DIR NAME==VERSION SHA256
#
# pip runs a source package's build code even for `pip download`, to learn its
# metadata, after installing build tools that no hash pins. Both are avoided:
# without build isolation pip imports the build backend from PYTHONPATH, and
# there lies one of ours that copies PKG-INFO and runs nothing of the package.
set -euo pipefail

if [ $# != 3 ] || [[ $2 != *==* ]]; then
    echo "usage: $0 DIR NAME==VERSION SHA256" >&2
    exit 2
fi
dir=$1 package=$2 sha256=$3
cache=${KM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kernelmill}
python=${KM_FETCH_PYTHON:-$cache/python-reader}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

if [ ! -x "$python" ]; then
    python3 -m venv "$tmp/venv"
    python=$tmp/venv/bin/python
fi

for backend in setuptools/build_meta hatchling/build flit_core/buildapi; do
    mkdir -p "$tmp/backend/${backend%/*}"
    # A folder without it would rank behind an installed package.
    touch "$tmp/backend/${backend%/*}/__init__.py"
    cat >"$tmp/backend/$backend.py" <<'END'
import email
import os


def prepare_metadata_for_build_wheel(folder, config_settings=None):
    with open("PKG-INFO", encoding="utf-8") as file:
        text = file.read()
    info = email.message_from_string(text)
    name = "%s-%s.dist-info" % (info["Name"].replace("-", "_"), info["Version"])
    os.mkdir(os.path.join(folder, name))
    with open(os.path.join(folder, name, "METADATA"), "w", encoding="utf-8") as file:
        file.write(text)
    return name
END
done
echo "$package --hash=sha256:$sha256" >"$tmp/requirements.txt"
mkdir "$tmp/out"
if ! PYTHONPATH=$tmp/backend "$python" -m pip download --no-cache-dir --no-deps \
    --no-binary :all: --no-build-isolation --use-pep517 --require-hashes \
    --retries 2 --disable-pip-version-check --no-input \
    -r "$tmp/requirements.txt" -d "$tmp/out" >"$tmp/log" 2>&1; then
    echo "fetch-sdist: cannot fetch $package:" >&2
    grep -E '^ERROR|^error|Expected|  Got' "$tmp/log" | cut -c 1-200 >&2 || :
    grep -q 'THESE PACKAGES DO NOT MATCH' "$tmp/log" ||
        echo "hint: is the package index reachable from here?" >&2
    exit 1
fi
# pip has checked it; what is kept is checked once more.
for file in "$tmp"/out/*; do
    echo "$sha256  $file" | sha256sum --check --quiet
    mkdir -p "$dir"
    mv "$file" "$dir/"
    echo "$dir/${file##*/}"
done

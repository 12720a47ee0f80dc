#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The whole chain on the sample in pipelines/sample, then the first half of it
# on real code: vit-pytorch 1.26.14 from the Python package index, and every
# repository given. Nothing outside the output folder and the cache is written.
#
#   pipelines/demo.sh [--out DIR] [--no-setup] [--offline] [REPO...]
#
#   --out DIR    output folder, replaced (./demo-out)
#   --no-setup   what setup.sh installs is there already
#   --offline    leave out what needs the network
#
# Environment: BUILD (build/release), KM_CACHE, KM_PYTHON, JOBS (number of CPUs).
set -euo pipefail

src=$(cd "$(dirname "$0")/.." && pwd)
out=demo-out setup=1 network=1
repos=()
while [ $# -gt 0 ]; do
    case $1 in
    --out)
        [ $# -gt 1 ] || { echo "demo: --out needs a folder" >&2; exit 2; }
        out=$2
        shift
        ;;
    --no-setup) setup='' ;;
    --offline) network='' ;;
    -h | --help)
        sed -n '3,/^set /p' "$0" | sed -e '$d' -e 's/^# \{0,1\}//'
        exit 0
        ;;
    -*)
        echo "demo: unknown option '$1'; try '$0 --help'" >&2
        exit 2
        ;;
    *) repos+=("$1") ;;
    esac
    shift
done

# Only a folder that an earlier demo made is replaced.
if [ -e "$out" ] && [ ! -e "$out/.kernelmill-demo" ]; then
    echo "demo: '$out' exists and is not the output of a demo" >&2
    exit 1
fi
rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
touch "$out/.kernelmill-demo"
log=$out/log.txt

say() { printf '== %s\n' "$*"; }

# stage NAME COMMAND...: runs it, notes its seconds; its messages go to the log.
seconds=()
stage() {
    local name=$1 start=$EPOCHREALTIME
    shift
    printf '$ %s\n' "$*" >>"$log"
    if ! "$@" 2>>"$log"; then
        echo "demo: $name failed; the end of $log:" >&2
        tail -n 15 "$log" >&2
        exit 1
    fi
    seconds+=("$(printf '%s %.1f' "$name" \
        "$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')")")
}

# count FILE FILTER: number of records for which the jq filter holds.
count() { km-cat --json "$1" | jq -s "map(select($2)) | length"; }

if [ -n "$setup" ]; then
    say "set-up (pipelines/setup.sh)"
    "$src/pipelines/setup.sh"
fi
say "build"
build=${BUILD:-build/release}
make -s -C "$src" BUILD="$build" -j"$(nproc)" all
case $build in /*) ;; *) build=$src/$build ;; esac
export PATH=$build/bin:$PATH
jobs=${JOBS:-$(nproc)}

chain() { # FOLDER REPO...: repositories to tasks
    local dir=$1
    shift
    stage harvest km-harvest --jobs "$jobs" -o "$dir/harvest.km" "$@"
    stage clean km-clean --jobs "$jobs" -i "$dir/harvest.km" -o "$dir/clean.km"
    # Sizes for the judge's device; fewer attempts than the default: a demo may
    # lose a few modules.
    stage testgen km-testgen --target cpu --attempts 16 --timeout 3 \
        --jobs "$jobs" -i "$dir/clean.km" -o "$dir/tasks.km"
}

yield_rows() { # FOLDER: modules found, cleaned, runnable
    printf '  %-22s %5d\n' \
        'modules found' "$(count "$1/harvest.km" '.kind == "module"')" \
        'cleaned' "$(count "$1/clean.km" '.kind == "module" and .state == "ok"')" \
        'runnable (tasks)' "$(count "$1/tasks.km" \
            '.kind == "task" and .state == "ok" and .verified')"
}

# ---- the sample: the whole chain ----

say "sample: harvest, clean, testgen"
sample=$out/sample
mkdir "$sample"
git init -q --bare -b main "$sample/small-layers.git"
git -C "$sample/small-layers.git" fast-import --quiet \
    <"$src/pipelines/sample/repo.fi"
chain "$sample" "$sample/small-layers.git"
say "sample: import of the search runs, evaluation (takes a minute or two)"
stage import km-trajectories import "$src"/pipelines/sample/runs/* \
    --tasks "$sample/tasks.km" -o "$sample/revisions.km"
stage evaluate km-evaluate --tasks "$sample/tasks.km" --budget 1 \
    --jobs "$jobs" -i "$sample/revisions.km" -o "$sample/verdicts.km"
say "sample: select, export"
stage select km-trajectories select --tasks "$sample/tasks.km" \
    -i "$sample/verdicts.km" -o "$sample/steps.km"
stage export km-export --tasks "$sample/tasks.km" -i "$sample/steps.km" \
    --out "$out/dataset"
"$src/pipelines/sample/judge.sh" "$sample/verdicts.km" >"$sample/judged.txt" ||
    : # the table below says so
sample_seconds=("${seconds[@]}")

# ---- real code: harvest, clean, testgen ----

real=()
package=vit-pytorch==1.26.14
sha256=554df1ebb1d1726a1ebec5d23f6090694e391d0e17e145108add46ef0badf864
if [ -z "$network" ]; then
    say "$package: left out (--offline)"
elif archive=$("$src/pipelines/fetch-sdist.sh" "$out" "$package" "$sha256" \
    2>>"$log"); then
    say "$package: harvest, clean, testgen"
    mkdir "$out/vit-pytorch"
    tar -xzf "$archive" -C "$out/vit-pytorch" --strip-components 1 \
        --no-same-owner
    (
        cd "$out/vit-pytorch"
        export GIT_AUTHOR_DATE='1700000000 +0000'
        export GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE
        git init -q -b main
        git add -A
        git -c user.name='Kernelmill demo' -c commit.gpgsign=false \
            -c user.email=demo@kernelmill.example commit -q -m "$package"
    )
    real+=("$out/vit-pytorch")
else
    say "$package: left out, the package index cannot be reached (see $log)"
fi
for repo in ${repos[@]+"${repos[@]}"}; do
    say "$repo: harvest, clean, testgen"
    real+=("$repo")
done
real_seconds=()
if [ ${#real[@]} -gt 0 ]; then
    mkdir "$out/real"
    seconds=()
    chain "$out/real" "${real[@]}"
    real_seconds=("${seconds[@]}")
fi

# ---- what came of it ----

verdicts=$(km-cat --json "$sample/verdicts.km" | jq -r 'select(.kind == "verdict")
    | [.outcome == "ok", (.time.ratio_low // 0) > 1 and .honest
       and .contract.ok != false] | @tsv')
echo
echo "Sample (small-layers, six search runs)"
yield_rows "$sample"
printf '  %-22s %5d\n' \
    'revisions' "$(count "$sample/revisions.km" '.kind == "revision"')" \
    'correct' "$(grep -c '^true' <<<"$verdicts")" \
    'correct and faster' "$(grep -c 'true.true$' <<<"$verdicts" || :)"
printf '  %-22s %5s\n' \
    'cheats caught' "$(sed -n 's/^cheats caught: //p' "$sample/judged.txt")" \
    'honest ones flagged' "$(sed -n 's/^honest flagged: //p' "$sample/judged.txt")"
printf '  %-22s %5d\n' \
    'steps kept' "$(count "$sample/steps.km" '.kind == "step" and .state == "ok"')" \
    'records exported' "$(jq '[.shards[].records] | add' "$out/dataset/manifest.json")"
printf '  seconds:'
printf ' %s' "${sample_seconds[@]}"
echo
if [ ${#real[@]} -gt 0 ]; then
    echo "Real code (${real[*]##*/})"
    yield_rows "$out/real"
    printf '  seconds:'
    printf ' %s' "${real_seconds[@]}"
    echo
fi
echo "Data set: $out/dataset"

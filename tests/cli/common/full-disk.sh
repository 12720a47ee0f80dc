# A disk that is full at any moment: one line, exit 1, no file of the final
# name, nothing left beside it; afterwards the same command works.
. "$SRC/tests/cli/common/programs.bash"
git init -q --bare sample.git
git -C sample.git fast-import --quiet <"$SRC/pipelines/sample/repo.fi"
for program in "${filters[@]}" 'km-harvest -j 1 sample.git'; do
    for fail in write:1 fsync:1 rename:1; do
        mkdir out.d
        # shellcheck disable=SC2086 # program and options
        LD_PRELOAD=$FAILIO KM_FAIL=$fail status 1 1 $program -o out.d/x.km <in.km
        grep -q 'No space left' err || { echo "$program, $fail:" && cat err; }
        [ -z "$(ls -A out.d)" ] || echo "$program, $fail: left $(ls out.d)"
        # shellcheck disable=SC2086
        status 0 1 $program -o out.d/x.km <in.km
        km-cat --count out.d/x.km >counts
        rm -r out.d
    done
done
for fail in write:1 fsync:1 rename:1; do
    LD_PRELOAD=$FAILIO KM_FAIL=$fail \
        status 1 1 km-export --tasks tasks.km -i in.km --out set
    [ ! -e set/manifest.json ] || echo "km-export, $fail: a manifest"
    rm -rf set
done
echo "all done"

# SPDX-License-Identifier: MIT
# Repositories for the cases of km-harvest.
set -euo pipefail

# repo NAME [--bare]: an empty one, whatever this git's defaults are.
repo() {
    git init -q "${@:2}" "$1"
    git -C "$1" symbolic-ref HEAD refs/heads/main
}

# commit NAME [PATH TEXT]...: one commit on main with these files (printf %b
# texts), on top of what is there.
commit() {
    local repo=$1 parent
    shift
    parent=$(git -C "$repo" rev-parse -q --verify refs/heads/main || :)
    {
        printf 'commit refs/heads/main\ncommitter t <t@example.invalid> '
        printf '%s +0000\ndata 0\n' "${DATE:-1577836800}"
        [ -z "$parent" ] || echo "from $parent"
        while [ $# -gt 1 ]; do
            printf '%b' "$2" >"$TMPDIR/blob"
            printf 'M 100644 inline %s\ndata %s\n' "$1" \
                "$(stat -c %s "$TMPDIR/blob")"
            cat "$TMPDIR/blob"
            echo
            shift 2
        done
    } | git -C "$repo" fast-import --quiet --force
    rm -f "$TMPDIR/blob"
}

MIT='MIT License

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software, without restriction. The above copyright notice and this
permission notice shall be included in all copies.
'

# A record a line: kind, state, reasons, and what the filter in $1 adds.
show() {
    jq -r "select(.kind != \"header\" and .kind != \"end\") |
        [.kind, .state, (.why | join(\",\")), ${1:-.path // .repo}] |
        map(. // \"-\" | tostring) | join(\" \")"
}

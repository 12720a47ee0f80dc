# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Input and output of km-clean as text that people can read.

# Turn a bundle on stdin into JSON lines. A line "=== PATH" starts a file, a
# line "=== modules" the list of its classes, one "PATH NAME" a line, with
# "function" behind a function's; $1 is the
# name of the repository.
records() {
    awk -v repo="$1" '
    function quote(s) {
        gsub(/\\/, "\\\\\\\\", s); gsub(/"/, "\\\"", s)
        gsub(/\t/, "\\t", s); return "\"" s "\""
    }
    function head(kind) {
        return "{\"kind\":\"" kind "\",\"state\":\"ok\",\"why\":[]," \
            "\"repo\":" quote(repo) ",\"commit\":\"" zero "\""
    }
    function blob(i) { return sprintf("%040d", i) }
    BEGIN {
        zero = sprintf("%040d", 0)
        print "{\"kind\":\"header\",\"v\":1,\"program\":\"test\"," \
            "\"version\":\"0\",\"options\":{},\"chain\":[]}"
    }
    /^=== modules$/ { list = 1; next }
    /^=== / {
        list = 0; path[++n] = $2; number[$2] = n; next
    }
    list && NF {
        last = $2; sub(/.*\./, "", last)
        line = 1
        for (i = 1; i <= lines[number[$1]]; i++)
            if (text[number[$1], i] ~ "^ *(class|def) " last "[(:]") line = i
        out[++m] = head("module") ",\"path\":" quote($1) ",\"blob\":\"" \
            blob(number[$1]) "\",\"name\":" quote($2) ",\"line\":" line \
            ",\"end_line\":" line ($3 ? ",\"entry_kind\":" quote($3) : \
            ",\"bases\":[]") "}"
        next
    }
    { text[n, ++lines[n]] = $0 }
    END {
        for (f = 1; f <= n; f++) {
            s = ""
            for (i = 1; i <= lines[f]; i++) {
                q = quote(text[f, i])
                s = s substr(q, 2, length(q) - 2) "\\n"
            }
            print head("file") ",\"path\":" quote(path[f]) ",\"blob\":\"" \
                blob(f) "\",\"source\":\"" s "\",\"licence\":" \
                "{\"spdx\":\"MIT\",\"evidence\":\"LICENSE\"}}"
        }
        for (i = 1; i <= m; i++) print out[i]
        print head("repo") "}"
        print "{\"kind\":\"end\",\"counts\":{}}"
    }'
}

# Turn cases on stdin into a bundle: one file and one class each. "= NAME"
# begins one, the lines of its file follow, behind $1 and the import of nn; then
# each statement of its forward behind ": ". Without any of those the file holds
# the class itself. Files as in a bundle may stand at the end.
cases() {
    awk -v head="$1" '
    function close_case() {
        if (name != "")
            printf "=== m%d.py\n%s\nfrom torch import nn\n%s", ++n, head, text
        name = text = ""; body = 0
    }
    /^=== / { close_case(); raw = 1 }
    raw { print; next }
    /^= / {
        close_case(); name = $2
        list = list "m" (n + 1) ".py " name "\n"; next
    }
    /^: / {
        if (!body++)
            text = text "class " name "(nn.Module):\n    def forward(self, x):\n"
        $0 = "        " substr($0, 3)
    }
    { text = text $0 "\n" }
    END { close_case(); printf "=== modules\n%s", list }'
}

# Field $1 (text or list) of the record on stdin.
field() {
    sed -nE 's/.*"'"$1"'":("(([^"\\]|\\.)*)"|(\[[^]]*\])).*/\2\4/p'
}

# Modules of the JSON lines on stdin: name and outcome, then the source.
show() {
    local line source
    while IFS= read -r line; do
        case $line in
        *'"kind":"module"'*) ;;
        *) continue ;;
        esac
        # what was cut has names and reasons of its own
        line=$(sed -E 's/"cuts":\[(\{[^}]*\},?)*\],?//' <<<"$line")
        printf '## %s: %s %s %s\n' "$(field name <<<"${line/\"inlined\"*/}")" \
            "$(field state <<<"$line")" "$(field why <<<"$line")" \
            "$(field note <<<"$line" | sed 's/\\//g')"
        source=$(field source <<<"$line")
        if [ -n "$source" ]; then
            source=${source//\\\"/\"}
            printf '%b' "$source" >source.py
            cat source.py
            python3 -c 'import ast, sys; ast.parse(sys.stdin.read())' <source.py
        fi
    done
}

clean() {
    km-clean "$@" | show
}

# SPDX-License-Identifier: MIT
# What has the tokens of its parent is no step, whether judged or from the store;
# what has them by chance is none's rewrite.
. "$SRC/tests/cli/km-evaluate/streams.bash"
need_torch
relu_task >tasks
code() { # PROGRAM PARENT FILE [FILTER]
    revision relu "$here/$3" | jq -c --arg program "$1" --arg parent "$2" \
        ".program = \$program | .parent = \$parent | ${4:-.}"
}
{
    code first '' relu_clamp.py
    code layout first relu_clamp.py '.code |= "# faster\n" + .'
    code other first relu_identity.py
    code again other relu_clamp.py
    code unknown nobody relu_clamp.py
    code elsewhere first relu_clamp.py '.run = "another"'
} >revisions
for _ in 1 2; do
    km-evaluate --bare --json --budget 0.2 --tasks tasks --store store \
        <revisions |
        jq -r 'select(.kind == "revision" or .kind == "verdict")
            | if .kind == "revision" then .program
              else " " + .outcome + " " + (.contract | "\(.ok) \(.codes)")
              end' | paste -d '' - -
done

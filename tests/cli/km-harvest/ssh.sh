# A source reached by ssh that does not answer: the reason, without a password.
. "$SRC/tests/cli/km-harvest/repos.bash"
command -v ssh >/dev/null || { echo 'no ssh here'; exit 77; }
km-harvest -v git@no.invalid:a/b ssh://u:pass-1@no.invalid/r >out 2>err
km-cat --json out | show '.note' >notes
! grep -q harvest.sandbox notes || { echo 'no Landlock here'; exit 77; }
sed 's/invalid: .*/invalid: WHY/' notes
! grep pass-1 err <(km-cat --json out)

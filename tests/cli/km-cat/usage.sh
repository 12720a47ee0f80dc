. "$SRC/tests/cli/km-cat/streams.bash"
rc() { "$@" 2>&1 || echo "$?"; }
rc km-cat nowhere.km
rc km-cat -s good a.km
rc km-cat -w x a.km
rc km-cat -k a,, a.km
rc km-cat -n -1 a.km
km-cat --json a.km 1>&- 2>message || { echo "$?"; cat message; }
km-cat 0<&- 2>message || { echo "$?"; cat message; }
LD_PRELOAD=$FAILIO KM_FAIL=write:1 KM_FAIL_FD=1 rc km-cat --json a.km
LD_PRELOAD=$FAILIO KM_FAIL=fsync:1 rc km-cat a.km -o full.km
ls full.km* 2>/dev/null
km-cat --count a.km 2>message >/dev/full || { echo "$?"; cat message; }
km-cat --version | sed 's/[0-9.]*$/VERSION/'

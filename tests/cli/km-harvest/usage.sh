# Wrong use is exit 2 and says what is wanted.
try() { km-harvest "$@"; echo "exit $?"; }
try
try --list absent
try --licences
try --jobs 0 x

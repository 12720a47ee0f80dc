# Wrong use is exit 2 and says what is wanted.
try() { km-harvest "$@"; echo "exit $?"; }
printf 'a b c\n' >list
try
try --list list
try --list absent
try --licences
try --jobs 0 x

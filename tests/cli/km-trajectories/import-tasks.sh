# A task is named by the program, else by task.json, else by --task.
set -euo pipefail
task() { # ID NAME STATE
    jq -nc --arg id "$1" --arg name "$2" --arg state "$3" '{kind: "task",
        id: $id, state: $state, why: [], name: $name, entry_kind: "module",
        source: "s", inputs: [], init: [], outputs: [], dtype: "fp32",
        verified: true}'
}
a=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b=bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
{
    task $a ReLU ok
    task $b GELU ok
    task cccccccccccccccccccccccccccccccc Twice ok
    task dddddddddddddddddddddddddddddddd Twice ok
    task eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee Dropped rejected
} | km-cat --bare -o tasks.km
mkdir -p run/programs
prog() { echo "{\"id\":\"$1\",\"code\":\"$1\"$2}" >"run/programs/$1.json"; }
prog by-name ',"task":"GELU"'
prog by-id ",\"metadata\":{\"task\":\"$b\"}"
prog default ''
prog twice ',"task":"Twice"'
prog dropped ',"task":"Dropped"'
prog unknown ',"task":"ffffffffffffffffffffffffffffffff"'
show() {
    jq -r 'select(.kind == "revision") |
        [.program, .state, .why[], .task, .note // "-"] | join(" ")'
}
echo '{"name": "ReLU"}' >run/task.json
km-trajectories import run --tasks tasks.km --task GELU --json | show
echo
echo 'no json' >run/task.json
km-trajectories import run --tasks tasks.km --task GELU --json 2>messages |
    show | grep default
cat messages
rm run/task.json
km-trajectories import run --tasks tasks.km --json | show | grep default
km-trajectories import run --json | show | grep -e by-name -e by-id
# The same, in another language than the run says.
km-trajectories import run --tasks tasks.km --language cuda --json |
    jq -r 'select(.program == "by-id") | .language'

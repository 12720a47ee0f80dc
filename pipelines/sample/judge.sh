#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Holds verdicts on the sample's runs against expected.json: a line for each
# program that came out otherwise, then the counts. Exit 1 when any did.
#
#   judge.sh VERDICTS      a stream as km-evaluate writes it
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
km-cat --json "$1" | jq -rn --slurpfile expected "$here/expected.json" '
  def clean: .outcome == "ok" and .honest and .contract.ok != false;
  def as_expected($e):
    if $e == "correct" then clean
    elif $e == "better" then clean and .time.ratio > 1
    elif $e == "slower" then clean and .time.ratio < 1
    elif $e == "wrong" then .outcome == "wrong"
    elif $e == "build_failed" then
      (.outcome == "build_failed" or .outcome == "load_failed")
    elif $e == "cheat" then (clean | not) and .outcome != "infrastructure"
    else false end;
  reduce inputs as $r ({program: {}, verdict: {}};
    if $r.kind == "revision" then
      .program["\($r.run) \($r.program)"] = $r.id
    elif $r.kind == "verdict" then .verdict[$r.revision] = $r
    else . end)
  | . as $all
  | [$expected[0][]
     | select(.expect != "noop" and .expect != "migrant")
     | . as $e
     | ($all.verdict[$all.program["\(.run) \(.program)"] // ""] // null) as $v
     | {e: $e, v: $v,
        as: ($v != null and ($v | as_expected($e.expect))),
        flagged: ($v != null and ($v.honest == false or
                                  $v.contract.ok == false))}]
  | (.[] | select(.as | not)
     | "\(.e.run)/\(.e.name): expected \(.e.cheat // .e.expect), got "
       + (if .v == null then "no verdict" else
          "\(.v.outcome) honest \(.v.honest) contract \(.v.contract.ok)"
          + " ratio \(.v.time.ratio) [\(.v.time.ratio_low)"
          + ", \(.v.time.ratio_high)] \([.v.findings[]?.code] | join(","))"
          end)),
    "as expected: \(map(select(.as)) | length) of \(length)",
    "cheats caught: \(map(select(.e.cheat and .as)) | length) of \(
      map(select(.e.cheat)) | length)",
    "honest flagged: \(map(select((.e.cheat | not) and .flagged)) | length) of \(
      map(select(.e.cheat | not)) | length)"
' | {
    lines=$(cat)
    printf '%s\n' "$lines"
    [ "$(sed -n 's/^as expected: \([0-9]*\) of \1$/same/p' <<<"$lines")" = same ]
}

# Reads `ctest -V` and prints what tests/run promises. Exit 1 when anything failed.
# SPDX-License-Identifier: MIT

function number(text) { # the first number in a text
    match(text, /[0-9]+/)
    return substr(text, RSTART, RLENGTH) + 0
}

# The output of a test is kept for the case that it fails, without the cases that passed: at most 400 lines.
function keep(id, line) {
    if (line ~ /^\[ RUN/) { settle(id); open_case[id] = 1 }
    else if (line ~ /^\[       OK \]/ && open_case[id]) { pending[id] = ""; pending_lines[id] = 0; open_case[id] = 0; return }
    if (lines[id] + pending_lines[id] < 400) pending[id] = pending[id] "    " line "\n"
    pending_lines[id]++
}
function settle(id) {
    output[id] = output[id] pending[id]
    lines[id] += pending_lines[id]
    pending[id] = ""
    pending_lines[id] = 0
}

/^test [0-9]+$/ { next }

# "12: one line of output of test 12"
/^[0-9]+: / {
    id = $1 + 0
    line = substr($0, index($0, ": ") + 2)
    if (line ~ /^(Test command|Working Directory|Environment variables|Test timeout)|^ [A-Z_]+=/) next
    keep(id, line)
    if (line ~ /^\[==========\] [0-9]+ test\(s\) run/) ran[id] += number(line)
    else if (line ~ /^\[  PASSED  \] [0-9]+ test\(s\)/) passed[id] += number(line)
    else if (line ~ /^\[  SKIPPED \] [0-9]+ test\(s\)/) skipped[id] += number(line)
    else if (line ~ /^\[  (FAILED|ERROR)  ?\] [0-9]+ test\(s\)/) failed[id] += number(line)
    else if (line ~ /^skip: /) reason[id] = reason[id] "      " line "\n"
    else if (line ~ /^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/) {
        closing[id] = 1
        split(line, word, " ")
        own_passed[id] = word[1]
        own_failed[id] = word[3]
        own_skipped[id] = word[5]
    }
    next
}

# " 3/10 Test #12: core/status ......   Passed    0.01 sec"
/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
    rest = $0
    sub(/^[^#]*#/, "", rest)
    id = rest + 0
    sub(/^[0-9]+: /, "", rest)
    name = rest
    sub(/ .*/, "", name)
    ok = rest ~ / Passed +[0-9.]+ sec/
    seconds = $(NF - 1)
    p = passed[id] + 0; f = failed[id] + 0; s = skipped[id] + 0
    if (closing[id]) { p = own_passed[id] + 0; f = own_failed[id] + 0; s = own_skipped[id] + 0 }
    else if (name ~ /^examples\//) p = ok
    why = ""
    if (!ok && f == 0) { why = "ended badly: " substr(rest, index(rest, "***")); sub(/  +[0-9.]+ sec.*/, "", why); f = 1 }
    else if (p + f + s == 0) { why = "ran no case"; f = 1 }
    printf "%-6s %-34s %6d passed %4d failed %4d skipped %8.2f s%s\n", f ? "FAIL" : "ok", name, p, f, s, seconds, why ? "   " why : ""
    if (s > 0) printf "%s", reason[id] ? reason[id] : "      skip: (no reason given)\n"
    settle(id)
    more = lines[id] - 400
    if (f) printf "%s%s", output[id], (more > 0) ? "    ... (" more " more lines)\n" : ""
    fflush()
    all_passed += p; all_failed += f; all_skipped += s; programs++
    next
}

/^No tests were found/ { print "tests/run: no tests were found"; all_failed++ }
/^Errors while running CTest|^CMake Error/ { trouble = $0 }

END {
    if (!programs && !all_failed) { print "tests/run: nothing ran. " trouble; all_failed++ }
    if (all_failed) print "all output: " log_file
    printf "%d passed, %d failed, %d skipped\n", all_passed, all_failed, all_skipped
    exit all_failed > 0
}

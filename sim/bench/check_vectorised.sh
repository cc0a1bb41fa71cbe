#!/bin/sh
# Are the loops of these functions vector code? Compiles the file and reads the compiler's report.
# usage: check_vectorised.sh COMPILER SOURCE.c "FUNCTION ..." FLAGS...
#   "all": all functions of the file that have a loop
# Exit codes: 0 yes, 1 no, 77 a compiler whose report is not known (neither GCC nor clang).
set -eu

if [ $# -lt 3 ]; then
    sed -n '2,/^set/s/^# //p' "$0" >&2
    exit 64
fi
compiler=$1 source=$2 functions=$3
shift 3
case $("$compiler" --version) in
*clang*) report_flag=-Rpass=loop-vectorize wanted='remark: vectorized loop' ;;
*GCC* | *gcc* | *"Free Software Foundation"*) report_flag=-fopt-info-vec-optimized wanted='optimized: loop vectorized' ;;
*)
    echo "$compiler: its report of vectorised loops is not known; expected GCC or clang" >&2
    exit 77
    ;;
esac

report=$(mktemp)
trap 'rm -f "$report"' EXIT
"$compiler" "$@" "$report_flag" -c "$source" -o /dev/null 2>"$report" || {
    cat "$report" >&2
    exit 1
}

# In this project's style a function begins in the first column and ends with a brace there.
grep -F "$wanted" "$report" | awk -F: -v source="$source" -v functions="$functions" '
    BEGIN {
        count = functions == "all" ? 0 : split(functions, names, " ")
        for (i = 1; i <= count; i++) is_wanted[names[i]] = 1
    }
    !($2 in how) { how[$2] = $0; sub(/^[^:]*:[0-9]*:[0-9]*: [a-z]*: /, "", how[$2]) }
    END {
        while ((getline text < source) > 0) {
            line++
            if (text ~ /^[a-z].*[a-z0-9_]+\(/ && text !~ /;$/) {
                name = text
                sub(/\(.*/, "", name)
                sub(/.*[ *]/, "", name)
                inside = 1; loops = 0; vectorised = ""
            } else if (text ~ /^}/ && inside) {
                inside = 0
                if ((count > 0 && name in is_wanted) || (count == 0 && loops > 0)) {
                    checked++
                    delete is_wanted[name]
                    if (vectorised == "") {
                        printf "%s: no loop of %s is vectorised\n", source, name
                        is_bad = 1
                    } else {
                        printf "%s: %s\n", name, vectorised
                    }
                }
            }
            if (inside && text ~ /^ +for \(/) loops++
            if (inside && (line in how)) vectorised = vectorised (vectorised == "" ? "" : "; ") how[line] " in line " line
        }
        for (name in is_wanted) {
            printf "%s: no function %s\n", source, name
            is_bad = 1
        }
        if (checked == 0) {
            printf "%s: no function with a loop\n", source
            is_bad = 1
        }
        exit is_bad
    }'

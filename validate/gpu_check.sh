#!/usr/bin/env bash
# Builds, checks and times everything that needs a GPU, unattended, in less than eight minutes.
#   validate/gpu_check.sh [-p PROGRAM] [-q] [DIR]
# -p takes a program that was built elsewhere (a machine with the CUDA Toolkit is enough to build
# one; without MPI it needs no other library), -q measures little data: a trial of the script. CSV
# files and gpu_check.log go to DIR, else to $OUT, else to out/gpu of the sources. Exit code: 0 if
# all went well, 1 if a step failed, 64 or 66 if an option is wrong, 69 if there is no GPU.
set -uo pipefail
program="" some=1:9:+1,12,16 even=2:8:+2 few=1,3,4,8 timed=4,8 lanes=1,2,3 large=256MiB medium=64MiB rounds="--repetitions 10"
while getopts p:q option; do
  case $option in
    p)
      program=$(realpath "$OPTARG")
      [[ -f $program && -x $program ]] || { echo "gpu_check: -p: found \"$OPTARG\"; expected a program, allreckon-validate" >&2; exit 66; }
      ;;
    q) some=3 even=4 few=3 timed=4 lanes=3 large=1MiB medium=64KiB rounds="--repetitions 1 --warmup 0" ;;
    *) exit 64 ;;
  esac
done
shift $((OPTIND - 1))
out=${1:-${OUT:-}}
out=${out:+$(realpath -m "$out")} # of where the caller is
cd "$(dirname "$0")/.."
out=${out:-out/gpu}
failures=0

if ! gpus=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | grep -c .); then
  echo "gpu_check: no GPU here, nothing was checked" >&2
  exit 69
fi
mkdir -p "$out" || exit 74
log=$out/gpu_check.log
nvidia-smi >"$log" 2>&1
echo "gpu_check: $gpus GPU(s), results in $out"

# step NAME SECONDS COMMAND...: runs it with a limit, its own and what is left of all; what it
# prints goes to the log.
step() {
  local name=$1 limit=$2 code begin=$SECONDS left=$((460 - SECONDS))
  shift 2
  printf '\n== %s: %s\n' "$name" "$*" >>"$log"
  [ "$limit" -lt "$left" ] || limit=$left
  if [ "$limit" -le 0 ]; then
    code="no time left"
  else
    timeout -k 5 "$limit" "$@" >>"$log" 2>&1
    code=$?
  fi
  if [ "$code" = 0 ]; then
    printf '%-18s ok (%s s)\n' "$name" $((SECONDS - begin))
    return 0
  fi
  if [ "$code" = 69 ] && [ "${name%-all}" = nccl ]; then # the library is optional, the GPU is not
    printf '%-18s not there: %s\n' "$name" "$(tail -n 1 "$log")"
    return 0
  fi
  printf '%-18s FAILED with %s (%s s): %s\n' "$name" "$code" $((SECONDS - begin)) \
    "$(tail -n 1 "$log")"
  failures=$((failures + 1))
  return 1
}

build() {
  cmake -S . -B build/gpu -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF -DALLRECKON_REQUIRE_CUDA=ON &&
    cmake --build build/gpu -j "$(nproc)" --target allreckon-validate
}

if [ -z "$program" ]; then
  step build 180 bash -c "$(declare -f build); build" || exit 1
  program=$PWD/build/gpu/allreckon-validate
fi
cuda=("$program" --backend cuda --timeout 20s)

if command -v compute-sanitizer >/dev/null; then
  step memcheck 60 compute-sanitizer --leak-check full --error-exitcode 1 \
    "${cuda[@]}" --check-only --ranks 3 --channels 2
else
  echo "memcheck           skipped: no compute-sanitizer"
fi

step check-fp32 60 "${cuda[@]}" --check-only --ranks "$some" --channels "$lanes"
step check-fp16 40 "${cuda[@]}" --check-only --ranks "$even" --datatype fp16 --window 2
step check-all 60 "${cuda[@]}" --check-only --operation all --ranks "$few" --root 0
pair=$((gpus > 2 ? gpus : 2))
step probes 50 "${cuda[@]}" --probes --ranks "$pair" --payload "1MiB:$large:x4" $rounds --out "$out/probes.csv"
step times 60 "${cuda[@]}" --ranks "$timed" --payload "4KiB:$medium:x16" $rounds --out "$out/times.csv"
for operation in allgather reducescatter alltoall; do # all-to-all: a link both ways, then all pairs at once
  step "times-$operation" 30 "${cuda[@]}" --operation $operation --ranks 2,4,8 --payload "64KiB:$medium:x32" $rounds --out "$out/times-$operation.csv"
done
step nccl 60 "$program" --backend nccl --payload "4KiB:$large:x16" $rounds --out "$out/nccl.csv"
step nccl-all 60 "$program" --backend nccl --operation all --payload "4KiB:$medium:x16" $rounds --out "$out/nccl-all.csv"

# A sum reads two runs and writes one, a copy reads one and writes one.
if [ -s "$out/probes.csv" ]; then
  awk -F, '$3 == "probe-copy" || $3 == "probe-reduce" {
      rate[$3] = ($3 == "probe-copy" ? 2 : 3) * $11 / $13 / 1e9
    }
    END {
      frac = rate["probe-reduce"] / rate["probe-copy"]
      printf "memory traffic     copy %.0f GB/s, sum %.0f GB/s: %.0f %%%s\n", rate["probe-copy"],
        rate["probe-reduce"], 100 * frac, frac < 0.8 ? " (below 80 %: the kernel is slow)" : ""
    }' "$out/probes.csv"
fi
echo "gpu_check: $failures step(s) failed, $SECONDS s"
[ "$failures" -eq 0 ]

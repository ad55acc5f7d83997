#!/bin/sh
# Runs ctest and prints the counts of tests in the last line: `run-tests.sh BUILD JOBS CTEST-ARGUMENT...`.
# Exits with the exit code of ctest. A run without any test fails too.
set -u
build=$1
jobs=$2
shift 2
results=$build/test-results.xml
rm -f "$results"
ctest --test-dir "$build" --output-on-failure --no-tests=error --parallel "$jobs" \
  --output-junit "$results" "$@"
code=$?
"$build/venv/tool/bin/python" "$(dirname "$0")/count_tests.py" "$results" || code=1
exit $code

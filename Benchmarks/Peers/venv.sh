# Sourced by run and pin: a virtual environment with the peers, in $python.
#
# The peers come from PyPI, in the versions of requirements.txt, into .build.
out=$package/.build/peers
mkdir -p "$out"
python=$out/venv/bin/python
if ! [ -x "$python" ]; then python3 -m venv "$out/venv"; fi
if ! "$python" -m pip install --quiet --disable-pip-version-check \
  -r "$here/requirements.txt"; then
  echo "the peers could not be installed from PyPI: see above; going on without" >&2
fi

"""Compares or writes the blocks of figures in Markdown files. See Tests/Checks/Figures/run."""
import os
import re
import subprocess
import sys
import textwrap

BLOCK = re.compile(
    r"<!-- figures: (?P<command>.*?) -->\n(?P<text>.*?)\n?<!-- figures end -->", re.S)
PRELUDE = """
set -euo pipefail
rejoin() { "$REJOIN" "$@"; }
paragraph() { awk -v RS= -v ORS='\\n\\n' -v pattern="$1" '$0 ~ pattern'; }
compose() { python3 -B Tests/Checks/Figures/compose.py "$@"; }
pin() { Benchmarks/Peers/pin "$@" 2> /dev/null; }
peers() {
  local programs=() peer python=Benchmarks/.build/peers/venv/bin/python
  for peer in automerge loro yrs; do
    programs+=(--contender "$python -B Benchmarks/Peers/contender_$peer.py")
  done
  rejoin compare "$@" "${programs[@]}"
}
"""


def printed(command):
    """What a command prints, without blank lines around it."""
    result = subprocess.run(
        ["bash", "-c", PRELUDE + command], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{command}: status {result.returncode}\n{result.stderr}")
    return result.stdout.strip("\n")


def block(text, was):
    """The text as a block: code stays code, a table stays a table, and prose is wrapped."""
    if was.lstrip().startswith("```"):
        return f"```\n{text}\n```"
    if text.startswith("|"):
        return text
    paragraphs = (" ".join(part.split()) for part in text.split("\n\n"))
    return "\n\n".join(
        textwrap.fill(part, 100, break_long_words=False, break_on_hyphens=False)
        for part in paragraphs)


def main(files):
    wrong = checked = left = 0
    for path in files:
        with open(path, encoding="utf-8") as file:
            old = file.read()

        def replaced(match):
            nonlocal checked, left
            command = match["command"]
            if "$EPISODES" in command and not os.environ["EPISODES"]:
                left += 1
                return match[0]
            checked += 1
            text = block(printed(command), match["text"])
            return f"<!-- figures: {command} -->\n{text}\n<!-- figures end -->"

        new = BLOCK.sub(replaced, old)
        if old.count("<!-- figures: ") != len(BLOCK.findall(old)):
            sys.exit(f"{path}: a block of figures does not end")
        if new == old:
            continue
        wrong += 1
        if os.environ.get("WRITE"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)
            print(f"{path}: written")
        else:
            subprocess.run(["diff", "-u", path, "-"], input=new, text=True, check=False)
    print(f"{checked} blocks of figures checked, {left} left out without REJOIN_EPISODES")
    if wrong and not os.environ.get("WRITE"):
        sys.exit("figures differ: run WRITE=1 Tests/Checks/Figures/run")


main(sys.argv[1:])

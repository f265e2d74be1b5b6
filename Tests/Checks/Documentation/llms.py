# SPDX-License-Identifier: Apache-2.0
"""Writes an index of the pages for language models: llms.py PAGES MODULE...

PAGES is a folder with `All.doccarchive`. The format is that of https://llmstxt.org: a
title, a summary, and a list of links with the first sentence of each article.
"""

import pathlib
import re
import sys


def plain(text):
    """Text without links and line breaks."""
    text = re.sub(r"<doc:([^>]*)>", r"\1", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return " ".join(text.replace("``", "`").split())


def parts(article):
    """The title of an article, and its first paragraph."""
    text = article.read_text()
    title = re.search(r"^# (.*)$", text, re.M)
    blocks = text[title.end():].strip().split("\n\n")
    block = next(each for each in blocks if not each.startswith("@"))
    return title[1].strip("`"), plain(block)


def main():
    pages = pathlib.Path(sys.argv[1])
    lines, missing = [], []
    for module in sys.argv[2:]:
        catalogue = pathlib.Path("Sources", module, f"{module}.docc")
        landing = catalogue / f"{module}.md"
        articles = sorted(
            path for path in catalogue.rglob("*.md")
            if path != landing and not path.read_text().startswith("# ``"))
        for path in [landing, *articles]:
            title, summary = parts(path)
            page = f"documentation/{module.lower()}"
            if path == landing:
                if not lines:
                    lines = [f"# {title}", "", f"> {summary}"]
                lines += ["", f"## {module}", ""]
            else:
                page += f"/{path.stem.lower()}"
            if not (pages / "All.doccarchive/data" / f"{page}.json").exists():
                missing.append(f"{path} has no page {page}")
            lines.append(f"- [{title}](/{page}): {summary}")
    (pages / "llms.txt").write_text("\n".join(lines) + "\n")
    sys.exit("\n".join(missing) or None)


main()

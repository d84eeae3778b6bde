#!/usr/bin/env python3
"""Looks at all kinds of reports in Chromium: paper, narrow screens, contrast, names for screen readers.

  tests/report/check.py --kith build/bin/kith --out FOLDER [--axe axe.min.js] [--pictures]

First it must find the faults of a page that has them. Prints what is wrong, and exits with 1 where something is.
FOLDER keeps the reports, their PDF files and, with --pictures, what they look like. Needs chromium and poppler-utils.
"""

import argparse
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from browser import Browser, BrowserError  # noqa: E402
import samples  # noqa: E402

PAPERS = {"A4": (8.27, 11.69), "Letter": (8.5, 11)}
MARGINS = 2 * 13 / 25.4  # left and right margins of @page, in inches
HERE = os.path.dirname(os.path.abspath(__file__))

PLANTED = """<!DOCTYPE html><html><head><meta charset="utf-8"><title>x</title><style>
.scroll { overflow: auto; width: 300px; } td { white-space: nowrap; } section { break-inside: avoid; }
</style></head><body style="background:#eee"><main><h1>One</h1><section><h3>Three</h3>
<p style="color:#999;background:#fff">pale</p><img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=" alt="">
<div class="scroll"><table><tr><th>head</th><td>%s</td></tr></table></div>
<svg role="img" aria-label="a picture" viewBox="0 0 100 20" width="100"><g role="none"><title>hidden name</title><rect width="100" height="20" fill="#0b7285"
fill-opacity=".5"/><text y="15" fill="#fff">text</text></g></svg><p>&#x202e;turned</p><p>&#x5d0;</p></section></main></body></html>""" % ("wide " * 400)
PLANTED_FAULTS = {
    "light": ["pale", '"text"'],
    "narrow": ["wide in 300"],
    "A4": ["would print a scroll bar", "may be split: <tr>", "may not be split", "not white", "wide in 300"],
    "structure": ["no lang", "no title", "there are 0 footer", "a level is left out", "no scope", "no caption", "no alternative text",
                  "a picture without role", "a control character", "turn what follows"],
    "names": ["hidden name"],
}


def squeezed(text):
    return re.sub(r"\s", "", text)


def lowest_words(pdf):
    """Returns where the last word of each page ends, as a share of the page's height."""
    text = subprocess.run(["pdftotext", "-bbox", pdf, "-"], capture_output=True, text=True, check=True).stdout
    shares = []
    for page in text.split("<page ")[1:]:
        height = float(re.search(r'height="([\d.]+)"', page).group(1))
        ends = [float(end) for end in re.findall(r'yMax="([\d.]+)"', page)]
        shares.append(max(ends) / height if ends else 0)
    return shares


def is_white(pdf):
    """Returns whether the first page is white in its margins and beside the text."""
    grey = subprocess.run(["pdftoppm", "-r", "20", "-l", "1", "-gray", pdf], capture_output=True, check=True).stdout
    pixels = grey.split(b"\n", 3)[3]
    return pixels[0] == 255 and pixels.count(255) > 0.4 * len(pixels)


def on_paper(browser, checks, page, paper, most, out):
    width, height = PAPERS[paper]
    browser.emulate(media="print", width=int((width - MARGINS) * 96), height=int(height * 96))
    faults = browser.run(checks + ".printed()")
    cells, heads = browser.run(checks + ".cells()"), set(browser.run(checks + ".heads()"))
    pdf = "%s/%s-%s.pdf" % (out, page, paper)
    browser.print_to(pdf, width, height)
    text = subprocess.run(["pdftotext", "-raw", pdf, "-"], capture_output=True, text=True, check=True).stdout
    found = squeezed(text.replace("\f", ""))
    lost = [cell for cell in cells if cell not in found]
    faults += ["%d of %d cells are not on paper, the first is %r" % (len(lost), len(cells), lost[0][:60])] if lost else []
    for number, sheet in enumerate(text.split("\f")):
        faults += ["page %d ends with the head of a table: %s" % (number + 1, head[:60])
                   for head in heads if squeezed(sheet).endswith(head)]
    shares = lowest_words(pdf)
    if len(shares) > most:
        faults.append("%d pages, and %d would do" % (len(shares), most))
    faults += ["page %d ends at %d %%" % (n + 1, 100 * share) for n, share in enumerate(shares[:-1]) if share < 0.5]
    if not is_white(pdf):
        faults.append("the paper is not white")
    return faults


def unreachable(browser, checks):
    """Returns the titles of marks that a screen reader cannot reach."""
    names = {squeezed(node.get("name", {}).get("value", "")) for node in browser.accessible()}
    return ["keys do not reach the title %r" % title for title in browser.run(checks + ".titles()") if squeezed(title) not in names]


def by_axe(browser, rules):
    """Returns the faults that axe-core finds, by all of its rules or those named."""
    only = ", runOnly: %s" % rules if rules else ""
    return browser.run("axe.run(document, {resultTypes: ['violations']%s}).then(r => r.violations.map(v => "
                       "`${v.id}: ${v.help}: ${v.nodes.length} times, ${v.nodes[0].html.slice(0, 160)}`))" % only)


def look_at(browser, checks, axe, page, path, most, out, pictures):
    """Returns all faults of a page, by what was checked."""
    faults = {"files": ["asks for " + url for url in browser.open(path)]}
    faults["files"] += ["says on the console: " + event["params"]["entry"]["text"] for event in browser.events
                        if event.get("method") == "Log.entryAdded"]
    for theme in ("light", "dark"):
        browser.emulate(dark=theme == "dark")
        answer = browser.run(checks + ".contrasts()")
        faults[theme] = answer["faults"] + ([] if answer["texts"] else ["no text was seen"])
        if pictures:
            browser.picture("%s/%s-%s.png" % (out, page, theme))
    faults["structure"] = browser.run(checks + ".structure()")
    faults["names"] = unreachable(browser, checks)
    browser.emulate(width=500)
    faults["narrow"] = browser.run(checks + ".narrow()")
    if pictures:
        browser.picture("%s/%s-narrow.png" % (out, page))
    for paper in PAPERS:
        faults[paper] = on_paper(browser, checks, page, paper, most, out)
    if axe:  # last, since it adds a script, which reports must not have
        browser.emulate()
        browser.run(axe + "; true")
        faults["axe"] = by_axe(browser, [])
        browser.emulate(dark=True)
        faults["axe, dark"] = by_axe(browser, ["color-contrast"])
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kith", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--axe", help="axe-core, to look by it, too")
    parser.add_argument("--chromium", default="chromium")
    parser.add_argument("--pictures", action="store_true")
    asked = parser.parse_args()
    os.makedirs(asked.out, exist_ok=True)
    axe = open(asked.axe, encoding="utf-8").read() if asked.axe else ""
    with open(os.path.join(HERE, "checks.js"), encoding="utf-8") as file:
        checks = "(" + re.sub(r"^\s*//.*\n", "", file.read(), flags=re.M).strip() + ")"
    pages = samples.write(asked.kith, asked.out)
    wrong = 0
    with Browser(asked.chromium) as browser:
        planted = os.path.join(asked.out, "planted.html")
        with open(planted, "w", encoding="utf-8") as file:
            file.write(PLANTED)
        found = look_at(browser, checks, axe, "planted", planted, 9, asked.out, False)
        for kind, parts in PLANTED_FAULTS.items():
            for part in parts:
                if not any(part in fault for fault in found[kind]):
                    wrong += 1
                    print("planted and not found: %s: %s; found: %s" % (kind, part, found[kind]))
        if axe and not any("color-contrast" in fault for fault in found["axe"]):
            wrong += 1
            print("axe did not find the planted contrast: %s" % found["axe"])
        for page, path, most in pages:
            faults = look_at(browser, checks, axe, page, path, most, asked.out, asked.pictures)
            for kind, list_ in faults.items():
                wrong += len(list_)
                for fault in list_[:6]:
                    print("%s, %s: %s" % (page, kind, fault))
                if len(list_) > 6:
                    print("%s, %s: and %d more" % (page, kind, len(list_) - 6))
    print("%d pages%s: %s" % (len(pages), " and axe-core" if axe else "", "%d faults" % wrong if wrong else "nothing is wrong"))
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (BrowserError, OSError, subprocess.CalledProcessError) as error:
        print("check.py: %s" % error)
        sys.exit(1)

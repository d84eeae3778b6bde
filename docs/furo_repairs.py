# Debian's furo (2022.12) comes without three parts of the theme that browsers need. This writes them to _static,
# whose files come after the theme's:
#   scripts/furo.js   in one file, since browsers do not `import` in a plain script
#   dark.css          the dark colours where the browser asks for them: the theme has them for its button alone
# normalize.css, which Debian's furo expects on a web server, is replaced in kith.css as far as it shows.
import os
import re

import furo


def write(static):
    theme = os.path.join(os.path.dirname(furo.__file__), "theme", "furo", "static")
    with open(os.path.join(theme, "scripts", "furo.js"), encoding="utf-8") as file:
        script = file.read()
    if script.startswith("import Gumshoe"):
        with open(os.path.join(theme, "scripts", "gumshoe-patched.js"), encoding="utf-8") as file:
            gumshoe = file.read()
        os.makedirs(os.path.join(static, "scripts"), exist_ok=True)
        with open(os.path.join(static, "scripts", "furo.js"), "w", encoding="utf-8") as file:
            file.write(gumshoe + script.split("\n", 1)[1])
    with open(os.path.join(theme, "styles", "furo.css"), encoding="utf-8") as file:
        style = file.read()
    dark = ""
    if "prefers-color-scheme" not in style:
        colours = re.search(r'body\[data-theme="dark"\] \{([^}]*)\}', style).group(1)
        dark = '@media screen and (prefers-color-scheme: dark) { body[data-theme="auto"] {' + colours + "} }\n"
    with open(os.path.join(static, "dark.css"), "w", encoding="utf-8") as file:
        file.write(dark)

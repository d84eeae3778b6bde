# The documentation site. tools/docs runs sphinx-build on a copy of this folder, in a tree where ../lib is.
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
import api_reference  # noqa: E402
import furo_repairs  # noqa: E402

project = "kith"
copyright = "the authors of kith"
html_title = "kith"
smartquotes = False  # an option begins with two dashes
extensions = ["myst_parser", "breathe"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
breathe_projects = {"kith": os.path.join(here, "../../doxygen/xml")}
breathe_default_project = "kith"
primary_domain = "cpp"
highlight_language = "none"
# Namespaces, and the State that a handle declares and the library defines.
nitpick_ignore = [("cpp:identifier", name) for name in ("kith", "kith::stages", "kith::mpi", "kith::cuda", "kith::opencl", "MPI_Comm", "CUstream_st", "cl_mem", "cl_context",
                                                     "cl_device_id", "cl_command_queue", "State", "empty")]
# The interface of back ends is not in this reference.
nitpick_ignore_regex = [("cpp:identifier", r"spi(::.*)?")]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["kith.css", "dark.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}

furo_repairs.write(os.path.join(here, "_static"))
api_reference.write(
    [os.path.join(here, folder) for folder in ("../lib/include/kith", "../lib/include/kith/unstable", "../lib/mpi/include/kith")],
    breathe_projects["kith"], os.path.join(here, "reference/api.md"))

"""How Sphinx makes the site; build.py lays its sources out as they lie in the project."""

project = "Iceberg Workbench"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = "Iceberg Workbench"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False

# notebooks are shown as they are stored: `make check` has compared each output
nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_google_docstring = True
napoleon_use_rtype = False
add_module_names = False
# a type in a docstring may be the name of two things of ours; it is then shown without a link
suppress_warnings = ["mystnb.unknown_mime_type", "ref.python"]


def setup(app):
    """Show the text of a module as it is written: its maps and examples are laid out by columns."""

    def literal(app, what, name, value, options, lines):
        if what == "module" and lines:
            first, *rest = lines
            if any(line.startswith("    ") for line in rest):
                rest = ["", "::", "", *(f"    {line}" for line in rest)]
            lines[:] = [first.replace("*", r"\*"), *rest]

    app.connect("autodoc-process-docstring", literal, priority=1000)

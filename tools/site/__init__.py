"""The course as a web site: ``python -m tools.site`` makes it of the executed lessons, with Sphinx and MyST.

``lesson`` turns a notebook into MyST Markdown, ``outputs`` what its cells gave into HTML, ``home`` reads the README
for the first page, ``extension`` teaches Sphinx formulas and colours, ``build`` runs it all and checks what it got.
The look is in ``theme``.
"""

"""For teachers: ``python -m classroom`` makes what a class needs, from the same notebooks.

README.md beside this file is the teacher's guide.
"""

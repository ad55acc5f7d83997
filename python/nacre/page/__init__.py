"""The pages of `nacre report --html` and `nacre compare --html`: a job, or two, as one self-contained HTML file."""

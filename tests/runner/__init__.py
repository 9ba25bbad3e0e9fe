"""Runs the test stages side by side: `make test`, `make slow`, `make near`, `make soak`.

Pure: `job` (what a job is), `schedule` (which job starts next), `report` (the text at the end).
With I/O: `process` (one job's processes), `records` (durations on disk), `run` (the loop).
`catalogue` lists all jobs; `plugin` and `tests/robot/library/console.py` write the records of
pytest and of Robot Framework.
"""

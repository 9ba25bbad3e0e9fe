"""srv6-stampd: wiring only."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from srv6mgrd import settings as settings_file
from srv6mgrd.jobs import until_stopped
from srv6mgrd.settings import SettingsError
from srv6mgrd.stamp import assignments, results
from srv6mgrd.stamp.measuring import Measuring
from srv6mgrd.start import start
from srv6mgrd.storage import Problems

_NAME = "srv6-stampd"
DEFAULT_PATH = Path("/etc/srv6mgr/srv6-stampd.toml")


@dataclass(frozen=True, slots=True)
class Settings:
    """``runtime_directory`` is srv6mgrd's."""

    runtime_directory: str = "/run/srv6mgr"
    log_level: str = "info"


def _load(path: Path | None) -> Settings:
    """Raises SettingsError."""
    values, known = settings_file.table(path, DEFAULT_PATH), {one.name for one in fields(Settings)}
    for name, value in values.items():
        if name not in known or not isinstance(value, str):
            raise SettingsError(
                f"{path or DEFAULT_PATH}: {name} = {value!r} is no setting; known are"
                f" {', '.join(sorted(known))}, each a string"
            )
    return Settings(**values)


async def _run(settings: Settings) -> None:
    runtime, problems = Path(settings.runtime_directory), Problems()
    reported = results.file_in(runtime)
    reported.parent.mkdir(parents=True, exist_ok=True)
    measuring = Measuring(assignments.beside(runtime / "store"), reported, problems)
    await until_stopped(measuring.run())


def main() -> None:
    """Entry point."""
    start(
        _NAME,
        "Measures paths with STAMP.",
        _load,
        _run,
        single_instance_in=lambda settings: f"{settings.runtime_directory}/stamp",
    )


if __name__ == "__main__":
    main()

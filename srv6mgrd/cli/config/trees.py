"""Parts of a configuration as libyang has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from srv6mgrd.datastore.differences import SECRET
from srv6mgrd.datastore.secrets import secret_leaves

if TYPE_CHECKING:
    from srv6mgrd.cli.config.words import Target


def without_secrets(context: Any, configuration: str) -> str:
    """A configuration in JSON with a word in the place of each secret."""
    paths = [path for path, name in secret_leaves(context) if name.decode() in configuration]
    if not paths:
        return configuration
    tree = _parsed(context, configuration)
    try:
        for node in [node for path in paths for node in tree.find_all(path)]:
            # The placeholder need not be a value that the model permits.
            tree.new_path(node.path(), SECRET, opt_update=True, opt_store_only=True)
        return str(tree.print_mem("json", with_siblings=True, pretty=False))
    finally:
        tree.free_internal(with_siblings=True)


def as_xml(context: Any, configuration: str) -> str:
    """The same in XML."""
    tree = _parsed(context, configuration)
    try:
        return str(tree.print_mem("xml", with_siblings=True, pretty=True))
    finally:
        tree.free_internal(with_siblings=True)


def made(context: Any, target: Target) -> str:
    """An object with the values that are given, as JSON from the root down. Raises
    LibyangError."""
    tree = context.create_data_path(target.path).root()
    try:
        for path, value in target.values:
            tree.new_path(path, value, opt_update=True)
        return str(tree.print_mem("json", with_siblings=True, pretty=False))
    finally:
        tree.free_internal(with_siblings=True)


def _parsed(context: Any, configuration: str) -> Any:
    return context.parse_data_mem(
        configuration, "json", parse_only=True, no_state=True, strict=True, store_only=True
    )

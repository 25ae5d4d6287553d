"""YAML loader for CI files, with limits that refuse a file before it is expanded."""

from typing import Any

import msgspec
import yaml

from ingot.ci.config.errors import ConfigError

MAX_BYTES = 2 * 2**20
MAX_DEPTH = 100
MAX_NODES = 200_000
"""Maximum number of values after all aliases are expanded."""
MAX_DOCUMENTS = 2
_TIMESTAMP = "tag:yaml.org,2002:timestamp"


class Reference(msgspec.Struct, frozen=True):
    """A ``!reference [job, key, …]`` tag, resolved after ``extends``."""

    path: tuple[str, ...]

    def __str__(self) -> str:
        return f"!reference {msgspec.json.encode(self.path).decode()}"


class _Loader(yaml.CSafeLoader):
    """Loader that builds references, and strings instead of dates."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - The library reads it as a class attribute.
        first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
        for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }


def _construct_reference(loader: yaml.CSafeLoader, node: yaml.Node) -> Reference:
    path = loader.construct_sequence(node, deep=True) if isinstance(node, yaml.SequenceNode) else None
    if not path or not all(isinstance(part, str) for part in path):
        raise ConfigError("!reference config should be an array of strings")
    return Reference(tuple(path))


_Loader.add_constructor("!reference", _construct_reference)


def load_documents(text: str | bytes) -> list[Any]:
    """Parse a file with one document, or with a header and one document; raise ConfigError if it is refused."""
    if len(text) > MAX_BYTES:
        raise ConfigError(f"The file is larger than {MAX_BYTES // 2**20} MiB")
    loader = None
    documents = []
    try:
        if isinstance(text, bytes):
            text = text.decode()
        loader = _Loader(text)
        while loader.check_node():
            node = loader.get_node()
            _measure(node, {}, 0)
            documents.append(loader.construct_document(node))
            if len(documents) > MAX_DOCUMENTS:
                raise ConfigError("The file contains more than two YAML documents")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" at line {mark.line + 1} column {mark.column + 1}" if mark else ""
        raise ConfigError(f"Invalid configuration format: {error.problem}{where}") from error
    except (yaml.YAMLError, ValueError, TypeError) as error:
        raise ConfigError("Invalid configuration format") from error
    finally:
        if loader is not None:
            loader.dispose()
    return documents


def _measure(node: yaml.Node, sizes: dict[int, int], depth: int) -> int:
    """Return the number of values below a node with its aliases expanded; raise ConfigError beyond the limits."""
    if depth > MAX_DEPTH:
        raise ConfigError("The parsed YAML is nested too deeply")
    known = sizes.get(id(node))
    if known is not None:
        if known == 0:
            raise ConfigError("The YAML contains an alias to itself")
        return known
    sizes[id(node)] = 0
    size = 1
    if isinstance(node, yaml.SequenceNode):
        size += sum(_measure(item, sizes, depth + 1) for item in node.value)
    elif isinstance(node, yaml.MappingNode):
        size += sum(_measure(part, sizes, depth + 1) for pair in node.value for part in pair)
    if size > MAX_NODES:
        raise ConfigError("The parsed YAML is too big")
    sizes[id(node)] = size
    return size

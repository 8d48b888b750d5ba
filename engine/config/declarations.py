"""How the keys of the configuration are declared: looked up by their place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo


def declared(
    settings: type[BaseModel], place: Sequence[str | int]
) -> tuple[type[BaseModel], FieldInfo | None]:
    """The model in which a key stands, and how it is declared there."""
    model, field, rest = settings, None, list(place)
    while rest:
        name = rest.pop(0)
        field = fields_of(model).get(str(name))
        inner = model_of(field.annotation) if field else None
        if field is None or not rest:
            break
        if any(holds(field.annotation, kind) for kind in (dict, tuple, list)):
            rest.pop(0)  # the name of an entry, or its number
            if not rest:
                break
        if inner is None:
            break
        model = inner
    return model, field


def fields_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The keys of a table as they are written, and how each is declared."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def keys_of(model: type[BaseModel]) -> list[str]:
    """The keys of a table as they are written."""
    return list(fields_of(model))


def homes_of(settings: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    """The tables of a file, as they are named to people."""
    yield "at the top of the file, above the first [table]", settings
    for name, field in settings.model_fields.items():
        entry = model_of(field.annotation)
        if entry is None:
            continue
        is_list = holds(field.annotation, tuple)
        head = f"[[{name}]]" if is_list else f"[{name}.NAME]"
        yield f"in {head}", entry
        for key, nested in fields_of(entry).items():
            if (inner := model_of(nested.annotation)) is not None:
                yield f"in {key} = {{...}} of {head}", inner


def model_of(annotation: Any) -> type[BaseModel] | None:
    """The model that some type is, or holds."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for one in get_args(annotation) if (found := model_of(one))), None)


def holds(annotation: Any, kind: type) -> bool:
    """Whether a type is such a container, or may be one."""
    return get_origin(annotation) is kind or any(
        get_origin(one) is kind for one in get_args(annotation)
    )

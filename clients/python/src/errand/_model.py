from typing import Any, get_args, get_origin

from pydantic import BaseModel, ConfigDict, TypeAdapter


class Model(BaseModel):
    """An object of the API. Members that this version of the client does not know are kept as attributes."""

    model_config = ConfigDict(extra="allow", frozen=True, protected_namespaces=())


def partly(kind: Any, value: Any) -> Any:
    """Reads a value whose objects may lack required members. These are no attributes of the model then."""
    if get_origin(kind) is list and isinstance(value, list):
        (entry_kind,) = get_args(kind)
        return [partly(entry_kind, entry) for entry in value]
    if isinstance(kind, type) and issubclass(kind, Model) and isinstance(value, dict):
        fields = kind.model_fields
        members = {
            name: partly(fields[name].annotation, member) if name in fields else member
            for name, member in value.items()
        }
        return kind.model_construct(**members)
    return TypeAdapter(kind).validate_python(value)

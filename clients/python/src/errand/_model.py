from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """An object of the API. Members that this version of the client does not know are kept as attributes."""

    model_config = ConfigDict(extra="allow", frozen=True, protected_namespaces=())

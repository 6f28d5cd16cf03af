import { useState } from "react";
import { Button, ListBox, ListBoxItem, Popover, Select, SelectValue } from "react-aria-components";
import { Icon } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";

export interface FilterOption {
  readonly id: string;
  readonly name: string;
}

/** Reads the values when they are needed. Undefined: they are not known yet. */
export type UseOptions = (isNeeded: boolean) => readonly FilterOption[] | undefined;

/** A button that opens the values of a filter. The values are read when it is first opened, or to name the chosen one. */
export function Filter({
  name,
  value,
  useOptions,
  onChange,
}: {
  readonly name: string;
  readonly value: string | undefined;
  readonly useOptions: UseOptions;
  readonly onChange: (value: string | undefined) => void;
}) {
  const [wasOpened, setWasOpened] = useState(false);
  const options = useOptions(wasOpened || value !== undefined);
  const chosen = value && (options?.find(({ id }) => id === value)?.name ?? value);
  return (
    <span className="filter">
      <Select
        aria-label={chosen ? `${name} ${chosen}` : name}
        value={value ?? null}
        onChange={(key) => onChange(key === null ? undefined : String(key))}
        onOpenChange={() => setWasOpened(true)}
        allowsEmptyCollection
      >
        <Button className={value === undefined ? "pick" : "pick on"}>
          <span className="key">{name}</span>
          {value !== undefined && (
            <SelectValue>
              {" "}
              <b>{chosen}</b>
            </SelectValue>
          )}
          {value === undefined && <Icon name="chevronDown" />}
        </Button>
        <Popover className="popover">
          <ListBox
            items={options ?? []}
            renderEmptyState={() => <p className="hint pad">{options ? "There is none." : "Loading…"}</p>}
          >
            {(option) => (
              <ListBoxItem className="option" id={option.id} textValue={option.name}>
                {option.name}
              </ListBoxItem>
            )}
          </ListBox>
        </Popover>
      </Select>
      {value !== undefined && (
        <IconButton icon="close" name={`Remove the filter ${name}`} onClick={() => onChange(undefined)} />
      )}
    </span>
  );
}

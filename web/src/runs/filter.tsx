import { type KeyboardEvent, lazy, type ReactNode, Suspense, useState } from "react";
import { Icon } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { load } from "../server/load.ts";

const FilterMenu = lazy(async () => ({
  default: (await load(() => import("./filter-menu.tsx"))).FilterMenu,
}));

export interface FilterOption {
  readonly id: string;
  readonly name: string;
}

/** Reads the values when they are needed. Undefined: they are not known yet. */
export type UseOptions = (isNeeded: boolean) => readonly FilterOption[] | undefined;

/** A button that opens the values of a filter. They and their menu are loaded when it is first opened. */
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
  const look = {
    className: value === undefined ? "pick" : "pick on",
    children: (
      <>
        <span className="key">{name}</span>
        {value === undefined ? <Icon name="chevronDown" /> : <b> {chosen}</b>}
      </>
    ),
  };
  const label = chosen ? `${name} ${chosen}` : name;
  const closed = <ClosedFilter {...look} label={label} onOpen={() => setWasOpened(true)} />;
  return (
    <span className="filter">
      {wasOpened ? (
        <Suspense fallback={closed}>
          <FilterMenu {...look} {...{ label, value, options, onChange }} />
        </Suspense>
      ) : (
        closed
      )}
      {value !== undefined && (
        <IconButton icon="close" name={`Remove the filter ${name}`} onClick={() => onChange(undefined)} />
      )}
    </span>
  );
}

/** Looks like the menu that takes its place, and is opened by the same keys. */
function ClosedFilter({
  className,
  label,
  onOpen,
  children,
}: {
  readonly className: string;
  readonly label: string;
  readonly onOpen: () => void;
  readonly children: ReactNode;
}) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      onOpen();
    }
  };
  return (
    <button
      type="button"
      className={className}
      aria-label={label}
      aria-haspopup="listbox"
      aria-expanded="false"
      onClick={onOpen}
      onKeyDown={onKeyDown}
    >
      {children}
    </button>
  );
}

import { type ReactNode, useEffect, useRef, useState } from "react";
import { Button, ListBox, ListBoxItem, Popover, Select } from "react-aria-components";

/** The button of a filter with its values, which are open at first. */
export function FilterMenu({
  className,
  label,
  value,
  options,
  onChange,
  children,
}: {
  readonly className: string;
  readonly label: string;
  readonly value: string | undefined;
  /** Undefined: they are not known yet. */
  readonly options: readonly { readonly id: string; readonly name: string }[] | undefined;
  readonly onChange: (value: string | undefined) => void;
  readonly children: ReactNode;
}) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    // This button stands in place of the one that was pressed, and gets the focus back when the values close.
    button.current?.focus();
    setOpen(true);
  }, []);
  return (
    <Select
      aria-label={label}
      value={value ?? null}
      onChange={(key) => onChange(key === null ? undefined : String(key))}
      isOpen={isOpen}
      onOpenChange={setOpen}
      allowsEmptyCollection
    >
      <Button className={className} ref={button}>
        {children}
      </Button>
      <Popover className="popover">
        <ListBox
          items={options ?? []}
          renderEmptyState={() => <p className="hint pad">{options ? "There is none." : "Loading…"}</p>}
        >
          {({ id, name }) => (
            <ListBoxItem className="option" id={id} textValue={name}>
              {name}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </Select>
  );
}

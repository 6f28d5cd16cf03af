import type { ComponentProps } from "react";
import { Icon, type IconName } from "./icon.tsx";

/** A button that shows only an icon. `name` is what screen readers say; a pointer shows it, with the key if there is one. */
export function IconButton({
  icon,
  name,
  keyName,
  className = "ghost",
  ...attributes
}: Pick<
  ComponentProps<"button">,
  "aria-expanded" | "aria-haspopup" | "className" | "disabled" | "onClick"
> & {
  readonly icon: IconName;
  readonly name: string;
  readonly keyName?: string;
}) {
  return (
    <button
      type="button"
      className={`btn ${className} only-icon`}
      aria-label={name}
      title={keyName === undefined ? name : `${name} (${keyName})`}
      {...attributes}
    >
      <Icon name={icon} />
    </button>
  );
}

import type { ReactNode } from "react";

/** What scrolls must be reachable with the keyboard, and named. */
export function ScrollBox({
  className,
  label,
  children,
}: {
  readonly className: string;
  readonly label: string;
  readonly children: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: It is no group of fields.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: Otherwise the keyboard cannot scroll it.
    <div className={className} role="group" tabIndex={0} aria-label={label}>
      {children}
    </div>
  );
}

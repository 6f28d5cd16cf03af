import { type ReactNode, useId } from "react";
import { Icon } from "../parts/icon.tsx";

export function Step({
  number,
  title,
  isDone = false,
  children,
}: {
  readonly number: number;
  readonly title: string;
  readonly isDone?: boolean;
  readonly children: ReactNode;
}) {
  const id = useId();
  return (
    <section className={isDone ? "setup-step ok" : "setup-step"} aria-labelledby={id}>
      <span className="number" aria-hidden="true">
        {isDone ? <Icon name="check" /> : number}
      </span>
      <div>
        <h2 id={id}>
          {title}
          {isDone && <span className="sr"> (done)</span>}
        </h2>
        {children}
      </div>
    </section>
  );
}

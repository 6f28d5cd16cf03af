import { type ReactNode, useSyncExternalStore } from "react";
import { Icon } from "./icon.tsx";
import { IconButton } from "./icon-button.tsx";
import { problemText } from "./problem.tsx";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly isError: boolean;
}

const SHOWN_MS = 6_000;

let toasts: readonly Toast[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

function set(changed: readonly Toast[]): void {
  toasts = changed;
  for (const listener of listeners) {
    listener();
  }
}

/** Shows a message for six seconds. */
export function say(text: string): void {
  const toast = { id: nextId++, text, isError: false };
  set([...toasts, toast]);
  setTimeout(() => close(toast.id), SHOWN_MS);
}

/** Shows an error until the user closes it. */
export function sayProblem(error: unknown): void {
  const { message, remedy } = problemText(error);
  set([...toasts, { id: nextId++, text: [message, remedy].filter(Boolean).join(" "), isError: true }]);
}

function close(id: number): void {
  set(toasts.filter((toast) => toast.id !== id));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Toasts({ children }: { readonly children: ReactNode }) {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {children}
      {shown.map(({ id, text, isError }) => (
        <div key={id} className="toast">
          {isError && <Icon name="warning" />}
          <span dir="auto">{text}</span>
          <IconButton icon="close" name="Close" onClick={() => close(id)} />
        </div>
      ))}
    </div>
  );
}

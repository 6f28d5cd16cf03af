import type { ShownPath } from "../model/workspaces/workspace.ts";

/** Removes secrets from text that will be stored or shown. */
export interface Redactor {
  redact(text: string): string;
  /** The number of characters at the end of `text` that may be the beginning of a secret. */
  openTail(text: string): number;
}

/**
 * Creates redactors for runs. Until they are released, the secrets of the run are also removed from the process log.
 * A redactor also replaces the worker's own paths by those that the reader knows.
 */
export interface RunRedactors {
  create(secrets: readonly string[], paths: readonly ShownPath[]): Redactor & { release(): void };
}

/** Takes secrets out of text that is going to be stored or shown. */
export interface Redactor {
  redact(text: string): string;
  /** How many characters at the end of `text` may be the beginning of a secret that the next piece goes on with. */
  openTail(text: string): number;
}

/** Makes redactors for runs, whose secrets are kept out of the process's own log as well until they are released. */
export interface RunRedactors {
  lend(secrets: readonly string[]): Redactor & { release(): void };
}

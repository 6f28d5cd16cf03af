/**
 * Reports what a fetch is doing, at most once per interval: the newest progress of git, or how long the host has sent
 * nothing. The host may need minutes to prepare a large repository.
 */
export class FetchProgress {
  readonly #report: (line: string) => void;
  readonly #timer: NodeJS.Timeout;
  #line: string | undefined;
  #lastAt = performance.now();

  constructor(report: (line: string) => void, intervalMs: number) {
    this.#report = report;
    this.#timer = setInterval(() => this.#tell(), intervalMs);
  }

  readonly note = (line: string): void => {
    this.#line = line;
    this.#lastAt = performance.now();
  };

  end(): void {
    clearInterval(this.#timer);
  }

  #tell(): void {
    const seconds = Math.round((performance.now() - this.#lastAt) / 1_000);
    this.#report(this.#line ?? `The git host has sent nothing for ${seconds} s.`);
    this.#line = undefined;
  }
}

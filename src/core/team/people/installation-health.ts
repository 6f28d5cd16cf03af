import type { Clock } from "../../basics/clock.ts";
import { defined } from "../../basics/defined.ts";
import { type AppError, Misconfigured, messageWithRemedy } from "../../basics/errors.ts";
import type { Log } from "../../basics/log.ts";
import type { InstallationStore } from "../../ports/stores/people-stores.ts";

/** How long a process does not record again that an installation works. */
const KNOWN_MS = 60_000;

export interface InstallationHealthDeps {
  readonly installations: Pick<InstallationStore, "setProblem">;
  readonly clock: Clock;
  readonly log: Log;
}

/** Records which installations refuse the app, from the results of calls that are made anyway. */
export class InstallationHealth {
  readonly #deps: InstallationHealthDeps;
  readonly #worksUntilMs = new Map<string, number>();

  constructor(deps: InstallationHealthDeps) {
    this.#deps = deps;
  }

  /** A call succeeded. */
  async worked(adapter: string, externalId: string): Promise<void> {
    const key = `${adapter} ${externalId}`;
    const nowMs = this.#deps.clock.now().getTime();
    if ((this.#worksUntilMs.get(key) ?? 0) > nowMs) {
      return;
    }
    this.#worksUntilMs.set(key, nowMs + KNOWN_MS);
    await this.#note({ adapter, externalId }, undefined);
  }

  /** A call failed. Only a refused token says something about the installation, or about all if it is unknown. */
  async failed(error: unknown, adapter: string, externalId?: string): Promise<void> {
    if (isTokenRefused(error)) {
      await this.removed(messageWithRemedy(error), adapter, externalId);
    }
  }

  /** The app no longer has access there. */
  async removed(problem: string, adapter: string, externalId?: string): Promise<void> {
    this.#worksUntilMs.clear();
    await this.#note(defined({ adapter, externalId }), problem);
  }

  /** The call itself has its own end, so a failure here must not change that. */
  async #note(...args: Parameters<InstallationStore["setProblem"]>): Promise<void> {
    try {
      await this.#deps.installations.setProblem(...args);
    } catch (error) {
      this.#worksUntilMs.clear();
      this.#deps.log.warn("installation.not_noted", { ...args[0], error });
    }
  }
}

function isTokenRefused(error: unknown): error is AppError {
  return error instanceof Misconfigured && error.code === "external_authentication_required";
}

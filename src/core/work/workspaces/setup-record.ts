import { AppError } from "../../basics/errors.ts";
import type { Environment } from "../../model/workspaces/environment.ts";
import type { WorkspaceStep } from "../../model/workspaces/workspace.ts";
import type { Storage } from "../../ports/stores/storage.ts";

/** Records with an environment whether its setup commands failed the last time. */
export class SetupRecord {
  readonly #storage: Pick<Storage, "environments">;
  readonly #environment: Environment;
  #wasTried: boolean;
  /** The setup failed because of the run's own input. */
  #isRunsFault = false;

  /** `isTest`: the result counts even if there was nothing to do. */
  constructor(storage: Pick<Storage, "environments">, environment: Environment, isTest = false) {
    this.#wasTried = isTest;
    this.#storage = storage;
    this.#environment = environment;
  }

  observing(onStep: (step: WorkspaceStep) => void): (step: WorkspaceStep) => void {
    return (step) => {
      this.#wasTried = true;
      onStep(step);
    };
  }

  /** Exempts work from the record, because its failure says nothing about the environment. */
  exempt<T>(work: () => Promise<T>): () => Promise<T> {
    return async () => {
      try {
        return await work();
      } catch (error) {
        this.#isRunsFault = true;
        throw error;
      }
    };
  }

  /** Undefined: it succeeded. */
  async ended(error: unknown): Promise<void> {
    if (error !== undefined) {
      await this.failed(error);
    } else if (this.#wasTried) {
      await this.#store(false);
    }
  }

  async failed(error: unknown): Promise<void> {
    const isSetup = error instanceof AppError && error.code === "environment_setup_failed";
    if (isSetup && !this.#isRunsFault) {
      await this.#store(true);
    }
  }

  /** If the environment was changed meanwhile, this result is not stored. */
  async #store(setupFailed: boolean): Promise<void> {
    const used = this.#environment;
    if (used.setupFailed === setupFailed) {
      return;
    }
    await this.#storage.environments.replace({ ...used, setupFailed }, used.updatedAt);
  }
}

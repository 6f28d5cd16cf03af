import type { AdapterDeps } from "../adapters/registry.ts";
import type { PrivateCommands } from "../core/threads/inbox/private-commands.ts";

/** What adapters call of parts that are made from the adapters. It is connected before anything is started. */
export class AdapterConnection implements Pick<AdapterDeps, "answerCommand" | "searchChoices" | "views"> {
  #parts: AdapterParts | undefined;

  connect(parts: AdapterParts): void {
    this.#parts = parts;
  }

  answerCommand: AdapterDeps["answerCommand"] = async (command) =>
    required(this.#parts).commands.answer(command);
  searchChoices: AdapterDeps["searchChoices"] = async (search) => required(this.#parts).search(search);
  readonly views: AdapterDeps["views"] = {
    form: async (request) => required(this.#parts).views.form(request),
    home: async (request) => required(this.#parts).views.home(request),
    preview: async (request, key) => required(this.#parts).views.preview(request, key),
  };
}

interface AdapterParts {
  readonly commands: Pick<PrivateCommands, "answer">;
  readonly search: AdapterDeps["searchChoices"];
  readonly views: AdapterDeps["views"];
}

function required<T>(part: T | undefined): T {
  if (part === undefined) {
    throw new Error("An adapter was called before it was connected.");
  }
  return part;
}

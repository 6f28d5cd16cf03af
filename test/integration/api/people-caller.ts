import { type Answer, type Call, call } from "./api-caller.ts";
import type { ApiHarness } from "./api-harness.ts";

/** Sends the requests of tests about people. `path` is relative to `/api/v1/agent`. */
export class PeopleCaller {
  readonly #harness: () => ApiHarness;

  constructor(harness: () => ApiHarness) {
    this.#harness = harness;
  }

  readonly ask = (path: string, options: Call = {}): Promise<Answer> =>
    call(this.#harness(), `/api/v1/agent${path}`, options);

  readonly patch = (path: string, body: object): Promise<Answer> => this.ask(path, { method: "PATCH", body });

  readonly remove = (path: string): Promise<Answer> => this.ask(path, { method: "DELETE" });

  readonly aKey = (body: object = {}, options: Call = {}): Promise<{ id: string; key: string }> =>
    this.#made("/keys", { ...options, body: { name: "x", scopes: ["runs:read"], ...body } });

  /** Creates a principal and returns its uid. */
  readonly aPrincipal = async (body: object = {}): Promise<string> => {
    const made = await this.#made("/principals", { body: { type: "user", display_name: "Ada", ...body } });
    return made.uid;
  };

  async #made(path: string, options: Call): Promise<Answer["body"]> {
    const answer = await this.ask(path, options);
    if (answer.status !== 201) {
      throw new Error(`${path}: ${answer.status} ${answer.text}`);
    }
    return answer.body;
  }
}

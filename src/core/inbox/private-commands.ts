import type { Principal } from "../people/principal.ts";
import { createSignInLink, type SignInLinkDeps } from "../people/sign-in-link.ts";
import type { RunSource } from "../runs/sources.ts";
import { STATE_PHRASES } from "../runs/states.ts";
import type { Storage } from "../storage.ts";
import type { Authorization } from "../threads/thread-adapter.ts";
import { admitAuthor } from "./admit-author.ts";
import type { InboxDeps } from "./message-context.ts";

/** A command whose answer the platform shows to its author alone, at once. Nothing of it is stored. */
export interface PrivateCommand {
  readonly name: "link" | "status";
  readonly adapter: string;
  readonly source: RunSource;
  readonly installation: string;
  readonly place: string;
  readonly authorization: Authorization;
}

export interface PrivateCommandsDeps extends Pick<InboxDeps, "policies" | "runs"> {
  readonly storage: Pick<Storage, "installations" | "people" | "signInLinks">;
  readonly clock: SignInLinkDeps["clock"];
  readonly makeToken: SignInLinkDeps["makeToken"];
  readonly publicUrl: SignInLinkDeps["publicUrl"];
}

const SWITCHED_OFF = "This integration is not switched on here. An administrator of the server can do that.";
const RUNS_MAX = 5;

/** Answers private commands, for callers whom the rules of messages admit. */
export class PrivateCommands {
  readonly #deps: PrivateCommandsDeps;

  constructor(deps: PrivateCommandsDeps) {
    this.#deps = deps;
  }

  async answer({
    adapter,
    authorization,
    installation: id,
    name,
    place,
    source,
  }: PrivateCommand): Promise<string> {
    const { enabled, teamId } = await this.#deps.storage.installations.ensure(adapter, id);
    if (!enabled) {
      return SWITCHED_OFF;
    }
    if (!authorization.allowed) {
      return authorization.reason;
    }
    const { roles = [] } = authorization;
    const from = { source, integration: adapter, installation: id, place, roles };
    const admitted = await admitAuthor(authorization, { from, teamId }, this.#deps);
    if ("refusal" in admitted) {
      return admitted.refusal;
    }
    return name === "link" ? this.#link(admitted.author) : this.#status(admitted.author);
  }

  async #link(author: Principal): Promise<string> {
    const { url } = await createSignInLink(this.#deps, author);
    return `This link signs you in. It works once, for ten minutes, and is for nobody else: ${url}`;
  }

  async #status(author: Principal): Promise<string> {
    const { runs } = this.#deps;
    const filters = { creatorId: author.id };
    const query = { viewer: author, filters, sort: "updated_at", order: "desc", limit: RUNS_MAX } as const;
    const page = await runs.list(query);
    const lines = page.runs.map(
      (run) => `• "${run.title}" ${STATE_PHRASES[run.state]}. ${runs.sessionLink(run)}`,
    );
    return lines.length === 0 ? "You have no runs yet." : ["Your latest runs:", ...lines].join("\n");
  }
}

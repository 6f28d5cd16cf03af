import { defined } from "../../basics/defined.ts";
import { AppError, messageWithRemedy } from "../../basics/errors.ts";
import { isOperator, type Principal } from "../../model/people/principal.ts";
import type { RequestOrigin } from "../../model/policies/request-origin.ts";
import type { RunSource } from "../../model/runs/sources.ts";
import { STATE_PHRASES } from "../../model/runs/states.ts";
import type { NamedFinding } from "../../ports/check.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import type { Authorization } from "../../ports/thread-adapter.ts";
import type { RequestDefaultsService } from "../../requests/routing/request-defaults-service.ts";
import { createSignInLink, type LinkRequest, type SignInLinkDeps } from "../../team/keys/sign-in-service.ts";
import { admitAuthor } from "./admit-message.ts";
import type { InboxDeps } from "./message-context.ts";
import { refusalText } from "./message-results.ts";
import { withOptionName } from "./parse-command.ts";
import { answerSettings, type SettingsCommand } from "./settings-command.ts";

export const PRIVATE_COMMANDS = ["doctor", "link", "runs", "settings", "status"] as const;
export type PrivateCommandName = (typeof PRIVATE_COMMANDS)[number];

/** A person asks for something that the platform shows to that person alone, at once. Nothing of it is stored. */
export interface PrivateRequest {
  readonly adapter: string;
  readonly source: RunSource;
  readonly installation: string;
  /** Absent: it was not asked in a channel. */
  readonly place?: string;
  readonly authorization: Authorization;
}

export interface PrivateCommand extends PrivateRequest {
  readonly name: PrivateCommandName;
  /** What stands after the name. */
  readonly text: string;
  readonly place: string;
  /** The platform's id of this command. */
  readonly requestId: string;
}

export interface PrivateCommandsDeps extends Pick<InboxDeps, "joins" | "policies" | "runs"> {
  readonly storage: Pick<Storage, "environments" | "installations" | "people" | "signInLinks">;
  readonly requestDefaults: RequestDefaultsService;
  readonly gitUrl: string;
  readonly doctor: { examine(): Promise<readonly NamedFinding[]> };
  readonly clock: SignInLinkDeps["clock"];
  readonly digest: SignInLinkDeps["digest"];
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

  async answer(command: PrivateCommand): Promise<string> {
    const { adapter, installation, name, place, requestId, text } = command;
    const admitted = await admitPerson(command, this.#deps);
    if ("refusal" in admitted) {
      return admitted.refusal;
    }
    const { author } = admitted;
    switch (name) {
      case "doctor":
        return this.#doctor(author);
      case "link":
        return this.#link(author, { subject: admitted.subject, requestId });
      case "runs":
      case "status":
        return this.#status(author);
      case "settings":
        return this.#settings({ author, text, place: { adapter, installation, place } });
      default:
        return name satisfies never;
    }
  }

  /** A copy of a signed command gets no link. */
  async #link(author: Principal, request: LinkRequest): Promise<string> {
    const link = await createSignInLink(this.#deps, author, request);
    if (link === undefined) {
      return "This command already got its link. Send it again for a new one.";
    }
    return (
      "Open this link to sign in to the pages of Errand. If your browser is signed in already, the page offers to join " +
      `this account with that user. The link works once, within ten minutes. Do not share it: ${link.url}`
    );
  }

  async #settings(command: SettingsCommand): Promise<string> {
    try {
      return await answerSettings(command, this.#deps);
    } catch (error) {
      if (error instanceof AppError && !error.retryable) {
        return withOptionName(messageWithRemedy(error));
      }
      throw error;
    }
  }

  /** The checks look at the whole server, so they are for its operators. */
  async #doctor(author: Principal): Promise<string> {
    if (!isOperator(author)) {
      return "Only administrators of the server see its checks.";
    }
    const findings = await this.#deps.doctor.examine();
    const bad = findings.filter(({ status }) => status !== "ok");
    const lines = bad.map(
      ({ message, name, remedy, status }) =>
        `• ${status === "fail" ? "❌" : "⚠️"} ${name}: ${message}${remedy === undefined ? "" : ` ${remedy}`}`,
    );
    return lines.length === 0 ? `All ${findings.length} checks are ok.` : lines.join("\n");
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

/** The person as the rules of messages admit it, or why nothing is shown to it. */
export async function admitPerson(
  { adapter, authorization, installation: id, place, source }: PrivateRequest,
  deps: Pick<InboxDeps, "joins" | "policies"> & {
    readonly storage: Pick<Storage, "installations" | "people">;
  },
): Promise<
  | { readonly author: Principal; readonly from: RequestOrigin; readonly subject: string }
  | { readonly refusal: string }
> {
  const { enabled, teamId } = await deps.storage.installations.ensure(adapter, id);
  if (!enabled) {
    return { refusal: SWITCHED_OFF };
  }
  if (!authorization.allowed) {
    return { refusal: authorization.reason };
  }
  const { roles = [] } = authorization;
  const from = { source, integration: adapter, installation: id, ...defined({ place }), roles };
  const admitted = await admitAuthor(authorization, { from, teamId }, deps);
  return "refusal" in admitted
    ? { refusal: await refusalText(admitted.refusal, teamId, deps.storage) }
    : { author: admitted.author, from, subject: authorization.author.subject };
}

import type { WebClient } from "@slack/web-api";
import { AppError } from "../../core/basics/errors.ts";
import { callSlack } from "./client.ts";

/** Who the app is in its workspace. */
export interface Bot {
  readonly teamId: string;
  readonly userId: string;
  readonly botId: string | undefined;
  /** The ids of the app's bots of the other workspaces that share the channel. */
  readonly otherIds?: readonly string[];
  /** What people write after the `@`. */
  readonly name?: string | undefined;
  /** The workspace's address, `https://acme.slack.com/`. */
  readonly workspaceUrl: string | undefined;
}

/** Whether it is the id of the app in the channel, as a user or as a bot. */
export function isBot({ botId, otherIds = [], userId }: Bot, id: string | undefined): boolean {
  return id !== undefined && (id === userId || id === botId || otherIds.includes(id));
}

/**
 * Asks Slack who the bot is at first use, so that Errand starts while Slack is unreachable. Failures are not cached.
 */
export class BotIdentity {
  readonly #client: WebClient;
  #known: Promise<Bot> | undefined;

  constructor(client: WebClient) {
    this.#client = client;
  }

  get(): Promise<Bot> {
    this.#known ??= this.#ask().catch((error: unknown) => {
      this.#known = undefined;
      throw error;
    });
    return this.#known;
  }

  async #ask(): Promise<Bot> {
    const answer = await callSlack("auth.test", this.#client.auth.test());
    const { team_id: teamId, user_id: userId, bot_id: botId, url: workspaceUrl, user: name } = answer;
    if (teamId && userId) {
      return { teamId, userId, botId, name: name || undefined, workspaceUrl };
    }
    throw new AppError("resource_unavailable", "Slack did not say who the bot is.", { retryable: true });
  }
}

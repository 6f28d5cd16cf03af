import type { WebClient } from "@slack/web-api";
import { AppError } from "../../core/basics/errors.ts";
import { type ClientDeps, callSlack, createClient } from "./client.ts";
import type { SlackConfig } from "./config.ts";
import { slackCodeOf } from "./errors.ts";
import { type Bot, BotIdentity } from "./identity.ts";
import { Posts } from "./posts.ts";

/** A workspace, as Slack names it in what it sends. */
export interface WorkspaceAddress {
  readonly teamId: string;
  /** The organization of the workspace, on Enterprise Grid. */
  readonly enterpriseId?: string | undefined;
}

/** The tokens of the workspaces and organizations that installed the app. */
export interface WorkspaceTokens {
  /** That of the workspace, otherwise that of its organization. Undefined: neither has installed the app. */
  tokenOf(address: WorkspaceAddress): Promise<string | undefined>;
  /** Whether any workspace has an installation. */
  isAny(): Promise<boolean>;
  /** Slack says that the app was removed from this workspace or organization, or `from` an organization's workspace. */
  remove(id: string, from: string): Promise<void>;
}

/** The app in one workspace. */
export interface Workspace {
  readonly client: WebClient;
  readonly botToken: string;
  readonly posts: Posts;
  bot(): Promise<Bot>;
  /** Whether the bot is a member of the channel, as far as it may know. */
  isIn(channel: string): Promise<boolean>;
}

/** How long a process uses a token without looking it up again. */
const KNOWN_MS = 60_000;
/** The workspaces beyond are looked up again. */
const KNOWN_MAX = 500;

interface Known {
  readonly workspace: Workspace;
  untilMs: number;
}

/**
 * The workspaces of the app. `SLACK_BOT_TOKEN` is the installation of one of them; the others are stored. Each workspace
 * has a client of its own, so that the pauses that Slack asks one of them to make do not stop another.
 */
export class Workspaces {
  readonly #config: Pick<SlackConfig, "apiUrl">;
  readonly #deps: ClientDeps & { readonly tokens?: WorkspaceTokens };
  readonly #fixed: Workspace | undefined;
  readonly #known = new Map<string, Known>();
  readonly #botNames = new Map<string, string>();

  constructor(
    config: Pick<SlackConfig, "apiUrl" | "botToken">,
    deps: ClientDeps & { readonly tokens?: WorkspaceTokens },
  ) {
    this.#config = config;
    this.#deps = deps;
    this.#fixed = config.botToken === undefined ? undefined : this.#open(config.botToken);
  }

  /** How people address the bot in the workspace, for help texts. Before Slack was asked, it is the usual name. */
  trigger(teamId: string): string {
    return `@${this.#botNames.get(teamId) ?? "errand"}`;
  }

  /** The workspace of `SLACK_BOT_TOKEN`, if no other one is installed. */
  async only(): Promise<Workspace | undefined> {
    return (await this.#deps.tokens?.isAny()) === true ? undefined : this.#fixed;
  }

  /** Throws an AppError if the app is not installed there. */
  async of(address: WorkspaceAddress): Promise<Workspace> {
    const found = await this.find(address);
    if (found === undefined) {
      throw notInstalled();
    }
    return found;
  }

  async find(address: WorkspaceAddress): Promise<Workspace | undefined> {
    const stored = await this.#findStored(address);
    if (stored !== undefined || this.#fixed === undefined) {
      return stored;
    }
    return (await this.#fixed.bot()).teamId === address.teamId ? this.#fixed : undefined;
  }

  /** Slack says that the app was removed from this workspace or organization. Other processes learn it within a minute. */
  async remove(id: string, from: string): Promise<void> {
    await this.#deps.tokens?.remove(id, from);
    this.#known.clear();
  }

  async #findStored(address: WorkspaceAddress): Promise<Workspace | undefined> {
    const { clock, tokens } = this.#deps;
    const { teamId } = address;
    const known = this.#known.get(teamId);
    if (tokens === undefined || (known !== undefined && known.untilMs > clock.elapsedMs())) {
      return known?.workspace;
    }
    const found = await tokens.tokenOf(address);
    this.#known.delete(teamId);
    if (found === undefined) {
      return undefined;
    }
    // With the same token, it is the same client, which knows its pauses.
    const workspace = known?.workspace.botToken === found ? known.workspace : this.#open(found, teamId);
    this.#keep(teamId, { workspace, untilMs: clock.elapsedMs() + KNOWN_MS });
    return workspace;
  }

  #keep(teamId: string, known: Known): void {
    this.#known.set(teamId, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > KNOWN_MAX && oldest !== undefined) {
      this.#known.delete(oldest);
    }
  }

  /** Slack says of the token of an organization that it belongs to the organization, not to the workspace. */
  #open(botToken: string, teamId?: string): Workspace {
    const client = createClient({ ...this.#config, botToken }, this.#deps);
    const identity = new BotIdentity(client);
    const bot = async () => {
      const found = await identity.get();
      const bot = { ...found, teamId: teamId ?? found.teamId };
      if (bot.name !== undefined) {
        this.#botNames.set(bot.teamId, bot.name);
      }
      return bot;
    };
    const isIn = membership(client, this.#deps.clock);
    return { client, botToken, posts: new Posts(client, { get: bot }), bot, isIn };
  }
}

/** Remembers each answer for a minute. */
function membership(client: WebClient, clock: ClientDeps["clock"]): Workspace["isIn"] {
  const known = new Map<string, { readonly isIn: boolean; readonly untilMs: number }>();
  return async (channel) => {
    const before = known.get(channel);
    if (before !== undefined && before.untilMs > clock.elapsedMs()) {
      return before.isIn;
    }
    const isIn = await callSlack("conversations.info", client.conversations.info({ channel })).then(
      (answer) => answer.channel?.is_member === true,
      isUnknown,
    );
    known.delete(channel);
    known.set(channel, { isIn, untilMs: clock.elapsedMs() + KNOWN_MS });
    const [oldest] = known.keys();
    if (known.size > KNOWN_MAX && oldest !== undefined) {
      known.delete(oldest);
    }
    return isIn;
  };
}

const NO_MEMBER: readonly (string | undefined)[] = ["channel_not_found", "not_in_channel"];

/** Without the optional scope, the bot may be a member. */
function isUnknown(error: unknown): boolean {
  const code = slackCodeOf(error);
  if (code !== "missing_scope" && !NO_MEMBER.includes(code)) {
    throw error;
  }
  return code === "missing_scope";
}

export const NOT_INSTALLED = "Errand is not installed in this Slack workspace.";

function notInstalled(): AppError {
  return new AppError("integration_not_configured", NOT_INSTALLED, {
    retryable: false,
    integrationName: "slack",
    remedy: "Ask an administrator of Errand to install it.",
  });
}

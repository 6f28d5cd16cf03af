import { z } from "zod";
import type { GithubClient } from "./client.ts";
import { DEFAULT_LABEL, type GithubConfig } from "./config.ts";

/** Used in help texts before the process has asked GitHub. */
const NAME_BEFORE_KNOWN = "errand";

const appAnswer = z.object({ slug: z.string().regex(/^[A-Za-z\d-]+$/) });
const userAnswer = z.object({ id: z.number() });

export interface CommentOrigin {
  readonly user?: { readonly id: number } | null | undefined;
  readonly performed_via_github_app?: { readonly id?: number | null | undefined } | null | undefined;
}

/** Asks GitHub who the bot is at first use, and caches the answer for the life of the process. */
export class BotIdentity {
  readonly #config: GithubConfig;
  readonly #client: GithubClient;
  #slug: string | undefined;
  #userId: number | undefined;

  constructor(config: GithubConfig, client: GithubClient) {
    this.#config = config;
    this.#client = client;
  }

  get appId(): number {
    return this.#config.appId;
  }

  /** The label that asks for work. */
  get label(): string {
    return this.#config.label ?? DEFAULT_LABEL;
  }

  get trigger(): string {
    return `@${this.#config.botName ?? this.#slug ?? NAME_BEFORE_KNOWN}`;
  }

  /** The name by which users mention the bot, without the `@`. */
  async name(): Promise<string> {
    return this.#config.botName ?? (await this.#appSlug());
  }

  /** The login of the App's own account. */
  async login(): Promise<string> {
    return `${await this.#appSlug()}[bot]`;
  }

  /** The App's own account. Its id is not that of the App. */
  async user(installation: string): Promise<{ readonly id: number; readonly login: string }> {
    return { id: await this.#botUserId(installation), login: await this.login() };
  }

  /** Compares numeric ids only, because another account can take a name. */
  async isOurs(installation: string, comment: CommentOrigin): Promise<boolean> {
    if (comment.performed_via_github_app?.id === this.appId) {
      return true;
    }
    return comment.user?.id === (await this.#botUserId(installation));
  }

  async #appSlug(): Promise<string> {
    const call = { route: "GET /app", parameters: {}, answer: appAnswer } as const;
    this.#slug ??= (await this.#client.asApp(call)).slug;
    return this.#slug;
  }

  async #botUserId(installation: string): Promise<number> {
    if (this.#userId !== undefined) {
      return this.#userId;
    }
    const { id } = await this.#client.call(installation, {
      route: "GET /users/{username}",
      parameters: { username: await this.login() },
      answer: userAnswer,
    });
    this.#userId = id;
    return id;
  }
}

import { z } from "zod";
import { withTimeout } from "../../core/basics/clock.ts";
import type { Log } from "../../core/basics/log.ts";
import type { ClientDeps } from "./client.ts";
import { isOfSlack } from "./message-files.ts";
import { placeOf } from "./shared-channels.ts";
import type { WorkspaceAddress, Workspaces } from "./workspaces.ts";

/** Slack waits 3 seconds for an answer, and storing takes its part of them. */
const LIMIT_MS = 1_000;

export interface NotInstalledDeps extends ClientDeps {
  readonly apiUrl: string;
  readonly workspaces: Pick<Workspaces, "find">;
  /** Where an administrator installs the app. Undefined: Errand is not configured for that. */
  readonly installUrl: (() => string) | undefined;
  readonly log: Log;
}

const pressSchema = z.object({ type: z.literal("block_actions"), response_url: z.string() });

/** Says in a workspace without an installation that the app is not installed there. There is no token for it. */
export class NotInstalled {
  readonly #deps: NotInstalledDeps;

  constructor(deps: NotInstalledDeps) {
    this.#deps = deps;
  }

  /** What a person reads there. Undefined: the app is installed, or that is not known at the moment. */
  textFor(address: WorkspaceAddress): Promise<string | undefined> {
    return this.#textUnless(this.#deps.workspaces.find(address));
  }

  async #textUnless(installed: Promise<unknown>): Promise<string | undefined> {
    const { installUrl, log } = this.#deps;
    try {
      const found = await withTimeout(installed, LIMIT_MS, { onTimeout: fail });
      if (found !== undefined) {
        return undefined;
      }
    } catch (error) {
      log.warn("slack.installation.not_known", { error });
      return undefined;
    }
    const how = installUrl === undefined ? "." : `: ${installUrl()}`;
    return `Errand is not connected with this workspace yet. Ask an administrator of Errand to install it${how}`;
  }

  /** Answers a pressed button. The outbox cannot, because there is no token. */
  async answerPress(body: unknown): Promise<void> {
    const { apiUrl, fetch = globalThis.fetch, log, workspaces } = this.#deps;
    const address = pressSchema.safeParse(body).data?.response_url;
    const text = address === undefined ? undefined : await this.#textUnless(placeOf(body, workspaces));
    if (address === undefined || text === undefined || !isOfSlack(address, apiUrl)) {
      return;
    }
    try {
      await fetch(address, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ response_type: "ephemeral", replace_original: false, text }),
        redirect: "error",
        signal: AbortSignal.timeout(LIMIT_MS),
      });
    } catch (error) {
      log.warn("slack.answer.failed", { error });
    }
  }
}

function fail(): never {
  throw new Error(`It was not done within ${LIMIT_MS} ms.`);
}

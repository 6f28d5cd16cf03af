import type { App, types } from "@slack/bolt";
import { parseJson } from "../../core/basics/parse-json.ts";
import type { InboxEvent, Translation } from "../../core/ports/thread-adapter.ts";
import { boltBody, causeOf, createApp, removedFrom, workspaceOf } from "./bolt-app.ts";
import type { ClientDeps } from "./client.ts";
import { slashCommandOf, translateCommand } from "./command.ts";
import type { SlackConfig } from "./config.ts";
import { FORM } from "./form-ids.ts";
import { translateForm } from "./form-request.ts";
import type { Bot } from "./identity.ts";
import { COMMAND_EVENT, type SlashCommand } from "./payload.ts";
import { placeOf } from "./shared-channels.ts";
import {
  translateButton,
  translateMessage,
  translateReaction,
  translateRemoval,
  translateStop,
} from "./translate.ts";
import { NOT_INSTALLED, type Workspace, type WorkspaceAddress, type Workspaces } from "./workspaces.ts";

/** What the listeners of one stored event share. */
interface EventContext {
  readonly workspace: Workspace;
  readonly bot: Bot;
  /** Says what the event means, exactly once. */
  readonly settle: (translation: Translation) => void;
}

const REMOVALS = [
  "app_uninstalled",
  "team_access_revoked",
  "tokens_revoked",
] as const satisfies readonly types.SlackEvent["type"][];

/** What people write. Of other events, nothing is left to do once the app is installed. */
const WRITTEN: readonly string[] = ["app_mention", "message", COMMAND_EVENT];

/** Replays stored events through listeners of Bolt, which say what each one means. */
export class StoredEvents {
  readonly #app: App<EventContext>;

  constructor(
    config: Pick<SlackConfig, "apiUrl">,
    { workspaces, ...deps }: ClientDeps & { readonly workspaces: Pick<Workspaces, "find" | "remove"> },
  ) {
    this.#app = createApp<EventContext>(
      async (body) => {
        const place = await placeOf(body, workspaces);
        if (place === undefined) {
          throw new Unconnected(workspaceOf(body));
        }
        return { ...place };
      },
      config,
      deps,
    );
    this.#listen(workspaces);
  }

  /** Throws what a listener threw. */
  async translate({ body, name }: InboxEvent): Promise<Translation> {
    let result: Translation | undefined;
    const settle: EventContext["settle"] = (translation) => {
      if (result !== undefined) {
        throw new Error(`Two listeners said what Slack's ${name} means.`);
      }
      result = translation;
    };
    const payload = bodyOf(name, body);
    try {
      await this.#app.processEvent({
        body: payload,
        ack: async () => undefined,
        customProperties: { settle },
      });
    } catch (error) {
      const cause = causeOf(error);
      if (cause instanceof Unconnected) {
        return unconnected(name, cause.address);
      }
      // Bolt could not read a body that lacks what Slack documents. Sent again it would be the same.
      if (!(cause instanceof TypeError)) {
        throw cause;
      }
    }
    return result ?? { kind: "ignored", reason: `Slack's ${name} means nothing to Errand.` };
  }

  #listen(workspaces: Pick<Workspaces, "remove">): void {
    const app = this.#app;
    for (const type of ["app_mention", "message"] as const) {
      app.event(type, async ({ event, body, context: { bot, settle } }) =>
        settle(translateMessage(event, bot, body)),
      );
    }
    app.event("reaction_added", async ({ event, body, context: { bot, settle } }) =>
      settle(translateReaction(event, bot, body)),
    );
    app.event("agent_session_stopped", async ({ event, body, context: { bot, settle } }) =>
      settle(translateStop(event, bot, body)),
    );
    for (const type of REMOVALS) {
      app.event(type, async ({ event, body, context: { settle } }) => {
        const from = removedFrom(body);
        const translation = translateRemoval(event, from);
        for (const id of translation.kind === "removal" ? translation.installations : []) {
          await workspaces.remove(id, from);
        }
        settle(translation);
      });
    }
    app.action({ type: "block_actions" }, async ({ body, context: { bot, settle } }) =>
      settle(translateButton(body, bot)),
    );
    app.view(FORM, async ({ body, context: { bot, settle, workspace } }) =>
      settle(await translateForm(body, { bot, client: workspace.client })),
    );
    app.command(/^/, async ({ command, context: { settle, workspace } }) =>
      settle(await translateCommand(slashCommandOf(command), workspace.client)),
    );
  }
}

/** Thrown out of Bolt, which knows no other way to end without a listener. */
class Unconnected extends Error {
  readonly address: WorkspaceAddress;

  constructor(address: WorkspaceAddress) {
    super(NOT_INSTALLED);
    this.address = address;
  }
}

function unconnected(name: string, { enterpriseId, teamId }: WorkspaceAddress): Translation {
  return WRITTEN.includes(name) && teamId !== ""
    ? { kind: "unconnected", installation: teamId, organization: enterpriseId, reason: NOT_INSTALLED }
    : { kind: "ignored", reason: NOT_INSTALLED };
}

/** The adapter itself wrote the body of a command, after it had checked the signature. */
function bodyOf(name: string, stored: string) {
  const json = parseJson(stored);
  if (name !== COMMAND_EVENT) {
    return boltBody(json);
  }
  const { channel, enterpriseId, teamId, text, triggerId, userId } = json as SlashCommand;
  const ids = {
    team_id: teamId,
    enterprise_id: enterpriseId,
    channel_id: channel,
    user_id: userId,
    trigger_id: triggerId,
  };
  return { command: "/errand", text, ...ids };
}

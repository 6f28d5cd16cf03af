import type { types } from "@slack/bolt";
import type { WebClient } from "@slack/web-api";
import { z } from "zod";
import { PULL_REQUEST_SETTINGS } from "../../core/model/repositories/pull-request-setting.ts";
import type { FormChoices, PersonHome, PersonViews, RunLine } from "../../core/threads/inbox/person-views.ts";
import { link, plainSection } from "./blocks.ts";
import { workspaceOf } from "./bolt-app.ts";
import { FORM_MENU, label } from "./buttons.ts";
import { callSlack } from "./client.ts";
import { privateRequestOf } from "./command.ts";
import { defuse, defuseMrkdwn } from "./defuse.ts";
import { FORM, NEW_RUN } from "./form-ids.ts";
import type { FormOrigin } from "./form-request.ts";
import { readableText } from "./mention.ts";
import { contentOf } from "./message-content.ts";
import type { WorkspaceAddress, Workspaces } from "./workspaces.ts";

const MAX_PROMPT = 3_000;
const MAX_LINE_TITLE = 200;
/** Slack shows at most this many options in a menu. */
const MAX_OPTIONS = 100;

/** Who opens a view, and where. */
export interface Opener extends WorkspaceAddress {
  readonly userId: string;
  readonly triggerId: string;
  readonly origin: FormOrigin;
  /** What the prompt begins with. */
  readonly prompt?: string;
}

const id = z.object({ id: z.string() });
const personSchema = z.object({ user: id, trigger_id: z.string() });
const shortcutSchema = personSchema.extend({
  channel: id,
  action_ts: z.string().optional(),
  message: z.looseObject({ ts: z.string(), thread_ts: z.string().optional(), text: z.string().nullish() }),
});

interface ViewsDeps {
  readonly workspaces: Pick<Workspaces, "of">;
  readonly views: Pick<PersonViews, "form" | "home">;
}

/**
 * What Slack shows outside of messages. A trigger is good for three seconds, and a Home tab is drawn while its reader
 * looks at it, so these calls do not wait in the outbox. They can be repeated without harm, and nothing depends on them.
 */
export class Views {
  readonly #deps: ViewsDeps;

  constructor(deps: ViewsDeps) {
    this.#deps = deps;
  }

  /** Opens the form of a new run. Returns why this person may not have it. */
  async openForm({
    enterpriseId,
    origin,
    prompt = "",
    teamId,
    triggerId,
    userId,
  }: Opener): Promise<string | undefined> {
    const { client } = await this.#deps.workspaces.of({ teamId, enterpriseId });
    const person = { teamId, userId, channel: origin.channel };
    const choices = await this.#deps.views.form(await privateRequestOf(person, client));
    if ("refusal" in choices) {
      return choices.refusal;
    }
    await open(client, triggerId, formView(choices, { origin, prompt }));
    return undefined;
  }

  /** Opens the form for what a person pressed. It says in its place why the person may not have it. */
  async openFormFor(body: unknown): Promise<void> {
    const opener = await this.#openerOf(body);
    const refusal = await this.openForm(opener);
    if (refusal !== undefined) {
      const { client } = await this.#deps.workspaces.of(opener);
      await open(client, opener.triggerId, {
        type: "modal",
        title: label("Errand"),
        blocks: [plainSection(refusal)],
      });
    }
  }

  /** Draws the Home tab of a person. */
  async publishHome(person: Pick<Opener, "enterpriseId" | "teamId" | "userId">): Promise<void> {
    const { client } = await this.#deps.workspaces.of(person);
    const { userId } = person;
    const view = homeView(await this.#deps.views.home(await privateRequestOf(person, client)));
    await callSlack("views.publish", client.views.publish({ user_id: userId, view }));
  }

  async #openerOf(body: unknown): Promise<Opener> {
    const { trigger_id: triggerId, user } = personSchema.parse(body);
    const who = { ...workspaceOf(body), userId: user.id, triggerId };
    const shortcut = shortcutSchema.safeParse(body).data;
    if (shortcut === undefined) {
      return { ...who, origin: {} };
    }
    const { action_ts: openedAt, channel, message } = shortcut;
    const bot = await (await this.#deps.workspaces.of(who)).bot();
    const { attached, words } = contentOf(message);
    const prompt =
      words === "" ? attached.map((one) => readableText(one, bot)).join("\n") : readableText(words, bot);
    const origin = { channel: channel.id, ts: message.ts, threadTs: message.thread_ts, openedAt };
    return { ...who, origin, prompt };
  }
}

async function open(client: WebClient, triggerId: string, view: types.ModalView): Promise<void> {
  await callSlack("views.open", client.views.open({ trigger_id: triggerId, view }));
}

/** The form of a new run. */
function formView(
  { agents }: FormChoices,
  { origin, prompt }: { readonly origin: FormOrigin; readonly prompt: string },
): types.ModalView {
  const start = defuse(prompt, MAX_PROMPT).text;
  const environment: types.ExternalSelect = {
    type: "external_select",
    action_id: FORM_MENU,
    min_query_length: 0,
    placeholder: label("By the rules and defaults"),
  };
  return {
    type: "modal",
    callback_id: FORM,
    private_metadata: JSON.stringify(origin),
    title: label(origin.ts === undefined ? "New run" : "Send to Errand"),
    submit: label("Start"),
    close: label("Cancel"),
    blocks: [
      {
        type: "input",
        block_id: "prompt",
        label: label("What is to be done"),
        element: {
          type: "plain_text_input",
          action_id: "prompt",
          multiline: true,
          max_length: MAX_PROMPT,
          ...(start !== "" && { initial_value: start }),
        },
      },
      { ...optional("environment", "Environment"), element: environment },
      { ...optional("repository", "Repository"), element: textInput("repository", "owner/name") },
      ...(agents.length === 0
        ? []
        : [
            {
              ...optional("agent", "Agent"),
              element: select(
                "agent",
                agents.map(({ displayName, name }) => ({ text: label(displayName), value: name })),
              ),
            },
          ]),
      { ...optional("model", "Model"), element: textInput("model", "The default of the agent") },
      {
        ...optional("pull_request", "Pull request"),
        element: select(
          "pull_request",
          PULL_REQUEST_SETTINGS.map((setting) => ({ text: label(setting), value: setting })),
        ),
      },
    ],
  };
}

function optional(field: string, name: string) {
  return { type: "input", block_id: field, label: label(name), optional: true } as const;
}

function textInput(field: string, placeholder: string): types.PlainTextInput {
  return { type: "plain_text_input", action_id: field, placeholder: label(placeholder) };
}

function select(field: string, options: readonly types.PlainTextOption[]): types.StaticSelect {
  return { type: "static_select", action_id: field, options: options.slice(0, MAX_OPTIONS) };
}

function homeView(home: PersonHome | { readonly refusal: string }): types.HomeView {
  if ("refusal" in home) {
    return { type: "home", blocks: [plainSection(home.refusal)] };
  }
  const { mine, waiting } = home;
  return {
    type: "home",
    blocks: [
      {
        type: "actions",
        elements: [{ type: "button", action_id: NEW_RUN, text: label("New run"), style: "primary" }],
      },
      { type: "header", text: label("Waits for you") },
      ...listOf(waiting, "Nothing waits for you."),
      { type: "header", text: label("Your runs") },
      ...listOf(mine, "You have no runs yet."),
    ],
  };
}

function listOf(lines: readonly RunLine[], none: string): types.SectionBlock[] {
  return lines.length === 0
    ? [plainSection(none)]
    : lines.map((line) => ({
        type: "section",
        text: {
          type: "mrkdwn",
          text: `${link(line.link, defuseMrkdwn(line.title.replace(/[\s|]+/g, " "), MAX_LINE_TITLE))}\nIt ${line.state}.`,
          verbatim: true,
        },
      }));
}

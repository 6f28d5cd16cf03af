import type { WebClient } from "@slack/web-api";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { parseJson } from "../../core/basics/parse-json.ts";
import { PULL_REQUEST_SETTINGS } from "../../core/model/repositories/pull-request-setting.ts";
import { parseRepositoryName } from "../../core/model/repositories/repository-name.ts";
import type { RunConfig } from "../../core/model/runs/run.ts";
import type { ReceivedEvent, Translation } from "../../core/ports/thread-adapter.ts";
import { authorSubject, isDirect, permalinkOf, threadKeyOf } from "./addresses.ts";
import { workspaceOf } from "./bolt-app.ts";
import { callSlack } from "./client.ts";
import { openDirect } from "./command.ts";
import { refusalClassOf } from "./errors.ts";
import type { Bot } from "./identity.ts";
import { orderingKeyOf, storable } from "./payload.ts";
import { provenanceOf } from "./provenance.ts";

/** The ids of its fields. */
const FIELDS = ["prompt", "environment", "repository", "agent", "model", "pull_request"] as const;
type Field = (typeof FIELDS)[number];

/** Where a form was opened: on a message, in a channel, or on the Home tab. Slack keeps it with the form. */
const originSchema = z.object({
  channel: z.string().optional(),
  /** The message that it was opened with. */
  ts: z.string().optional(),
  threadTs: z.string().optional(),
  /** When it was opened. */
  openedAt: z.string().optional(),
});
export type FormOrigin = z.output<typeof originSchema>;

const valueSchema = z.object({
  value: z.string().nullish(),
  selected_option: z.object({ value: z.string() }).nullish(),
});
const submissionSchema = z.object({
  user: z.object({ id: z.string() }),
  view: z.object({
    id: z.string(),
    private_metadata: z.string().transform((text) => originSchema.catch({}).parse(parseJson(text))),
    state: z.object({ values: z.record(z.string(), z.record(z.string(), valueSchema)) }),
  }),
});
type Submission = z.output<typeof submissionSchema>;

/** What is wrong with the fields of a submitted form, by field. Empty: it can be stored. */
export function problemsOf(body: unknown): Partial<Record<Field, string>> {
  const { model, prompt, repository } = valuesOf(submissionSchema.parse(body));
  return defined({
    prompt: prompt === undefined ? "Write what the agent is to do." : undefined,
    repository:
      repository !== undefined && parseRepositoryName(repository) === undefined
        ? "Write it as owner/name, without the address of the host."
        : undefined,
    model: model !== undefined && /\s/.test(model) ? "Write the id of one model, without spaces." : undefined,
  });
}

/**
 * The event that stores a submitted form. Its id is that of the form, because a person who got no answer submits the same
 * form again.
 */
export function formEvent(body: unknown, raw: string): ReceivedEvent {
  const { user, view } = submissionSchema.parse(body);
  const { channel, threadTs, ts } = view.private_metadata;
  const deliveryId = storable(`view/${view.id}`);
  const ofPerson = `slack:command/${workspaceOf(body).teamId}/${user.id}`;
  const orderingKey =
    ts === undefined ? ofPerson : orderingKeyOf({ channel, ts, thread_ts: threadTs }, deliveryId);
  const name = "view_submission";
  return { adapter: "slack", body: raw, deliveryId, name, orderingKey: storable(orderingKey) };
}

/**
 * A submitted form as the request of its author: in the thread of the message that it was opened with, otherwise in the
 * direct conversation. The bot cannot write to a channel that it is no member of, so these requests go there too.
 */
export async function translateForm(
  body: unknown,
  { bot, client }: { readonly bot: Bot; readonly client: WebClient },
): Promise<Translation> {
  const parsed = submissionSchema.safeParse(body);
  const { prompt } = parsed.success ? valuesOf(parsed.data) : {};
  if (!parsed.success || prompt === undefined) {
    return { kind: "ignored", reason: "A form without a prompt." };
  }
  const { user, view } = parsed.data;
  const { channel: place, openedAt = "", threadTs, ts } = view.private_metadata;
  const { teamId, workspaceUrl } = bot;
  const opened =
    ts === undefined || place === undefined ? undefined : { teamId, channel: place, ts, threadTs };
  const isHere = opened !== undefined && (await isOpen(opened, client));
  const location = isHere
    ? opened
    : { teamId, channel: await openDirect(client, user.id), ts: view.id, threadTs: undefined };
  return {
    kind: "message",
    message: defined({
      adapter: "slack",
      installation: teamId,
      key: threadKeyOf(location),
      place,
      dedupeKey: `slack:${teamId}/view/${view.id}`,
      addressed: isHere && !isDirect(location.channel) ? "mention" : "direct",
      author: { subject: authorSubject(teamId, user.id) },
      text: prompt,
      form: configOf(parsed.data),
      messageRef: isHere ? opened.ts : "",
      permalink: opened && permalinkOf(opened, workspaceUrl),
      provenance: provenanceOf(location, {
        userId: user.id,
        content: prompt,
        action: "submitted",
        version: openedAt || view.id,
      }),
    }),
  };
}

/** Whether the bot is a member of the channel. */
async function isOpen(
  {
    channel,
    threadTs,
    ts,
  }: { readonly channel: string; readonly threadTs?: string | undefined; readonly ts: string },
  client: WebClient,
): Promise<boolean> {
  const reading = isDirect(channel)
    ? client.conversations.history({ channel, latest: ts, inclusive: true, limit: 1 })
    : client.conversations.replies({ channel, ts: threadTs ?? ts, limit: 1 });
  try {
    await callSlack(isDirect(channel) ? "conversations.history" : "conversations.replies", reading);
    return true;
  } catch (error) {
    if (refusalClassOf(error) === "channel") {
      return false;
    }
    throw error;
  }
}

function configOf(submission: Submission): RunConfig {
  const { agent, environment, model, pull_request: pullRequest, repository } = valuesOf(submission);
  return defined({
    environment_id: environment,
    repository,
    harness: agent === undefined ? undefined : { type: agent },
    model_id: model,
    pull_request: PULL_REQUEST_SETTINGS.find((one) => one === pullRequest),
  });
}

/** What stands in the fields. An empty field is left out. */
function valuesOf({ view }: Submission): Partial<Record<Field, string>> {
  const found = FIELDS.flatMap((field) => {
    const [element] = Object.values(view.state.values[field] ?? {});
    const value = (element?.value ?? element?.selected_option?.value ?? "").trim();
    return value === "" ? [] : [[field, value] as const];
  });
  return Object.fromEntries(found);
}

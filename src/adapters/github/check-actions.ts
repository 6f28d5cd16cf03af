import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { parseId, type RunId } from "../../core/basics/ids.ts";
import { parseJson } from "../../core/basics/parse-json.ts";
import type { InboundMessage, InboxEvent, Translation } from "../../core/ports/thread-adapter.ts";
import { contentHash } from "../content-hash.ts";
import { threadKeyOf } from "./addresses.ts";
import { parseExternalId } from "./check-runs.ts";

/**
 * The event of a button of the check. GitHub sends it only to the App whose check it is. An App that may write checks gets
 * it without a setting.
 */
export const REQUESTED_ACTION = "check_run.requested_action";
const FIX_TEXT = "The checks of the pull request fail. Find out why and repair it.";

const eventSchema = z.object({
  action: z.literal("requested_action"),
  installation: z.object({ id: z.int() }),
  repository: z.object({ id: z.int(), full_name: z.string() }),
  requested_action: z.object({ identifier: z.string() }),
  check_run: z.object({
    id: z.int(),
    html_url: z.string().nullish(),
    head_sha: z.string(),
    external_id: z.string().nullish(),
    /** The next press of the button is another one. */
    started_at: z.string().nullish(),
    completed_at: z.string().nullish(),
    app: z.object({ id: z.int() }),
  }),
  sender: z.object({ id: z.int(), login: z.string(), type: z.string() }),
});
type ActionEvent = z.infer<typeof eventSchema>;

interface Pressed {
  readonly event: ActionEvent;
  readonly number: number;
  readonly runId: RunId;
}

/** The conversation of the pull request to which the event belongs. Undefined: it is no button of a check of ours. */
export function orderingKeyOfAction(body: string): string | undefined {
  const pressed = pressedIn(body);
  return pressed && `github:${keyOf(pressed)}`;
}

/** A button is a comment of the person who pressed it, and is authorized as one. */
export function requestedAction({ body }: InboxEvent, appId: number): Translation {
  const pressed = pressedIn(body);
  const isOurs = pressed?.event.check_run.app.id === appId;
  const message = isOurs ? messageOf(pressed) : undefined;
  return message === undefined
    ? { kind: "ignored", reason: "It is no button of a check of this App." }
    : { kind: "message", message };
}

function messageOf(pressed: Pressed): InboundMessage | undefined {
  const { event, number, runId } = pressed;
  const { check_run: check, installation, repository, sender } = event;
  const { identifier } = event.requested_action;
  if (identifier !== "stop" && identifier !== "fix") {
    return undefined;
  }
  const { completed_at: completed, head_sha: commit, html_url: url, id, started_at: started } = check;
  const shown = [identifier, commit, started, completed, sender.id].join(":");
  const text = identifier === "fix" ? FIX_TEXT : "";
  return defined({
    adapter: "github",
    installation: String(installation.id),
    key: keyOf(pressed),
    place: repository.full_name,
    dedupeKey: ["github", installation.id, "check_run", id, shown].join(":"),
    addressed: "mention",
    requestKind: "mention",
    author: defined({
      subject: `github:${sender.id}`,
      displayName: sender.login,
      isBot: sender.type === "Bot" ? (true as const) : undefined,
    }),
    text,
    buttonAction: identifier === "stop" ? ({ kind: "cancel", runId } as const) : undefined,
    messageRef: "",
    permalink: url ?? undefined,
    provenance: {
      integration: "github",
      installation: installation.id,
      repository,
      actor: { id: sender.id, login: sender.login },
      message_ids: [id],
      content_hash: contentHash({ body: shown }),
      object: { kind: "check_run", id, action: identifier, in: "pull_request", number },
    },
  });
}

function keyOf({ event, number }: Pressed) {
  return threadKeyOf({ repositoryId: event.repository.id, number });
}

function pressedIn(body: string): Pressed | undefined {
  const { data: event } = eventSchema.safeParse(parseJson(body));
  const { number, runId: id = "" } = parseExternalId(event?.check_run.external_id ?? "") ?? {};
  const runId = parseId<RunId>(id);
  return event === undefined || number === undefined || runId === undefined
    ? undefined
    : { event, number, runId };
}

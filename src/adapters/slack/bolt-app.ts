import { App, type AuthorizeResult, type Receiver, type StringIndexed } from "@slack/bolt";
import { z } from "zod";
import { type ClientDeps, clientOptions } from "./client.ts";
import type { SlackConfig } from "./config.ts";
import type { WorkspaceAddress } from "./workspaces.ts";

/** What a receiver of Bolt calls of the `App` that it is initialized with. */
export type EventSink = Pick<App, "processEvent">;

const NO_RECEIVER: Receiver = {
  init: () => undefined,
  start: async () => undefined,
  stop: async () => undefined,
};

/**
 * An `App` of Bolt without a receiver of its own: requests and stored events are given to its `processEvent`. Its
 * listeners never use `say`, `respond` or `sayStream`, because only the outbox posts.
 */
export function createApp<Custom extends StringIndexed>(
  authorize: (body: StringIndexed | undefined) => Promise<AuthorizeResult>,
  config: Pick<SlackConfig, "apiUrl">,
  deps: ClientDeps,
): App<Custom> {
  const { logger, ...client } = clientOptions(config, deps);
  return new App<Custom>({
    receiver: NO_RECEIVER,
    logger,
    authorize: (_source, body) => authorize(body),
    // The bot's own messages are ignored with a reason.
    ignoreSelf: false,
    convoStore: false,
    clientOptions: client,
  });
}

const id = z.string().min(1).optional().catch(undefined);
const named = z.object({ id, enterprise_id: id }).optional().catch(undefined);
const addressSchema = z.object({
  team_id: id,
  enterprise_id: id,
  authorizations: z
    .array(z.object({ team_id: id, enterprise_id: id }))
    .optional()
    .catch(undefined),
  team: named,
  enterprise: named,
  user: z.object({ team_id: id }).optional().catch(undefined),
});

/**
 * The workspace in which the app got this: in a channel that several workspaces share, that of the installation. An
 * installation of a whole organization names no workspace in its authorizations.
 */
export function workspaceOf(body: unknown): WorkspaceAddress {
  const { authorizations, enterprise, enterprise_id, team, team_id, user } = addressSchema.parse(body);
  const [installed] = authorizations ?? [];
  const organization = enterprise_id ?? enterprise?.id ?? team?.enterprise_id;
  return {
    teamId: installed?.team_id ?? team_id ?? team?.id ?? user?.team_id ?? "",
    // The organization of the envelope may be that of another workspace in the channel.
    enterpriseId:
      installed?.team_id === undefined ? (installed?.enterprise_id ?? organization) : installed.enterprise_id,
  };
}

const removedSchema = z.object({
  team_id: id,
  authorizations: z
    .array(z.object({ is_enterprise_install: z.boolean().optional().catch(undefined), enterprise_id: id }))
    .optional()
    .catch(undefined),
});

/** The workspace or the organization from which the app was removed. */
export function removedFrom(body: unknown): string {
  const { authorizations, team_id } = removedSchema.parse(body);
  const [installed] = authorizations ?? [];
  return (installed?.is_enterprise_install === true ? installed.enterprise_id : undefined) ?? team_id ?? "";
}

const looseObject = z.looseObject({});
const bodySchema = z.looseObject({
  event: z.looseObject({ type: z.string() }).optional().catch(undefined),
  authorizations: z
    .array(z.unknown())
    .transform((all) => all.filter((one) => looseObject.safeParse(one).success))
    .optional()
    .catch(undefined),
  team: looseObject.nullish().catch(undefined),
  user: looseObject.optional().catch({}),
});
/** The body without what makes Bolt throw a TypeError before a listener gets it: null in the places that it reads. */
export function boltBody(body: unknown): StringIndexed {
  return bodySchema.catch({}).parse(body);
}

/** What a listener or `authorize` threw, without Bolt's own error around it. */
export function causeOf(error: unknown): unknown {
  const original = error instanceof Error && "original" in error ? error.original : undefined;
  return original instanceof Error ? original : error;
}

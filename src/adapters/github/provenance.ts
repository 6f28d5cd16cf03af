import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { ThreadKey } from "../../core/basics/ids.ts";
import type { InboundMessage } from "../../core/ports/thread-adapter.ts";
import { contentHash } from "../content-hash.ts";
import { threadKeyOf } from "./addresses.ts";
import type { Account, IncomingMessage } from "./incoming-message.ts";

/** What authorization needs of the provenance. */
const provenanceSchema = z.object({
  repository: z.object({ id: z.number(), full_name: z.string() }),
  actor: z.object({ id: z.number(), login: z.string() }),
  commit: z.string().optional(),
  object: z
    .object({
      in: z.string(),
      number: z.int(),
      has_parent: z.boolean().optional(),
      has_sub_issues: z.boolean().optional(),
    })
    .optional(),
});

/** Evidence of a request's origin, with the members that the API promises for all integrations. */
export function provenanceOf(
  incoming: IncomingMessage,
  { actor, installation }: { readonly actor: Account; readonly installation: number },
): InboundMessage["provenance"] {
  const { id, kind, action, repository, subject, commit } = incoming;
  return defined({
    integration: "github",
    installation,
    repository: { id: repository.id, full_name: repository.fullName },
    actor: { id: actor.id, login: actor.login },
    message_ids: [id],
    content_hash: contentHash(incoming),
    object: defined({
      kind,
      id,
      action,
      in: subject.kind,
      number: subject.number,
      has_parent: subject.hasParent,
      has_sub_issues: subject.hasSubIssues,
    }),
    commit,
  });
}

/**
 * GitHub shows the account of this address as an author of the commit, whatever it is called by then. `webUrl`: where
 * GitHub's pages are.
 */
export function coAuthorOf(actor: Readonly<Record<string, unknown>>, webUrl: URL): string | undefined {
  const { data } = z.object({ id: z.int(), login: z.string().regex(/^[\w-]+$/) }).safeParse(actor);
  return data && `${data.login} <${data.id}+${data.login}@users.noreply.${webUrl.hostname}>`;
}

/** Whether a thread of a run is a pull request: where the run was requested, or one that it opened itself. */
export function isPullRequest(
  key: ThreadKey,
  provenance: Readonly<Record<string, unknown>> | undefined,
): boolean {
  const { object, repository } = provenanceSchema.safeParse(provenance).data ?? {};
  const isRequest =
    object !== undefined &&
    repository !== undefined &&
    threadKeyOf({ repositoryId: repository.id, number: object.number }) === key;
  return !isRequest || object.in === "pull_request";
}

export type ParsedProvenance = z.infer<typeof provenanceSchema>;

export function parseProvenance(provenance: InboundMessage["provenance"]): ParsedProvenance {
  return provenanceSchema.parse(provenance);
}

import type { EmitterWebhookEventName } from "@octokit/webhooks";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { parseJson } from "../../core/basics/parse-json.ts";
import type { InboxEvent, Translation } from "../../core/ports/thread-adapter.ts";
import type { GithubClient } from "./client.ts";
import type { RepositoryNames } from "./repositories.ts";

/** By event and action: what happened, up to the name. GitHub sends the first two events to every App. */
export const INSTALLATION_ACTIONS: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map([
  [
    "installation",
    {
      created: "The App was installed on",
      deleted: "The App was removed from",
      suspend: "The App was suspended on",
      unsuspend: "The App was resumed on",
      new_permissions_accepted: "New permissions of the App were accepted on",
    },
  ],
  [
    "installation_repositories",
    { added: "The App got more repositories on", removed: "The App lost repositories on" },
  ],
  [
    "repository",
    {
      renamed: "A repository was renamed to",
      transferred: "A repository was transferred to",
      deleted: "A repository was deleted:",
      privatized: "A repository became private:",
      archived: "A repository was archived:",
      unarchived: "A repository is no longer archived:",
    },
  ],
] as const);

export const INSTALLATION_EVENTS = Array.from(INSTALLATION_ACTIONS).flatMap(([name, actions]) =>
  Object.keys(actions).map((action) => `${name}.${action}` as EmitterWebhookEventName),
);

/** The next call that succeeds shows that the App is back. */
const REMOVALS: ReadonlySet<string> = new Set(["deleted", "suspend"]);

const eventSchema = z.object({
  action: z.string(),
  installation: z.object({ id: z.number(), account: z.object({ login: z.string() }).nullish() }),
  repositories_removed: z.array(z.object({ id: z.number() })).optional(),
  repository: z
    .object({
      id: z.number(),
      name: z.string(),
      full_name: z.string(),
      owner: z.object({ login: z.string() }),
      default_branch: z.string().optional(),
    })
    .optional(),
});

export interface InstallationEventDeps {
  readonly client: Pick<GithubClient, "forget">;
  readonly names: RepositoryNames;
}

/**
 * Lets this process forget what an event about an installation or a repository makes outdated. Undefined: the
 * event is about something else.
 */
export function takeInstallationEvent(
  { body, name, receivedAt }: InboxEvent,
  { client, names }: InstallationEventDeps,
): Translation | undefined {
  const actions = INSTALLATION_ACTIONS.get(name);
  const { data: event } = eventSchema.safeParse(parseJson(body));
  if (actions === undefined || event === undefined) {
    return undefined;
  }
  const { action, installation, repositories_removed: removed = [], repository } = event;
  const id = String(installation.id);
  client.forget(id);
  for (const one of removed) {
    names.forget(one.id);
  }
  if (repository !== undefined) {
    names.forget(repository.id);
  }
  if (repository !== undefined && action === "renamed") {
    const { default_branch: defaultBranch, id: repositoryId, name: repo, owner } = repository;
    const named = { id: repositoryId, installation: id, owner: owner.login, repo };
    names.learn(
      { ...named, ...defined({ defaultBranch: defaultBranch ? defaultBranch : undefined }) },
      receivedAt.getTime(),
    );
  }
  const reason = `${actions[action]} ${repository?.full_name ?? installation.account?.login ?? "an account"}.`;
  return name === "installation" && REMOVALS.has(action)
    ? { kind: "removal", installations: [id], reason }
    : { kind: "ignored", reason };
}

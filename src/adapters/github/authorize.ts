import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { AppError, Misconfigured } from "../../core/basics/errors.ts";
import type { Role } from "../../core/model/policies/policy.ts";
import { parseRepositoryName } from "../../core/model/repositories/repository-name.ts";
import type { ThreadAddress } from "../../core/model/threads/thread.ts";
import type { Authorization, InboundMessage, Standing } from "../../core/ports/thread-adapter.ts";
import { parseThreadKey } from "./addresses.ts";
import type { GithubClient } from "./client.ts";
import type { BotIdentity } from "./identity.ts";
import { parseProvenance } from "./provenance.ts";
import type { RepositoryNames } from "./repositories.ts";
import type { Repository } from "./routes.ts";

const permissionAnswer = z.object({
  permission: z.string(),
  role_name: z.string().optional(),
  user: z
    .object({
      id: z.number(),
      name: z.string().nullish(),
      login: z.string(),
      permissions: z.object({ push: z.boolean().optional() }).optional(),
    })
    .nullable(),
});
const userAnswer = z.object({ login: z.string() });
const pullAnswer = z.object({
  base: z.object({ ref: z.string(), repo: z.object({ default_branch: z.string() }) }),
  head: z.object({
    ref: z.string(),
    sha: z.string(),
    repo: z.object({ id: z.number(), full_name: z.string().optional() }).nullish(),
  }),
});
type Permission = z.infer<typeof permissionAnswer>;

/** Base permissions that include pushing. For custom roles `user.permissions.push` says it. */
const WRITERS: ReadonlySet<string> = new Set(["admin", "maintain", "write"]);
/** Base permissions that include reading only. On a public repository every account has `read`. */
const READERS: ReadonlySet<string> = new Set(["triage", "read"]);
/** Words in a refusal that a retry would get as well. */
const FOR_GOOD = /archived/i;
/** What the owner of the account can repair. The request waits for that: a missing permission, a suspended App. */
const REPAIRABLE = /not accessible by integration|suspended/i;

interface AuthorizationDeps {
  readonly client: GithubClient;
  readonly identity: BotIdentity;
  readonly names: RepositoryNames;
}

/**
 * Asks GitHub now what the author may do in the repository. `author_association` says nothing about permissions, and a
 * login can change hands: the answer must be about the same numeric id.
 */
export async function authorize(
  message: InboundMessage,
  { client, identity, names }: AuthorizationDeps,
): Promise<Authorization> {
  const { repository, actor, commit, object } = parseProvenance(message.provenance);
  const refusal = refusalOf(repository.full_name);
  if (message.author.isBot === true) {
    return authorizeBot(message, actor, identity);
  }
  const { installation } = message;
  const found = await names
    .use(installation, repository.id, (named) => findPermission(client, installation, named, actor.login))
    .catch(nobodyIfUnknown);
  if (found?.user?.id !== actor.id) {
    return { allowed: false, reason: refusal };
  }
  const role = roleOf(found);
  const displayName = found.user.name ?? found.user.login;
  const author = { subject: `github:${actor.id}`, displayName };
  const allowed = {
    allowed: true,
    permission: found.role_name || found.permission,
    roles: [role],
    author,
    ...defined({ refusal: role === "write" ? undefined : refusal }),
  } as const;
  if (object?.in !== "pull_request") {
    return allowed;
  }
  const { number } = object;
  const { base, head } = await names
    .use(installation, repository.id, (named) => findPull(client, installation, { ...named, number }))
    .catch(failClosed);
  // The branch of a fork belongs to its owner.
  const branch = head.repo?.id === repository.id ? head.ref : undefined;
  if (branch === undefined) {
    // The commit that the author saw. The owner of the fork can push another one at any time.
    const at = { commit: commit ?? head.sha, base: base.ref };
    const fork = head.repo?.full_name;
    const isByWriter = role === "write" ? { requested_by_writer: true } : {};
    const named = fork === undefined ? {} : { fork };
    return { ...allowed, provenance: { head: { ...at, ...named, ...isByWriter } } };
  }
  const mayPush = role === "write" && branch !== base.repo.default_branch;
  return { ...allowed, provenance: { head: { branch, may_push: mayPush } } };
}

/** Whether the author may write to another repository of the same installation. A bot may not. */
export async function mayWrite(
  { author, installation, provenance }: InboundMessage,
  fullName: string,
  { client }: Pick<AuthorizationDeps, "client">,
): Promise<boolean> {
  const { actor } = parseProvenance(provenance);
  const repository = parseRepositoryName(fullName);
  if (author.isBot === true || repository === undefined) {
    return false;
  }
  const named = { owner: repository.owner, repo: repository.name };
  const found = await findPermission(client, installation, named, actor.login).catch(refusedForGood);
  return found?.user?.id === actor.id && roleOf(found) === "write";
}

/** The login is asked for by the id, because a login can change hands. */
export async function standingOf(
  { installation, key }: ThreadAddress,
  subject: string,
  { client, names }: Pick<AuthorizationDeps, "client" | "names">,
): Promise<Standing | undefined> {
  const id = Number(/^github:(\d+)$/.exec(subject)?.[1]);
  const route = "GET /user/{account_id}";
  const user = Number.isNaN(id)
    ? undefined
    : await client
        .call(installation, { route, parameters: { account_id: id }, answer: userAnswer })
        .catch(nobodyIfUnknown);
  if (user === undefined) {
    return undefined;
  }
  const { repositoryId } = parseThreadKey(key);
  return names
    .use(installation, repositoryId, async (named) => {
      const found = await findPermission(client, installation, named, user.login);
      return found.user?.id === id
        ? { place: `${named.owner}/${named.repo}`, roles: [roleOf(found)] }
        : undefined;
    })
    .catch(nobodyIfUnknown);
}

/** A repository that is not in the installation is not found, or forbidden. A retry gets the same answer. */
function refusedForGood(error: unknown): undefined {
  if (error instanceof AppError && !error.retryable) {
    return undefined;
  }
  throw error;
}

/** GitHub names no permission of a bot. The bot of this App never starts or steers a run. */
async function authorizeBot(
  { author, installation }: InboundMessage,
  user: { readonly id: number },
  identity: BotIdentity,
): Promise<Authorization> {
  if (await identity.isOurs(installation, { user })) {
    return { allowed: false, reason: "The bot itself wrote it." };
  }
  const refusal = "A bot may do only what a policy of the team allows to bots.";
  return { allowed: true, permission: "bot", roles: ["bot"], author, refusal };
}

function findPull(
  client: GithubClient,
  installation: string,
  pull: Repository & { readonly number: number },
): Promise<z.infer<typeof pullAnswer>> {
  const route = "GET /repos/{owner}/{repo}/pulls/{pull_number}";
  return client.callIn(installation, pull, {
    route,
    parameters: { pull_number: pull.number },
    answer: pullAnswer,
  });
}

function findPermission(
  client: GithubClient,
  installation: string,
  repository: Repository,
  username: string,
): Promise<Permission> {
  const route = "GET /repos/{owner}/{repo}/collaborators/{username}/permission";
  return client.callIn(installation, repository, {
    route,
    parameters: { username },
    answer: permissionAnswer,
  });
}

function roleOf({ permission, user }: Permission): Role {
  if (WRITERS.has(permission) || user?.permissions?.push === true) {
    return "write";
  }
  return READERS.has(permission) ? "read" : "outside";
}

/** GitHub does not know the user, or the repository is gone. */
function nobodyIfUnknown(error: unknown): undefined {
  if (error instanceof AppError && error.code === "resource_not_found") {
    return undefined;
  }
  return failClosed(error);
}

/** A 403 here can be temporary, and without an answer nobody is authorized. So it becomes retryable. */
function failClosed(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== "not_authorized" || FOR_GOOD.test(error.message)) {
    throw error;
  }
  const options = { ...error.options, cause: error };
  if (REPAIRABLE.test(error.message)) {
    throw new Misconfigured(error.code, error.message, options);
  }
  throw new AppError(error.code, error.message, { ...options, retryable: true });
}

function refusalOf(repository: string): string {
  return (
    `Sorry, I take errands here only from people who can write to ${repository}. ` +
    "Ask a maintainer for write access, or have one of them ask me."
  );
}

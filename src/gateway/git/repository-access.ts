import { AppError } from "../../core/basics/errors.ts";
import type { Log } from "../../core/basics/log.ts";
import { isSameRepository, type RepositoryName } from "../../core/model/repositories/repository-name.ts";
import type { GatewayGrant, RepositoryGrant } from "../../core/ports/gateway.ts";
import type { AuthorizeRepository, GatewayLimits } from "../gateway-options.ts";
import { Refusal } from "../refusal.ts";
import type { Traffic } from "../traffic.ts";
import type { Upstream, UpstreamResponse } from "../upstream.ts";

/** How the handlers of the git host get at the run's repositories. */
export interface RepositoryAccess {
  readonly grant: Pick<
    GatewayGrant,
    "runId" | "teamId" | "repositories" | "network" | "refusalOfPush" | "withoutTeamToken"
  >;
  readonly authorize: AuthorizeRepository;
  readonly traffic: Traffic;
  readonly log: Log;
}

export interface GitGatewayOptions extends RepositoryAccess {
  readonly gitUrl: string;
  /** Connects to the operator's git host. */
  readonly upstream: Upstream;
  /** Connects to public addresses for repositories without a grant, if there is network access. */
  readonly egress: Upstream;
  /** Connects to the storage of large files, by the rules for MCP servers. */
  readonly storage: () => Upstream;
  readonly limits: Pick<GatewayLimits, "lfsBytes" | "packBytes">;
}

export interface GitGateway extends GitGatewayOptions {
  /** The addresses to which the host redirected, by the usual one. Git asks for one before it sends anything. */
  readonly presentAddresses: Map<string, string>;
}

export function grantedIn(
  { repositories }: RepositoryAccess["grant"],
  repository: RepositoryName,
): RepositoryGrant | undefined {
  return repositories.find((known) => isSameRepository(known, repository));
}

export function requireGrant(repositoryCall: {
  readonly owner: string;
  readonly name: string;
  readonly granted: RepositoryGrant | undefined;
  readonly isPush: boolean;
  readonly network: GatewayGrant["network"];
}): void {
  const { granted, isPush, network } = repositoryCall;
  const repository = `${repositoryCall.owner}/${repositoryCall.name}`;
  if (isPush && granted?.push !== true) {
    throw new Refusal(403, granted?.noPush ?? `This run must not push to ${repository}.`);
  }
  if (granted !== undefined || network === "internet") {
    return;
  }
  throw new Refusal(403, `${repository} is not one of this run's repositories.`);
}

interface KeyRequest {
  readonly granted: RepositoryGrant;
  readonly url: string;
  readonly access: "read" | "write";
}

/** Fails with a refusal that says why the host gives no key. */
export async function keyFor(
  { authorize, grant, log, traffic }: RepositoryAccess,
  { access, granted, url }: KeyRequest,
): Promise<string | undefined> {
  const { runId, teamId, withoutTeamToken = false } = grant;
  try {
    return await authorize({ teamId, withoutTeamToken, ...nameOf(granted) }, url, access);
  } catch (error) {
    const repository = `${granted.owner}/${granted.name}`;
    log.warn("gateway.git.not_authorized", { runId, repository, error });
    const said = error instanceof AppError ? error.options.said : undefined;
    if (access === "write") {
      const message = said ?? `The git host gives no key for ${repository} now.`;
      traffic.noteRefusedPush({ ...nameOf(granted), message });
    }
    const words = said === undefined ? "" : ` It says: ${said}`;
    throw new Refusal(503, `The git host gives no key for ${repository} now. Try again later.${words}`);
  }
}

/** Ends a response that is not forwarded. */
export function drop({ body }: UpstreamResponse): void {
  body.on("error", () => undefined).destroy();
}

export function nameOf({ name, owner }: RepositoryName): RepositoryName {
  return { owner, name };
}

import { AppError } from "../../basics/errors.ts";
import type { TeamId } from "../../basics/ids.ts";
import type { Principal } from "../../model/people/principal.ts";
import type { Policy, WorkflowMatch } from "../../model/policies/policy.ts";
import { inOrder, matchesOneGlob } from "../../model/policies/rule.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import type { WorkflowToken } from "../../ports/workflow-tokens.ts";
import { type IssuedKey, type KeyDeps, KeyService } from "./key-service.ts";

export interface WorkflowKeyDeps extends KeyDeps {
  readonly storage: KeyDeps["storage"] & Pick<Storage, "policies">;
  /** The audience of tokens, unless a policy names another one. */
  readonly audience: string;
}

const REMEDY =
  "Ask an administrator for a policy with the condition `workflow` that names this repository id, ref and event.";

/** Gives keys to CI workflows that prove what they are. Policies with the condition `workflow` say to which. */
export class WorkflowKeys {
  readonly #deps: WorkflowKeyDeps;

  constructor(deps: WorkflowKeyDeps) {
    this.#deps = deps;
  }

  /** The issuers that the policies of all teams name. */
  async issuers(): Promise<ReadonlySet<string>> {
    const policies = (await this.#policies()).flat();
    return new Set(policies.flatMap(({ match }) => match.workflow?.issuer ?? []));
  }

  /** Runs inside a transaction, for the principal of `principalFor`. The key can start runs and read them. */
  async issue(principal: Principal, token: WorkflowToken, lifetimeMs: number): Promise<IssuedKey> {
    const expiresAt = new Date(this.#deps.clock.now().getTime() + lifetimeMs);
    const scopes = ["runs:write"] as const;
    const name = `${token.repository} ${token.ref} (${token.event})`.slice(0, NAME_LENGTH);
    return new KeyService(this.#deps).create({ principal, scopes }, { name, scopes, expiresAt });
  }

  /** Whose key the workflow may have. Throws if no policy says it. Default: the only team whose policies do. */
  async principalFor(token: WorkflowToken, teamId: TeamId | undefined): Promise<Principal> {
    const { repository, repositoryId, ref, event } = token;
    const policies = await this.#policies();
    const found = policies.flatMap((ofTeam) => {
      const policy = ofTeam.find(({ match }) => this.#isFor(match.workflow, token));
      return policy?.effect === "allow" && (teamId ?? policy.teamId) === policy.teamId ? [policy] : [];
    });
    const [policy, other] = found;
    if (policy === undefined) {
      const what = `repository id ${repositoryId} (${repository}), ref ${ref} and event ${event}`;
      throw new AppError("not_authorized", `No policy gives workflows with ${what} a key.`, {
        remedy: REMEDY,
      });
    }
    if (other !== undefined) {
      throw new AppError("not_authorized", "Policies of several teams give this workflow a key.", {
        remedy: "Name the team in `team_uid`.",
      });
    }
    return this.#requirePrincipal(policy);
  }

  async #requirePrincipal({ match, name, teamId }: Policy): Promise<Principal> {
    const [principal] = await this.#deps.storage.people.getMany(match.principals ?? []);
    if (principal === undefined || principal.teamId !== teamId || principal.disabled) {
      throw new AppError(
        "not_authorized",
        `The principal that the policy "${name}" names is disabled or gone.`,
        {
          remedy: "Ask an administrator to name a service account of the team in the policy.",
        },
      );
    }
    return principal;
  }

  /** Code of strangers runs in workflows of pull requests, and their tokens do not say whose code it is. */
  #isFor(wanted: WorkflowMatch | undefined, token: WorkflowToken): boolean {
    return (
      wanted !== undefined &&
      !token.event.startsWith("pull_request") &&
      wanted.issuer === token.issuer &&
      token.audiences.includes(wanted.audience ?? this.#deps.audience) &&
      wanted.repositoryIds.includes(token.repositoryId) &&
      matchesOneGlob(wanted.refs, token.ref) &&
      wanted.events.includes(token.event)
    );
  }

  /** The enabled policies of each team in their order. */
  async #policies(): Promise<readonly (readonly Policy[])[]> {
    const { policies, teams } = this.#deps.storage;
    const all = await teams.list();
    return Promise.all(all.map(async ({ id }) => inOrder(await policies.list(id))));
  }
}

const NAME_LENGTH = 100;

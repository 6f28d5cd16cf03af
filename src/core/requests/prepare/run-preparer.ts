import { invalidMember } from "../../basics/errors.ts";
import { newId, type TeamId } from "../../basics/ids.ts";
import type { Viewer } from "../../model/people/principal.ts";
import { allowsSharing, type ShareAccess } from "../../model/people/share-link.ts";
import {
  type ConditionMembers,
  type RequiredApproval,
  requireAllowed,
  requiredApproval,
  stricter,
  type Verdict,
} from "../../model/policies/evaluate-policies.ts";
import type { RequestOrigin } from "../../model/policies/request-origin.ts";
import type { Approval, Run, RunConfig, RunDefinition } from "../../model/runs/run.ts";
import { requireRunRepository } from "../../model/runs/run-repository.ts";
import { requireMcpServers } from "../../model/secrets/mcp-server.ts";
import { type KeptValues, withSealedValues } from "../../model/secrets/sealed-values.ts";
import type { WebhookEndpoint } from "../../model/webhooks/webhook.ts";
import type { InputFile } from "../../model/workspaces/input-file.ts";
import { hashed, newApproval, readRequestInputs } from "../../runs/approval.ts";
import { resolveExecuted } from "../../runs/executed/resolve-executed.ts";
import { policyEvaluator } from "../../team/policies/run-rules.ts";
import { type AgentChoice, type NewRun, originOf } from "./new-run.ts";
import { CONFIG_STEPS, ROUTING_STEPS, type RunPreparerDeps, takeSteps } from "./request-steps.ts";
import { requirePullRequestAccess, requireSandbox } from "./requirements.ts";

/** A new run that is routed, has its skill and is allowed. It only has to be stored. */
export interface PreparedRun {
  readonly definition: RunDefinition;
  readonly inputs: NewRun["inputs"];
  readonly webhook?: WebhookEndpoint | undefined;
  readonly approval: Approval | undefined;
  readonly othersWrote: boolean;
  /** The access with which the request shares the run. Absent: it does not, or the team does not allow it. */
  readonly shares?: ShareAccess;
  /** The paths of the caller's members that have no effect for a reason that only the core knows. */
  readonly ignored: readonly string[];
}

/** The members of a request that policies have conditions on. */
const MEMBERS: ConditionMembers = {
  agents: "config.harness",
  environments: "config.environment_id",
  models: "config.model_id",
  priorities: "config.priority",
  repositories: "config.repository",
};

/** Makes of a request everything that a new run stores, and checks configurations that are stored for later runs. */
export class RunPreparer {
  readonly #deps: RunPreparerDeps;

  constructor(deps: RunPreparerDeps) {
    this.#deps = deps;
  }

  /** Does everything except storing the run. It may take a while, so it must not run inside a transaction. */
  async prepare(request: NewRun, from: RequestOrigin = { source: request.source }): Promise<PreparedRun> {
    const { agents, clock } = this.#deps;
    const steps = [...ROUTING_STEPS, ...CONFIG_STEPS];
    const { environment, request: complete } = await takeSteps({ request, from }, steps, this.#deps);
    const definition = originOf(complete, agents, clock.now());
    await this.#requireSandbox(definition, environment?.config.image);
    const verdict = await this.#evaluate(definition, complete, from);
    requireAllowed(verdict, MEMBERS);
    const required = requiredApproval(verdict);
    const { inputs = [] } = request;
    const othersWrote = request.othersWrote === true;
    const approval = required && (await this.#approvalOf({ ...definition, othersWrote }, required));
    const prepared = { definition, inputs, approval, othersWrote, ...(await this.#sharing(complete)) };
    return this.withFiles(prepared, inputs);
  }

  /** The request with everything that routing adds, for a caller that must know more of it before it is prepared. */
  async route(request: NewRun, from: RequestOrigin): Promise<NewRun> {
    return (await takeSteps({ request, from }, ROUTING_STEPS, this.#deps)).request;
  }

  /** The same run with these files. An approval covers their contents, which are read here. */
  async withFiles(prepared: PreparedRun, inputs: readonly InputFile[]): Promise<PreparedRun> {
    const { approval, definition } = prepared;
    if (approval === undefined) {
      return { ...prepared, inputs };
    }
    const approvalInputs = await readRequestInputs(definition, inputs, this.#deps.blobs);
    const covered = hashed(approvalInputs, this.#deps.digest, approval.executes);
    return { ...prepared, inputs, approval: { ...approval, ...covered } };
  }

  /** The approval without its words, which `withFiles` adds. */
  async #approvalOf(
    run: RunDefinition & Pick<Run, "othersWrote">,
    required: RequiredApproval,
  ): Promise<Approval> {
    const { clock, digest, storage } = this.#deps;
    const executes = await resolveExecuted(storage, run);
    return newApproval(newId(clock.now()), required, [], { digest, executes, authorIds: [] });
  }

  /** Checks a configuration that is stored for later runs. `member` is the caller's name for it. */
  requireStorable(config: RunConfig, member: string): void {
    requireStorableConfig(config, member, this.#deps.agents);
  }

  /** A configuration as it is stored. `before` has the values that the caller was shown as `[redacted]`. */
  storable<Config extends RunConfig>(teamId: TeamId, config: Config, kept: KeptValues = {}): Config {
    return withSealedValues(this.#deps.secretBox, teamId, config, kept);
  }

  /** Checks the credentials for the pull request of a configuration. It may ask another system. */
  async requirePullRequestAccess(
    request: Pick<NewRun, "config" | "creator" | "namedAgent">,
    member: string,
  ): Promise<void> {
    await requirePullRequestAccess(this.#deps.pullRequests, request, member);
  }

  /** Sharing takes effect only if the request itself asks for it, because only its response shows the address. */
  async #sharing({
    config,
    creator,
    ownConfig = config,
  }: NewRun): Promise<Pick<PreparedRun, "ignored" | "shares">> {
    const access = ownConfig?.session_sharing?.public_access;
    if (access === undefined) {
      return { ignored: [] };
    }
    const team = await this.#deps.storage.teams.find(creator.teamId);
    return team !== undefined && allowsSharing(team, access)
      ? { shares: access, ignored: [] }
      : { ignored: ["config.session_sharing"] };
  }

  /** An agent that needs no sandbox runs everywhere, unless its environment has an image. */
  async #requireSandbox(definition: RunDefinition, image: string | undefined): Promise<void> {
    const { agents, storage } = this.#deps;
    if (image !== undefined || agents.needsSandbox(definition.agent)) {
      await requireSandbox(storage.workers, agents, definition, image);
    }
  }

  /** The policies apply to everybody who takes part in the request. Nobody uses a right to administer here. */
  async #evaluate(origin: RunDefinition, request: NewRun, from: RequestOrigin): Promise<Verdict> {
    const { policies, storage } = this.#deps;
    const { creator, namedAgent, requester = creator } = request;
    const verdictOn = async (one: Pick<Viewer, "id" | "type">) => {
      const who = { ...one, teamId: creator.teamId, administrator: false };
      return (await policyEvaluator({ policies, environments: storage.environments }, who, from))(
        "create",
        origin,
      );
    };
    let verdict = await verdictOn(creator);
    if (requester.id !== creator.id) {
      verdict = stricter(verdict, await verdictOn(requester));
    }
    if (namedAgent !== undefined && namedAgent.id !== requester.id) {
      verdict = stricter(verdict, await verdictOn({ id: namedAgent.id, type: "service_account" }));
    }
    return verdict;
  }
}

/** Rejects a stored configuration that would make every later run fail. */
export function requireStorableConfig(config: RunConfig, member: string, agents: AgentChoice): void {
  requireMcpServers(config, member);
  requireRunRepository(config, member);
  const { budget, environment_id, harness, model_id, ref, repository } = config;
  // Another layer can name the environment, but a branch belongs to what is named with it.
  if (ref !== undefined && repository === undefined && environment_id === undefined) {
    throw invalidMember(`${member}.ref`, "needs a repository");
  }
  // A configuration that does not choose an agent is accepted even if the default agent cannot work at the moment.
  if ([harness, model_id, budget?.max_cost_usd].some((each) => each !== undefined)) {
    agents.choose(config, member);
  }
}

import type { Clock } from "../../basics/clock.ts";
import type { Digest } from "../../basics/digest.ts";
import { newId, type TeamId } from "../../basics/ids.ts";
import type { SecretBox } from "../../basics/secret-box.ts";
import { agentConfig } from "../../model/defaults/named-agent.ts";
import type { Viewer } from "../../model/people/principal.ts";
import { allowsSharing, type ShareAccess } from "../../model/people/share-link.ts";
import { requireAllowed, stricter, type Verdict } from "../../model/policies/evaluate-policies.ts";
import type { RequestOrigin } from "../../model/policies/request-origin.ts";
import { homeRepositoryOf } from "../../model/runs/home-repository.ts";
import { layeredConfig } from "../../model/runs/layered-config.ts";
import type { Approval, Run, RunConfig, RunDefinition } from "../../model/runs/run.ts";
import { requireRunRepository } from "../../model/runs/run-repository.ts";
import { requireMcpServers } from "../../model/secrets/require-mcp-servers.ts";
import { type KeptValues, withSealedValues } from "../../model/secrets/sealed-values.ts";
import type { WebhookEndpoint } from "../../model/webhooks/webhook-endpoint.ts";
import type { Environment } from "../../model/workspaces/environment.ts";
import type { InputFile } from "../../model/workspaces/input-file.ts";
import type { BlobStore } from "../../ports/blob-store.ts";
import type { PullRequests } from "../../ports/pull-requests.ts";
import type { Storage } from "../../ports/stores/storage.ts";
import {
  hashed,
  newApproval,
  type RequiredApproval,
  readRequestInputs,
  requiredApproval,
} from "../../runs/approval.ts";
import { resolveExecuted } from "../../runs/executed/resolve-executed.ts";
import { policyEvaluator } from "../../team/policies/policy-evaluator.ts";
import type { RunRules } from "../../team/policies/run-rules.ts";
import { route } from "../routing/route.ts";
import { isPlaced, routedConfig, withoutPlace } from "../routing/routed-config.ts";
import type { SkillFinder } from "../skills/skill-finder.ts";
import { findExecutingAgent } from "./find-executing-agent.ts";
import { inheritConfig } from "./inherit-config.ts";
import { type AgentChoice, type NewRun, originOf } from "./new-run.ts";
import { requirePullRequestAccess } from "./require-access.ts";
import { requireSandbox } from "./require-sandbox.ts";
import { requireTeamMcpServers } from "./require-team-mcp-servers.ts";
import { requireRunEnvironment } from "./run-environment.ts";
import { withSkills } from "./with-skills.ts";

export interface RunPreparerDeps extends Pick<RunRules, "policies" | "routing"> {
  readonly storage: Pick<
    Storage,
    "environments" | "mcpServers" | "namedAgents" | "people" | "secrets" | "teams" | "workers"
  >;
  readonly clock: Clock;
  readonly agents: AgentChoice;
  readonly skills: Pick<SkillFinder, "find">;
  readonly secretBox: Pick<SecretBox, "seal">;
  readonly pullRequests: Pick<PullRequests, "isAllowed">;
  readonly blobs: Pick<BlobStore, "get">;
  readonly digest: Digest;
}

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

/** Makes of a request everything that a new run stores, and checks configurations that are stored for later runs. */
export class RunPreparer {
  readonly #deps: RunPreparerDeps;

  constructor(deps: RunPreparerDeps) {
    this.#deps = deps;
  }

  /** Does everything except storing the run. It may take a while, so it must not run inside a transaction. */
  async prepare(request: NewRun, from: RequestOrigin = { source: request.source }): Promise<PreparedRun> {
    const { agents, clock, storage } = this.#deps;
    const routed = await this.#routed(await this.#withAgent(this.#withSealedConfig(request)), from);
    requireMcpServers(routed.config ?? {}, "config");
    const home = homeRepositoryOf({ provenance: routed.provenance ?? {} });
    requireRunRepository(routed.config ?? {}, "config", home);
    await this.requirePullRequestAccess(routed, "config");
    const environment = await requireRunEnvironment(storage.environments, routed);
    await requireTeamMcpServers(storage.mcpServers, routed.creator.teamId, routed.config ?? {});
    // Rows of earlier versions have values that are not sealed.
    const sealed = withEnvironment(
      { ...routed, ...this.#sealedConfig(routed, { isStored: true }) },
      environment,
    );
    // The skills are read before anything is stored, because it may take a while and without them there is no run.
    const origin = originOf(await withSkills(this.#deps.skills, sealed), agents, clock.now());
    await requireSandbox(storage.workers, agents, origin, environment?.config.image);
    const verdict = await this.#evaluate(origin, routed, from);
    requireAllowed(verdict);
    const required = requiredApproval(verdict);
    const { inputs = [] } = request;
    const othersWrote = request.othersWrote === true;
    const approval = required && (await this.#approvalOf({ ...origin, othersWrote }, required));
    const sharing = await this.#sharing(request);
    const prepared = { definition: origin, inputs, approval, othersWrote, ...sharing };
    return this.withFiles(prepared, inputs);
  }

  /** The same run with these files. An approval covers their contents, which are read here. */
  async withFiles(prepared: PreparedRun, inputs: readonly InputFile[]): Promise<PreparedRun> {
    const { approval, definition } = prepared;
    if (approval === undefined) {
      return { ...prepared, inputs };
    }
    const approvalInputs = await readRequestInputs(definition, inputs, this.#deps);
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

  /** Whether the request, a routing rule or a default says in which environment or repository the run works. */
  async hasPlace(request: NewRun, from: RequestOrigin): Promise<boolean> {
    if (request.isWithoutEnvironment === true) {
      return true;
    }
    const { config = {}, provenance = {} } = await this.#routed(await this.#withAgent(request), from);
    return isPlaced(config) || homeRepositoryOf({ provenance }) !== undefined;
  }

  /** Checks a configuration that is stored for later runs. `member` is the caller's name for it. */
  requireStorable(config: RunConfig, member: string): void {
    requireStorableConfig(config, member, this.#deps.agents);
  }

  /** A configuration as it is stored. `before` has the values that the caller was shown as `[redacted]`. */
  storable<Config extends RunConfig>(teamId: TeamId, config: Config, kept: KeptValues = {}): Config {
    return withSealedValues(this.#deps.secretBox, teamId, config, kept);
  }

  /** Seals the caller's values before they are joined with those of stored configurations, which are sealed already. */
  #withSealedConfig(request: NewRun): NewRun {
    if (request.hasStoredConfig === true) {
      return request;
    }
    requireMcpServers(request.config ?? {}, "config");
    return { ...request, ...this.#sealedConfig(request) };
  }

  #sealedConfig({ config, creator }: NewRun, kept: KeptValues = {}): Pick<NewRun, "config"> {
    return config === undefined ? {} : { config: this.storable(creator.teamId, config, kept) };
  }

  /** Checks the credentials for the pull request of a configuration. It may ask another system. */
  async requirePullRequestAccess(
    request: Pick<NewRun, "config" | "creator" | "namedAgent">,
    member: string,
  ): Promise<void> {
    await requirePullRequestAccess(this.#deps.pullRequests, request, member);
  }

  /** Sharing takes effect only if the request itself asks for it, because only its response shows the address. */
  async #sharing({ config, creator }: NewRun): Promise<Pick<PreparedRun, "ignored" | "shares">> {
    const access = config?.session_sharing?.public_access;
    if (access === undefined) {
      return { ignored: [] };
    }
    const team = await this.#deps.storage.teams.find(creator.teamId);
    return team !== undefined && allowsSharing(team, access)
      ? { shares: access, ignored: [] }
      : { ignored: ["config.session_sharing"] };
  }

  /** Adds the named agent that executes the run, if any. */
  async #withAgent(request: NewRun): Promise<NewRun> {
    const { agentUid, creator, requester = creator } = request;
    const namedAgent = await findExecutingAgent(this.#deps.storage, requester, agentUid);
    return namedAgent === undefined ? request : { ...request, namedAgent };
  }

  /** Adds what the run inherits from its conversation, and what the first matching routing rule says. */
  async #routed(request: NewRun, from: RequestOrigin): Promise<NewRun> {
    if (request.isRouted === true) {
      return request;
    }
    const { config: requested = {}, continues, creator, namedAgent, prompt } = request;
    const agent = namedAgent && agentConfig(namedAgent, requested);
    const chosen = layeredConfig(requested, agent ?? {});
    const before = continues && inheritConfig(continues, chosen);
    const { defaults = [], isWithoutEnvironment = false } = request;
    const rules = await this.#deps.routing.of(creator.teamId);
    const known = layeredConfig(chosen, before?.config ?? {});
    const routing = isWithoutEnvironment
      ? { reason: "The request names no environment.", considered: [] }
      : route(rules, { ...from, text: prompt, config: known });
    // A request from an issue works in the repository of the issue.
    const isPlacedElsewhere =
      isWithoutEnvironment || homeRepositoryOf({ provenance: request.provenance ?? {} }) !== undefined;
    const below = isPlacedElsewhere
      ? defaults.map(({ config, layer }) => ({ layer, config: withoutPlace(config) }))
      : defaults;
    const sources = { request: requested, agent, conversation: before?.config, defaults: below };
    const routed = routedConfig(sources, routing);
    const provenance = { ...before?.provenance, ...request.provenance, ...routed.provenance };
    return { ...before, ...request, config: routed.config, provenance };
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

/** The name of the environment, for people who read about the run when the environment has been changed. */
function withEnvironment(request: NewRun, environment: Environment | undefined): NewRun {
  if (environment === undefined) {
    return request;
  }
  const { name, repositories } = environment.config;
  const names = repositories.map((repository) => `${repository.owner}/${repository.name}`);
  return { ...request, provenance: { ...request.provenance, environment: { name, repositories: names } } };
}

/** Rejects a stored configuration that would make every later run fail. */
export function requireStorableConfig(config: RunConfig, member: string, agents: AgentChoice): void {
  requireMcpServers(config, member);
  requireRunRepository(config, member);
  const { budget, harness, model_id } = config;
  // A configuration that does not choose an agent is accepted even if the default agent cannot work at the moment.
  if ([harness, model_id, budget?.max_cost_usd].some((each) => each !== undefined)) {
    agents.choose(config, member);
  }
}

import type { FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { defined } from "../../core/basics/defined.ts";
import type { PrincipalId } from "../../core/basics/ids.ts";
import type { Viewer } from "../../core/model/people/principal.ts";
import { requireVisible } from "../../core/model/policies/visibility.ts";
import type { Run, RunConfig } from "../../core/model/runs/run.ts";
import type { RunSource } from "../../core/model/runs/sources.ts";
import type { RequestFile } from "../../core/model/workspaces/input-file.ts";
import type { NewRun } from "../../core/requests/prepare/new-run.ts";
import { storeInputFiles } from "../../core/requests/prepare/store-input-files.ts";
import type { FollowUpResult } from "../../core/runs/transaction-extras.ts";
import { requireOnBehalfOf } from "../../core/team/people/on-behalf-of.ts";
import { requireRunWebhook, runWebhook } from "../../core/team/webhooks/run-webhook.ts";
import type { Availability } from "../../core/upkeep/capacity.ts";
import { newRunWaitsFor } from "../../core/upkeep/waiting-for.ts";
import type { ApiDeps } from "../api-deps.ts";
import { holderOf, viewerOf } from "../auth/authentication.ts";
import { type ApiLimits, limitsOf } from "../http/api-limits.ts";
import { ignoredOf } from "../http/ignored-members.ts";
import { requestFilesOf } from "../http/request-files.ts";
import { sourceOf } from "../http/request-source.ts";
import { requireBytes, requireCharacters, requireConfigBytes } from "../http/request-validation.ts";
import { requireId, requireRunId } from "../schemas/ids.ts";
import { problems } from "../schemas/problem.ts";
import { runConfigOf } from "../schemas/run-config.ts";
import { RunAgentRequest, RunAgentResponse } from "../schemas/run-requests.ts";
import { waitingForItem } from "../schemas/waiting-for.ts";
import { findContinued } from "./conversations.ts";
import type { Idempotency, PreparedWrite, RunOperation, RunTransaction } from "./idempotency.ts";
import { RunSharing } from "./run-sharing.ts";

/** Two addresses with the same behaviour, because public clients use either. */
const ADDRESSES = [
  { path: "/agent/runs", operationId: "createRun" },
  { path: "/agent/run", operationId: "runAgent" },
] as const;

/** The prompt of a continued conversation if the request has none. */
const DEFAULT_PROMPT = "Continue.";

export function createRunRoutes(deps: ApiDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  const limits = limitsOf(deps.limits);
  const response = { 200: RunAgentResponse, ...problems(400, 401, 403, 404, 409, 413, 422, 429, 503) };
  return async (app) => {
    for (const { path, operationId } of ADDRESSES) {
      const schema = { operationId, summary: "Start a run", tags: ["runs"], body: RunAgentRequest, response };
      const config = { scope: "runs:write", describedHeaders: ["Idempotency-Key", "X-Run-Source"] } as const;
      app.post(path, { schema, config }, async (request, reply) => {
        const { body, ignoredMembers } = request;
        const write = createWrite(deps, request, { body, ignoredMembers }, limits);
        return idempotency.writeRunOnce(request, reply, write);
      });
    }
  };
}

/** The body of a request for one run, and what of it has no effect. */
export interface CreateBody extends Pick<FastifyRequest, "ignoredMembers"> {
  readonly body: RunAgentRequest;
  /** One of many runs of one request. */
  readonly isOfBatch?: boolean;
}

/** Throws what can be refused without reading anything. */
export function createWrite(
  deps: ApiDeps,
  request: FastifyRequest,
  { body, ...others }: CreateBody,
  limits: ApiLimits,
): RunOperation & PreparedWrite<RunAgentResponse> {
  requireTexts(body, limits);
  const { attachments, images, webhook } = body;
  if (webhook !== undefined) {
    requireRunWebhook(webhook, deps.webhookClient);
  }
  const files = attachments || images ? requestFilesOf(body, limits) : [];
  const source = sourceOf(request);
  return {
    operation: "runs.create",
    hidesBody: webhook !== undefined,
    isAtomic: files.length === 0,
    isSecret: body.config?.session_sharing?.public_access !== undefined,
    prepare: () => prepareRun(deps, request, { body, ...others, files, source }),
  };
}

interface Preparation extends CreateBody {
  readonly files: readonly RequestFile[];
  readonly source: RunSource;
}

/** Prepares the run outside of the transaction that stores it. */
async function prepareRun(
  deps: ApiDeps,
  request: FastifyRequest,
  { body, files, ignoredMembers, isOfBatch = false, source }: Preparation,
): Promise<RunTransaction<RunAgentResponse>> {
  const { webhook } = body;
  const newRun = await newRunOf(deps, body, viewerOf(request));
  const prepared = await deps.runs.preparer.prepare({ ...newRun, isOfBatch, source });
  // Only now, because a routing rule may choose the worker.
  const availabilityOf = await deps.capacity.look();
  const availability = availabilityOf(prepared.definition);
  // Only now, because a refused request must not leave files.
  const withFiles =
    files.length === 0
      ? prepared
      : await deps.runs.preparer.withFiles(prepared, await storeInputFiles(deps.blobs, files));
  const endpoint = webhook && runWebhook(webhook, prepared.definition, deps.secrets);
  const run = { ...withFiles, webhook: endpoint };
  const { definition, shares } = prepared;
  const sharing = shares && new RunSharing(deps, holderOf(request), definition.sessionId, shares);
  return {
    perform: async (extras) => ({
      run: await (sharing?.store(run, extras) ?? deps.runs.store(run, extras)),
      followUpId: undefined,
    }),
    answer: (result) => ({
      ...createdOf(result),
      ...(sharing && { share_url: sharing.url }),
      ...waitOf(result, availability),
      ...ignoredOf({ ignoredMembers }, prepared.ignored),
    }),
  };
}

function requireTexts({ config, prompt, title }: RunAgentRequest, limits: ApiLimits): void {
  requireBytes("prompt", prompt, limits.promptBytes);
  requireCharacters("title", title, limits.titleLength);
  requireConfigBytes("config", config, limits);
}

async function newRunOf(
  { runs, storage }: Pick<ApiDeps, "runs" | "storage">,
  request: RunAgentRequest,
  caller: Viewer,
): Promise<Omit<NewRun, "source">> {
  const { agent_identity_uid, conversation_id, metadata, mode, on_behalf_of, parent_run_id, team, title } =
    request;
  const creator =
    on_behalf_of === undefined ? caller : await requireOnBehalfOf(storage, caller, on_behalf_of);
  // Neither the caller nor the creator gets files of a run that the other one may not see.
  const seenByBoth = async (run: Promise<Run>) => requireVisible(await run, creator);
  return defined({
    prompt: promptOf(request),
    creator,
    requester: on_behalf_of === undefined ? undefined : caller,
    config: configOf(request),
    agentUid:
      agent_identity_uid === undefined ? undefined : requireId<PrincipalId>(agent_identity_uid, "agent"),
    title,
    mode,
    teamOwned: team,
    metadata,
    parent:
      parent_run_id === undefined
        ? undefined
        : await seenByBoth(runs.get({ id: requireRunId(parent_run_id) }, caller)),
    continues:
      conversation_id === undefined
        ? undefined
        : await seenByBoth(findContinued({ runs }, conversation_id, caller)),
  });
}

/** A skill needs no prompt. */
function promptOf({ prompt = "", skill, config, conversation_id }: RunAgentRequest): string {
  const isSkill = [skill, config?.skill_spec, config?.skills?.[0]].some((spec) => spec !== undefined);
  return prompt.trim() !== "" || isSkill || conversation_id === undefined ? prompt : DEFAULT_PROMPT;
}

/** An interactive caller wants to be asked for permissions. `skill` takes precedence over the skill in `config`. */
function configOf({ config, interactive, skill }: RunAgentRequest): RunConfig {
  const named = skill === undefined ? {} : { skill_spec: skill };
  const runConfig: RunConfig = { ...(config && runConfigOf(config)), ...named };
  return interactive === true ? { permission_policy: "ask", ...runConfig } : runConfig;
}

export function createdOf({ run: { id, state } }: FollowUpResult): RunAgentResponse {
  return { run_id: id, task_id: id, state };
}

function waitOf(
  { run }: FollowUpResult,
  availability: Availability | undefined,
): Pick<RunAgentResponse, "at_capacity" | "waiting_for"> {
  const waits = newRunWaitsFor(run, availability);
  return defined({
    at_capacity: availability === undefined ? undefined : availability !== "free",
    waiting_for: waits === undefined ? undefined : waitingForItem(waits),
  });
}

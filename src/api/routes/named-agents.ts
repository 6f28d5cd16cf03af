import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { PrincipalId } from "../../core/basics/ids.ts";
import type { Viewer } from "../../core/model/people/principal.ts";
import type { RunConfig } from "../../core/model/runs/run.ts";
import type { Storage } from "../../core/ports/stores/storage.ts";
import {
  type KnownAgent,
  type NamedAgentEdit,
  NamedAgentService,
} from "../../core/team/records/named-agent-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { limitsOf } from "../http/api-limits.ts";
import { ignoredOf } from "../http/ignored-members.ts";
import { requireBytes } from "../http/request-validation.ts";
import { requireId } from "../schemas/ids.ts";
import {
  CreateNamedAgentRequest,
  ListNamedAgentsResponse,
  NamedAgentItem,
  namedAgentEditOf,
  namedAgentItem,
  namedAgentPath,
  UpdateNamedAgentRequest,
} from "../schemas/named-agent.ts";
import { problems } from "../schemas/problem.ts";
import type { Idempotency } from "./idempotency.ts";

type NamedAgentDeps = Pick<ApiDeps, "clock" | "limits" | "runs" | "storage">;

const PATH = "/agent/identities";
const tags = ["people"];
const reading = { scope: "settings:read" } as const;
const writing = { scope: "admin", describedHeaders: ["Idempotency-Key"] } as const;

const params = z.object({ uid: z.string().describe("The agent's uid.") });

const LIST = {
  operationId: "listNamedAgents",
  summary: "List named agents",
  tags,
  response: { 200: ListNamedAgentsResponse, ...problems(401, 403, 503) },
};
const CREATE = {
  operationId: "createNamedAgent",
  summary: "Create a named agent",
  description:
    "A service account with defaults. `POST /agent/keys` with its uid as `principal_uid` makes its keys.",
  tags,
  body: CreateNamedAgentRequest,
  response: { 200: NamedAgentItem, ...problems(400, 401, 403, 404, 422, 503) },
};
const GET = {
  operationId: "getNamedAgent",
  summary: "Get a named agent",
  tags,
  params,
  response: { 200: NamedAgentItem, ...problems(401, 403, 404, 503) },
};
const UPDATE = {
  operationId: "updateNamedAgent",
  summary: "Change a named agent",
  description: "Runs that exist keep their configuration.",
  tags,
  params,
  body: UpdateNamedAgentRequest,
  response: { 200: NamedAgentItem, ...problems(400, 401, 403, 404, 422, 503) },
};
const DELETE = {
  operationId: "deleteNamedAgent",
  summary: "Delete a named agent",
  description: "Its keys are revoked, and its runs are kept.",
  tags,
  params,
  response: {
    204: z.null().describe("The agent was deleted."),
    ...problems(400, 401, 403, 404, 503),
  },
};

/** Named agents: service accounts with defaults, which execute runs. */
export function namedAgentRoutes(deps: NamedAgentDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  const agents = serviceOn(deps, deps.storage);
  const show = (known: KnownAgent) => namedAgentItem(known, isUsable(deps, known.agent.config));
  return async (app) => {
    app.get(PATH, { schema: LIST, config: reading }, async (request) => ({
      agents: (await agents.list(viewerOf(request))).map(show),
    }));
    app.post(PATH, { schema: CREATE, config: writing }, async (request, reply) => {
      const viewer = viewerOf(request);
      const edit = { ...namedAgentEditOf(request.body), name: request.body.name };
      return idempotency.writeOnce(request, reply, {
        operation: "namedAgents.create",
        perform: async (storage) => ({
          ...show(await serviceOn(deps, storage).create(viewer, storable(deps, viewer, edit))),
          ...ignoredOf(request),
        }),
      });
    });
    app.get(`${PATH}/:uid`, { schema: GET, config: reading }, async (request) =>
      show(await agents.get(viewerOf(request), requireUid(request.params))),
    );
    app.put(`${PATH}/:uid`, { schema: UPDATE, config: writing }, async (request, reply) => {
      const [viewer, id] = [viewerOf(request), requireUid(request.params)];
      const edit = namedAgentEditOf(request.body);
      return idempotency.writeOnce(request, reply, {
        operation: "namedAgents.update",
        target: id,
        perform: async (storage) => ({
          ...show(await replaceOn(deps, storage, { viewer, id, edit })),
          ...ignoredOf(request),
        }),
      });
    });
    const ending = { ...writing, endsKeys: true };
    app.delete(`${PATH}/:uid`, { schema: DELETE, config: ending }, async (request, reply) => {
      const [viewer, id] = [viewerOf(request), requireUid(request.params)];
      return idempotency.writeOnce(request, reply, {
        operation: "namedAgents.delete",
        target: id,
        status: 204,
        perform: async (storage) => {
          await serviceOn(deps, storage).remove(viewer, id);
          return null;
        },
      });
    });
  };
}

async function replaceOn(
  deps: NamedAgentDeps,
  storage: Storage,
  { edit, id, viewer }: { readonly viewer: Viewer; readonly id: PrincipalId; readonly edit: NamedAgentEdit },
): Promise<KnownAgent> {
  const service = serviceOn(deps, storage);
  const { agent } = await service.get(viewer, id);
  return service.replace(viewer, id, storable(deps, viewer, edit, agent.config));
}

function serviceOn(deps: NamedAgentDeps, storage: Storage): NamedAgentService {
  const requireUsable = (config: RunConfig) => requireUsableConfig(deps, config);
  return new NamedAgentService({ storage, clock: deps.clock, requireUsable });
}

function storable<Edit extends Pick<NamedAgentEdit, "config">>(
  { runs }: Pick<ApiDeps, "runs">,
  { teamId }: Viewer,
  edit: Edit,
  before: RunConfig = {},
): Edit {
  return { ...edit, config: runs.preparer.storable(teamId, edit.config, { before, member: "mcp_servers" }) };
}

/** Errors name the members as requests do. */
function requireUsableConfig(deps: NamedAgentDeps, config: RunConfig): void {
  const limits = limitsOf(deps.limits);
  const { base_prompt, ...others } = config;
  requireBytes("prompt", base_prompt, limits.basePromptBytes);
  requireBytes("mcp_servers", JSON.stringify(others), limits.configBytes);
  try {
    deps.runs.preparer.requireStorable(config, "config");
  } catch (error) {
    if (!(error instanceof AppError)) {
      throw error;
    }
    const issues = error.options.issues?.map(({ message, path }) => ({
      path: namedAgentPath(path.replace(/^config\./, "")),
      message,
    }));
    throw new AppError(error.code, error.message, {
      ...error.options,
      retryable: error.retryable,
      ...defined({ issues }),
    });
  }
}

function isUsable({ runs }: Pick<ApiDeps, "runs">, config: RunConfig): boolean {
  try {
    runs.preparer.requireStorable(config, "config");
    return true;
  } catch {
    return false;
  }
}

function requireUid({ uid }: z.output<typeof params>): PrincipalId {
  return requireId<PrincipalId>(uid, "agent");
}

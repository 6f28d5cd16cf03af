import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { PrincipalId } from "../../core/basics/ids.ts";
import type { Viewer } from "../../core/model/people/principal.ts";
import type { RunConfig } from "../../core/model/runs/run.ts";
import {
  type KnownAgent,
  type NamedAgentEdit,
  NamedAgentService,
} from "../../core/team/records/named-agent-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { limitsOf } from "../http/api-limits.ts";
import { except } from "../http/entity-tags.ts";
import { ignoredOf } from "../http/ignored-members.ts";
import { requireBytes } from "../http/request-validation.ts";
import {
  CreateNamedAgentRequest,
  ListNamedAgentsResponse,
  NamedAgentItem,
  namedAgentEditOf,
  namedAgentItem,
  namedAgentPath,
  UpdateNamedAgentRequest,
} from "../schemas/named-agent.ts";
import type { Idempotency } from "./idempotency.ts";
import { uuidId } from "./resource.ts";
import { resourceRoutes } from "./resource-routes.ts";

type NamedAgentDeps = Pick<ApiDeps, "clock" | "limits" | "runs" | "storage">;

const CREATE = {
  operationId: "createNamedAgent",
  summary: "Create a named agent",
  description:
    "A service account with defaults. `POST /agent/keys` with its uid as `principal_uid` makes its keys.",
  status: 200,
  problems: [404, 422],
  body: CreateNamedAgentRequest,
} as const;
const REPLACE = {
  operationId: "updateNamedAgent",
  summary: "Change a named agent",
  description: "Runs that exist keep their configuration.",
  problems: [422],
  verb: "update",
  body: UpdateNamedAgentRequest,
} as const;
const DELETE = {
  operationId: "deleteNamedAgent",
  summary: "Delete a named agent",
  description: "Its keys are revoked, and its runs are kept.",
  status: 204,
  response: z.null().describe("The agent was deleted."),
  endsKeys: true,
} as const;

/** Named agents: service accounts with defaults, which execute runs. */
export function namedAgentRoutes(deps: NamedAgentDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  const requireUsable = (config: RunConfig) => requireUsableConfig(deps, config);
  return resourceRoutes(deps.storage, idempotency, {
    path: "/agent/identities",
    name: "namedAgents",
    tags: ["people"],
    scopes: { read: "settings:read", write: "admin" },
    id: uuidId<PrincipalId>("uid", "agent", "The agent's uid."),
    serviceOn: (storage) => new NamedAgentService({ storage, clock: deps.clock, requireUsable }),
    item: NamedAgentItem,
    items: (rows: readonly KnownAgent[], { request }) =>
      rows.map((known) => ({
        ...namedAgentItem(known, isUsable(deps, known.agent.config)),
        ...ignoredOf(request),
      })),
    edited: except("available", "ignored"),
    list: {
      operationId: "listNamedAgents",
      summary: "List named agents",
      without: [400],
      member: "agents",
      response: ListNamedAgentsResponse,
      run: (agents, viewer) => agents.list(viewer),
    },
    get: {
      operationId: "getNamedAgent",
      summary: "Get a named agent",
      without: [400],
      run: (agents, viewer, id) => agents.get(viewer, id),
    },
    create: {
      ...CREATE,
      run: (agents, viewer, body) => {
        const edit = { ...namedAgentEditOf(body), name: body.name };
        return agents.create(viewer, storable(deps, viewer, edit));
      },
    },
    replace: {
      ...REPLACE,
      run: async (agents, viewer, id, body) => {
        const { agent } = await agents.get(viewer, id);
        return agents.replace(viewer, id, storable(deps, viewer, namedAgentEditOf(body), agent.config));
      },
    },
    remove: { ...DELETE, run: (agents, viewer, id) => agents.remove(viewer, id) },
  });
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

import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import type { PrincipalId, TeamId } from "../../core/basics/ids.ts";
import {
  BUILTIN_POLICIES,
  findBuiltinPolicy,
  requireChangeable,
} from "../../core/model/policies/builtin-policies.ts";
import { type ActionRequest, evaluatePolicies } from "../../core/model/policies/evaluate-policies.ts";
import type { Policy } from "../../core/model/policies/policy.ts";
import { inOrder } from "../../core/model/policies/rule.ts";
import type { Storage } from "../../core/ports/stores/storage.ts";
import { getPrincipal } from "../../core/team/people/principal-service.ts";
import { RuleService } from "../../core/team/policies/rule-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import { except } from "../http/entity-tags.ts";
import { requireId } from "../schemas/ids.ts";
import {
  EvaluatePolicyRequest,
  ListPoliciesResponse,
  PolicyItem,
  PolicyRequest,
  PolicyVerdict,
  policyEditOf,
  policyItem,
  verdictItem,
} from "../schemas/policy.ts";
import { problems } from "../schemas/problem.ts";
import type { Idempotency } from "./idempotency.ts";
import { uuidId } from "./resource.ts";
import { resourceRoutes } from "./resource-routes.ts";

const PATH = "/agent/policies";
const tags = ["rules"];

const LIST = {
  operationId: "listPolicies",
  summary: "List policies",
  description: "The built-in policies come last. They say what applies where no policy of the team matches.",
  member: "policies",
  response: ListPoliciesResponse,
};
const GET = { operationId: "getPolicy", summary: "Get a policy" };
const CREATE = {
  operationId: "createPolicy",
  summary: "Create a policy",
  description: "The policy takes effect within moments, in all processes of the server.",
  body: PolicyRequest,
};
const REPLACE = {
  operationId: "replacePolicy",
  summary: "Replace a policy",
  description:
    "Members that are left out get their default value. Replacing a built-in policy is a conflict.",
  body: PolicyRequest,
  problems: [409],
} as const;
const DELETE = {
  operationId: "deletePolicy",
  summary: "Delete a policy",
  description: "Deleting a built-in policy is a conflict.",
  problems: [409],
} as const;

export function policyRoutes(
  { clock, storage }: Pick<ApiDeps, "clock" | "storage">,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  const policies = resourceRoutes(storage, idempotency, {
    path: PATH,
    tags,
    scopes: { read: "admin", write: "admin" },
    id: uuidId("policyId", "policy"),
    serviceOn: (stores) => new RuleService(stores.policies, { kind: "policy", clock }),
    item: PolicyItem,
    items: (rows: readonly Policy[]) => rows.map(policyItem),
    edited: except("created_by"),
    list: {
      ...LIST,
      run: async (rules, { teamId }) => [...(await rules.list(teamId)), ...BUILTIN_POLICIES],
    },
    get: {
      ...GET,
      run: async (rules, { teamId }, id) => findBuiltinPolicy(id) ?? (await rules.get(teamId, id)),
    },
    create: { ...CREATE, run: (rules, viewer, body) => rules.create(viewer, policyEditOf(body)) },
    replace: {
      ...REPLACE,
      run: async (rules, { teamId }, id, body) => {
        requireChangeable(id);
        return rules.replace(teamId, id, policyEditOf(body));
      },
    },
    remove: {
      ...DELETE,
      run: async (rules, { teamId }, id) => {
        requireChangeable(id);
        return rules.remove(teamId, id);
      },
    },
  });
  return async (app) => {
    await app.register(policies);
    app.post(`${PATH}/evaluate`, { schema: EVALUATE, config: { scope: "admin" } }, async (request) => {
      const { teamId } = viewerOf(request);
      const action = await actionRequestOf(storage, teamId, request.body);
      return verdictItem(evaluatePolicies(inOrder(await storage.policies.list(teamId)), action));
    });
  };
}

const EVALUATE = {
  operationId: "evaluatePolicies",
  summary: "Evaluate the policies for a hypothetical action",
  tags,
  body: EvaluatePolicyRequest,
  response: { 200: PolicyVerdict, ...problems(400, 401, 403, 404, 503) },
};

async function actionRequestOf(
  storage: Pick<Storage, "people">,
  teamId: TeamId,
  request: EvaluatePolicyRequest,
): Promise<ActionRequest> {
  const {
    principal_uid: uid,
    environment_id: environmentId,
    request_kind: requestKind,
    source = "API",
    ...about
  } = request;
  const action = { ...about, source, environmentId, requestKind } as ActionRequest;
  if (uid === undefined) {
    return action;
  }
  const principalId = requireId<PrincipalId>(uid, "principal");
  const { id, type, administrator } = await getPrincipal(storage, teamId, principalId);
  const roles = [...(action.roles ?? []), ...(administrator ? (["administrator"] as const) : [])];
  return { ...action, principalId: id, principalType: type, roles };
}

import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import type { PrincipalId, TeamId } from "../../core/ids.ts";
import { getPrincipal } from "../../core/people/principal-service.ts";
import { type ActionRequest, evaluatePolicies } from "../../core/policies/evaluate-policies.ts";
import { inOrder } from "../../core/rules/rule.ts";
import { newRule, RuleService, sameRule } from "../../core/rules/rule-service.ts";
import type { Storage } from "../../core/storage.ts";
import type { ApiDeps } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import type { Idempotency } from "../http/idempotency.ts";
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
import { SUCCESS, Success } from "../schemas/success.ts";
import { requireId } from "./ids.ts";

const ROOT = "/agent/policies";
const ONE = `${ROOT}/:policyId`;
const KIND = "policy";
const tags = ["rules"];
const params = z.object({ policyId: z.string().describe("A policy's id.") });
const reading = { scope: "admin", acceptsCookie: true } as const;
const writing = { scope: "admin", describedHeaders: ["Idempotency-Key"] } as const;

const LIST = {
  operationId: "listPolicies",
  summary: "List policies",
  tags,
  response: { 200: ListPoliciesResponse, ...problems(401, 403, 503) },
};
const GET = {
  operationId: "getPolicy",
  summary: "Get a policy",
  tags,
  params,
  response: { 200: PolicyItem, ...problems(401, 403, 404, 503) },
};
const CREATE = {
  operationId: "createPolicy",
  summary: "Make a policy",
  description: "It counts within moments, in all processes of the server.",
  tags,
  body: PolicyRequest,
  response: { 201: PolicyItem, ...problems(400, 401, 403, 503) },
};
const REPLACE = {
  operationId: "replacePolicy",
  summary: "Replace a policy",
  description: "What is left out gets its default again.",
  tags,
  params,
  body: PolicyRequest,
  response: { 200: PolicyItem, ...problems(400, 401, 403, 404, 503) },
};
const DELETE = {
  operationId: "deletePolicy",
  summary: "Delete a policy",
  tags,
  params,
  response: { 200: Success, ...problems(401, 403, 404, 503) },
};
const EVALUATE = {
  operationId: "evaluatePolicies",
  summary: "See what the policies say of something, without doing it",
  tags,
  body: EvaluatePolicyRequest,
  response: { 200: PolicyVerdict, ...problems(400, 401, 403, 404, 503) },
};

export function policyRoutes(deps: ApiDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  return async (app) => {
    await app.register(readRoutes(deps));
    await app.register(writeRoutes(deps, idempotency));
  };
}

function serviceOn({ policies }: Pick<Storage, "policies">) {
  return new RuleService(policies, KIND);
}

function readRoutes({ storage }: ApiDeps): FastifyPluginAsyncZod {
  const policies = serviceOn(storage);
  return async (app) => {
    app.get(ROOT, { schema: LIST, config: reading }, async (request) => ({
      policies: (await policies.list(viewerOf(request).teamId)).map(policyItem),
    }));
    app.get(ONE, { schema: GET, config: reading }, async (request) => {
      const id = requireId(request.params.policyId, KIND);
      return policyItem(await policies.get(viewerOf(request).teamId, id));
    });
    app.post(`${ROOT}/evaluate`, { schema: EVALUATE, config: { scope: "admin" } }, async (request) => {
      const { teamId } = viewerOf(request);
      const action = await actionRequestOf(storage, teamId, request.body);
      return verdictItem(evaluatePolicies(inOrder(await storage.policies.list(teamId)), action));
    });
  };
}

function writeRoutes({ clock }: ApiDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  return async (app) => {
    app.post(ROOT, { schema: CREATE, config: writing }, async (request, reply) => {
      const policy = { ...newRule(viewerOf(request), clock.now()), ...policyEditOf(request.body) };
      return idempotency.writeOnce(request, reply, {
        operation: "policies.create",
        status: 201,
        perform: async (storage) => policyItem(await serviceOn(storage).add(policy)),
      });
    });
    app.put(ONE, { schema: REPLACE, config: writing }, async (request, reply) => {
      const id = requireId(request.params.policyId, KIND);
      const { teamId } = viewerOf(request);
      return idempotency.writeOnce(request, reply, {
        operation: "policies.replace",
        target: id,
        perform: async (storage) => {
          const policies = serviceOn(storage);
          const origin = sameRule(await policies.get(teamId, id), clock.now());
          return policyItem(await policies.replace({ ...origin, ...policyEditOf(request.body) }));
        },
      });
    });
    app.delete(ONE, { schema: DELETE, config: writing }, async (request, reply) => {
      const id = requireId(request.params.policyId, KIND);
      const { teamId } = viewerOf(request);
      return idempotency.writeOnce(request, reply, {
        operation: "policies.delete",
        target: id,
        perform: async (storage) => {
          await serviceOn(storage).remove(teamId, id);
          return SUCCESS;
        },
      });
    });
  };
}

async function actionRequestOf(
  storage: Storage,
  teamId: TeamId,
  asked: EvaluatePolicyRequest,
): Promise<ActionRequest> {
  const { principal_uid: uid, environment_id: environmentId, source = "API", ...about } = asked;
  const action = { ...about, source, environmentId, isAdministrator: false } as ActionRequest;
  if (uid === undefined) return action;
  const principalId = requireId<PrincipalId>(uid, "principal");
  const { id, type, administrator } = await getPrincipal(storage, teamId, principalId);
  return { ...action, principalId: id, principalType: type, isAdministrator: administrator };
}

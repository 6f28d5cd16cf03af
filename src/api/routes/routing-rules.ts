import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { requireEnvironment } from "../../core/environments/environment-service.ts";
import { invalidMember } from "../../core/errors.ts";
import { isTeamOwned } from "../../core/people/ownership.ts";
import { type RoutedRequest, route } from "../../core/routing/route.ts";
import { routedConfig } from "../../core/routing/routed-config.ts";
import type { RoutingRule } from "../../core/routing/routing-rule.ts";
import { inOrder } from "../../core/rules/rule.ts";
import { newRule, RuleService, sameRule } from "../../core/rules/rule-service.ts";
import type { RunConfig } from "../../core/runs/run.ts";
import type { Storage } from "../../core/storage.ts";
import { type ApiDeps, limitsOf } from "../api-deps.ts";
import { viewerOf } from "../auth/authentication.ts";
import type { Idempotency } from "../http/idempotency.ts";
import { requireConfigBytes } from "../http/request-validation.ts";
import { problems } from "../schemas/problem.ts";
import {
  EvaluateRoutingRequest,
  ListRoutingRulesResponse,
  RoutingResult,
  RoutingRuleItem,
  RoutingRuleRequest,
  routingResult,
  routingRuleEditOf,
  routingRuleItem,
} from "../schemas/routing-rule.ts";
import { SUCCESS, Success } from "../schemas/success.ts";
import { requireId } from "./ids.ts";

const ROOT = "/agent/routing-rules";
const ONE = `${ROOT}/:ruleId`;
const KIND = "routing rule";
const tags = ["rules"];
const params = z.object({ ruleId: z.string().describe("A routing rule's id.") });
const reading = { scope: "admin", acceptsCookie: true } as const;
const writing = { scope: "admin", describedHeaders: ["Idempotency-Key"] } as const;

const LIST = {
  operationId: "listRoutingRules",
  summary: "List routing rules",
  tags,
  response: { 200: ListRoutingRulesResponse, ...problems(401, 403, 503) },
};
const GET = {
  operationId: "getRoutingRule",
  summary: "Get a routing rule",
  tags,
  params,
  response: { 200: RoutingRuleItem, ...problems(401, 403, 404, 503) },
};
const CREATE = {
  operationId: "createRoutingRule",
  summary: "Make a routing rule",
  description: "It counts within moments, in all processes of the server.",
  tags,
  body: RoutingRuleRequest,
  response: { 201: RoutingRuleItem, ...problems(400, 401, 403, 404, 422, 503) },
};
const REPLACE = {
  operationId: "replaceRoutingRule",
  summary: "Replace a routing rule",
  description: "What is left out gets its default again.",
  tags,
  params,
  body: RoutingRuleRequest,
  response: { 200: RoutingRuleItem, ...problems(400, 401, 403, 404, 422, 503) },
};
const DELETE = {
  operationId: "deleteRoutingRule",
  summary: "Delete a routing rule",
  tags,
  params,
  response: { 200: Success, ...problems(401, 403, 404, 503) },
};
const EVALUATE = {
  operationId: "evaluateRoutingRules",
  summary: "See where a request would go, without making it",
  tags,
  body: EvaluateRoutingRequest,
  response: { 200: RoutingResult, ...problems(400, 401, 403, 422, 503) },
};

export function routingRuleRoutes(deps: ApiDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  return async (app) => {
    await app.register(readRoutes(deps));
    await app.register(writeRoutes(deps, idempotency));
  };
}

function serviceOn({ routingRules }: Pick<Storage, "routingRules">) {
  return new RuleService(routingRules, KIND);
}

function readRoutes(deps: ApiDeps): FastifyPluginAsyncZod {
  const { storage } = deps;
  const rules = serviceOn(storage);
  return async (app) => {
    app.get(ROOT, { schema: LIST, config: reading }, async (request) => ({
      routing_rules: (await rules.list(viewerOf(request).teamId)).map(routingRuleItem),
    }));
    app.get(ONE, { schema: GET, config: reading }, async (request) => {
      const id = requireId(request.params.ruleId, KIND);
      return routingRuleItem(await rules.get(viewerOf(request).teamId, id));
    });
    app.post(`${ROOT}/evaluate`, { schema: EVALUATE, config: { scope: "admin" } }, async (request) => {
      requireUsable(deps, request.body.config);
      const asked = routedRequestOf(request.body);
      const routing = route(inOrder(await rules.list(viewerOf(request).teamId)), asked);
      return routingResult(routing, routedConfig(asked.config, routing));
    });
  };
}

function writeRoutes(deps: ApiDeps, idempotency: Idempotency): FastifyPluginAsyncZod {
  const { clock } = deps;
  return async (app) => {
    app.post(ROOT, { schema: CREATE, config: writing }, async (request, reply) => {
      requireUsable(deps, request.body.config);
      const rule = { ...newRule(viewerOf(request), clock.now()), ...routingRuleEditOf(request.body) };
      return idempotency.writeOnce(request, reply, {
        operation: "routing-rules.create",
        status: 201,
        perform: async (storage) => {
          await requireTeamEnvironment(storage, rule);
          return routingRuleItem(await serviceOn(storage).add(rule));
        },
      });
    });
    app.put(ONE, { schema: REPLACE, config: writing }, async (request, reply) => {
      requireUsable(deps, request.body.config);
      const id = requireId(request.params.ruleId, KIND);
      const { teamId } = viewerOf(request);
      return idempotency.writeOnce(request, reply, {
        operation: "routing-rules.replace",
        target: id,
        perform: async (storage) => {
          const rules = serviceOn(storage);
          const origin = sameRule(await rules.get(teamId, id), clock.now());
          const rule = { ...origin, ...routingRuleEditOf(request.body) };
          await requireTeamEnvironment(storage, rule);
          return routingRuleItem(await rules.replace(rule));
        },
      });
    });
    app.delete(ONE, { schema: DELETE, config: writing }, async (request, reply) => {
      const id = requireId(request.params.ruleId, KIND);
      const { teamId } = viewerOf(request);
      return idempotency.writeOnce(request, reply, {
        operation: "routing-rules.delete",
        target: id,
        perform: async (storage) => {
          await serviceOn(storage).remove(teamId, id);
          return SUCCESS;
        },
      });
    });
  };
}

/** What no run could be started with is refused here: those who are routed never wrote it. */
function requireUsable(deps: ApiDeps, config: RoutingRuleRequest["config"] = {}): void {
  requireConfigBytes("config", config, limitsOf(deps));
  deps.runs.requireKeepable(config as RunConfig, "config");
}

/** One that is somebody's own would be unknown to all others whose requests are routed there. */
async function requireTeamEnvironment({ environments }: Storage, rule: RoutingRule): Promise<void> {
  const { config, creatorId, environmentId = config.environment_id, teamId } = rule;
  if (environmentId === undefined) return;
  const environment = await requireEnvironment(environments, { id: creatorId, teamId }, environmentId);
  if (!isTeamOwned(environment)) throw invalidMember("environment_id", "must be an environment of the team");
}

function routedRequestOf({
  source = "API",
  text = "",
  config = {},
  ...from
}: EvaluateRoutingRequest): RoutedRequest {
  return { ...from, source, text, config: config as RunConfig } as RoutedRequest;
}

import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import type { ApiDeps } from "./api-deps.ts";
import { eventRoutes } from "./events/event-routes.ts";
import type { OpenStreams } from "./events/open-streams.ts";
import type { ResponseMemory } from "./http/response-memory.ts";
import { agentRoutes } from "./routes/agents.ts";
import { artifactRoutes } from "./routes/artifacts.ts";
import { auditRoutes } from "./routes/audit.ts";
import { cancelRunRoutes, cancelRunsRoutes, interruptRoutes } from "./routes/cancel-runs.ts";
import { changeRunRoutes } from "./routes/change-run.ts";
import { conversationRoutes } from "./routes/conversations.ts";
import { createRunRoutes } from "./routes/create-run.ts";
import { createRunsRoutes } from "./routes/create-runs.ts";
import { deviceCodeRoutes } from "./routes/device-codes.ts";
import { doctorRoutes } from "./routes/doctor.ts";
import { draftCommentRoutes } from "./routes/draft-comments.ts";
import { egressRangeRoutes } from "./routes/egress-ranges.ts";
import { environmentRoutes } from "./routes/environments.ts";
import { externalReferenceRoutes } from "./routes/external-references.ts";
import { followUpRoutes } from "./routes/follow-ups.ts";
import { harnessUsageRoutes } from "./routes/harness-usage.ts";
import type { Idempotency } from "./routes/idempotency.ts";
import { identityLinkRoutes } from "./routes/identity-links.ts";
import { inboxRoutes } from "./routes/inbox.ts";
import { installationGuideRoutes } from "./routes/installation-guides.ts";
import { installationRoutes } from "./routes/installations.ts";
import { keyExchangeRoutes } from "./routes/key-exchange.ts";
import { keyRoutes } from "./routes/keys.ts";
import { mcpServerRoutes } from "./routes/mcp-servers.ts";
import { namedAgentRoutes } from "./routes/named-agents.ts";
import { noticeRoutes } from "./routes/notices.ts";
import { policyRoutes } from "./routes/policies.ts";
import { principalRoutes } from "./routes/principals.ts";
import { quotaRoutes } from "./routes/quotas.ts";
import { readRunRoutes } from "./routes/read-runs.ts";
import { redirectRoutes } from "./routes/redirects.ts";
import { retryRunRoutes } from "./routes/retry-run.ts";
import { routingRuleRoutes } from "./routes/routing-rules.ts";
import { runChangesRoutes } from "./routes/run-changes.ts";
import { runDecisionRoutes } from "./routes/run-decisions.ts";
import { runWebhookRoutes } from "./routes/run-webhooks.ts";
import { scheduleRoutes } from "./routes/schedules.ts";
import { secretRoutes } from "./routes/secrets.ts";
import { shareLinkRoutes } from "./routes/share-links.ts";
import { signInsRoutes } from "./routes/sign-ins.ts";
import { skillRoutes } from "./routes/skills.ts";
import { teamRoutes } from "./routes/teams.ts";
import { testEnvironmentRoutes } from "./routes/test-environment.ts";
import { threadRoutes } from "./routes/threads.ts";
import { transcriptRoutes } from "./routes/transcripts.ts";
import { usageRoutes } from "./routes/usage.ts";
import { webhookDeliveryRoutes } from "./routes/webhook-deliveries.ts";
import { webhookRoutes } from "./routes/webhooks.ts";
import { whoamiRoutes } from "./routes/whoami.ts";
import { workerRoutes } from "./routes/workers.ts";

interface RouteDeps extends ApiDeps {
  readonly streams: OpenStreams;
  readonly memory: Pick<ResponseMemory, "counted">;
}

type Routes = (deps: RouteDeps, idempotency: Idempotency) => FastifyPluginAsyncZod;

/** All routes under `/api/v1`, one entry per resource, in the order of the reference page. */
export const apiRoutes: readonly Routes[] = [
  createRunRoutes,
  createRunsRoutes,
  readRunRoutes,
  followUpRoutes,
  cancelRunRoutes,
  cancelRunsRoutes,
  interruptRoutes,
  changeRunRoutes,
  retryRunRoutes,
  runDecisionRoutes,
  eventRoutes,
  conversationRoutes,
  redirectRoutes,
  transcriptRoutes,
  artifactRoutes,
  externalReferenceRoutes,
  harnessUsageRoutes,
  runChangesRoutes,
  draftCommentRoutes,
  shareLinkRoutes,
  scheduleRoutes,
  policyRoutes,
  routingRuleRoutes,
  threadRoutes,
  inboxRoutes,
  noticeRoutes,
  environmentRoutes,
  testEnvironmentRoutes,
  secretRoutes,
  mcpServerRoutes,
  agentRoutes,
  workerRoutes,
  egressRangeRoutes,
  skillRoutes,
  webhookRoutes,
  webhookDeliveryRoutes,
  runWebhookRoutes,
  whoamiRoutes,
  keyRoutes,
  keyExchangeRoutes,
  signInsRoutes,
  deviceCodeRoutes,
  principalRoutes,
  namedAgentRoutes,
  teamRoutes,
  identityLinkRoutes,
  installationGuideRoutes,
  installationRoutes,
  auditRoutes,
  usageRoutes,
  quotaRoutes,
  doctorRoutes,
];

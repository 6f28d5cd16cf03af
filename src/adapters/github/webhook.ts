import type { EmitterWebhookEventName } from "@octokit/webhooks";
import { verifyWithFallback } from "@octokit/webhooks-methods";
import type { FastifyPluginAsync } from "fastify";
import { z } from "zod";
import { withTimeout } from "../../core/basics/clock.ts";
import { parseJson } from "../../core/basics/parse-json.ts";
import type { ReceivedEvent } from "../../core/ports/thread-adapter.ts";
import { isOwnBranch } from "../../core/work/workspaces/branch-name.ts";
import {
  DeliveryProblem,
  type RawRequest,
  RefusedRequests,
  type WebhookDeps,
  webhookRoute,
} from "../webhook-route.ts";
import { threadKeyOf } from "./addresses.ts";
import { orderingKeyOfAction, REQUESTED_ACTION } from "./check-actions.ts";
import { conclusionOfStatus, isRepairable } from "./commit-checks.ts";
import { INSTALLATION_ACTIONS, INSTALLATION_EVENTS } from "./installation-events.ts";
import { CHANGED_STATES, isChangedState } from "./reports.ts";

/** GitHub sends up to 25 MB and does not send a refused delivery again; Fastify's own limit is 1 MiB. */
const BODY_LIMIT_BYTES = 26 * 1024 * 1024;
/** GitHub times out after 10 seconds. */
const STORE_LIMIT_MS = 5_000;

const PROBLEMS = {
  forged: new DeliveryProblem(401, "The SHA-256 signature is missing or wrong."),
  form: new DeliveryProblem(
    415,
    "GitHub sends this event as a form. Set the content type of the webhook in the App's settings to application/json.",
  ),
  unnamed: new DeliveryProblem(400, "X-GitHub-Delivery and X-GitHub-Event are needed."),
  malformed: new DeliveryProblem(400, "The body is not what GitHub sends."),
};

interface Deps extends WebhookDeps {
  readonly secrets: readonly string[];
  accept(event: ReceivedEvent): Promise<boolean>;
}

/** Serves `POST /webhooks/github`. */
export function webhookRoutes({ accept, arrivals, log, secrets }: Deps): FastifyPluginAsync {
  const forms = new RefusedRequests(log, "github.webhook.form");
  return webhookRoute({
    arrivals,
    path: "/webhooks/github",
    bodyLimitBytes: BODY_LIMIT_BYTES,
    forged: new RefusedRequests(log, "github.webhook.rejected"),
    refused: new RefusedRequests(log, "github.webhook.refused"),
    read: (request) => readWebhookRequest(request, secrets),
    take: async (received, requestId) => {
      if (received.kind === "form") {
        forms.add(requestId);
      }
      if (received.kind !== "event") {
        return received.kind === "unused" ? { body: { stored: false } } : PROBLEMS[received.kind];
      }
      const { deliveryId, name } = received.event;
      const isNew = await withTimeout(accept(received.event), STORE_LIMIT_MS, { onTimeout: failToStore });
      // A delivery that is already stored is acknowledged as well.
      return { status: isNew ? 202 : 200, body: { stored: true }, stored: { deliveryId, name, isNew } };
    },
    logStored: (facts) => log.info("github.webhook.stored", facts),
    // GitHub does not deliver again by itself. `LostDeliveries` finds the event in the list of failed deliveries.
    logNotStored: (facts) => log.error("github.webhook.not_stored", facts),
  });
}

function failToStore(): never {
  throw new Error(`The event was not stored within ${STORE_LIMIT_MS} ms.`);
}

/**
 * The events in which a user can address the bot. The route does not check whether the text mentions the bot: that needs
 * the App's name from GitHub, and no call is made before the acknowledgement.
 */
export const SPOKEN_EVENTS = [
  "issue_comment.created",
  "issue_comment.edited",
  "issue_comment.deleted",
  "issues.opened",
  "issues.edited",
  "issues.labeled",
  "issues.deleted",
  "pull_request.opened",
  "pull_request.edited",
  "pull_request.labeled",
  "pull_request.review_requested",
  "pull_request_review.submitted",
  "pull_request_review.edited",
  "pull_request_review_comment.created",
  "pull_request_review_comment.edited",
  "pull_request_review_comment.deleted",
] as const satisfies readonly EmitterWebhookEventName[];

/** The events that tell about pull requests of runs. */
export const REPORT_EVENTS: readonly EmitterWebhookEventName[] = [
  "check_suite.completed",
  "status",
  "push",
  ...CHANGED_STATES.map((state) => `pull_request.${state}` as const),
];

const STORED: ReadonlySet<string> = new Set([
  ...SPOKEN_EVENTS,
  ...REPORT_EVENTS,
  ...INSTALLATION_EVENTS,
  REQUESTED_ACTION,
]);
const STORED_NAMES: ReadonlySet<string> = new Set([...STORED].map((event) => event.split(".")[0] ?? ""));

const BRANCH_EVENTS: ReadonlySet<string> = new Set(["check_suite", "status", "push"]);

/** What GitHub sends unless a webhook is set to JSON. */
const FORM = "application/x-www-form-urlencoded";

const SIGNATURE = /^sha256=[0-9a-f]{64}$/;

/** The events of a commit and of a branch. They say nothing about the pull requests, or name several. */
const branchSchema = z.object({
  repository: z.object({ id: z.number() }),
  action: z.string().optional(),
  check_suite: z
    .object({ head_sha: z.string(), head_branch: z.string().nullish(), conclusion: z.string().nullish() })
    .optional(),
  ref: z.string().optional(),
  sha: z.string().optional(),
  state: z.string().optional(),
  branches: z.array(z.object({ name: z.string() })).default([]),
});
type BranchEvent = z.infer<typeof branchSchema>;
const installationSchema = z.object({
  action: z.string(),
  installation: z.object({ id: z.number() }).optional(),
});

const numbered = z.object({ number: z.number() }).optional();
const bodySchema = z.object({
  action: z.string(),
  repository: z.object({ id: z.number() }),
  issue: numbered,
  pull_request: numbered,
});

export type WebhookRequest =
  | { readonly kind: "forged" | "form" | "unnamed" | "malformed" | "unused" }
  | { readonly kind: "event"; readonly event: ReceivedEvent };

/** Reads what GitHub sent. The signature by one of the secrets is checked before anything is parsed. */
export async function readWebhookRequest(
  request: RawRequest,
  secrets: readonly string[],
): Promise<WebhookRequest> {
  const body = request.body.toString();
  if (!(await isSigned(secrets, body, headerOf(request, "x-hub-signature-256")))) {
    return { kind: "forged" };
  }
  if (headerOf(request, "content-type")?.toLowerCase().startsWith(FORM)) {
    return { kind: "form" };
  }
  const deliveryId = headerOf(request, "x-github-delivery");
  const name = headerOf(request, "x-github-event");
  if (!deliveryId || !name) {
    return { kind: "unnamed" };
  }
  return readEvent({ body, deliveryId, name });
}

/** Whether a delivery with this event and action is stored. */
export function isStored(name: string, action: string): boolean {
  return STORED.has(action === "" ? name : `${name}.${action}`);
}

/** Reads a delivery that is known to be GitHub's. */
export function readEvent({
  body,
  deliveryId,
  name,
}: Pick<ReceivedEvent, "body" | "deliveryId" | "name">): WebhookRequest {
  if (BRANCH_EVENTS.has(name)) {
    return readBranchEvent({ deliveryId, name, body });
  }
  if (INSTALLATION_ACTIONS.has(name)) {
    return readInstallationEvent({ deliveryId, name, body });
  }
  if (name === "check_run") {
    const orderingKey = orderingKeyOfAction(body);
    return orderingKey === undefined
      ? { kind: "unused" }
      : { kind: "event", event: { adapter: "github", orderingKey, deliveryId, name, body } };
  }
  if (!STORED_NAMES.has(name)) {
    return { kind: "unused" };
  }
  const read = readBody(body);
  if (!read) {
    return { kind: "malformed" };
  }
  const { action, orderingKey } = read;
  if (!isStored(name, action)) {
    return { kind: "unused" };
  }
  // Messages of people do not wait for GitHub's answer about a merge.
  const order = name === "pull_request" && isChangedState(action) ? `${orderingKey}/reports` : orderingKey;
  return { kind: "event", event: { adapter: "github", orderingKey: order, deliveryId, name, body } };
}

function readInstallationEvent({
  body,
  deliveryId,
  name,
}: Pick<ReceivedEvent, "body" | "deliveryId" | "name">): WebhookRequest {
  const read = installationSchema.safeParse(parseJson(body));
  if (!read.success) {
    return { kind: "malformed" };
  }
  const { action, installation } = read.data;
  // A repository's own webhook says nothing about the App.
  if (installation === undefined || !isStored(name, action)) {
    return { kind: "unused" };
  }
  const orderingKey = `github:installation/${installation.id}`;
  return { kind: "event", event: { adapter: "github", orderingKey, deliveryId, name, body } };
}

function readBranchEvent(received: Pick<ReceivedEvent, "body" | "deliveryId" | "name">): WebhookRequest {
  const read = branchSchema.safeParse(parseJson(received.body));
  if (!read.success) {
    return { kind: "malformed" };
  }
  const { check_suite: suite, ref, repository, sha } = read.data;
  const subject = ref ?? sha ?? suite?.head_sha;
  if (subject === undefined) {
    return { kind: "malformed" };
  }
  const isWanted = received.name === "push" ? isOtherBranch(subject) : isOfInterest(read.data);
  const orderingKey = `github:${repository.id}/${subject}`;
  return isWanted
    ? { kind: "event", event: { adapter: "github", orderingKey, ...received } }
    : { kind: "unused" };
}

/** Most checks pass. Those matter only on branches of runs, whose cards show them. */
function isOfInterest({ action, branches, check_suite: suite, state = "" }: BranchEvent): boolean {
  const conclusion = suite === undefined ? conclusionOfStatus(state) : suite.conclusion;
  const isOver = suite === undefined ? conclusion !== undefined : action === "completed";
  const heads = [suite?.head_branch, ...branches.map(({ name }) => name)];
  const isOfRun = heads.some((head) => typeof head === "string" && isOwnBranch(head));
  return isOver && (isOfRun || isRepairable({ conclusion }));
}

const HEADS = "refs/heads/";

/** A branch of a run is the head of a pull request, and nothing goes into it. */
function isOtherBranch(ref: string): boolean {
  return ref.startsWith(HEADS) && !isOwnBranch(ref.slice(HEADS.length));
}

/** Octokit throws for an empty body and for a missing signature. `Webhooks.verify` ignores further secrets. */
async function isSigned([secret = "", ...others]: readonly string[], body: string, signature = "") {
  return body !== "" && SIGNATURE.test(signature) && verifyWithFallback(secret, body, signature, others);
}

function headerOf({ headers }: RawRequest, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
}

/** The ordering key is the issue or pull request, also for review threads. */
function readBody(body: string): { readonly action: string; readonly orderingKey: string } | undefined {
  const read = bodySchema.safeParse(parseJson(body));
  if (!read.success) {
    return undefined;
  }
  const { action, repository, issue, pull_request } = read.data;
  const number = (issue ?? pull_request)?.number;
  if (number === undefined) {
    return undefined;
  }
  return { action, orderingKey: `github:${threadKeyOf({ repositoryId: repository.id, number })}` };
}

import { z } from "zod";
import { ERROR_CODES } from "../../core/errors.ts";

const ProblemDetails = z
  .object({
    type: z.string().describe("A URI whose last segment is the code."),
    title: z.string(),
    status: z.int(),
    error: z.string().describe("For people: the title, with the detail where there is one."),
    detail: z.string().optional(),
    instance: z.string().optional(),
    retryable: z.boolean().optional(),
    trace_id: z.string().optional().describe("Equals the X-Request-Id of the answer."),
    code: z.enum(ERROR_CODES).optional().describe("Branch on this, never on the text."),
    remedy: z.string().optional().describe("What to do next."),
    issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: "Error" });

const DESCRIPTIONS = {
  400: "The request is not valid.",
  401: "The key is missing, malformed, revoked or expired.",
  404: "Unknown, or not visible to this caller.",
  409: "The same request is still being worked on.",
  413: "The body is too large.",
  422: "Not available here, or the Idempotency-Key was used with another request.",
  429: "Too much at once.",
  503: "Not reachable right now.",
} as const;
type Status = keyof typeof DESCRIPTIONS;

interface ProblemResponse {
  readonly description: string;
  readonly content: { readonly "application/problem+json": { readonly schema: typeof ProblemDetails } };
}

/** The refusals that a route documents; each comes in the shape of `Error`. */
export function problems<S extends Status>(...statuses: S[]): { [Key in S]: ProblemResponse } {
  const content = { "application/problem+json": { schema: ProblemDetails } };
  const entries = statuses.map((status) => [status, { description: DESCRIPTIONS[status], content }]);
  return Object.fromEntries(entries) as { [Key in S]: ProblemResponse };
}

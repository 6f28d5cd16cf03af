import { createRemoteJWKSet, customFetch, decodeJwt, errors, type JWTVerifyGetKey, jwtVerify } from "jose";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { AppError } from "../../core/basics/errors.ts";
import type { WorkflowToken, WorkflowTokens } from "../../core/ports/workflow-tokens.ts";
import type { GuardOptions } from "../guarded-connector.ts";
import { createGuardedFetch } from "../guarded-fetch.ts";

/** The claims of GitHub Actions. Other issuers can be told to send these names. */
const claims = z.object({
  iss: z.string(),
  aud: z.union([z.string().transform((one) => [one]), z.array(z.string())]),
  repository_id: z.string().min(1),
  repository: z.string().min(1),
  ref: z.string().min(1),
  event_name: z.string().min(1),
});
const metadata = z.object({ issuer: z.string(), jwks_uri: z.url() });

const TIMEOUT_MS = 5_000;
/** Signatures by asymmetric keys: a shared secret would let the reader of a token make others. */
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"];
const CLOCK_TOLERANCE = "30s";
/** Errors about the answer of the issuer, and not about the token. */
const UNANSWERED: ReadonlySet<string> = new Set(["ERR_JOSE_GENERIC", "ERR_JWKS_TIMEOUT", "ERR_JWKS_INVALID"]);
const REMEDY =
  "Request a new token from the platform in the same job, for the audience that the policy names, and send it at once.";

type Destination = Omit<GuardOptions, "connectMs">;

/** Connects only where `destinations` allows. */
export function createWorkflowTokens({ destinations, resolve }: Destination): WorkflowTokens {
  const options = { destinations, connectMs: TIMEOUT_MS, ...defined({ resolve }) };
  const issuers = new Issuers(createGuardedFetch(options));
  return {
    async verify(token, trusted) {
      const issuer = issuerOf(token);
      if (issuer === undefined || !trusted.has(issuer)) {
        throw refused("No policy trusts the issuer of this token.");
      }
      const options = {
        issuer,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_TOLERANCE,
        requiredClaims: ["exp"],
      };
      try {
        return tokenOf((await jwtVerify(token, await issuers.keysOf(issuer), options)).payload);
      } catch (error) {
        if (error instanceof AppError) {
          throw error;
        }
        const isAboutToken = error instanceof errors.JOSEError && !UNANSWERED.has(error.code);
        throw isAboutToken ? refused("The token is not valid, or no longer.") : unanswered();
      }
    },
  };
}

/** The keys of issuers, which are read at the first token of each. */
class Issuers {
  readonly #fetch: ReturnType<typeof createGuardedFetch>;
  readonly #known = new Map<string, Promise<JWTVerifyGetKey>>();

  constructor(fetch: ReturnType<typeof createGuardedFetch>) {
    this.#fetch = fetch;
  }

  /** A failure is not kept. */
  keysOf(issuer: string): Promise<JWTVerifyGetKey> {
    const keys = this.#known.get(issuer) ?? this.#discover(issuer);
    this.#known.set(issuer, keys);
    keys.catch(() => this.#known.delete(issuer));
    return keys;
  }

  async #discover(issuer: string): Promise<JWTVerifyGetKey> {
    const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
    const answer = await this.#get(url, AbortSignal.timeout(TIMEOUT_MS));
    const found = metadata.parse(await answer.json());
    if (found.issuer !== issuer) {
      throw new Error("The issuer calls itself differently.");
    }
    return createRemoteJWKSet(new URL(found.jwks_uri), {
      timeoutDuration: TIMEOUT_MS,
      [customFetch]: (address, { signal }) => this.#get(address, signal),
    });
  }

  #get(url: string, signal: AbortSignal): Promise<Response> {
    return this.#fetch(url, { headers: { accept: "application/json" }, signal });
  }
}

function unanswered(): AppError {
  return new AppError("authentication_required", "The issuer of this token does not answer as it should.", {
    retryable: true,
    remedy:
      "Try again. If it stays so, the issuer's address in the policy is wrong or not reachable from here.",
  });
}

function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

function tokenOf(payload: unknown): WorkflowToken {
  const parsed = claims.safeParse(payload);
  if (!parsed.success) {
    const missing = parsed.error.issues.map(({ path }) => path.join(".")).join(", ");
    throw refused(`The token is not one of a workflow: ${missing} is missing.`);
  }
  const { aud, event_name: event, iss: issuer, ref, repository, repository_id: repositoryId } = parsed.data;
  return { issuer, audiences: aud, repositoryId, repository, ref, event };
}

function refused(message: string): AppError {
  return new AppError("authentication_required", message, { remedy: REMEDY });
}

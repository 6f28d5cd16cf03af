import { randomBytes } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../core/errors.ts";
import { parseJson } from "../../core/parse-json.ts";
import type { Principal } from "../../core/people/principal.ts";
import { admitAccount, type ProvenAccount, type SignInProvider } from "../../core/people/sign-in-provider.ts";
import { type ApiDeps, limitsOf } from "../api-deps.ts";
import type { AuthDeps } from "../auth/authentication.ts";
import { SignedCookie } from "../auth/signed-cookie.ts";
import { callerNetwork } from "../http/caller-network.ts";
import { htmlPage, returnPath, textIn } from "./forms.ts";
import { newSignIn, visitorContext } from "./new-sign-in.ts";
import { fill, readPage } from "./page-files.ts";
import { SignInLimiter } from "./sign-in-limiter.ts";

/** How long a person may stay at the provider. */
const ATTEMPT_SECONDS = 600;
const SECRET_BYTES = 32;

const FAILED = {
  title: "You are not signed in",
  text: "The sign-in could not be completed, or it took too long. Try again.",
  link: "/signin",
  linkText: "Sign in",
};

/** Sends browsers to the providers, and signs them in when they come back with a proof. */
export function providerPages(deps: ApiDeps, auth: AuthDeps): (app: FastifyInstance) => Promise<void> {
  const limiter = new SignInLimiter(deps.clock, limitsOf(deps).failedSignIns);
  return async (app) => {
    const message = await readPage("message");
    for (const provider of deps.signInProviders) {
      addProvider(app, provider, { deps, auth, limiter, message });
    }
  };
}

interface PageDeps {
  readonly deps: ApiDeps;
  readonly auth: AuthDeps;
  readonly limiter: SignInLimiter;
  readonly message: string;
}

function addProvider(
  app: FastifyInstance,
  provider: SignInProvider,
  { auth, deps, limiter, message }: PageDeps,
): void {
  const { log, publicUrl } = deps;
  const path = `/signin/${provider.method}`;
  const schema = { hide: true };
  const attempts = new AttemptCookie(deps, path);
  const redirectUri = (): string => `${publicUrl()}${path}/callback`;

  app.get(path, { schema }, async (request, reply) => {
    const secrets = { state: newSecret(), nonce: newSecret(), verifier: newSecret() };
    try {
      const url = await provider.authorizationUrl({ ...secrets, redirectUri: redirectUri() });
      attempts.issue(reply, { ...secrets, next: returnPath(textIn(request.query, "next")) });
      return reply.header("cache-control", "no-store").redirect(url.href, 303);
    } catch (error) {
      log.warn({ method: provider.method, reason: reasonOf(error) }, "sign-in.provider.unavailable");
      return htmlPage(reply)
        .code(503)
        .send(
          fill(message, { ...FAILED, text: `${provider.name} does not answer at the moment. Try again.` }),
        );
    }
  });

  app.get(`${path}/callback`, { schema }, async (request, reply) => {
    const attempt = attempts.take(request, reply);
    const network = callerNetwork(request.ip);
    limiter.begun(network);
    if (attempt === undefined) {
      return htmlPage(reply).code(400).send(fill(message, FAILED));
    }
    const callback = new URL(redirectUri());
    callback.search = new URL(request.url, callback).search;
    const account = await prove(provider, callback, { ...attempt, redirectUri: redirectUri() }, log);
    if (account === undefined) {
      return htmlPage(reply).code(401).send(fill(message, FAILED));
    }
    const token = await signInAs(deps, request, provider, account);
    limiter.succeeded(network);
    if (token === undefined) {
      log.info({ subject: account.subject }, "sign-in.refused");
      return htmlPage(reply)
        .code(403)
        .send(fill(message, strangerPage(deps, account)));
    }
    auth.cookies.issue(reply, token);
    return reply.header("cache-control", "no-store").redirect(returnPath(attempt.next), 303);
  });
}

/** Returns the token of the sign-in. Undefined: the account may not sign in. */
async function signInAs(
  deps: ApiDeps,
  request: FastifyRequest,
  provider: SignInProvider,
  account: ProvenAccount,
): Promise<string | undefined> {
  const principal = await admit(deps, request, provider, account);
  const signIn = newSignIn(deps, request);
  return (
    principal &&
    deps.storage.atomically(
      async (stores) => {
        // The principal may have been disabled meanwhile.
        const [current] = await stores.people.getMany([principal.id]);
        return current?.disabled === false ? signIn(stores, current, { method: provider.method }) : undefined;
      },
      visitorContext(request, principal),
    )
  );
}

/** The account may become a principal here. No person has done that, so the audit entries name the provider. */
function admit(
  { storage }: ApiDeps,
  { id: requestId, ip: address }: FastifyRequest,
  { method }: SignInProvider,
  account: ProvenAccount,
): Promise<Principal | undefined> {
  const actor = { uid: `sign-in:${method}`, type: "system", address } as const;
  return storage.atomically((stores) => admitAccount(stores, account), { actor, requestId });
}

async function prove(
  provider: SignInProvider,
  callback: URL,
  attempt: Parameters<SignInProvider["prove"]>[1],
  log: ApiDeps["log"],
): Promise<ProvenAccount | undefined> {
  try {
    return await provider.prove(callback, attempt);
  } catch (error) {
    if (!(error instanceof AppError)) {
      throw error;
    }
    log.warn({ method: provider.method, reason: reasonOf(error) }, "sign-in.unproven");
    return undefined;
  }
}

/** Only the messages: the errors of the libraries also contain responses, with tokens and what they say about people. */
function reasonOf(error: unknown): string {
  return error instanceof Error
    ? [error.message, ...(error.cause === undefined ? [] : [reasonOf(error.cause)])].join(": ")
    : "unknown";
}

function strangerPage({ signInHelp }: ApiDeps, { displayName, subject }: ProvenAccount) {
  const name = displayName === undefined ? "" : `${displayName}, you`;
  return {
    title: "You are not a member here",
    text: `${name === "" ? "You" : name} proved who you are, but this account may not sign in. ${signInHelp} They need the name of your account: ${subject}`,
    link: "/signin",
    linkText: "Sign in another way",
  };
}

interface StoredAttempt {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly next: string;
}

/**
 * Keeps the secrets of an attempt in the browser that began it, so that a callback that another person prepared is
 * refused. The provider accepts its code once.
 */
class AttemptCookie {
  readonly #cookie: SignedCookie;
  readonly #path: string;

  constructor(deps: ApiDeps, path: string) {
    this.#cookie = new SignedCookie(deps, {
      name: "errand_sign_in",
      purpose: `sign-in ${path}`,
      securePrefix: "__Secure-",
    });
    this.#path = path;
  }

  issue(reply: FastifyReply, attempt: StoredAttempt): void {
    const word = Buffer.from(JSON.stringify(attempt)).toString("base64url");
    this.#cookie.issue(reply, word, ATTEMPT_SECONDS, this.#path);
  }

  /** Returns the attempt of this browser, and ends it. */
  take(request: FastifyRequest, reply: FastifyReply): StoredAttempt | undefined {
    const word = this.#cookie.read(request);
    this.#cookie.clear(reply, this.#path);
    // The signature shows that the content is ours.
    return word === undefined
      ? undefined
      : (parseJson(Buffer.from(word, "base64url").toString()) as StoredAttempt | undefined);
  }
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

import { randomBytes } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { parseJson } from "../../core/basics/parse-json.ts";
import type { KeyHolder } from "../../core/model/people/api-key.ts";
import { plainName } from "../../core/model/people/plain-name.ts";
import type { ProvenAccount, SignInProvider } from "../../core/ports/sign-in-provider.ts";
import type { ApiDeps } from "../api-deps.ts";
import { type AuthDeps, findByCookie } from "../auth/authentication.ts";
import { SignedCookie } from "../auth/cookies.ts";
import { htmlPage, returnPath, textIn } from "./forms.ts";
import { fill, readPage } from "./page-files.ts";
import { proveAccount, reasonOf, signInAs } from "./provider-sign-in.ts";

/** How long a person may stay at the provider. */
const ATTEMPT_SECONDS = 600;
const SECRET_BYTES = 32;

const FAILED = {
  title: "You are not signed in",
  text: "The sign-in took too long, or it was not begun in this browser. Try again.",
  link: "/signin",
  linkText: "Sign in",
};

const NO_ADMINISTRATOR = {
  title: "Your team has no administrator",
  text: "You are signed in, but no longer an administrator, because you left the group that made you one. Your team has no other. An operator of this server, or the server's own key, can appoint one.",
  linkText: "Continue",
};

/** Sends browsers to the providers, and signs them in when they come back with a proof. */
export function providerPages(deps: ApiDeps, auth: AuthDeps): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    const message = await readPage("message");
    for (const provider of deps.signInProviders) {
      const path = `/signin/${provider.method}`;
      const redirectUri = () => `${deps.publicUrl()}${path}/callback`;
      const page = { deps, auth, message, provider, redirectUri, attempts: new AttemptCookie(deps, path) };
      const options = { schema: { hide: true } };
      app.get(path, options, (request, reply) => begin(page, request, reply));
      // Not limited by address: a callback costs something only with the cookie of an attempt, and others share addresses.
      app.get(`${path}/callback`, options, (request, reply) => finish(page, request, reply));
    }
  };
}

interface ProviderPage {
  readonly deps: ApiDeps;
  readonly auth: AuthDeps;
  readonly message: string;
  readonly provider: SignInProvider;
  readonly redirectUri: () => string;
  readonly attempts: AttemptCookie;
}

async function begin(
  { attempts, deps: { log }, message, provider, redirectUri }: ProviderPage,
  { query }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const next = returnPath(textIn(query, "next"));
  const isSilent = provider.again !== undefined && textIn(query, "silent") === "1";
  const how = isSilent ? ({ isSilent } as const) : {};
  const secrets = { state: newSecret(), nonce: newSecret(), verifier: newSecret(), ...how };
  try {
    const url = await provider.authorizationUrl({ ...secrets, redirectUri: redirectUri() });
    attempts.issue(reply, { ...secrets, next });
    return goTo(reply, url.href);
  } catch (error) {
    log.warn({ method: provider.method, reason: reasonOf(error) }, "sign-in.provider.unavailable");
    // The page was opened by a person who is signed in, and who stays so.
    return isSilent
      ? goTo(reply, next)
      : htmlPage(reply)
          .code(503)
          .send(
            fill(message, { ...FAILED, text: `${provider.name} does not answer at the moment. Try again.` }),
          );
  }
}

async function finish(
  page: ProviderPage,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { attempts, auth, deps, message, provider, redirectUri } = page;
  const attempt = attempts.take(request, reply);
  if (attempt === undefined) {
    return htmlPage(reply).code(400).send(fill(message, FAILED));
  }
  const next = returnPath(attempt.next);
  const isSilent = attempt.isSilent === true;
  const former = isSilent ? await findByCookie(auth, request) : undefined;
  const callback = new URL(redirectUri());
  callback.search = new URL(request.url, callback).search;
  const proof = await proveAccount(deps, provider, callback, { ...attempt, redirectUri: redirectUri() });
  if ("needsPerson" in proof) {
    const { needsPerson, text } = proof;
    if (!isSilent) {
      return unproven(page, reply, `${text} Try again, or tell an administrator of this server.`);
    }
    // An answer that says nothing of the person ends no session. The next attempt comes after a pause.
    return needsPerson ? askPerson(page, reply, { former, next }) : goTo(reply, next);
  }
  const { state } = attempt;
  const session = await signInAs(deps, request, { account: proof, former, isSilent, provider, state });
  switch (session) {
    case "used":
      return unproven(page, reply, FAILED.text);
    case "other_person":
      return askPerson(page, reply, { former, next });
    case "stranger":
      await end(page, reply, former);
      return htmlPage(reply)
        .code(403)
        .send(fill(message, strangerPage(deps, proof)));
    default:
      auth.cookies.issue(reply, session.token);
      return session.leftNoAdministrator
        ? htmlPage(reply).send(fill(message, { ...NO_ADMINISTRATOR, link: next }))
        : goTo(reply, next);
  }
}

function unproven({ message }: ProviderPage, reply: FastifyReply, text: string): FastifyReply {
  return htmlPage(reply)
    .code(401)
    .send(fill(message, { ...FAILED, text }));
}

function goTo(reply: FastifyReply, address: string): FastifyReply {
  return reply.header("cache-control", "no-store").redirect(address, 303);
}

/** Ends the sign-in that a silent one did not renew. The person may sign in again. */
async function askPerson(
  page: ProviderPage,
  reply: FastifyReply,
  { former, next }: { readonly former: KeyHolder | undefined; readonly next: string },
): Promise<FastifyReply> {
  await end(page, reply, former);
  return goTo(reply, `/signin?next=${encodeURIComponent(next)}`);
}

async function end(
  { auth, deps: { clock, storage } }: ProviderPage,
  reply: FastifyReply,
  former: KeyHolder | undefined,
): Promise<void> {
  if (former?.signIn === undefined) {
    return;
  }
  const { id, principalId, teamId } = former.signIn;
  await storage.signIns.end({ teamId, principalId, ids: [id] }, clock.now());
  auth.cookies.clear(reply);
  auth.keys.clear();
}

function strangerPage({ signInHelp }: ApiDeps, { displayName, subject }: ProvenAccount) {
  const name = plainName(displayName ?? "");
  return {
    title: "You are not a member here",
    text: `${name === undefined ? "You" : `${name}, you`} proved who you are, but this account may not sign in. ${signInHelp} They need the name of your account: ${subject}`,
    link: "/signin",
    linkText: "Sign in another way",
  };
}

interface StoredAttempt {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly next: string;
  readonly isSilent?: true;
}

/**
 * Keeps the secrets of an attempt in the browser that began it, so that a callback that another person prepared is
 * refused. An attempt leads to one sign-in.
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

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { KeyHolder } from "../../core/model/people/api-key.ts";
import type { Principal } from "../../core/model/people/principal.ts";
import { isUnrestricted } from "../../core/model/people/sign-in-holder.ts";
import type { SignInLink } from "../../core/ports/stores/sign-in-store.ts";
import type { Storage } from "../../core/ports/stores/storage.ts";
import { IdentityService } from "../../core/team/people/identity-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { type AuthDeps, findByCookie } from "../auth/authentication.ts";
import { limitsOf } from "../http/api-limits.ts";
import { callerNetwork } from "../http/rate-limit.ts";
import { refuseOtherOrigin, requireOwnOrigin } from "../http/request-site.ts";
import { continueTo, FORM_BYTES, htmlPage, readForms, returnPath, textIn } from "./forms.ts";
import { newSignIn, requireValid, visitorContext } from "./new-sign-in.ts";
import { fill, readPage } from "./page-files.ts";
import { SignInLimiter } from "./sign-in-limiter.ts";

const OVER = {
  title: "This link does not work any more",
  text: "It signs in once, within ten minutes. Ask for a new link where you got this one, or sign in another way.",
  link: "/signin",
  linkText: "Sign in",
};

const JOINED = {
  title: "The account is joined with you",
  text: "What it writes counts as yours from now on. Runs that it asked for before keep their creator.",
  link: "/",
  linkText: "Runs",
};

interface LinkContext {
  readonly deps: ApiDeps;
  readonly auth: AuthDeps;
  readonly limiter: SignInLimiter;
  readonly files: { readonly confirm: string; readonly join: string; readonly message: string };
}

/**
 * The pages of one-time links. Opening a link shows who it signs in; only its button uses it up. To a person who is
 * signed in as another principal, the link of an outside account offers to join the account with that principal.
 */
export function signInLinkPages(deps: ApiDeps, auth: AuthDeps): (app: FastifyInstance) => Promise<void> {
  const limiter = new SignInLimiter(deps.clock, limitsOf(deps.limits).failedSignIns);
  const schema = { hide: true };
  const form = { schema, bodyLimit: FORM_BYTES };
  return async (app) => {
    const [confirm, join] = [await readPage("sign-in-link"), await readPage("sign-in-link-join")];
    const context = { deps, auth, limiter, files: { confirm, join, message: await readPage("message") } };
    readForms(app);
    app.get("/signin/link", { schema }, (request, reply) => show(context, request, reply));
    app.post("/signin/link", form, (request, reply) => use(context, request, reply));
    app.post("/signin/link/join", form, (request, reply) => joinBoth(context, request, reply));
  };
}

async function show(
  { auth, deps: { clock, hashKey, storage }, files }: LinkContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const [token, next] = [textIn(request.query, "token") ?? "", returnPath(textIn(request.query, "next"))];
  const link = await storage.signInLinks.findByHash(hashKey(token), clock.now());
  const principal = await ownerOf(storage, link);
  if (link === undefined || principal === undefined) {
    return over(reply, files);
  }
  const name = principal.displayName ?? "you";
  const holder = await findByCookie(auth, request);
  if (holder === undefined || !mayJoin(link, holder)) {
    return htmlPage(reply).send(fill(files.confirm, { token, next, name }));
  }
  const { displayName, email } = holder.principal;
  const shown = { token, next, name, account: link.subject, person: displayName ?? email ?? "you" };
  return htmlPage(reply).send(fill(files.join, shown));
}

async function use(
  { auth, deps, files, limiter }: LinkContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { clock, hashKey, storage } = deps;
  refuseOtherOrigin(request, auth.publicUrl());
  const network = callerNetwork(request.ip);
  limiter.begun(network);
  const hash = hashKey(textIn(request.body, "token") ?? "");
  const signIn = newSignIn(deps, request);
  const now = clock.now();
  const link = await storage.signInLinks.findByHash(hash, now);
  const principal = await ownerOf(storage, link);
  const used =
    principal &&
    (await storage.atomically(
      async (stores) => {
        // Of two concurrent requests only one gets the link. The principal may have been disabled meanwhile.
        const owner = await ownerOf(stores, await stores.signInLinks.use(hash, now));
        return owner && signIn(stores, owner, { method: "link" });
      },
      visitorContext(request, principal),
    ));
  if (used === undefined) {
    return over(reply, files);
  }
  limiter.succeeded(network);
  auth.cookies.issue(reply, used);
  return continueTo(request, reply, returnPath(textIn(request.body, "next")));
}

async function joinBoth(
  { auth, deps, files, limiter }: LinkContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { clock, hashKey, storage } = deps;
  requireOwnOrigin(request, auth.publicUrl());
  const network = callerNetwork(request.ip);
  limiter.begun(network);
  const hash = hashKey(textIn(request.body, "token") ?? "");
  const now = clock.now();
  const holder = await findByCookie(auth, request);
  const isJoined =
    holder !== undefined &&
    (await storage.atomically(
      (stores) => joinAccount({ ...deps, storage: stores }, { hash, now, holder }),
      visitorContext(request, holder.principal),
    ));
  if (!isJoined) {
    return over(reply, files);
  }
  limiter.succeeded(network);
  return htmlPage(reply).send(fill(files.message, JOINED));
}

function over(reply: FastifyReply, { message }: LinkContext["files"]): FastifyReply {
  return htmlPage(reply).code(410).send(fill(message, OVER));
}

type JoinableLink = SignInLink & { readonly subject: string };

/**
 * A principal joins an account of another one of the same team. The account may then do all that the principal may, so a
 * sign-in by an API key that allows less must not give it that.
 */
function mayJoin(link: SignInLink, holder: KeyHolder): link is JoinableLink {
  const { principal } = holder;
  const isOther = link.principalId !== principal.id && link.teamId === principal.teamId;
  const isPerson = principal.type === "user" && !principal.disabled;
  return link.subject !== undefined && isOther && isPerson && isUnrestricted(holder);
}

interface Joining {
  readonly hash: string;
  readonly now: Date;
  readonly holder: KeyHolder;
}

/** Of two concurrent requests only one gets the link. Since it was made, its account may have got another owner. */
async function joinAccount(
  { clock, storage }: Pick<ApiDeps, "clock" | "storage">,
  { hash, holder, now }: Joining,
): Promise<boolean> {
  await requireValid(storage, holder);
  const link = await storage.signInLinks.findByHash(hash, now);
  if (link === undefined || !mayJoin(link, holder)) {
    return false;
  }
  const identity = await storage.identities.find(link.teamId, link.subject);
  const used = await storage.signInLinks.use(hash, now);
  if (used === undefined || identity?.principalId !== link.principalId) {
    return false;
  }
  await new IdentityService({ storage, clock }).link(holder.principal, link.subject, holder.principal.id);
  return true;
}

async function ownerOf(
  { people }: Pick<Storage, "people">,
  link: SignInLink | undefined,
): Promise<Principal | undefined> {
  const [principal] = link === undefined ? [] : await people.getMany([link.principalId]);
  return principal?.disabled === false ? principal : undefined;
}

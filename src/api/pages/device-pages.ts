import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { KeyHolder, Scope } from "../../core/model/people/api-key.ts";
import type { DeviceCode } from "../../core/model/people/device-code.ts";
import { plainName } from "../../core/model/people/plain-name.ts";
import { grantedBy } from "../../core/team/keys/device-code-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { type AuthDeps, findByCookie } from "../auth/authentication.ts";
import { deviceCodesOn, parseUserCode } from "../auth/device-codes.ts";
import { limitsOf } from "../http/api-limits.ts";
import { requireOwnOrigin } from "../http/request-site.ts";
import { FORM_BYTES, htmlPage, readForms, textIn } from "./forms.ts";
import { requireValid, visitorContext } from "./new-sign-in.ts";
import { fill, readPage } from "./page-files.ts";
import { SignInLimiter } from "./sign-in-limiter.ts";

const UNKNOWN = "No program waits with this code. Compare it with the one that your program shows.";
const APPROVED = {
  title: "The program is signed in",
  text: "You can close this page and go back to your program. Its key is in the list of your keys, where you can revoke it.",
  link: "/",
  linkText: "Runs",
};
const DENIED = {
  title: "The program gets no key",
  text: "Nothing was granted.",
  link: "/",
  linkText: "Runs",
};

const GRANTS: Readonly<Record<Scope, string>> = {
  "runs:read": "See the runs that you see.",
  "runs:write": "See the runs that you see, start runs in your name, and steer and stop them.",
  "settings:read": "Read the settings of your team.",
  "settings:write": "Read and change the settings of your team that you may change.",
  admin: "Administer your team.",
};

interface DeviceFiles {
  readonly enter: string;
  readonly confirm: string;
  readonly message: string;
}

interface DeviceContext {
  readonly deps: ApiDeps;
  readonly auth: AuthDeps;
  readonly limiter: SignInLimiter;
  readonly files: DeviceFiles;
}

/** Where a person enters the code that a program shows, sees what it asks for, and allows it or not. */
export function devicePages(deps: ApiDeps, auth: AuthDeps): (app: FastifyInstance) => Promise<void> {
  // Counted per principal: who guesses codes must be signed in.
  const limiter = new SignInLimiter(deps.clock, limitsOf(deps.limits).failedSignIns);
  const schema = { hide: true };
  const options = { schema, bodyLimit: FORM_BYTES };
  return async (app) => {
    const files: DeviceFiles = {
      enter: await readPage("device"),
      confirm: await readPage("device-confirm"),
      message: await readPage("message"),
    };
    const context = { deps, auth, limiter, files };
    readForms(app);
    app.get("/device", { schema }, async (request, reply) => {
      const holder = await findByCookie(auth, request);
      return holder === undefined
        ? signInFirst(reply)
        : htmlPage(reply).send(fill(files.enter, { message: "" }));
    });
    app.post("/device", options, (request, reply) => enterCode(context, request, reply));
    app.post("/device/decision", options, (request, reply) => decide(context, request, reply));
  };
}

async function enterCode(
  { auth, deps, files, limiter }: DeviceContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const holder = await requireVisitor(auth, request);
  if (holder === undefined) {
    return signInFirst(reply);
  }
  limiter.begun(holder.principal.id);
  const code = parseUserCode(textIn(request.body, "user_code"));
  const program =
    code === undefined
      ? undefined
      : await deps.storage.atomically((stores) => deviceCodesOn(deps, stores).find(deps.hashKey(code)));
  if (code === undefined || program === undefined) {
    return askAgain(reply, files);
  }
  limiter.succeeded(holder.principal.id);
  return htmlPage(reply).send(fill(files.confirm, shown(holder, program, code)));
}

async function decide(
  { auth, deps, files, limiter }: DeviceContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const holder = await requireVisitor(auth, request);
  if (holder === undefined) {
    return signInFirst(reply);
  }
  limiter.begun(holder.principal.id);
  const code = parseUserCode(textIn(request.body, "user_code"));
  const status = textIn(request.body, "decision") === "allow" ? "approved" : "denied";
  const decided =
    code &&
    (await deps.storage.atomically(
      async (stores) => {
        await requireValid(stores, holder);
        return deviceCodesOn(deps, stores).decide(holder, deps.hashKey(code), status);
      },
      visitorContext(request, holder.principal),
    ));
  if (decided === undefined) {
    return askAgain(reply, files);
  }
  limiter.succeeded(holder.principal.id);
  return htmlPage(reply).send(fill(files.message, status === "approved" ? APPROVED : DENIED));
}

function signInFirst(reply: FastifyReply): FastifyReply {
  return reply.redirect("/signin?next=%2Fdevice", 303);
}

/** The signed-in person. Another site must not enter or allow a code. */
async function requireVisitor(auth: AuthDeps, request: FastifyRequest): Promise<KeyHolder | undefined> {
  requireOwnOrigin(request, auth.publicUrl());
  return findByCookie(auth, request);
}

function askAgain(reply: FastifyReply, { enter }: DeviceFiles): FastifyReply {
  return htmlPage(reply)
    .code(404)
    .send(fill(enter, { message: UNKNOWN }));
}

function shown(holder: KeyHolder, { address, clientName, createdAt }: DeviceCode, code: string) {
  const { displayName, email } = holder.principal;
  return {
    code,
    client: plainName(clientName) ?? "a program without a name",
    address,
    requested: createdAt.toISOString().replace("T", " ").replace(/\..*/, " UTC"),
    person: displayName ?? email ?? "you",
    grants: grantedBy(holder)
      .map((scope) => GRANTS[scope])
      .join(" "),
  };
}

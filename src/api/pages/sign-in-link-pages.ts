import type { FastifyInstance } from "fastify";
import type { Principal } from "../../core/people/principal.ts";
import type { SignInLink } from "../../core/people/sign-in-link.ts";
import type { Storage } from "../../core/storage.ts";
import { type ApiDeps, limitsOf } from "../api-deps.ts";
import type { AuthDeps } from "../auth/authentication.ts";
import { callerNetwork } from "../http/caller-network.ts";
import { refuseOtherOrigin } from "../http/request-site.ts";
import { continueTo, FORM_BYTES, htmlPage, readForms, returnPath, textIn } from "./forms.ts";
import { newSignIn, visitorContext } from "./new-sign-in.ts";
import { fill, readPage } from "./page-files.ts";
import { SignInLimiter } from "./sign-in-limiter.ts";

const OVER = {
  title: "This link does not work any more",
  text: "It signs in once, within ten minutes. Ask for a new link where you got this one, or sign in another way.",
  link: "/signin",
  linkText: "Sign in",
};

/** The pages of one-time links. Opening a link shows who it signs in; only its button uses it up. */
export function signInLinkPages(deps: ApiDeps, auth: AuthDeps): (app: FastifyInstance) => Promise<void> {
  const { clock, hashKey, storage } = deps;
  const limiter = new SignInLimiter(clock, limitsOf(deps).failedSignIns);
  const schema = { hide: true };
  return async (app) => {
    const [confirm, message] = [await readPage("sign-in-link"), await readPage("message")];
    readForms(app);
    app.get("/signin/link", { schema }, async (request, reply) => {
      const [token, next] = [textIn(request.query, "token") ?? "", returnPath(textIn(request.query, "next"))];
      const principal = await ownerOf(
        storage,
        await storage.signInLinks.findByHash(hashKey(token), clock.now()),
      );
      if (principal === undefined) {
        return htmlPage(reply).code(410).send(fill(message, OVER));
      }
      return htmlPage(reply).send(fill(confirm, { token, next, name: principal.displayName ?? "you" }));
    });
    app.post("/signin/link", { schema, bodyLimit: FORM_BYTES }, async (request, reply) => {
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
        return htmlPage(reply).code(410).send(fill(message, OVER));
      }
      limiter.succeeded(network);
      auth.cookies.issue(reply, used);
      return continueTo(request, reply, returnPath(textIn(request.body, "next")));
    });
  };
}

async function ownerOf(
  { people }: Pick<Storage, "people">,
  link: SignInLink | undefined,
): Promise<Principal | undefined> {
  const [principal] = link === undefined ? [] : await people.getMany([link.principalId]);
  return principal?.disabled === false ? principal : undefined;
}

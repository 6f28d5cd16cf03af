import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError, messageWithRemedy } from "../../core/basics/errors.ts";
import { type KeyHolder, viewerWith } from "../../core/model/people/api-key.ts";
import { isOperator } from "../../core/model/people/principal.ts";
import type { AppCreator, PlatformForm } from "../../core/ports/app-creator.ts";
import type { Installer } from "../../core/ports/stores/app-installations.ts";
import type { ApiDeps } from "../api-deps.ts";
import { type AuthDeps, findByCookie } from "../auth/authentication.ts";
import { formPolicy } from "../http/security-headers.ts";
import { htmlPage, textIn } from "./forms.ts";
import { visitorContext } from "./new-sign-in.ts";
import { fill, html, readPage } from "./page-files.ts";

type Deps = Pick<ApiDeps, "adapterSettings" | "appCreators" | "log" | "publicUrl">;

interface Page {
  readonly deps: Deps;
  readonly auth: AuthDeps;
  readonly creator: AppCreator;
  readonly templates: { readonly form: string; readonly message: string };
}

interface Visit {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Sends operators to a platform that creates the app of this server, and stores what it gives to the app. */
export function createAppPages(deps: Deps, auth: AuthDeps): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    const [form, message] = await Promise.all([readPage("create-app"), readPage("message")]);
    const options = { schema: { hide: true } };
    for (const creator of deps.appCreators) {
      const page = { deps, auth, creator, templates: { form, message } };
      const path = `/setup/${creator.adapter}/create`;
      const callback = () => `${deps.publicUrl()}${path}/callback`;
      app.get(path, options, (request, reply) =>
        asOperator(page, { request, reply }, async ({ by }) => {
          const choices = { organization: textIn(request.query, "organization") ?? "" };
          const server = textIn(request.query, "server") ?? "";
          const to = await creator.begin(by, { ...choices, server }, callback());
          return sendForm(page, reply, to);
        }),
      );
      app.get(`${path}/callback`, options, (request, reply) =>
        asOperator(page, { request, reply }, async ({ by, holder }) => {
          const url = new URL(callback());
          url.search = new URL(request.url, url).search;
          const { installUrl, settings } = await creator.finish(url, by);
          const audit = visitorContext(request, holder.principal);
          await deps.adapterSettings.put(creator.adapter, settings, { principalId: by.principalId, audit });
          return reply.header("cache-control", "no-store").redirect(installUrl.href, 303);
        }),
      );
    }
  };
}

function sendForm({ creator, templates }: Page, reply: FastifyReply, { fields, url }: PlatformForm) {
  const inputs = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  const values = {
    platform: creator.title,
    host: url.host,
    action: url.href,
    fields: inputs.join("\n"),
    back: `/setup/${creator.adapter}`,
  };
  return htmlPage(reply)
    .header("content-security-policy", formPolicy(url.origin))
    .send(fill(templates.form, values));
}

async function asOperator(
  page: Page,
  { reply, request }: Visit,
  go: (who: { readonly by: Installer; readonly holder: KeyHolder }) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const holder = await findByCookie(page.auth, request);
  if (holder === undefined) {
    const next = encodeURIComponent(`/setup/${page.creator.adapter}`);
    return reply.redirect(`/signin?next=${next}`, 303);
  }
  const viewer = viewerWith(holder);
  if (!isOperator(viewer)) {
    return sendMessage(
      page,
      reply.code(403),
      "Only operators set up this server: administrators of its first team.",
    );
  }
  try {
    return await go({ by: { teamId: viewer.teamId, principalId: viewer.id }, holder });
  } catch (error) {
    if (!(error instanceof AppError)) {
      throw error;
    }
    return sendMessage(page, reply.code(400), messageWithRemedy(error));
  }
}

function sendMessage({ creator, templates }: Page, reply: FastifyReply, text: string): FastifyReply {
  const page = {
    title: "The App is not connected",
    text,
    link: `/setup/${creator.adapter}`,
    linkText: "Back",
  };
  return htmlPage(reply).send(fill(templates.message, page));
}

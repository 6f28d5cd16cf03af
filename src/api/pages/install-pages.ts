import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError, messageWithRemedy } from "../../core/basics/errors.ts";
import { viewerWith } from "../../core/model/people/api-key.ts";
import type { AppInstaller } from "../../core/ports/app-installer.ts";
import type { Installer } from "../../core/ports/stores/app-installations.ts";
import type { ApiDeps } from "../api-deps.ts";
import { type AuthDeps, findByCookie } from "../auth/authentication.ts";
import { installPath } from "../http/install-path.ts";
import { htmlPage } from "./forms.ts";
import { fill, readPage } from "./page-files.ts";

const LINK = { link: "/integrations", linkText: "Integrations" };

/** Sends administrators to a platform to install its app, and connects the workspace with their team. */
export function installPages(
  { installers, log, publicUrl }: Pick<ApiDeps, "installers" | "log" | "publicUrl">,
  auth: AuthDeps,
): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    const message = await readPage("message");
    const options = { schema: { hide: true } };
    for (const installer of installers) {
      const { adapter, title } = installer;
      const path = installPath(adapter);
      const callback = () => `${publicUrl()}${path}/callback`;
      const page = { auth, message, path };
      app.get(path, options, (request, reply) =>
        asAdministrator(page, { request, reply }, async (by) =>
          reply.header("cache-control", "no-store").redirect(await installer.begin(by, callback()), 303),
        ),
      );
      app.get(`${path}/callback`, options, (request, reply) =>
        asAdministrator(page, { request, reply }, async (by) => {
          const url = new URL(callback());
          url.search = new URL(request.url, url).search;
          const shown = await finish(installer, url, by).catch((error: unknown) => {
            log.warn(
              { adapter, error: error instanceof AppError ? error.message : String(error) },
              "app.not_installed",
            );
            return failure(error, title);
          });
          return htmlPage(reply).code(shown.status).send(fill(message, shown.page));
        }),
      );
    }
  };
}

async function finish(installer: AppInstaller, callback: URL, by: Installer) {
  const name = await installer.finish(callback, by);
  const text = `The ${installer.title} workspace ${name} is connected with your team.`;
  return { status: 200, page: { ...LINK, title: "Errand is installed", text } };
}

function failure(error: unknown, platform: string) {
  const text = error instanceof AppError ? messageWithRemedy(error) : `${platform} did not install the app.`;
  return { status: 400, page: { ...LINK, title: "Errand is not installed", text } };
}

interface Page {
  readonly auth: AuthDeps;
  readonly message: string;
  readonly path: string;
}

async function asAdministrator(
  { auth, message, path }: Page,
  { reply, request }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  go: (by: Installer) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const holder = await findByCookie(auth, request);
  if (holder === undefined) {
    return reply.redirect(`/signin?next=${encodeURIComponent(path)}`, 303);
  }
  const { administrator, id: principalId, teamId } = viewerWith(holder);
  if (!administrator) {
    const text = "Only an administrator of your team connects workspaces.";
    return htmlPage(reply)
      .code(403)
      .send(fill(message, { ...LINK, title: "You may not do this", text }));
  }
  return go({ teamId, principalId });
}

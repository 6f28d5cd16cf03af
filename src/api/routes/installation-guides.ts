import type { FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { AppError } from "../../core/basics/errors.ts";
import type { AppManager, ManagedApp } from "../../core/ports/app-manager.ts";
import type { AdapterSettings, SettingsAuthor } from "../../core/ports/stores/adapter-settings.ts";
import type { ApiDeps } from "../api-deps.ts";
import { requireOperator, viewerOf } from "../auth/authentication.ts";
import { installPath } from "../http/install-path.ts";
import { installationGuideItem, ListInstallationGuidesResponse } from "../schemas/installation-guide.ts";
import { ApplyPlatformAppRequest, PlatformApp } from "../schemas/platform-app.ts";
import { problems } from "../schemas/problem.ts";
import { SUCCESS, Success } from "../schemas/success.ts";
import { authorOf, type Idempotency } from "./idempotency.ts";

const tags = ["people"];
const config = { scope: "admin" } as const;
const removing = { ...config, describedHeaders: ["Idempotency-Key"] } as const;

const GUIDES = {
  operationId: "listInstallationGuides",
  summary: "List the steps that connect external platforms",
  description: "For operators. The steps contain the addresses of this server.",
  tags,
  response: { 200: ListInstallationGuidesResponse, ...problems(401, 403, 503) },
};
const REMOVE_SETTINGS = {
  operationId: "removeAdapterSettings",
  summary: "Remove the stored settings of an external platform",
  description:
    "For operators. Removes what the server stored when it created the app. The platform is then switched off, unless the variables of the processes switch it on. The app itself is not deleted.",
  tags,
  params: z.object({ adapter: z.string().describe("The adapter, as in the list of the steps.") }),
  response: { 200: Success, ...problems(401, 403, 404, 422, 503) },
};
const APPLY_APP = {
  operationId: "applyPlatformApp",
  summary: "Create the app on an external platform, or update it",
  description:
    "For operators, where the guide has `managed_app`. Creates the app with what this version of the server needs, stores its credentials and switches the platform on. If the server has created it, updates it: what people added to the app stays.",
  tags,
  params: z.object({ adapter: z.string().describe("The adapter, as in the list of the steps.") }),
  body: ApplyPlatformAppRequest.default({}),
  response: { 200: PlatformApp, ...problems(400, 401, 403, 404, 503) },
};

type Deps = Pick<ApiDeps, "adapterSettings" | "appManagers" | "installationGuides" | "publicUrl">;

/** How operators connect external platforms with this server. */
export function installationGuideRoutes(
  { adapterSettings, appManagers, installationGuides, publicUrl }: Deps,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  return async (app) => {
    app.get("/agent/installations/guides", { schema: GUIDES, config }, async (request) => {
      requireOperator(request);
      const settings = await adapterSettings.list();
      return { guides: (await installationGuides()).map((guide) => installationGuideItem(guide, settings)) };
    });
    const settingsPath = "/agent/installations/guides/:adapter/settings";
    app.delete(settingsPath, { schema: REMOVE_SETTINGS, config: removing }, async (request, reply) => {
      requireOperator(request);
      const { adapter } = request.params;
      return idempotency.writeOnce(request, reply, {
        operation: "installations.remove-settings",
        target: adapter,
        perform: async () => {
          if (!(await adapterSettings.list()).some((setting) => setting.adapter === adapter)) {
            throw new AppError("resource_not_found", "This platform has no stored settings.");
          }
          await adapterSettings.remove(adapter, settingsAuthorOf(request));
          return SUCCESS;
        },
      });
    });
    const appPath = "/agent/installations/guides/:adapter/app";
    app.put(appPath, { schema: APPLY_APP, config }, async (request) => {
      requireOperator(request);
      const { adapter } = request.params;
      const manager = appManagers.find((each) => each.adapter === adapter);
      if (manager === undefined) {
        throw new AppError("resource_not_found", "This server creates no app on this platform.");
      }
      const applied = await applyApp(manager, adapterSettings, request);
      return {
        app_id: applied.appId,
        change: applied.change,
        needs_install: applied.needsInstall,
        install_url: `${publicUrl()}${installPath(adapter)}`,
      };
    });
  };
}

async function applyApp(
  manager: AppManager,
  settings: AdapterSettings,
  request: FastifyRequest & { readonly body: z.infer<typeof ApplyPlatformAppRequest> },
): Promise<ManagedApp> {
  const { adapter } = manager;
  const author = settingsAuthorOf(request);
  const store = (values: Readonly<Record<string, string>>) => settings.put(adapter, values, author);
  const { refresh_token: refreshToken, token } = request.body;
  const tokens = token && refreshToken ? { token, refreshToken } : undefined;
  return manager.apply(await settings.read(adapter), store, tokens);
}

function settingsAuthorOf(request: FastifyRequest): SettingsAuthor {
  return { principalId: viewerOf(request).id, audit: authorOf(request) };
}

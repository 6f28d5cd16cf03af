import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { TeamId } from "../../core/basics/ids.ts";
import { isOperator } from "../../core/model/people/principal.ts";
import {
  type InstallationChanges,
  InstallationService,
} from "../../core/team/people/installation-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { requireOperator, viewerOf } from "../auth/authentication.ts";
import { installPath } from "../http/install-path.ts";
import { requireId } from "../schemas/ids.ts";
import {
  InstallationItem,
  installationItem,
  ListInstallationsResponse,
  UpdateInstallationRequest,
} from "../schemas/installation.ts";
import { installationGuideItem, ListInstallationGuidesResponse } from "../schemas/installation-guide.ts";
import { problems } from "../schemas/problem.ts";
import type { Idempotency } from "./idempotency.ts";

const tags = ["people"];

const LIST = {
  operationId: "listInstallations",
  summary: "List the installations of external platforms",
  description:
    "Operators see the installations of all teams. Other teams also see those that are offered to them.",
  tags,
  response: { 200: ListInstallationsResponse, ...problems(401, 403, 503) },
};
const GUIDES = {
  operationId: "listInstallationGuides",
  summary: "List the steps that connect external platforms",
  description: "For operators. The steps contain the addresses of this server.",
  tags,
  response: { 200: ListInstallationGuidesResponse, ...problems(401, 403, 503) },
};
const UPDATE = {
  operationId: "updateInstallation",
  summary: "Rename an installation, enable or disable it, assign it to another team, or accept it",
  tags,
  params: z.object({ installationId: z.string().describe("The installation's id.") }),
  body: UpdateInstallationRequest,
  response: { 200: InstallationItem, ...problems(400, 401, 403, 404, 503) },
};

export function installationRoutes(
  {
    installationGuides,
    installers,
    publicUrl,
    storage: wholeStorage,
  }: Pick<ApiDeps, "installationGuides" | "installers" | "publicUrl" | "storage">,
  idempotency: Idempotency,
): FastifyPluginAsyncZod {
  const installations = new InstallationService(wholeStorage);
  const listUnconnected = async () => {
    const all = await Promise.all(installers.map((installer) => installer.listUnconnected()));
    return all.flat().map(({ adapter, externalId, lastReceivedAt }) => ({
      adapter,
      external_id: externalId,
      last_received_at: lastReceivedAt.toISOString(),
      install_url: `${publicUrl()}${installPath(adapter)}`,
    }));
  };
  const reading = { scope: "settings:read" } as const;
  const writing = { scope: "admin", describedHeaders: ["Idempotency-Key"] } as const;
  return async (app) => {
    app.get("/agent/installations", { schema: LIST, config: reading }, async (request) => {
      const viewer = viewerOf(request);
      const unconnected = isOperator(viewer) ? await listUnconnected() : undefined;
      return {
        installations: (await installations.list(viewer)).map(installationItem),
        ...defined({ unconnected }),
      };
    });
    const guidesConfig = { scope: "admin" } as const;
    app.get("/agent/installations/guides", { schema: GUIDES, config: guidesConfig }, async (request) => {
      requireOperator(request);
      return { guides: (await installationGuides()).map(installationGuideItem) };
    });
    const path = "/agent/installations/:installationId";
    app.patch(path, { schema: UPDATE, config: writing }, async (request, reply) => {
      const viewer = viewerOf(request);
      const id = requireId(request.params.installationId, "installation");
      const changes = changesOf(request.body);
      return idempotency.writeOnce(request, reply, {
        operation: "installations.update",
        target: id,
        perform: async (storage) =>
          installationItem(await new InstallationService(storage).change(viewer, id, changes)),
      });
    });
  };
}

function changesOf({ enabled, name, team_uid }: UpdateInstallationRequest): InstallationChanges {
  return defined({
    name,
    enabled,
    teamId: team_uid === undefined ? undefined : requireId<TeamId>(team_uid, "team"),
  });
}

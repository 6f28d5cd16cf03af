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
import { viewerOf } from "../auth/authentication.ts";
import { only } from "../http/entity-tags.ts";
import { installPath } from "../http/install-path.ts";
import { requireId } from "../schemas/ids.ts";
import {
  InstallationItem,
  installationItem,
  ListInstallationsResponse,
  UpdateInstallationRequest,
} from "../schemas/installation.ts";
import { problems } from "../schemas/problem.ts";
import { PageQuery, WHOLE } from "./collection-pages.ts";
import type { Idempotency } from "./idempotency.ts";

const tags = ["people"];

const LIST = {
  operationId: "listInstallations",
  summary: "List the installations of external platforms",
  description:
    "Operators see the installations of all teams. Other teams also see those that are offered to them.",
  tags,
  querystring: PageQuery,
  response: { 200: ListInstallationsResponse, ...problems(401, 403, 503) },
};
const params = z.object({ installationId: z.string().describe("The installation's id.") });
const GET = {
  operationId: "getInstallation",
  summary: "Get an installation",
  tags,
  params,
  response: { 200: InstallationItem, ...problems(401, 403, 404, 503) },
};
const edited = only("enabled", "name", "offered_team_uid", "team_uid");
const UPDATE = {
  operationId: "updateInstallation",
  summary: "Rename an installation, enable or disable it, assign it to another team, or accept it",
  tags,
  params,
  body: UpdateInstallationRequest,
  response: { 200: InstallationItem, ...problems(400, 401, 403, 404, 503) },
};

export function installationRoutes(
  { installers, publicUrl, storage: wholeStorage }: Pick<ApiDeps, "installers" | "publicUrl" | "storage">,
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
  const writing = { scope: "admin", describedHeaders: ["Idempotency-Key"], edited } as const;
  return async (app) => {
    app.get(
      "/agent/installations",
      { schema: LIST, config: { ...reading, collection: "installations" } },
      async (request) => {
        const viewer = viewerOf(request);
        const unconnected = isOperator(viewer) ? await listUnconnected() : undefined;
        return {
          installations: (await installations.list(viewer)).map(installationItem),
          ...WHOLE,
          ...defined({ unconnected }),
        };
      },
    );
    const path = "/agent/installations/:installationId";
    app.get(path, { schema: GET, config: { ...reading, edited } }, async (request) =>
      installationItem(await installations.get(viewerOf(request), requireInstallationId(request.params))),
    );
    app.patch(path, { schema: UPDATE, config: writing }, async (request, reply) => {
      const viewer = viewerOf(request);
      const id = requireInstallationId(request.params);
      const changes = changesOf(request.body);
      return idempotency.writeOnce(request, reply, {
        operation: "installations.update",
        target: id,
        current: async (storage) => installationItem(await new InstallationService(storage).get(viewer, id)),
        perform: async (storage) =>
          installationItem(await new InstallationService(storage).change(viewer, id, changes)),
      });
    });
  };
}

function requireInstallationId({ installationId }: z.output<typeof params>): string {
  return requireId(installationId, "installation");
}

function changesOf({ enabled, name, team_uid }: UpdateInstallationRequest): InstallationChanges {
  return defined({
    name,
    enabled,
    teamId: team_uid === undefined ? undefined : requireId<TeamId>(team_uid, "team"),
  });
}

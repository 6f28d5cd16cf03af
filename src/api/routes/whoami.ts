import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import type { ApiKey } from "../../core/model/people/api-key.ts";
import { isOperator } from "../../core/model/people/principal.ts";
import { TeamService } from "../../core/team/people/team-service.ts";
import type { ApiDeps } from "../api-deps.ts";
import { holderOf, viewerOf } from "../auth/authentication.ts";
import { KeyScope } from "../schemas/api-key.ts";
import { PrincipalItem, principalItem } from "../schemas/principal.ts";
import { problems } from "../schemas/problem.ts";
import { SignInItem, signInItem } from "../schemas/sign-in.ts";
import { Timestamp } from "../schemas/text.ts";

const EXAMPLE = {
  principal: {
    uid: "0195b2a0-0000-7000-8000-000000000001",
    team_uid: "00000000-0000-7000-8000-000000000001",
    type: "user",
    display_name: "Mira",
    administrator: true,
    disabled: false,
    created_at: "2026-02-01T08:30:00.000Z",
  },
  team: { uid: "00000000-0000-7000-8000-000000000001", name: "Platform" },
  scopes: ["runs:write", "settings:read"],
  key: {
    id: "0195b2a1-3c5d-7b11-9a40-5e7f2c1d8b90",
    name: "Laptop",
    hint: "errand_Xy12z…",
    scopes: ["runs:write", "settings:read"],
  },
  is_administrator: false,
  is_operator: false,
};

const Team = z.object({
  uid: z.uuid().describe("The team's id."),
  name: z.string().describe("The name of the team."),
});

const Key = z.object({
  id: z.uuid().describe("The key's id."),
  name: z.string().describe("The name that the owner chose."),
  hint: z.string().describe("The beginning of the key."),
  scopes: z.array(KeyScope).describe("The scopes of the key."),
  expires_at: Timestamp.optional().describe("When the key expires. Absent if it does not expire."),
});

const Whoami = z
  .object({
    principal: PrincipalItem,
    team: Team.describe("The principal's team."),
    scopes: z.array(KeyScope).describe("What the caller may do at most."),
    key: Key.optional().describe(
      "The key of this request, or the key that was used to sign in to the pages. Absent for a sign-in without a key.",
    ),
    sign_in: SignInItem.optional().describe("The sign-in to the pages. Absent for a request with a key."),
    is_administrator: z.boolean().describe("Whether the caller manages the team."),
    is_operator: z.boolean().describe("Whether the caller manages the server and its teams."),
  })
  .meta({ id: "Whoami", description: "The caller and its rights.", examples: [EXAMPLE] });
type Whoami = z.output<typeof Whoami>;

const schema = {
  operationId: "whoami",
  summary: "Get the caller and its rights",
  tags: ["people"],
  response: { 200: Whoami, ...problems(401, 503) },
};
const config = { scope: "any" } as const;

export function whoamiRoutes(deps: ApiDeps): FastifyPluginAsyncZod {
  const teams = new TeamService(deps);
  return async (app) => {
    app.get("/agent/whoami", { schema, config }, async (request) => {
      const { key, principal, scopes, signIn } = holderOf(request);
      const viewer = viewerOf(request);
      const { id, name } = await teams.get(viewer, viewer.teamId);
      return {
        principal: principalItem(principal, viewer),
        team: { uid: id, name },
        scopes: [...scopes],
        ...defined({
          key: key ? keyOf(key) : undefined,
          sign_in: signIn ? signInItem(signIn, signIn.id) : undefined,
        }),
        is_administrator: viewer.administrator,
        is_operator: isOperator(viewer),
      };
    });
  };
}

function keyOf({ expiresAt, hint, id, name, scopes }: ApiKey): NonNullable<Whoami["key"]> {
  const end = expiresAt === undefined ? {} : { expires_at: expiresAt.toISOString() };
  return { id, name, hint, scopes: [...scopes], ...end };
}

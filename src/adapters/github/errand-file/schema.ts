import { z } from "zod";
import { REFUSAL_SIGNS, REQUEST_KINDS } from "../../../core/model/policies/policy.ts";
import { PULL_REQUEST_SETTINGS } from "../../../core/model/repositories/pull-request-setting.ts";

export const ERRAND_FILE = ".github/errand.yml";

const NAME_MAX = 200;
const LABELS_MAX = 5;
const PATHS_MAX = 50;
const PROMPT_MAX = 32 * 1024;

const name = z.string().min(1).max(NAME_MAX);

/** As git matches it, from the root of the repository. */
const path = z
  .string()
  .max(NAME_MAX)
  .regex(/^[^:/\s][^\r\n]*$/, "is no path from the root of the repository");

const triggers = z
  .strictObject(Object.fromEntries(REQUEST_KINDS.map((kind) => [kind, z.boolean().optional()])))
  .meta({ description: "`false`: such a request starts nothing. All kinds are on by default." });

const pullRequest = z
  .strictObject({
    open: z
      .enum(PULL_REQUEST_SETTINGS)
      .optional()
      .meta({ description: "What becomes of changes, unless the request says it." }),
    ready_when_green: z
      .boolean()
      .optional()
      .meta({ description: "A draft becomes ready for review once all checks of its newest commit pass." }),
    labels: z
      .array(name)
      .max(LABELS_MAX)
      .optional()
      .meta({ description: "Labels of the repository that new pull requests get." }),
    paths: z
      .array(path)
      .min(1)
      .max(PATHS_MAX)
      .optional()
      .meta({ description: "The only files that may be changed, such as `packages/web/**`." }),
    signoff: z
      .boolean()
      .optional()
      .meta({ description: "Each commit that Errand pushes has the line `Signed-off-by` of its author." }),
    sign: z.enum(["api"]).optional().meta({
      description: "`api`: GitHub makes and signs each commit that Errand pushes, so it is verified.",
    }),
    delete_branch: z
      .boolean()
      .optional()
      .meta({ description: "Errand deletes its branch when the pull request is merged or closed." }),
  })
  .meta({ description: "How Errand hands over its work." });

/** What `.github/errand.yml` may contain. */
export const errandFile = z
  .strictObject({
    environment: name.optional().meta({ description: "The name or the uid of an environment of the team." }),
    agent: name.optional().meta({ description: "The name of an agent that the server has." }),
    model: name.optional().meta({ description: "The id of a model of that agent." }),
    base_prompt: z
      .string()
      .max(PROMPT_MAX)
      .optional()
      .meta({ description: "Standing instructions for the agent, before each request." }),
    triggers: triggers.optional(),
    refusals: z
      .enum(REFUSAL_SIGNS)
      .optional()
      .meta({ description: "How a refused request is answered. Default: by a comment." }),
    pull_request: pullRequest.optional(),
  })
  .meta({ title: ERRAND_FILE, description: "What Errand does in this repository." });

export type ErrandFile = z.output<typeof errandFile>;

/** Members that only choose. A mistake in another one may hide a restriction. */
export const CHOOSING_MEMBERS: ReadonlySet<string> = new Set([
  "environment",
  "agent",
  "model",
  "base_prompt",
  "pull_request.open",
  "pull_request.ready_when_green",
  "pull_request.labels",
  "pull_request.signoff",
  "pull_request.sign",
  "pull_request.delete_branch",
]);

export const ERRAND_FILE_SCHEMA_PATH = "/schemas/errand.yml.json";

/** The JSON Schema of the file, for editors. */
export function errandFileJsonSchema(): object {
  return z.toJSONSchema(errandFile, { target: "draft-2020-12" });
}

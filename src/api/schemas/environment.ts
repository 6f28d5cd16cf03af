import { z } from "zod";
import { type EnvironmentConfig, NETWORK_ACCESSES } from "../../core/environments/environment.ts";
import { ENVIRONMENT_SORTS } from "../../core/environments/environment-service.ts";
import { ENVIRONMENT_CONFIG_EXAMPLE, ENVIRONMENT_EXAMPLE } from "./environment-examples.ts";
import { RunCreatorInfo, Scope } from "./run-item.ts";
import { RunState } from "./run-requests.ts";
import { Timestamp, textOfCharacters } from "./text.ts";

const NAME_LENGTH = 100;
const DESCRIPTION_LENGTH = 240;
const IMAGE_LENGTH = 500;
const REPOSITORIES_MAX = 100;
const COMMANDS_MAX = 100;
const COMMAND_LENGTH = 4_096;

/** What a host of repositories takes for a name, and no `..`. */
const RepositoryWord = z
  .string()
  .regex(/^(?!\.{1,2}$)[\w.-]{1,100}$/, "must be 1 to 100 letters, digits, `.`, `_` and `-`");

const Repository = z.object({
  owner: RepositoryWord.describe("Whose it is."),
  repo: RepositoryWord.describe("Its name."),
});

export const EnvironmentConfigSchema = z
  .object({
    name: textOfCharacters(NAME_LENGTH).min(1).describe("What people call it."),
    description: textOfCharacters(DESCRIPTION_LENGTH).optional().describe("What it is for."),
    docker_image: z
      .string()
      .max(IMAGE_LENGTH)
      .optional()
      .describe("The container image that commands and agent run in. Needs the docker sandbox."),
    github_repos: z
      .array(Repository)
      .max(REPOSITORIES_MAX)
      .optional()
      .describe("Its repositories. Each run begins with a clone of each; their skills can be used."),
    setup_commands: z
      .array(textOfCharacters(COMMAND_LENGTH).min(1))
      .max(COMMANDS_MAX)
      .optional()
      .describe(
        "Shell commands that prepare it, one after the other, in the sandbox. One that fails ends the run.",
      ),
    network: z
      .enum(NETWORK_ACCESSES)
      .optional()
      .describe(
        "`none` (default): commands and agent reach the model, the run's repositories and its tool servers. `internet`: public addresses too.",
      ),
  })
  .meta({
    id: "EnvironmentConfig",
    description: "What an agent works in.",
    examples: [ENVIRONMENT_CONFIG_EXAMPLE],
  });
export type EnvironmentConfigJson = z.output<typeof EnvironmentConfigSchema>;

export const CreateEnvironmentRequest = z
  .object({
    config: EnvironmentConfigSchema,
    team: z
      .boolean()
      .optional()
      .describe("false: only its creator and administrators see and use it. Default true."),
  })
  .meta({
    id: "CreateEnvironmentRequest",
    description: "A new environment.",
    examples: [{ config: ENVIRONMENT_CONFIG_EXAMPLE }],
  });

export const ReplaceEnvironmentRequest = z.object({ config: EnvironmentConfigSchema }).meta({
  id: "ReplaceEnvironmentRequest",
  description: "The environment as it is to be. Whose it is does not change.",
  examples: [{ config: ENVIRONMENT_CONFIG_EXAMPLE }],
});

export const ListEnvironmentsQuery = z.object({
  sort_by: z
    .enum(ENVIRONMENT_SORTS)
    .default("last_updated")
    .describe("`last_updated`: the newest first. `name`: by the alphabet."),
});

const LastTask = z.object({
  id: z.uuid().describe("The run's id."),
  title: z.string().describe("The run's title."),
  prompt: z.string().describe("What was asked for."),
  state: RunState,
  created_at: Timestamp.describe("When the run was accepted."),
  updated_at: Timestamp.describe("When it changed last, by a new event too."),
  started_at: Timestamp.optional().describe("When its agent first took the prompt."),
});

export const EnvironmentItem = z
  .object({
    uid: z.string().describe("22 letters and digits: `config.environment_id` of a run."),
    config: EnvironmentConfigSchema,
    last_updated: Timestamp.describe("When it was changed last."),
    setup_failed: z.boolean().describe("Whether its commands failed when they were last tried."),
    last_task_run_timestamp: Timestamp.optional().describe(
      "When the last run in it began, of those you see.",
    ),
    last_task_created: LastTask.optional().describe("The newest run in it, of those you see."),
    scope: Scope.optional().describe("Who sees and uses it."),
    creator: RunCreatorInfo.optional(),
    last_editor: RunCreatorInfo.optional(),
  })
  .meta({
    id: "Environment",
    description: "An environment, and what was last done in it.",
    examples: [ENVIRONMENT_EXAMPLE],
  });
export type EnvironmentItem = z.output<typeof EnvironmentItem>;

export const ListEnvironmentsResponse = z
  .object({ environments: z.array(EnvironmentItem).describe("In the order asked for.") })
  .meta({
    id: "ListEnvironmentsResponse",
    description: "The environments that you may use.",
    examples: [{ environments: [ENVIRONMENT_EXAMPLE] }],
  });

export function environmentConfigOf(given: EnvironmentConfigJson): EnvironmentConfig {
  const {
    name,
    description,
    docker_image: image,
    github_repos = [],
    setup_commands = [],
    network = "none",
  } = given;
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(image === undefined ? {} : { image }),
    repositories: github_repos.map(({ owner, repo }) => ({ owner, name: repo })),
    setupCommands: setup_commands,
    network,
  };
}

export function environmentConfigJson(config: EnvironmentConfig): EnvironmentConfigJson {
  const { name, description, image, repositories, setupCommands, network } = config;
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(image === undefined ? {} : { docker_image: image }),
    github_repos: repositories.map((repository) => ({ owner: repository.owner, repo: repository.name })),
    setup_commands: [...setupCommands],
    network,
  };
}

import { z } from "zod";
import { defined } from "../../core/basics/defined.ts";
import { PULL_REQUEST_SETTINGS } from "../../core/model/repositories/pull-request-setting.ts";
import { type EnvironmentConfig, NETWORK_ACCESSES } from "../../core/model/workspaces/environment.ts";
import { ENVIRONMENT_SORTS } from "../../core/team/records/environment-service.ts";
import { PageInfo } from "./page-info.ts";
import { RunCreatorInfo } from "./run-creator.ts";
import { Scope } from "./run-item.ts";
import { RunState } from "./run-requests.ts";
import { SecretList, secretListOf, secretNamesIn } from "./secret-list.ts";
import { Timestamp, textOfCharacters } from "./text.ts";

const ENVIRONMENT_CONFIG_EXAMPLE = {
  name: "Backend",
  description: "The API server and its workers",
  docker_image: "node:24",
  github_repos: [{ owner: "acme", repo: "api" }],
  setup_commands: ["npm ci"],
  network: "none",
};

const ENVIRONMENT_EXAMPLE = {
  uid: "4fXq0ZsT9bKc2LmVwY7dRh",
  config: ENVIRONMENT_CONFIG_EXAMPLE,
  last_updated: "2026-02-03T14:10:00.000Z",
  setup_failed: false,
  last_task_run_timestamp: "2026-03-01T09:00:00.410Z",
  last_task_created: {
    id: "0195b2a4-5c1f-7a3b-9d52-1f0c8e6b4a21",
    title: "Fix the parser",
    prompt: "Fix the parser, please",
    state: "SUCCEEDED",
    created_at: "2026-03-01T09:00:00.000Z",
    updated_at: "2026-03-01T09:04:31.250Z",
    started_at: "2026-03-01T09:00:00.410Z",
  },
  scope: { type: "Team" },
  creator: { uid: "0195b2a0-0000-7000-8000-000000000001", type: "user", display_name: "Mira" },
  last_editor: { uid: "0195b2a0-0000-7000-8000-000000000001", type: "user", display_name: "Mira" },
};

const NAME_LENGTH = 100;
const DESCRIPTION_LENGTH = 240;
const IMAGE_LENGTH = 500;
const REPOSITORIES_MAX = 100;
const COMMANDS_MAX = 100;
const COMMAND_LENGTH = 4_096;
const DEBUG_MINUTES_MAX = 60;
const FOLDERS_MAX = 100;
const FOLDER_LENGTH = 250;

const IN_NAME = String.raw`[^/\\\x00-\x1f\x7f]`;
/** A name that is neither `.` nor `..`. */
const FOLDER_NAME = String.raw`(?:[^./\\\x00-\x1f\x7f]${IN_NAME}*|\.[^./\\\x00-\x1f\x7f]${IN_NAME}*|\.\.${IN_NAME}+)`;
/** Git could read `-` and `!` at the beginning as an option or as an exception. */
const FIRST_NAME = FOLDER_NAME.replace("[^.", "[^!\\-.");
const FolderPath = z
  .string()
  .max(FOLDER_LENGTH)
  .regex(
    new RegExp(`^${FIRST_NAME}(?:/${FOLDER_NAME})*/?$`),
    "must be a folder of the repository, for example services/api",
  );

/** The names that repository hosts allow, without `.` and `..`. Generated clients in Go and Python know no look-ahead. */
const RepositoryWord = z
  .string()
  .regex(
    /^(?:[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}|\.[A-Za-z0-9_-][A-Za-z0-9_.-]{0,98}|\.\.[A-Za-z0-9_.-]{1,98})$/,
    "must be 1 to 100 letters, digits, `.`, `_` and `-`",
  );

const Repository = z.object({
  owner: RepositoryWord.describe("The owner of the repository."),
  repo: RepositoryWord.describe("The name of the repository."),
});

export const EnvironmentConfigSchema = z
  .object({
    name: textOfCharacters(NAME_LENGTH).min(1).describe("The name shown to people."),
    description: textOfCharacters(DESCRIPTION_LENGTH).optional().describe("The purpose of the environment."),
    docker_image: z
      .string()
      .max(IMAGE_LENGTH)
      .optional()
      .describe(
        "The container image in which the setup commands and the agent run. Requires the docker sandbox.",
      ),
    github_repos: z
      .array(Repository)
      .max(REPOSITORIES_MAX)
      .optional()
      .describe("The repositories. Each run begins with a clone of each, and can use their skills."),
    sparse: z
      .array(FolderPath)
      .max(FOLDERS_MAX)
      .optional()
      .describe(
        "The only folders of its repositories that are checked out, for large repositories. Files beside and above them, " +
          "and folders of the root whose names begin with a dot, are there as well. The agent can widen the checkout " +
          "with `git sparse-checkout add`. A repository that has none of them is checked out completely. Absent or " +
          "empty: all.",
      ),
    setup_commands: z
      .array(textOfCharacters(COMMAND_LENGTH).min(1))
      .max(COMMANDS_MAX)
      .optional()
      .describe(
        "Shell commands that prepare the workspace, run one after the other in the sandbox. If one fails, the run " +
          "ends.",
      ),
    network: z
      .enum(NETWORK_ACCESSES)
      .optional()
      .describe(
        "`none` (default): the commands and the agent reach only the model, the run's repositories and its MCP " +
          "servers. `internet`: they also reach public addresses.",
      ),
    pull_request: z
      .enum(PULL_REQUEST_SETTINGS)
      .optional()
      .describe(
        "What Errand does with changes in its repositories, if neither a request nor a routing rule says it. Default: " +
          "requests of people in chats make a draft pull request where the team can open one, others none.",
      ),
    secrets: SecretList.optional().describe(
      "The only secrets of the team that its runs get, and no personal ones, if neither a request nor a named agent " +
        "says it. Absent or empty: all of them.",
    ),
    failure_session_retention_minutes: z
      .int()
      .min(1)
      .max(DEBUG_MINUTES_MAX)
      .optional()
      .describe(
        "How long a run that FAILED keeps its agent and workspace, so that a follow-up can look into the failure there. " +
          "Its secrets stay in use for that time. Absent: its processes end at once.",
      ),
  })
  .meta({
    id: "EnvironmentConfig",
    description: "What an agent works in: repositories, image and setup.",
    examples: [ENVIRONMENT_CONFIG_EXAMPLE],
  });
export type EnvironmentConfigJson = z.output<typeof EnvironmentConfigSchema>;

export const CreateEnvironmentRequest = z
  .object({
    config: EnvironmentConfigSchema,
    team: z
      .boolean()
      .optional()
      .describe("false: only the creator and administrators can see and use it. Default: true."),
  })
  .meta({
    id: "CreateEnvironmentRequest",
    description: "A new environment.",
    examples: [{ config: ENVIRONMENT_CONFIG_EXAMPLE }],
  });

export const ReplaceEnvironmentRequest = z.object({ config: EnvironmentConfigSchema }).meta({
  id: "ReplaceEnvironmentRequest",
  description: "The new configuration of the environment. Its owner does not change.",
  examples: [{ config: ENVIRONMENT_CONFIG_EXAMPLE }],
});

export const ListEnvironmentsQuery = z.object({
  sort_by: z
    .enum(ENVIRONMENT_SORTS)
    .default("last_updated")
    .describe("`last_updated`: the most recently changed first. `name`: in alphabetical order."),
});

const LastTask = z.object({
  id: z.uuid().describe("The run's id."),
  title: z.string().describe("The run's title."),
  prompt: z.string().describe("The prompt of the run."),
  state: RunState,
  created_at: Timestamp.describe("When the run was accepted."),
  updated_at: Timestamp.describe("When the run last changed. A new event counts as a change."),
  started_at: Timestamp.optional().describe("When the agent first received the prompt."),
});

export const EnvironmentItem = z
  .object({
    uid: z.string().describe("22 letters and digits, used as `config.environment_id` of a run."),
    config: EnvironmentConfigSchema,
    last_updated: Timestamp.describe("When the environment was last changed."),
    setup_failed: z.boolean().describe("Whether the setup commands failed at their last execution."),
    last_task_run_timestamp: Timestamp.optional().describe(
      "When the most recent run in the environment started, of the runs that you can see.",
    ),
    last_task_created: LastTask.optional().describe(
      "The newest run in the environment, of the runs that you can see.",
    ),
    scope: Scope.optional().describe("Who can see and use the environment."),
    creator: RunCreatorInfo.optional(),
    last_editor: RunCreatorInfo.optional(),
  })
  .meta({
    id: "Environment",
    description: "An environment and its most recent runs.",
    examples: [ENVIRONMENT_EXAMPLE],
  });
export type EnvironmentItem = z.output<typeof EnvironmentItem>;

export const ListEnvironmentsResponse = z
  .object({
    environments: z.array(EnvironmentItem).describe("In the order of `sort_by`."),
    page_info: PageInfo,
  })
  .meta({
    id: "ListEnvironmentsResponse",
    description: "The environments that you can use.",
    examples: [{ environments: [ENVIRONMENT_EXAMPLE], page_info: { has_next_page: false } }],
  });

export function environmentConfigOf(json: EnvironmentConfigJson): EnvironmentConfig {
  const {
    name,
    description,
    docker_image: image,
    github_repos = [],
    sparse = [],
    setup_commands = [],
    network = "none",
    pull_request: pullRequest,
    secrets = [],
    failure_session_retention_minutes: debugMinutes,
  } = json;
  return {
    name,
    ...defined({ description, image }),
    repositories: github_repos.map(({ owner, repo }) => ({ owner, name: repo })),
    setupCommands: setup_commands,
    network,
    ...defined({
      sparse: sparse.length === 0 ? undefined : sparse.map((folder) => folder.replace(/\/$/, "")),
      pullRequest,
      secretNames: secrets.length === 0 ? undefined : secretNamesIn(secrets),
      debugMinutes,
    }),
  };
}

export function environmentConfigJson(config: EnvironmentConfig): EnvironmentConfigJson {
  const { name, description, image, repositories, setupCommands, network, pullRequest, secretNames } = config;
  const { debugMinutes, sparse } = config;
  return {
    name,
    ...defined({ description, docker_image: image }),
    github_repos: repositories.map((repository) => ({ owner: repository.owner, repo: repository.name })),
    setup_commands: [...setupCommands],
    network,
    ...defined({
      sparse: sparse && [...sparse],
      pull_request: pullRequest,
      secrets: secretNames && secretListOf(secretNames),
      failure_session_retention_minutes: debugMinutes,
    }),
  };
}

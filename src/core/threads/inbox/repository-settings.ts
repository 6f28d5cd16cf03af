import { defined } from "../../basics/defined.ts";
import { AppError } from "../../basics/errors.ts";
import type { RepositorySettings } from "../../model/repositories/repository-settings.ts";
import type { RunConfig } from "../../model/runs/run.ts";
import type { NewRun } from "../../requests/prepare/new-run.ts";
import type { AuthorizedContext, InboxDeps, MessageContext } from "./message-context.ts";
import { environmentOf, parseCommand } from "./parse-command.ts";

const STARTING_KINDS: readonly string[] = ["new", "retry", "work"];

/** What the repository of a message says about it. Undefined: nothing, or the message asks for no work. */
export async function settingsFor({
  adapter,
  message,
}: MessageContext): Promise<RepositorySettings | undefined> {
  const asksForWork =
    message.buttonAction === undefined && STARTING_KINDS.includes(parseCommand(message).kind);
  return asksForWork ? adapter.settingsOf?.(message) : undefined;
}

/** Why the repository refuses the message. */
export function refusalBy({ message, settings }: MessageContext): string | undefined {
  if (settings?.unreadable !== undefined) {
    return `I do nothing here until this is repaired: ${settings.unreadable}`;
  }
  const { requestKind: kind } = message;
  return kind !== undefined && settings?.off.includes(kind) === true
    ? settings.mistakeAt(`triggers.${kind}`, "is off, so this starts nothing.")
    : undefined;
}

/**
 * What the repository says about a new run. What is impossible on this server is left out and told, because people who
 * write in the repository do not see what the team has.
 */
export async function repositoryConfigFor(
  { author, message, settings }: AuthorizedContext,
  { repository }: RunConfig,
  deps: Pick<InboxDeps, "runs" | "storage">,
): Promise<Pick<NewRun, "repositoryConfig" | "provenance">> {
  const isElsewhere = repository !== undefined && repository.toLowerCase() !== message.place?.toLowerCase();
  if (settings === undefined || isElsewhere) {
    return {};
  }
  const { base_prompt, pull_request, ...agent } = settings.config;
  const mistakes = [...settings.mistakes];
  const unlessImpossible = async <T>(member: string, read: () => Promise<T> | T): Promise<T | undefined> => {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof AppError)) {
        throw error;
      }
      mistakes.push(settings.mistakeAt(member, `is left out. ${error.message}`));
      return undefined;
    }
  };
  const environment_id = await unlessImpossible("environment", async () =>
    settings.environment === undefined
      ? undefined
      : environmentOf(author, await deps.storage.environments.list(author.teamId), settings.environment),
  );
  const member = agent.harness === undefined ? "model" : "agent";
  const chosen = await unlessImpossible(member, () => {
    deps.runs.preparer.requireStorable(agent, member);
    return agent;
  });
  return {
    repositoryConfig: defined({ base_prompt, pull_request, environment_id, ...chosen }),
    ...(mistakes.length === 0 ? {} : { provenance: { settings_mistakes: mistakes } }),
  };
}

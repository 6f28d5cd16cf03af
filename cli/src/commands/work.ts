import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { ConversationMessage, ConversationStep, RepositoryChanges } from "@errand/client";
import type { Command } from "commander";
import { type Cli, handle } from "../cli.ts";
import { ENDED, EventText } from "../event-text.ts";
import { CliError } from "../failure.ts";
import { findRunId, RUN_HELP } from "../find-run.ts";
import { MEMBERS } from "../generated/members.ts";
import { git, repositoryOf } from "../git.ts";
import { setMembers } from "../json-members.ts";
import { ago, oneLine, safeText } from "../output.ts";

export function addWorkCommands(program: Command): void {
  const logs = program
    .command("logs")
    .summary("show what happened in a run")
    .description("Shows what was said and done in a run.")
    .argument("<run>", RUN_HELP)
    .option("--raw", "the event log: one JSON object per line")
    .option("--markdown", "the conversation as Markdown");
  handle(
    logs,
    async (cli, options: { readonly raw?: boolean; readonly markdown?: boolean }, name: string) => {
      const runId = await findRunId(cli, name);
      if (options.raw === true) {
        await writeTranscript(cli, runId);
      } else if (cli.output.isJson) {
        cli.output.json(await (await cli.client()).runs.conversation(runId));
      } else if (options.markdown === true) {
        const { steps } = await (await cli.client()).runs.conversation(runId);
        cli.output.write(steps.map(stepMarkdown).join("\n"));
      } else {
        await writeLog(cli, runId);
      }
    },
  );

  const diff = program
    .command("diff")
    .summary("show the changes of a run")
    .description("Shows what the last turn of a run changed in its repositories.")
    .argument("<run>", RUN_HELP)
    .option("--stat", "only the files and the numbers of lines");
  handle(
    setMembers(diff, MEMBERS.RunChanges),
    async (cli, { stat }: { readonly stat?: boolean }, name: string) => {
      const changes = await (await cli.client()).runs.changes(await findRunId(cli, name));
      if (cli.output.isJson) {
        cli.output.json(changes);
      } else if (changes.repositories.length === 0) {
        cli.output.note("The run has changed no repository.");
      } else if (stat === true) {
        for (const repository of changes.repositories) {
          writeStat(cli, repository);
        }
      } else {
        for (const repository of changes.repositories) {
          writeDiff(cli, await diffOf(cli, repository));
        }
      }
    },
  );

  const checkout = program
    .command("checkout")
    .summary("check out the changes of a run")
    .description(
      "Checks out the changes of a run in the current clone: the branch that the run has pushed, or a new branch with its\n" +
        "changes applied.",
    )
    .argument("<run>", RUN_HELP)
    .option("-b, --branch <name>", "the name of the branch here");
  handle(checkout, async (cli, { branch }: { readonly branch?: string }, name: string) => {
    const runId = await findRunId(cli, name);
    const { repositories } = await (await cli.client()).runs.changes(runId);
    const changes = await matching(repositories);
    const created =
      changes.head !== null && changes.branch !== undefined
        ? await checkoutBranch(changes.branch, branch)
        : await checkoutPatch(cli, changes, branch ?? `errand/${runId.slice(0, 13)}`);
    cli.output.line(`On branch ${created}.`);
  });

  const artifacts = program
    .command("artifacts")
    .summary("list or download the files of a run")
    .description("Lists what a run has produced: pull requests, plans, files, screenshots.")
    .argument("<run>", RUN_HELP)
    .option("-d, --download <directory>", "download the files into this directory");
  handle(artifacts, async (cli, { download }: { readonly download?: string }, name: string) => {
    const client = await cli.client();
    const found = await client.runs.artifacts(await findRunId(cli, name));
    if (download !== undefined) {
      await mkdir(download, { recursive: true });
      for (const { artifact_type, data } of found) {
        if (artifact_type === "FILE" || artifact_type === "SCREENSHOT") {
          const wanted =
            artifact_type === "FILE" ? data.filename : `${data.artifact_uid}.${data.mime_type.split("/")[1]}`;
          const response = await client.artifacts.download(data.artifact_uid);
          cli.output.line(await saveNew(download, wanted, Buffer.from(await response.arrayBuffer())));
        }
      }
      return;
    }
    cli.output.table(
      found,
      [
        { title: "TYPE", value: ({ artifact_type }) => artifact_type },
        {
          title: "CREATED",
          value: ({ created_at }) => created_at,
          text: ({ created_at }) => ago(created_at),
        },
        { title: "NAME", value: ({ data }) => nameOf(data) },
      ],
      "The run has no artifacts.",
    );
  });
}

function nameOf(data: object): string {
  const { filepath, mime_type, title, url } = data as Partial<
    Record<"filepath" | "mime_type" | "title" | "url", string>
  >;
  return url ?? filepath ?? title ?? mime_type ?? "";
}

async function writeTranscript(cli: Cli, runId: string): Promise<void> {
  const response = await (await cli.client()).runs.transcript(runId);
  for await (const piece of response.body ?? []) {
    cli.output.write(Buffer.from(piece).toString());
  }
}

/** Reads the stored events page by page, so that a run of any length needs little memory. */
async function writeLog(cli: Cli, runId: string): Promise<void> {
  const client = await cli.client();
  const text = new EventText(cli.output);
  for (let after = 0; ; ) {
    const { events, next_after } = await client.runs.storedEvents(runId, { after, limit: 500 });
    cli.output.write(events.map((event) => text.add(event)).join(""));
    if (events.length === 0) {
      break;
    }
    after = next_after;
  }
  cli.output.write(text.endLine());
  if (!ENDED.has(text.state)) {
    cli.output.note(`The run continues. Watch it: errand watch ${runId}`);
  }
}

function stepMarkdown({ description, messages, steps }: ConversationStep): string {
  const heading = description === undefined ? "" : `## ${oneLine(description)}\n\n`;
  return heading + messages.map(messageMarkdown).join("") + steps.map(stepMarkdown).join("");
}

function messageMarkdown({ content, role }: ConversationMessage): string {
  return content.map((block) => `${blockMarkdown(block, role)}\n\n`.replace(/^\n\n$/, "")).join("");
}

function blockMarkdown(
  block: ConversationMessage["content"][number],
  role: ConversationMessage["role"],
): string {
  switch (block.type) {
    case "text":
      return role === "user" ? safeText(block.text).replaceAll(/^/gm, "> ") : safeText(block.text);
    case "action":
      return `*${oneLine(block.name)}*`;
    case "action_result":
      return typeof block.output.text === "string" && block.output.text !== ""
        ? fenced(safeText(block.output.text))
        : "";
    default:
      return "";
  }
}

/** A fence that the text cannot close. */
function fenced(text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text.trimEnd()}\n${fence}`;
}

function writeStat({ output }: Cli, { files, repository }: RepositoryChanges): void {
  output.line(output.style("bold", repository));
  for (const file of files) {
    const name = file.old_path === undefined ? file.path : `${file.old_path} → ${file.path}`;
    const counts = file.additions === null ? "binary" : `+${file.additions} -${file.deletions}`;
    output.line(
      output.isTerminal ? ` ${oneLine(name)}  ${counts}` : `${oneLine(name)}\t${file.status}\t${counts}`,
    );
  }
}

/** The address is signed, so no key is sent to it. It is asked for where the API is. */
async function diffOf(cli: Cli, { diff_url }: RepositoryChanges): Promise<string> {
  const { pathname, search } = new URL(diff_url);
  const response = await fetch(new URL(pathname + search, (await cli.connection()).url));
  if (!response.ok) {
    throw new CliError(`The changes cannot be downloaded: status ${response.status}.`);
  }
  return response.text();
}

const LINE_STYLES = { "+": "green", "-": "red", "@": "cyan" } as const;

function writeDiff({ output }: Cli, diff: string): void {
  if (!output.isTerminal) {
    output.write(diff);
    return;
  }
  for (const line of safeText(diff).trimEnd().split("\n")) {
    output.line(output.style(LINE_STYLES[line.charAt(0) as "+"], line));
  }
}

/** The changes to the repository of the current clone. */
async function matching(repositories: readonly RepositoryChanges[]): Promise<RepositoryChanges> {
  await git("rev-parse", "--git-dir");
  const [first, ...others] = repositories;
  if (first === undefined) {
    throw new CliError("The run has changed no repository.");
  }
  const here = repositoryOf(await git("remote", "get-url", "origin").catch(() => ""));
  const found = repositories.find(({ repository }) => repository === here);
  if (found === undefined && (here !== undefined || others.length > 0)) {
    const names = repositories.map(({ repository }) => repository).join(", ");
    throw new CliError(`The run has changed ${names}, and this is ${here ?? "another repository"}.`);
  }
  return found ?? first;
}

async function checkoutBranch(remote: string, local = remote): Promise<string> {
  requireName(remote);
  requireName(local);
  // Full names, so that no other ref is meant.
  await git("fetch", "--quiet", "origin", `+refs/heads/${remote}:refs/remotes/origin/${remote}`);
  if (await succeeds("rev-parse", "--verify", "--quiet", `refs/heads/${local}`)) {
    await git("switch", "--quiet", local);
    await git("merge", "--quiet", "--ff-only", `refs/remotes/origin/${remote}`);
  } else {
    await git("switch", "--quiet", "--create", local, `refs/remotes/origin/${remote}`);
  }
  return local;
}

async function checkoutPatch(cli: Cli, changes: RepositoryChanges, branch: string): Promise<string> {
  requireName(branch);
  requireName(changes.base);
  const folder = await mkdtemp(join(tmpdir(), "errand-"));
  try {
    const patch = join(folder, "run.patch");
    await writeFile(patch, await diffOf(cli, changes));
    if (!(await succeeds("cat-file", "-e", `${changes.base}^{commit}`))) {
      await git("fetch", "--quiet", "origin");
    }
    await git("switch", "--quiet", "--create", branch, changes.base);
    await git("apply", "--index", "--3way", patch);
    return branch;
  } finally {
    await rm(folder, { recursive: true });
  }
}

function succeeds(...args: readonly string[]): Promise<boolean> {
  return git(...args).then(
    () => true,
    () => false,
  );
}

/** git would take such a name for an option. */
function requireName(name: string): void {
  if (name.startsWith("-")) {
    throw new CliError(`"${name}" is not the name of a branch or commit.`);
  }
}

/** Writes a file under its own name, never outside of the directory and never over another file. */
async function saveNew(directory: string, wanted: string, bytes: Uint8Array): Promise<string> {
  const name = basename(safeText(wanted).replaceAll("\\", "/")).replace(/^\.+/, "") || "file";
  for (let count = 1; ; count += 1) {
    const file = join(directory, count === 1 ? name : name.replace(/(\.[^.]*)?$/, `-${count}$1`));
    try {
      await writeFile(file, bytes, { flag: "wx" });
      return file;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
        throw error;
      }
    }
  }
}

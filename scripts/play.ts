import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createApiClient } from "../test/support/api-client.ts";
import { type EmulatedGithub, startEmulatedGithub } from "../test/support/emulated-github.ts";
import { type EmulatedSlack, startEmulatedSlack } from "../test/support/emulated-slack.ts";
import { GitHost } from "../test/support/git-host.ts";
import { asRecord, isRecord } from "../test/support/json.ts";
import { githubEnvironment, type Service, slackEnvironment, startService } from "../test/support/service.ts";

/*
 * `npm run play`: Errand between an emulated Slack and an emulated GitHub on loopback, so that you can try it without
 * either. What you type at the prompt is posted there as a user; the bot's answers are printed as they arrive.
 */

const HELP = `
  slack TEXT    posts TEXT in the thread (the first mention opens it); slack new TEXT opens another thread
                slack @errand TEXT mentions the bot again, as commands need it: slack @errand status
  press LABEL   presses the newest button with that label in the thread: press Allow, press Cancel
  github TEXT   posts TEXT on the issue with a mention of @errand; github new TEXT opens another issue
  Ctrl-C        stops everything
  Words for the demo agent: sleep 5 · ask · write notes.txt hello · fail.
  Commands for Errand: slack @errand status, github status; also stop and help.
`;
/** As people write it; in Slack a mention is the id of the bot. */
const MENTION = /^@errand\b\s*/i;
const POLL_MS = 200;

interface Stage {
  readonly slack: EmulatedSlack;
  readonly github: EmulatedGithub;
  readonly gitHost: GitHost;
  readonly service: Service;
  threadTs?: string;
  readonly issues: number[];
}

async function play(): Promise<void> {
  process.stdout.write("Starting Errand, Slack and GitHub …\n");
  const folder = await mkdtemp(join(tmpdir(), "errand-play-"));
  await chmod(folder, 0o711);
  const [slack, github] = await Promise.all([startEmulatedSlack(), startEmulatedGithub()]);
  const gitHost = await GitHost.start(github.repo.fullName);
  const env = { ...slackEnvironment(slack), ...githubEnvironment(github), ...gitHost.environment };
  const service = await startService(join(folder, "data"), env);
  await requirePermissions(service);
  const stage: Stage = { slack, github, gitHost, service, issues: [] };
  process.stdout.write(`Errand  ${service.url}  key ${service.apiKey}\n`);
  process.stdout.write(`Slack   ${slack.apiUrl}  #work, as alice\n`);
  process.stdout.write(`GitHub  ${github.apiUrl}  ${github.repo.fullName}, as wendy\n`);
  process.stdout.write(
    `The emulated Slack and GitHub have APIs and no pages: links to them open nothing.\n${HELP}`,
  );
  const prompt = createInterface({ input: process.stdin, output: process.stdout, prompt: "> " });
  const timer = printChanges(stage, () => prompt.prompt(true));
  prompt.on(
    "line",
    (line) =>
      void runCommand(stage, line.trim())
        .catch(printError)
        .then(() => prompt.prompt()),
  );
  prompt.prompt();
  process.once("SIGINT", () => prompt.close()).once("SIGTERM", () => prompt.close());
  await once(prompt, "close");
  clearInterval(timer);
  process.stdout.write("\nGood-bye.\n");
  await service.end("SIGTERM");
  await Promise.all([slack.stop(), github.stop(), gitHost.stop()]);
  await rm(folder, { recursive: true, force: true });
}

async function runCommand(stage: Stage, line: string): Promise<void> {
  const [, where, isNew, text = ""] = /^(slack|github|press)(\s+new)?(?:\s+(.+))?$/i.exec(line) ?? [];
  if (text === "") {
    const unknown = line === "" || line === "help" ? "" : `Unknown command: ${line}\n`;
    return void process.stdout.write(line === "" ? "" : `${unknown}${HELP}`);
  }
  if (where === "press") {
    return press(stage, text);
  }
  if (where === "slack") {
    return postInSlack(stage, text, isNew !== undefined);
  }
  return commentOnGithub(stage, text, isNew !== undefined);
}

async function postInSlack(stage: Stage, text: string, isNew: boolean): Promise<void> {
  const { slack, service, threadTs } = stage;
  const url = `${service.url}/webhooks/slack`;
  const thread = isNew ? undefined : threadTs;
  if (thread !== undefined && !MENTION.test(text)) {
    const posted = await slack.postAs(slack.alice, { channel: "work", text, threadTs: thread });
    await slack.sendEvent(url, slack.messageEvent(posted));
    return;
  }
  const withoutMention = text.replace(MENTION, "");
  const mention = await slack.mention(slack.alice, {
    channel: "work",
    text: withoutMention,
    threadTs: thread,
  });
  stage.threadTs = thread ?? mention.posted.ts;
  await slack.sendEvent(url, mention.appMention);
  await slack.sendEvent(url, mention.message);
}

/** Makes runs ask for permission, as in a team that wants to approve each step. By default a run asks nobody. */
async function requirePermissions(service: Service): Promise<void> {
  const rule = { name: "Ask in threads", match: {}, config: { permission_policy: "ask" } };
  const { body, status } = await createApiClient(service).call("POST", "/agent/routing-rules", rule);
  if (status !== 201) {
    throw new Error(`The routing rule was answered ${status}: ${JSON.stringify(body)}`);
  }
}

async function press({ slack, service, threadTs = "" }: Stage, label: string): Promise<void> {
  const { id: channel } = slack.channel;
  for (const { ts, blocks } of slack.threadMessages(channel, threadTs).toReversed()) {
    const elements = blocks.flatMap((block) => (Array.isArray(block.elements) ? block.elements : []));
    const button = elements.filter(isRecord).find((one) => isRecord(one.text) && one.text.text === label);
    if (button === undefined) {
      continue;
    }
    const { action_id: actionId, value } = button;
    const pressed = { actionId: String(actionId), value: String(value), user: slack.alice };
    await slack.sendButton(`${service.url}/webhooks/slack`, { ...pressed, message: { channel, ts } });
    return;
  }
  throw new Error(`There is no button ${label}.`);
}

async function commentOnGithub(
  { github, service, issues }: Stage,
  text: string,
  isNew: boolean,
): Promise<void> {
  if (issues.length === 0 || isNew) {
    const content = { title: text.slice(0, 60), body: "Opened at the prompt." };
    issues.push((await github.openIssue(github.owner.login, content)).number);
  }
  const body = `@${github.app.slug} ${text}`;
  const written = await github.commentAs(github.writer.login, issues.at(-1) ?? 0, body);
  await github.sendWebhook(`${service.url}/webhooks/github`, written);
}

/** Prints each message of the bot when it arrives and whenever it changes. */
function printChanges(stage: Stage, onChange: () => void): NodeJS.Timeout {
  const shown = new Map<string, string>();
  const shownPullRequests = new Set<number>();
  return setInterval(() => {
    void printPullRequests(stage, shownPullRequests)
      .then((isPrinted) => (isPrinted ? onChange() : undefined))
      .catch(printError);
    const now = [...shownInSlack(stage), ...shownOnGithub(stage)];
    const changes = now.filter(([place, text]) => shown.get(place) !== text);
    for (const [place, text] of changes) {
      process.stdout.write(`\r--- ${place}${shown.has(place) ? ", edited" : ""}\n${text}\n\n`);
      shown.set(place, text);
    }
    if (changes.length > 0) {
      onChange();
    }
  }, POLL_MS);
}

function shownInSlack({ slack }: Stage): (readonly [string, string])[] {
  const ours = slack.channelMessages(slack.channel.id).filter(({ userId }) => userId === slack.botUserId);
  return ours.map(({ ts, threadTs, blocks }) => [
    `slack ${threadTs} ${ts}`,
    blocks.flatMap(textOf).join("\n"),
  ]);
}

/** The texts of a block, with its buttons in brackets. */
function textOf(block: unknown): string[] {
  const { type, text, elements } = asRecord(block);
  if (type === "button") {
    return [`[${textOf(text).join()}]`];
  }
  if (typeof text === "string") {
    return [text];
  }
  if (isRecord(text)) {
    return textOf(text);
  }
  return Array.isArray(elements) ? elements.flatMap(textOf) : [];
}

function shownOnGithub({ github, issues }: Stage): (readonly [string, string])[] {
  const all = issues.flatMap((number) => github.comments(github.repo.fullName, number));
  const ours = all.filter(({ author }) => author === github.app.botLogin);
  return ours.map(({ id, body }) => [`github comment ${id}`, body.replace(/^<!--.*-->\n/, "")]);
}

/** Prints each new pull request, because the emulated GitHub has no page that shows it. */
async function printPullRequests({ github, gitHost }: Stage, shown: Set<number>): Promise<boolean> {
  const opened = github.pullRequests().filter(({ number }) => !shown.has(number));
  for (const { branch, number, title } of opened) {
    shown.add(number);
    const diff = await gitHost.repositories.diff(github.repo.fullName, branch);
    process.stdout.write(`\r--- github pull request ${number}: ${title}\n${diff}\n`);
  }
  return opened.length > 0;
}

function printError(error: unknown): void {
  process.stdout.write(`${error instanceof Error ? error.message : error}\n`);
}

await play();

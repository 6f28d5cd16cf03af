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
 * `npm run play`: Errand between an emulated Slack and an emulated GitHub, all on loopback, for who has neither.
 * What is typed at the prompt is said there by a person; what the bot answers is shown as it comes.
 */

const HELP = `
  slack TEXT    says it in the thread (the first opens it with a mention); slack new TEXT opens another thread
  press LABEL   presses the newest button of that name in the thread: press Allow, press Cancel
  github TEXT   comments on the issue, mentioning @errand; github new TEXT opens another issue
  Ctrl-C        ends everything
  Words for the demo agent: sleep 5 · ask · write notes.txt hello · fail. For Errand: status · stop · help.
`;
const LOOK_MS = 200;

interface Stage {
  readonly slack: EmulatedSlack;
  readonly github: EmulatedGithub;
  readonly service: Service;
  threadTs?: string;
  readonly issues: number[];
}

async function play(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "errand-play-"));
  await chmod(folder, 0o711);
  const [slack, github] = await Promise.all([startEmulatedSlack(), startEmulatedGithub()]);
  const gitHost = await GitHost.start(github.repo.fullName);
  const env = { ...slackEnvironment(slack), ...githubEnvironment(github), ...gitHost.environment };
  const service = await startService(join(folder, "data"), env);
  await haveAgentsAsk(service);
  const stage: Stage = { slack, github, service, issues: [] };
  process.stdout.write(`Errand  ${service.url}  key ${service.apiKey}\n`);
  process.stdout.write(`Slack   ${slack.apiUrl}  #work, as alice\n`);
  process.stdout.write(`GitHub  ${github.apiUrl}  ${github.repo.fullName}, as wendy\n${HELP}`);
  const prompt = createInterface({ input: process.stdin, output: process.stdout, prompt: "> " });
  const looking = showNews(stage, () => prompt.prompt(true));
  prompt.on(
    "line",
    (line) =>
      void obey(stage, line.trim())
        .catch(tell)
        .then(() => prompt.prompt()),
  );
  prompt.prompt();
  process.once("SIGINT", () => prompt.close()).once("SIGTERM", () => prompt.close());
  await once(prompt, "close");
  clearInterval(looking);
  process.stdout.write("\nGood-bye.\n");
  await service.end("SIGTERM");
  await Promise.all([slack.stop(), github.stop(), gitHost.stop()]);
  await rm(folder, { recursive: true, force: true });
}

async function obey(stage: Stage, line: string): Promise<void> {
  const [, where, isNew, text = ""] = /^(slack|github|press)(\s+new)?(?:\s+(.+))?$/i.exec(line) ?? [];
  if (text === "") return void process.stdout.write(line === "" ? "" : HELP);
  if (where === "press") return press(stage, text);
  if (where === "slack") return sayInSlack(stage, text, isNew !== undefined);
  return sayOnGithub(stage, text, isNew !== undefined);
}

async function sayInSlack(stage: Stage, text: string, isNew: boolean): Promise<void> {
  const { slack, service, threadTs } = stage;
  const url = `${service.url}/webhooks/slack`;
  if (threadTs !== undefined && !isNew) {
    const posted = await slack.postAs(slack.alice, { channel: "work", text, threadTs });
    await slack.sendEvent(url, slack.messageEvent(posted));
    return;
  }
  const mention = await slack.mention(slack.alice, { channel: "work", text });
  stage.threadTs = mention.posted.ts;
  await slack.sendEvent(url, mention.appMention);
  await slack.sendEvent(url, mention.message);
}

/** As in a team that wants to see each step: by itself a run asks nobody. */
async function haveAgentsAsk(service: Service): Promise<void> {
  const rule = { name: "Ask in threads", match: {}, config: { permission_policy: "ask" } };
  const { body, status } = await createApiClient(service).call("POST", "/agent/routing-rules", rule);
  if (status !== 201) throw new Error(`The routing rule was answered ${status}: ${JSON.stringify(body)}`);
}

async function press({ slack, service, threadTs = "" }: Stage, label: string): Promise<void> {
  const { id: channel } = slack.channel;
  for (const { ts, blocks } of slack.threadMessages(channel, threadTs).toReversed()) {
    const elements = blocks.flatMap((block) => (Array.isArray(block.elements) ? block.elements : []));
    const button = elements.filter(isRecord).find((one) => isRecord(one.text) && one.text.text === label);
    if (button === undefined) continue;
    const { action_id: actionId, value } = button;
    const pressed = { actionId: String(actionId), value: String(value), user: slack.alice };
    await slack.sendButton(`${service.url}/webhooks/slack`, { ...pressed, message: { channel, ts } });
    return;
  }
  throw new Error(`There is no button ${label}.`);
}

async function sayOnGithub({ github, service, issues }: Stage, text: string, isNew: boolean): Promise<void> {
  if (issues.length === 0 || isNew) {
    const content = { title: text.slice(0, 60), body: "Opened at the prompt." };
    issues.push((await github.openIssue(github.owner.login, content)).number);
  }
  const body = `@${github.app.slug} ${text}`;
  const written = await github.commentAs(github.writer.login, issues.at(-1) ?? 0, body);
  await github.sendWebhook(`${service.url}/webhooks/github`, written);
}

/** Tells each message of the bot when it comes and whenever it has changed. */
function showNews(stage: Stage, andThen: () => void): NodeJS.Timeout {
  const shown = new Map<string, string>();
  return setInterval(() => {
    const now = [...shownInSlack(stage), ...shownOnGithub(stage)];
    const pubsub = now.filter(([place, words]) => shown.get(place) !== words);
    for (const [place, words] of pubsub) {
      process.stdout.write(`\r--- ${place}${shown.has(place) ? ", edited" : ""}\n${words}\n\n`);
      shown.set(place, words);
    }
    if (pubsub.length > 0) andThen();
  }, LOOK_MS);
}

function shownInSlack({ slack }: Stage): (readonly [string, string])[] {
  const ours = slack.channelMessages(slack.channel.id).filter(({ userId }) => userId === slack.botUserId);
  return ours.map(({ ts, threadTs, blocks }) => [
    `slack ${threadTs} ${ts}`,
    blocks.flatMap(wordsOf).join("\n"),
  ]);
}

/** The words of a block, with its buttons in brackets. */
function wordsOf(block: unknown): string[] {
  const { type, text, elements } = asRecord(block);
  if (type === "button") return [`[${wordsOf(text).join()}]`];
  if (typeof text === "string") return [text];
  if (isRecord(text)) return wordsOf(text);
  return Array.isArray(elements) ? elements.flatMap(wordsOf) : [];
}

function shownOnGithub({ github, issues }: Stage): (readonly [string, string])[] {
  const all = issues.flatMap((number) => github.comments(github.repo.fullName, number));
  const ours = all.filter(({ author }) => author === github.app.botLogin);
  return ours.map(({ id, body }) => [`github comment ${id}`, body.replace(/^<!--.*-->\n/, "")]);
}

function tell(error: unknown): void {
  process.stdout.write(`${error instanceof Error ? error.message : error}\n`);
}

await play();

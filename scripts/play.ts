import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type EmulatedGithub, startEmulatedGithub } from "../test/support/emulated-github.ts";
import { type EmulatedSlack, startEmulatedSlack } from "../test/support/emulated-slack.ts";
import { asRecord, isRecord } from "../test/support/json.ts";
import { githubEnvironment, type Service, slackEnvironment, startService } from "../test/support/service.ts";

/*
 * `npm run play`: Errand between an emulated Slack and an emulated GitHub, all on loopback, for who has neither.
 * What is typed at the prompt is said there by a person; what the bot answers is shown as it comes.
 */

const HELP = `
  slack TEXT         says it in the Slack thread (the first one opens it, with a mention)
  slack new TEXT     opens another Slack thread
  press LABEL        presses that button below the newest card in Slack: press Allow, press Cancel
  github TEXT        comments on the issue, mentioning @errand (the first one opens the issue)
  github new TEXT    opens another issue
  Ctrl-C             ends everything

  Words for the demo agent: sleep 5 · ask · write notes.txt hello · fail · say hello. Words for Errand: status, stop, help.
`;
const LOOK_MS = 200;
const DIM = process.stdout.isTTY ? ["\x1b[2m", "\x1b[0m"] : ["", ""];

interface Stage {
  readonly slack: EmulatedSlack;
  readonly github: EmulatedGithub;
  readonly service: Service;
  threadTs?: string;
  issue?: number;
}

async function play(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "errand-play-"));
  await chmod(folder, 0o711);
  const [slack, github] = await Promise.all([startEmulatedSlack(), startEmulatedGithub()]);
  const env = { ...slackEnvironment(slack), ...githubEnvironment(github) };
  const service = await startService(join(folder, "data"), env);
  const stage: Stage = { slack, github, service };
  process.stdout.write(`Errand  ${service.url}  (key: ${service.apiKey}; data and log: ${folder})\n`);
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
  await new Promise((resolve) => prompt.once("close", resolve).once("SIGINT", resolve));
  prompt.close();
  clearInterval(looking);
  process.stdout.write("\nGood-bye.\n");
  await service.end("SIGTERM");
  await Promise.all([slack.stop(), github.stop()]);
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

async function sayOnGithub(stage: Stage, text: string, isNew: boolean): Promise<void> {
  const { github, service } = stage;
  if (stage.issue === undefined || isNew) {
    const content = { title: text.slice(0, 60), body: "Opened at the prompt." };
    stage.issue = (await github.openIssue(github.owner.login, content)).number;
  }
  const written = await github.commentAs(github.writer.login, stage.issue, `@${github.app.slug} ${text}`);
  await github.sendWebhook(`${service.url}/webhooks/github`, written);
}

/** Tells each message of the bot when it comes and whenever it has changed. */
function showNews({ slack, github }: Stage, andThen: () => void): NodeJS.Timeout {
  const shown = new Map<string, string>();
  return setInterval(() => {
    const now = [...shownInSlack(slack), ...shownOnGithub(github)];
    const news = now.filter(([place, words]) => shown.get(place) !== words);
    for (const [place, words] of news) {
      process.stdout.write(
        `\r${DIM[0]}${shown.has(place) ? "edited" : "new   "} ${place}${DIM[1]}\n${words}\n`,
      );
      shown.set(place, words);
    }
    if (news.length > 0) andThen();
  }, LOOK_MS);
}

function shownInSlack(slack: EmulatedSlack): (readonly [string, string])[] {
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

function shownOnGithub(github: EmulatedGithub): (readonly [string, string])[] {
  const { fullName } = github.repo;
  const numbers = Array.from({ length: 100 }, (_, index) => index + 1);
  return numbers.flatMap((number) => {
    const ours = github.comments(fullName, number).filter(({ author }) => author === github.app.botLogin);
    return ours.map(
      ({ id, body }) => [`github ${fullName}#${number} ${id}`, body.replace(/^<!--.*-->\n/, "")] as const,
    );
  });
}

function tell(error: unknown): void {
  process.stdout.write(`${error instanceof Error ? error.message : error}\n`);
}

await play();

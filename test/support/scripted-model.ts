import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { type ChatCompletionRequest, type ChatMessage, LLMock, type ToolCall } from "@copilotkit/aimock";

/** What a prompt tells the scripted model to do: one step a turn, and then it says that it is done. */
export type Order =
  /** `asks`: of an agent that decides by itself whether a command needs a person's yes, for one that does. */
  | { readonly shell: string; readonly asks?: true }
  | { readonly server: string; readonly tool: string; readonly arguments: object }
  | { readonly stream: number }
  | { readonly fail: number; readonly message?: string }
  | { readonly say: string };

const MARK = "do: ";
/** Of each of its answers. */
export const USAGE = { prompt_tokens: 70, completion_tokens: 7, total_tokens: 77 };

/** Words for a prompt. */
export function ordered(order: Order): string {
  return `${MARK}${JSON.stringify(order)}`;
}

export interface ScriptedModel {
  readonly url: string;
  /** The bodies of the requests that reached it. */
  requests(): readonly string[];
  stop(): Promise<void>;
}

/** A model's server that does what prompts say, with whatever tools the agent has. */
export async function startScriptedModel(): Promise<ScriptedModel> {
  const mock = scriptedMock();
  await mock.start();
  const bodies: string[] = [];
  const front = createServer((request, response) => void pass(mock.url, request, response, bodies));
  front.listen(0, "127.0.0.1");
  await once(front, "listening");
  const { port } = front.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => bodies,
    async stop() {
      front.closeAllConnections();
      front.close();
      await mock.stop();
    },
  };
}

/** Codex has the tools of MCP servers in namespaces, which aimock does not know: it puts a name and its space apart. */
async function pass(
  url: string,
  request: IncomingMessage,
  response: ServerResponse,
  bodies: string[],
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  try {
    const body = await buffer(request);
    bodies.push(body.toString());
    await answer(url, request, body, { response, signal: gone.signal });
  } catch {
    // The asker is gone.
  }
  response.end();
}

async function answer(
  url: string,
  { method = "GET", url: path = "/" }: IncomingMessage,
  body: Buffer,
  { response, signal }: { readonly response: ServerResponse; readonly signal: AbortSignal },
): Promise<void> {
  const headers = { "content-type": "application/json", "x-api-key": "any", authorization: "Bearer any" };
  const sent = method === "POST" ? { body } : {};
  const answered = await fetch(new URL(path, url), { method, signal, headers, ...sent });
  const type = answered.headers.get("content-type") ?? "application/json";
  response.writeHead(answered.status, { "content-type": type });
  const isResponses = path.endsWith("/responses");
  for await (const event of eventsOf(answered)) {
    response.write(isResponses ? apart(event) : event);
  }
}

async function* eventsOf({ body }: Response): AsyncGenerator<string> {
  let held = "";
  for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const events = (held + text).split("\n\n");
    held = events.pop() ?? "";
    for (const event of events) {
      yield `${event}\n\n`;
    }
  }
  yield held;
}

function apart(event: string): string {
  return event.replaceAll(/"name":"(mcp__[a-z]+)__([a-z]+)"/g, '"name":"$2","namespace":"$1"');
}

function scriptedMock(): LLMock {
  const mock = new LLMock({ port: 0, host: "127.0.0.1", logLevel: "silent" });
  mock.on(
    { predicate: (request) => "stream" in (orderOf(request) ?? {}) },
    (request) => ({ content: streamed(orderOf(request)), usage: USAGE }),
    { streamingProfile: { ttft: 10, tps: 20 } },
  );
  mock.on({ predicate: () => true }, (request) => answerTo(request));
  return mock;
}

function answerTo(request: ChatCompletionRequest) {
  const order = orderOf(request);
  // Agents also ask for titles and the like.
  if (order === undefined) {
    return { content: "A title", usage: USAGE };
  }
  if ("fail" in order) {
    return { error: { message: order.message ?? `told to fail with ${order.fail}` }, status: order.fail };
  }
  if ("say" in order) {
    return { content: order.say, usage: USAGE };
  }
  const result = resultOf(request);
  if (result !== undefined) {
    return { content: `The tool said: ${result}`, usage: USAGE };
  }
  return { toolCalls: [callFor(order, request)], usage: USAGE };
}

function orderOf({ messages, tools }: ChatCompletionRequest): Order | undefined {
  const text = messages
    .filter(({ role }) => role === "user")
    .map(textOf)
    .findLast((each) => each.includes(MARK));
  if (text === undefined) {
    return undefined;
  }
  const order = JSON.parse(text.slice(text.lastIndexOf(MARK) + MARK.length).split("\n", 1)[0] ?? "") as Order;
  const needsTools = "shell" in order || "tool" in order;
  return needsTools && !tools?.length ? undefined : order;
}

function resultOf({ messages }: ChatCompletionRequest): string | undefined {
  const asked = messages.findLastIndex(
    (message) => message.role === "user" && textOf(message).includes(MARK),
  );
  const results = messages.slice(asked + 1).filter(({ role }) => role === "tool");
  return results.length === 0 ? undefined : results.map(textOf).join("\n");
}

function callFor(order: Order, { tools = [] }: ChatCompletionRequest): ToolCall {
  const names = tools.map((tool) => tool.function.name);
  if ("tool" in order) {
    const name =
      names.find((each) => each.endsWith(`_${order.tool}`)) ?? `mcp__${order.server}__${order.tool}`;
    return { name, arguments: JSON.stringify(order.arguments) };
  }
  const name = SHELLS.find((each) => names.includes(each)) ?? "no-shell";
  const command = "shell" in order ? order.shell : "true";
  const escalated = { sandbox_permissions: "require_escalated", justification: "as told" };
  const asked = "shell" in order && order.asks ? escalated : {};
  const given = name === "exec_command" ? { cmd: command, ...asked } : { command, description: "as told" };
  return { name, arguments: JSON.stringify(given) };
}

/** As agents call theirs. */
const SHELLS = ["exec_command", "bash", "Bash", "run_shell_command"];

function streamed(order: Order | undefined): string {
  const words = order !== undefined && "stream" in order ? order.stream : 0;
  return Array.from({ length: words }, (_, index) => `word${index}`).join(" ");
}

function textOf({ content }: ChatMessage): string {
  if (typeof content === "string") {
    return content;
  }
  return (content ?? []).map((part) => ("text" in part ? String(part.text) : "")).join("\n");
}

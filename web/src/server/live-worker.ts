import { client, observeAnswers } from "./client.ts";
import type { LiveMessage } from "./live.ts";

/** Runs once per browser: one event stream for all tabs. A tab learns which runs have changed and reads them itself. */

/** Lists change at most once a second. */
const COLLECT_MS = 1_000;
/** What an agent says and does changes no list, and the page of a run reads it from a stream of its own. */
const OF_THE_AGENT = /^(agent|workspace)\./;
const RECONNECT_MS = 5_000;

const tabs = new Set<MessagePort>();
const changedRuns = new Set<string>();
let isCollecting = false;
let isReading = false;

// The types of the browser do not name the scope of a shared worker.
const scope = globalThis as unknown as { onconnect: (event: MessageEvent) => void };

scope.onconnect = ({ ports: [port] }) => {
  if (port === undefined) {
    return;
  }
  tabs.add(port);
  port.onmessage = () => tabs.delete(port);
  port.start();
  if (!isReading) {
    isReading = true;
    void read();
  }
};

/** The first answers are those to the list and to the stream. The client opens a broken stream again by itself. */
const FIRST_ANSWERS = 2;
let answers = 0;
observeAnswers((status) => {
  answers += 1;
  if (status === undefined) {
    send({ type: "lost" });
  } else if (status === 200 && answers > FIRST_ANSWERS) {
    send({ type: "reopened" });
  }
});

async function read(): Promise<void> {
  for (;;) {
    try {
      const { next_after: after } = await client.events.list();
      send({ type: "reset" });
      for await (const event of client.events.stream({ after })) {
        if (event.kind === "reset") {
          send({ type: "reset" });
        } else if ("run_id" in event && !OF_THE_AGENT.test(event.kind)) {
          collect(event.run_id);
        }
      }
    } catch {
      // Tabs find out why when they read something themselves.
    }
    await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
  }
}

function collect(runId: string): void {
  changedRuns.add(runId);
  if (isCollecting) {
    return;
  }
  isCollecting = true;
  setTimeout(() => {
    isCollecting = false;
    const runIds = [...changedRuns];
    changedRuns.clear();
    send({ type: "changed", runIds });
  }, COLLECT_MS);
}

function send(message: LiveMessage): void {
  for (const tab of tabs) {
    tab.postMessage(message);
  }
}

import { Errand } from "@errand/client";

/** Lists the runs of the last day that failed, with the reason of each. */
const client = new Errand();
const yesterday = new Date(Date.now() - 24 * 3_600_000).toISOString();

for await (const run of client.runs.list({ state: ["FAILED", "ERROR"], created_after: yesterday })) {
  console.log(`${run.title}\t${run.status_message?.message ?? run.state}\t${run.session_link}`);
}

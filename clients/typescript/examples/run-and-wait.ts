import { Errand } from "@errand/client";

/** Starts a run with the words of the command line, prints what the agent writes, and exits with 1 if the run failed. */
const client = new Errand();
const prompt = process.argv.slice(2).join(" ") || "Describe this repository";
const { run_id } = await client.runs.create({ prompt });

const run = await client.runs
  .stream(run_id)
  .on("text", (text) => process.stdout.write(text))
  .finished();

console.log(`\n${run.state}: ${run.session_link}`);
process.exitCode = run.state === "SUCCEEDED" ? 0 : 1;

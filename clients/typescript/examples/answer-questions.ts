import { Errand } from "@errand/client";

/** Starts an interactive run and allows everything that its agent asks for. */
const client = new Errand();
const prompt = process.argv.slice(2).join(" ") || "Update the dependencies";
const { run_id } = await client.runs.create({ prompt, interactive: true });

const run = await client.runs
  .stream(run_id)
  .on("question", async ({ options, permission_id, title }) => {
    const allow = options.find(({ kind }) => kind === "allow_once");
    console.log(`The agent asks: ${title}`);
    if (allow !== undefined) {
      await client.runs.answer(run_id, permission_id, { option_id: allow.option_id });
    }
  })
  .finished();

console.log(run.state, run.result?.text);

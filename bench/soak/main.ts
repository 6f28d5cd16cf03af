import { hasGrown, soakDay } from "./day.ts";

const DAY = { runs: 200, seconds: 600 };

/** `npm run soak:day`: fails if disk, database or memory are not where they were before. */
async function main(): Promise<void> {
  const figures = await soakDay({ ...DAY, log: (line) => process.stdout.write(`${line}\n`) });
  process.exitCode = figures.some(hasGrown) ? 1 : 0;
}

await main();

import { resolve } from "node:path";
import { inspectLayers } from "./layers.ts";

const ROOT = resolve(import.meta.dirname, "..");

/**
 * A cruiser that does not understand the TypeScript it is given finds no modules, hence no violations, and passes:
 * that is what happens with TypeScript 7. So it must also show that it looked.
 */
const MODULES_MIN = 100;

/** `npm run layers`: nobody imports what they must not know. */
async function checkLayers(): Promise<number> {
  const { moduleCount, violations } = await inspectLayers(ROOT, ["src", "test", "scripts"]);
  for (const violation of violations) console.error(violation);
  console.error(`${moduleCount} modules looked at, ${violations.length} violations.`);
  if (moduleCount >= MODULES_MIN) return violations.length === 0 ? 0 : 1;
  console.error(`Fewer than ${MODULES_MIN} modules: the check itself is broken. Is TypeScript 6 installed?`);
  return 1;
}

process.exitCode = await checkLayers();

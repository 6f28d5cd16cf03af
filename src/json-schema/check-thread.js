import { parentPort, workerData } from "node:worker_threads";
import { Validator } from "@cfworker/json-schema";

/**
 * Checks one value in a thread of its own, which `schema-checker.ts` stops if it takes too long. This file is JavaScript,
 * because a thread would load Node's type stripper for a TypeScript file.
 */
const PROBLEMS_MAX = 50;

const { schema, value } = workerData;
const { errors } = new Validator(schema, "2020-12", false).validate(value);
parentPort?.postMessage(linesOf(errors).slice(0, PROBLEMS_MAX));

/**
 * One line for each problem. A problem inside of a member is reported for each schema around it too, in the lines before:
 * only the innermost one says what is wrong.
 *
 * @param {readonly import("@cfworker/json-schema").OutputUnit[]} found
 */
function linesOf(found) {
  const innermost = found.filter(
    ({ keyword, keywordLocation }, index) =>
      keyword !== "false" && !found[index + 1]?.keywordLocation.startsWith(`${keywordLocation}/`),
  );
  return innermost.map(
    ({ error, instanceLocation }) => `${instanceLocation.slice(1) || "the value"}: ${error}`,
  );
}

import { expect, test } from "vitest";
import { createCatalogue } from "../../../src/agents/catalogue.ts";
import { createCatalogueView } from "../../../src/agents/catalogue-view.ts";

const [demo] = [...createCatalogue().values()];
if (demo === undefined) throw new Error("There is no agent.");

test("the default agent stands first, and an agent whose program is missing says so", async () => {
  const gone = { ...demo, name: "gone", argv: ["/nowhere/agent"] as const };
  const halfGone = { ...demo, name: "half", readable: ["/nowhere/runtime"] };
  const catalogue = new Map([gone, halfGone, demo].map((agent) => [agent.name, agent]));

  const entries = await createCatalogueView(catalogue, "demo").list();

  const missing = ["Its program is not on this machine."];
  expect(entries.map(({ name, installed, needs }) => [name, installed, needs])).toEqual([
    ["demo", true, []],
    ["gone", false, missing],
    ["half", false, missing],
  ]);
});

import { expect, test } from "vitest";
import { NotInstalled } from "../../../../src/adapters/slack/not-installed.ts";
import { SILENT_LOG } from "../../../support/logs.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const NOT_CONNECTED =
  "Errand is not connected with this workspace yet. Ask an administrator of Errand to install it";
const common = {
  ...{ apiUrl: "https://slack.com/api/", clock: new ManualClock(), log: SILENT_LOG },
  workspaces: { find: async () => undefined },
};

test.each([
  [undefined, `${NOT_CONNECTED}.`],
  [
    () => "https://errand.test/setup/slack/install",
    `${NOT_CONNECTED}: https://errand.test/setup/slack/install`,
  ],
])("the text names the address where the app is installed, if there is one", async (installUrl, text) => {
  expect(await new NotInstalled({ ...common, installUrl }).textFor({ teamId: "T2" })).toBe(text);
});

test("only an address of Slack gets the answer to a button", async () => {
  const asked: string[] = [];
  const fetch = async (address: unknown) => {
    asked.push(String(address));
    return Response.json({ ok: true });
  };
  const answers = new NotInstalled({ ...common, installUrl: undefined, fetch });

  for (const response_url of ["https://evil.example/actions/1", "https://hooks.slack.com/actions/1"]) {
    await answers.answerPress({ type: "block_actions", team: { id: "T2" }, response_url });
  }

  expect(asked).toEqual(["https://hooks.slack.com/actions/1"]);
});

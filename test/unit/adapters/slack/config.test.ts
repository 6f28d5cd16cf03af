import { describe, expect, test } from "vitest";
import { readSlackConfig } from "../../../../src/adapters/slack/config.ts";

const BOTH = { SLACK_SIGNING_SECRET: "secret", SLACK_BOT_TOKEN: "xoxb-1-2-abc" };

describe("readSlackConfig", () => {
  test("without variables the adapter is off", () => {
    const reading = readSlackConfig({ PATH: "/bin", SLACK_BOT_TOKEN: " " });

    expect(reading).toEqual({ problems: [] });
  });

  test("both variables switch the adapter on, with Slack's public address", () => {
    const reading = readSlackConfig(BOTH);

    expect(reading).toEqual({
      config: { signingSecret: "secret", botToken: "xoxb-1-2-abc", apiUrl: "https://slack.com/api/" },
      problems: [],
    });
  });

  test.each(["SLACK_SIGNING_SECRET", "SLACK_BOT_TOKEN"])("a missing %s is named in one line", (missing) => {
    const reading = readSlackConfig({ ...BOTH, [missing]: undefined });

    expect(reading.config).toBeUndefined();
    expect(reading.problems).toEqual([expect.stringMatching(`^${missing} is missing`)]);
  });

  test("missing and invalid variables are reported together", () => {
    const { problems } = readSlackConfig({ SLACK_BOT_TOKEN: "x", SLACK_CLIENT_ID: "y" });

    expect(problems).toEqual([
      "SLACK_BOT_TOKEN: must be a bot token: those start with xoxb-",
      expect.stringMatching(/^SLACK_SIGNING_SECRET is missing/),
      "SLACK_CLIENT_SECRET is missing: signing in and installing with Slack need both.",
    ]);
  });

  test("a token of another kind is refused without being repeated", () => {
    const { config, problems } = readSlackConfig({ ...BOTH, SLACK_BOT_TOKEN: "xapp-very-secret" });

    expect(config).toBeUndefined();
    expect(problems).toEqual([expect.stringContaining("xoxb-")]);
    expect(problems.join()).not.toContain("very-secret");
  });

  test("an app-level token switches Socket Mode on, with and without a signing secret", () => {
    const app = { SLACK_APP_TOKEN: "xapp-1-abc" };

    const both = readSlackConfig({ ...BOTH, ...app });
    const alone = readSlackConfig({ SLACK_BOT_TOKEN: BOTH.SLACK_BOT_TOKEN, ...app });
    const other = readSlackConfig({ ...BOTH, SLACK_APP_TOKEN: "xoxb-very-secret" });

    expect(both.config).toMatchObject({ signingSecret: "secret", appToken: "xapp-1-abc" });
    expect(alone).toEqual({
      config: { botToken: "xoxb-1-2-abc", appToken: "xapp-1-abc", apiUrl: "https://slack.com/api/" },
      problems: [],
    });
    expect(other.problems).toEqual([expect.stringContaining("xapp-")]);
    expect(other.problems.join()).not.toContain("very-secret");
  });

  test("a client id and its secret switch the sign-in on, and neither does so alone", () => {
    const client = { SLACK_CLIENT_ID: "1.2", SLACK_CLIENT_SECRET: "shh" };

    const both = readSlackConfig({ ...BOTH, ...client });
    const one = readSlackConfig({ ...BOTH, SLACK_CLIENT_SECRET: "shh" });

    expect(both.config?.oauth).toEqual({ clientId: "1.2", clientSecret: "shh" });
    expect(readSlackConfig({ SLACK_SIGNING_SECRET: "s", ...client })).toMatchObject({ problems: [] });
    expect(one).toEqual({
      problems: ["SLACK_CLIENT_ID is missing: signing in and installing with Slack need both."],
      isPartial: true,
    });
  });

  test("an invalid address of the Web API is refused", () => {
    const { problems } = readSlackConfig({ ...BOTH, SLACK_API_URL: "ftp://slack" });

    expect(problems).toEqual([
      'SLACK_API_URL: must be an address such as https://slack.com/api/, without a user name, password or query, not "ftp://slack"',
    ]);
  });
});

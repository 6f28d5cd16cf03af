import { expect, test } from "vitest";
import { appManifest } from "../../../../src/adapters/slack/app-manifest.ts";
import { mergeManifest } from "../../../../src/adapters/slack/merge-manifest.ts";

const OLD = "https://old.example";
const NEW = "https://new.example";

test("a manifest stays the same when it has all that is needed", () => {
  const manifest = { _metadata: { major_version: 1 }, ...appManifest(NEW, "http") };

  expect(mergeManifest(manifest, appManifest(NEW, "http"))).toEqual(manifest);
});

test("what people added and the texts that they changed stay, and addresses and switches are ours", () => {
  const own = appManifest(OLD, "http");
  const present = {
    ...own,
    display_information: { name: "Acme Bot", background_color: "#000000" },
    features: {
      ...own.features,
      app_home: { ...own.features?.app_home, home_tab_enabled: false },
      slash_commands: [
        { command: "/deploy", description: "Theirs", url: "https://deploy.example" },
        { ...own.features?.slash_commands?.[0], description: "Asks our bot" },
      ],
    },
    oauth_config: {
      ...own.oauth_config,
      scopes: { bot: ["chat:write", "pins:read"], user: ["search:read"] },
    },
    settings: { ...own.settings, org_deploy_enabled: true },
  };
  const needed = appManifest(NEW, "http");

  const merged = mergeManifest(present, needed);

  expect(merged).toMatchObject({
    display_information: {
      name: "Acme Bot",
      description: "Runs a coding agent for you",
      background_color: "#000000",
    },
    features: {
      app_home: { home_tab_enabled: true },
      slash_commands: [
        { command: "/deploy", url: "https://deploy.example" },
        { command: "/errand", description: "Asks our bot", url: `${NEW}/webhooks/slack` },
      ],
    },
    oauth_config: {
      redirect_urls: [
        ...(own.oauth_config.redirect_urls ?? []),
        ...(needed.oauth_config.redirect_urls ?? []),
      ],
      scopes: {
        bot: expect.arrayContaining(["pins:read", ...needed.oauth_config.scopes.bot]),
        user: ["search:read"],
      },
    },
    settings: { org_deploy_enabled: true, event_subscriptions: { request_url: `${NEW}/webhooks/slack` } },
  });
  expect(mergeManifest(merged, needed)).toEqual(merged);
});

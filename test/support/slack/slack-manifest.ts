import { z } from "zod";

const url = z.url({ protocol: /^https$/ });
const bounded = (max: number) => z.string().min(1).max(max);

/** What Slack checks of a manifest: https://docs.slack.dev/reference/app-manifest. Members that are not listed are refused. */
const manifestSchema = z.strictObject({
  display_information: z.strictObject({ name: bounded(35), description: bounded(140).optional() }),
  features: z.strictObject({
    bot_user: z.strictObject({ display_name: bounded(80), always_online: z.boolean().optional() }),
    agent_view: z.strictObject({ agent_description: bounded(300) }).optional(),
    app_home: z.record(z.string(), z.boolean()).optional(),
    unfurl_domains: z.array(z.string()).max(5).optional(),
    shortcuts: z
      .array(
        z.strictObject({
          name: bounded(24),
          type: z.enum(["global", "message"]),
          callback_id: bounded(255),
          description: bounded(150),
        }),
      )
      .max(10)
      .optional(),
    slash_commands: z
      .array(
        z.strictObject({
          command: z.string().startsWith("/").max(32),
          description: bounded(2_000),
          usage_hint: bounded(1_000).optional(),
          url: url.optional(),
        }),
      )
      .max(50)
      .optional(),
  }),
  oauth_config: z.strictObject({
    redirect_urls: z.array(url).max(1_000).optional(),
    scopes: z.strictObject({ bot: z.array(z.string()).max(255) }),
  }),
  settings: z.strictObject({
    event_subscriptions: z.strictObject({
      request_url: url.optional(),
      bot_events: z.array(z.string()).max(100),
    }),
    interactivity: z.strictObject({
      is_enabled: z.boolean(),
      request_url: url.optional(),
      message_menu_options_url: url.optional(),
    }),
    socket_mode_enabled: z.boolean().optional(),
  }),
});

/** The scopes and events of an app that is created from the manifest. Throws if Slack would refuse it. */
export function readManifest(manifest: unknown) {
  const { oauth_config: oauth, settings } = manifestSchema.parse(manifest);
  return { events: settings.event_subscriptions.bot_events, scopes: oauth.scopes.bot };
}

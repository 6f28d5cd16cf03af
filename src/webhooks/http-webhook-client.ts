import type { WebhookClient } from "../core/webhooks/webhook-client.ts";
import type { WebhookClientOptions } from "./http-post.ts";

/** The HTTP client behind it is loaded with the first message: it is a large part of a start, and many send none. */
export function createWebhookClient(options: WebhookClientOptions): WebhookClient {
  let loading: Promise<WebhookClient["post"]> | undefined;
  const load = async () => (await import("./http-post.ts")).createPost(options);
  return {
    problemOf: (url) => options.destinations.problemOf(url),
    async post(message, stop) {
      loading ??= load();
      return (await loading)(message, stop);
    },
  };
}

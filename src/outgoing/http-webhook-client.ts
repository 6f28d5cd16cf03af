import type { WebhookClient } from "../core/ports/webhook-client.ts";
import type { WebhookClientOptions } from "./http-post.ts";

/**
 * The HTTP client is loaded with the first message, because it is a large part of the start-up time and many
 * processes send none.
 */
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

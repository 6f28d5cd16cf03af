import type { Webhook } from "@errand/client";
import type { Command } from "commander";
import { type Cli, handle } from "../cli.ts";
import { UsageError } from "../failure.ts";
import { findRunId, RUN_HELP } from "../find-run.ts";
import { MEMBERS } from "../generated/members.ts";
import { setMembers } from "../json-members.ts";
import { ago, type Column } from "../output.ts";
import { showItem } from "./record-kind.ts";

type Deliveries = Awaited<ReturnType<Awaited<ReturnType<Cli["client"]>>["webhooks"]["deliveries"]>>;

const OF = ["<run or webhook>", `a webhook: its id or URL; or a run: ${RUN_HELP}`] as const;
const COLUMNS: readonly Column<Deliveries["deliveries"][number]>[] = [
  { title: "ID", value: ({ id }) => id, isWhole: true },
  { title: "TYPE", value: ({ type }) => type },
  { title: "RUN", value: ({ run_id }) => run_id },
  { title: "STATE", value: ({ state }) => state },
  { title: "TRIES", value: ({ tries }) => String(tries) },
  { title: "CREATED", value: ({ created_at }) => created_at, text: ({ created_at }) => ago(created_at) },
  { title: "ERROR", value: ({ error }) => error },
];

/** Adds what can be done with the messages of a webhook, and with those to the webhook of a run. */
export function addDeliveryCommands(webhooks: Command): void {
  const list = webhooks
    .command("deliveries")
    .description("Lists the deliveries of a webhook or a run, the newest first.")
    .argument(...OF);
  handle(setMembers(list, MEMBERS.WebhookDelivery), async (cli, _: object, name: string) => {
    const client = await cli.client();
    const webhook = await findWebhook(cli, name);
    const { deliveries } =
      webhook === undefined
        ? await client.runs.webhookDeliveries(await runIdOf(cli, name))
        : await client.webhooks.deliveries(webhook.id);
    cli.output.table(deliveries, COLUMNS, "No deliveries.");
  });

  const replay = webhooks
    .command("replay")
    .description("Sends a delivery again, whatever its state.")
    .argument(...OF)
    .argument("<delivery>", "its id, as `errand webhooks deliveries` lists it");
  handle(
    setMembers(replay, MEMBERS.WebhookDelivery),
    async (cli, _: object, name: string, deliveryId: string) => {
      const client = await cli.client();
      const webhook = await findWebhook(cli, name);
      const delivery =
        webhook === undefined
          ? await client.runs.replayWebhookDelivery(await runIdOf(cli, name), deliveryId)
          : await client.webhooks.replay(webhook.id, deliveryId);
      showItem(cli, delivery, COLUMNS);
    },
  );
}

/** Ids of webhooks look like those of runs. */
async function findWebhook(cli: Cli, name: string): Promise<Webhook | undefined> {
  const { webhooks } = await (await cli.client()).webhooks.list();
  return webhooks.find(({ id, url }) => id === name || url === name);
}

async function runIdOf(cli: Cli, name: string): Promise<string> {
  if (URL.canParse(name) && !name.includes("/sessions/")) {
    throw new UsageError(`There is no webhook "${name}".`, "List them with: errand webhooks list");
  }
  return findRunId(cli, name);
}

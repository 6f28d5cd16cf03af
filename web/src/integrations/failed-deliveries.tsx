import { useMutation, useQuery } from "@tanstack/react-query";
import { Problem } from "../parts/problem.tsx";
import { Ago } from "../parts/time.tsx";
import { sayProblem } from "../parts/toasts.tsx";
import { client } from "../server/client.ts";
import { queries, whoamiQuery } from "../server/queries.ts";

/** Webhook messages of the team that were given up. */
export function FailedDeliveries() {
  const { data: whoami } = useQuery(whoamiQuery);
  const isAdministrator = whoami?.scopes.includes("admin") ?? false;
  const failed = useQuery({
    queryKey: ["webhook-deliveries"],
    queryFn: async ({ signal }) => {
      const { webhooks } = await client.webhooks.list({ signal });
      const lists = await Promise.all(
        webhooks.map(async ({ id, url }) => {
          const { deliveries } = await client.webhooks.deliveries(id, { limit: 50 }, { signal });
          return deliveries.filter(({ state }) => state === "dead").map((delivery) => ({ ...delivery, url }));
        }),
      );
      return lists.flat();
    },
    enabled: isAdministrator,
  });
  const replay = useMutation({
    mutationFn: ({ webhook, id }: { readonly webhook: string; readonly id: string }) =>
      client.webhooks.replay(webhook, id),
    onError: sayProblem,
    onSettled: () => queries.invalidateQueries({ queryKey: ["webhook-deliveries"] }),
  });
  if (!isAdministrator) {
    return null;
  }
  return (
    <section className="section">
      <h2>Webhooks</h2>
      {failed.error && <Problem error={failed.error} />}
      {failed.data?.length === 0 && <p className="muted sm">No webhook message has failed.</p>}
      {failed.data && failed.data.length > 0 && (
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Receiver</th>
              <th scope="col">Why it failed</th>
              <th scope="col">When</th>
              <th scope="col">
                <span className="sr">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {failed.data.map(({ id, webhook_id, url, type, error, created_at }) => (
              <tr key={id}>
                <td>
                  {url} <span className="faint">{type}</span>
                </td>
                <td>{error ?? "unknown"}</td>
                <td data-title="When">
                  <Ago time={created_at} />
                </td>
                <td className="r">
                  <button
                    type="button"
                    className="btn"
                    disabled={replay.isPending}
                    onClick={() => replay.mutate({ webhook: webhook_id, id })}
                  >
                    Send again
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

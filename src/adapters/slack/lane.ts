import { z } from "zod";

const text = z.string().optional().catch(undefined);
const spot = z.object({ ts: text, thread_ts: text });
const placed = spot.extend({
  channel: z
    .union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)])
    .optional()
    .catch(undefined),
  message: spot.optional().catch(undefined),
});

/**
 * The conversation of an event or of a pressed button: the same for all that belongs to one thread. What has no
 * place is a lane of its own.
 */
export function laneOf(subject: unknown, deliveryId: string): string {
  const parsed = placed.safeParse(subject);
  const { ts, thread_ts: threadTs } = parsed.data?.message ?? parsed.data ?? {};
  const channel = parsed.data?.channel;
  const root = threadTs ?? ts;
  return channel === undefined || root === undefined ? `slack:${deliveryId}` : `slack:${channel}/${root}`;
}

import type { Gateway, GatewayTraffic } from "../../src/core/ports/gateway.ts";

export const NO_TRAFFIC: GatewayTraffic = {
  models: { calls: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0, costUsd: 0 },
  pushes: [],
  refusedPushes: [],
};

/** A gateway that leads nowhere, for what needs one and sends nothing through it. */
export function anIdleGateway(own: Partial<Gateway> = {}): Gateway {
  return {
    address: "http://127.0.0.1:9/idle",
    traffic: NO_TRAFFIC,
    watch: () => () => undefined,
    shut: () => undefined,
    close: async () => undefined,
    ...own,
  };
}

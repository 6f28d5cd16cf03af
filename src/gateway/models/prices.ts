import type { ModelPrice } from "../../config/models.ts";
import type { Tokens } from "./tokens.ts";

const PER = 1_000_000;

export type ModelPrices = Readonly<Record<string, ModelPrice>>;

/** By its id, otherwise by the longest prefix with a `*`. */
function findPrice(prices: ModelPrices, modelId: string): ModelPrice | undefined {
  if (Object.hasOwn(prices, modelId)) {
    return prices[modelId];
  }
  const beginnings = Object.keys(prices).filter((name) => name.endsWith("*"));
  const acceptable = beginnings.filter((name) => modelId.startsWith(name.slice(0, -1)));
  const [longest] = acceptable.sort((one, other) => other.length - one.length);
  return longest === undefined ? undefined : prices[longest];
}

export function isPriced(prices: ModelPrices, modelId: string): boolean {
  return findPrice(prices, modelId) !== undefined;
}

/** 0 when the price is unknown. */
export function costUsd(prices: ModelPrices, modelId: string, tokens: Tokens): number {
  const price = findPrice(prices, modelId);
  if (price === undefined) {
    return 0;
  }
  const { cached_input: cachedPrice = price.input, input, output } = price;
  const fresh = tokens.input - tokens.cachedInput;
  return (fresh * input + tokens.cachedInput * cachedPrice + tokens.output * output) / PER;
}

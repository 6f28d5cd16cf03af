import type { ImageSource } from "../../../src/core/ports/image-source.ts";

/** Images without files. A test ends the pulls. */
export class InMemoryImages implements ImageSource {
  readonly present = new Set<string>();
  /** The images that are being pulled. */
  readonly pulling: string[] = [];
  readonly ended: string[] = [];
  readonly #ends = new Map<string, () => void>();

  async isReady(image: string): Promise<boolean> {
    return this.present.has(image);
  }

  async pull(image: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.pulling.push(image);
    this.#ends.set(image, resolve);
    signal.addEventListener("abort", () => resolve());
    await promise;
    this.pulling.splice(this.pulling.indexOf(image), 1);
    this.ended.push(image);
  }

  /** Ends all pulls of the image. */
  finish(image: string, isPresent: boolean): void {
    if (isPresent) {
      this.present.add(image);
    }
    this.#ends.get(image)?.();
  }
}

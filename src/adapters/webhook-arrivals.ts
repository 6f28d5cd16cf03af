/** What has come to the webhook address of an adapter since the start of this process, for the doctor. */
export class WebhookArrivals {
  #verifiedAt: Date | undefined;
  #forged = 0;

  /** The last request with a valid signature. */
  get verifiedAt(): Date | undefined {
    return this.#verifiedAt;
  }

  /** Requests with a wrong signature since the last one with a valid signature. */
  get forged(): number {
    return this.#forged;
  }

  note(request: "verified" | "forged"): void {
    if (request === "forged") {
      this.#forged += 1;
      return;
    }
    this.#verifiedAt = new Date();
    this.#forged = 0;
  }
}

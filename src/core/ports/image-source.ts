/** Makes images available to the sandbox of this worker. */
export interface ImageSource {
  /** Whether a command with the image starts, or fails, without a pull. */
  isReady(image: string): Promise<boolean>;
  /**
   * Resolves when the image is present or could not be pulled; a command with the image then fails with the reason. Never
   * rejects. An abort ends the pull unless another caller wants it.
   */
  pull(image: string, signal: AbortSignal): Promise<void>;
}

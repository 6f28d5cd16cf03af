const KEYS_OFF = "errand.keys-off";

/** Whether single keys are switched off in this browser. */
export function areKeysOff(): boolean {
  return localStorage.getItem(KEYS_OFF) === "yes";
}

export function switchKeys(off: boolean): void {
  localStorage.setItem(KEYS_OFF, off ? "yes" : "no");
}

/** True while the user is typing, or with a key that belongs to the browser. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  return (
    event.metaKey ||
    event.ctrlKey ||
    event.altKey ||
    target?.isContentEditable === true ||
    target?.matches("input:not([type=checkbox]), textarea, select") === true ||
    target?.closest("[role=dialog],[role=listbox],[role=menu]") !== null
  );
}
